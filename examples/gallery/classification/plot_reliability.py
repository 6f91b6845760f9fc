"""
Are the probabilities right?
============================

Of the rows with a predicted probability of 0.8, four fifths should be of the class. A curve below the diagonal belongs
to probabilities that are too high, one that is less steep to probabilities that are too extreme. The bars are 95 %
Wilson intervals.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import SparseBayesClassifier
from sparsebayes.inspection import ReliabilityDisplay

rng = np.random.default_rng(0)
w = rng.standard_normal(10)
X = rng.standard_normal((5000, 10))
y = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-X @ w)), "yes", "no")
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, n in zip(axes, [50, 1000], strict=True):
    model = SparseBayesClassifier().fit(X[:n], y[:n])
    ReliabilityDisplay.from_estimator(model, X[1000:], y[1000:], ax=ax)
    ax.set_title(f"fitted to {n} rows")
