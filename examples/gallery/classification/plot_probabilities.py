"""
Two classes and their probabilities
===================================

Probabilities from a few points, which are circled. The solid line is where both classes are as probable, the dashed
ones are at 25 and 75 %.
"""

import matplotlib.pyplot as plt

from sparsebayes import RelevanceVectorClassifier
from sparsebayes.datasets import make_ripley
from sparsebayes.inspection import ClassificationDisplay

X, labels, _ = make_ripley(n=300, random_state=0)
model = RelevanceVectorClassifier().fit(X, labels)
ClassificationDisplay.from_estimator(model, X, labels)
plt.legend(title="class", loc="lower left", fontsize="small")
plt.title(f"{len(model.relevance_vectors_)} relevance vectors")
