"""
Three classes
=============

The probabilities of three kinds of iris by two measurements. A few flowers are selected; they
are circled. A region has the colour of its most probable class, the stronger the more probable it is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from sparsebayes import RelevanceVectorClassifier
from sparsebayes.inspection import ClassificationDisplay

iris = load_iris()
X, y = iris.data[:, 2:], iris.target_names[iris.target]
model = RelevanceVectorClassifier().fit(X, y)
ClassificationDisplay.from_estimator(model, X, y)
plt.gcf().set_size_inches(6.5, 4.5)
plt.xlabel(iris.feature_names[2])
plt.ylabel(iris.feature_names[3])
plt.legend(loc="lower right", fontsize="small")
plt.title(f"{len(model.relevance_)} of {len(X)} flowers")
