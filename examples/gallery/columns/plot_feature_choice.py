"""
Feature choice among 200 columns
================================

Eighty rows, two hundred columns, three that matter: the estimator finds these three, and no other.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import SparseBayesRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 200))
w = np.zeros(200)
w[[3, 50, 120]] = 2, -1, 0.5
y = X @ w + 0.1 * rng.standard_normal(80)
model = SparseBayesRegressor().fit(X, y)
plt.figure(figsize=(8, 3), layout="constrained")
plt.stem(np.flatnonzero(w), w[w != 0], linefmt="C7-", markerfmt="C7o", basefmt=" ", label="true")
plt.axhline(0, color="0.8", lw=1)
plt.xlim(-2, 202)
plt.plot(model.relevance_, model.coef_[model.relevance_], "C1x", ms=9, mew=2, label="estimated")
plt.xlabel("column")
plt.ylabel("weight")
plt.legend()
