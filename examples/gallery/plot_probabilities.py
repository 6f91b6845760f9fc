"""
Two classes and their probabilities
===================================

A few of the points are selected.
"""

import matplotlib.pyplot as plt

from sparsebayes import RelevanceVectorClassifier
from sparsebayes.datasets import make_ripley
from sparsebayes.inspection import ClassificationDisplay

X, labels, _ = make_ripley(n=300, random_state=0)
model = RelevanceVectorClassifier().fit(X, labels)
ClassificationDisplay.from_estimator(model, X, labels)
plt.title(f"{len(model.relevance_vectors_)} relevance vectors")
