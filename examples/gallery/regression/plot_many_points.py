"""
Many points
===========

Every one of 50 000 points is a candidate function. The kernel matrix, 20 GB, is never formed: a pivoted
Cholesky factor stands for it during the search, and the model ends on true kernel functions.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc2d

X, y, f = make_sinc2d(50_000, noise=0.1, random_state=0)
start = time.perf_counter()
model = RelevanceVectorRegressor(gamma=0.16).fit(X, y)
seconds = time.perf_counter() - start
error = np.sqrt(np.mean((model.predict(X) - f) ** 2))
print(f"{len(model.relevance_)} of {len(X)} functions in {seconds:.1f} s, error {error:.4f}, noise ", end="")
print(f"{np.sqrt(model.noise_variance_):.4f}")

# %%
# The prediction and the selected points.

side = np.linspace(X.min(), X.max(), 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
plt.figure(figsize=(5.4, 4.4), layout="constrained")
plt.pcolormesh(side, side, model.predict(grid).reshape(120, 120), cmap="viridis")
plt.colorbar(label="prediction")
plt.plot(*model.relevance_vectors_.T, "wo", mfc="none", ms=6)
plt.xlabel("x0")
plt.ylabel("x1")
plt.title(f"{len(model.relevance_)} of 50 000 points")
