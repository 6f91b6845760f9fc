"""
Several outputs, one choice of functions
========================================

Four outputs that depend on the same inputs, in units of their own. Together they select the columns that
matter; alone, each of them misses some.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import SparseBayesRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((50, 80))
W = np.zeros((80, 4))
W[:6] = rng.standard_normal((6, 4))
units = np.array([1.0, 100.0, 0.01, 10.0])
Y = (X @ W + 0.8 * rng.standard_normal((50, 4))) * units

joint = SparseBayesRegressor().fit(X, Y)
separate = SparseBayesRegressor(joint=False).fit(X, Y)
figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
for ax, weights, title in [
    (axes[0], W, "true"),
    (axes[1], joint.coef_.T, "joint"),
    (axes[2], separate.coef_.T, "separate"),
]:
    scaled = weights if title == "true" else weights / units
    picture = ax.imshow(scaled[:20], cmap="RdBu", vmin=-2, vmax=2, aspect="auto")
    error = np.linalg.norm(scaled - W)
    ax.set(title=title if title == "true" else f"{title}: error {error:.2f}", xlabel="output")
figure.colorbar(picture, ax=axes, label="weight in units of the output")
axes[0].set_ylabel("column (the first 20 of 80)")
axes[0].yaxis.get_major_locator().set_params(integer=True)
