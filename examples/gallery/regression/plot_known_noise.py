"""
Measurements with error bars of their own
=========================================

If the noise variance of every row is known, `fit(X, y, noise_variance=…)` uses it. That is not a sample weight:
a weight says how often a row counts, and leaves the noise to be estimated.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RelevanceVectorRegressor

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(-8, 8, 80))[:, None]
f = np.sinc(X[:, 0] / np.pi)
sigma = np.where(X[:, 0] < 0, 0.3, 0.03)
y = f + sigma * rng.standard_normal(80)
grid = np.linspace(-8, 8, 400)[:, None]
truth = np.sinc(grid[:, 0] / np.pi)

known = RelevanceVectorRegressor().fit(X, y, noise_variance=sigma**2)
plain = RelevanceVectorRegressor().fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for ax, model, title in [(axes[0], plain, "one noise variance"), (axes[1], known, "noise variance of each row")]:
    mean, std = model.predict(grid, return_std=True)
    noise = model.noise_variance_ if np.ndim(model.noise_variance_) == 0 else 0.0
    band = 2 * np.sqrt(np.maximum(std**2 - noise, 0))
    ax.errorbar(X[:, 0], y, yerr=sigma, fmt=".", color="0.6", lw=0.7, label="data ± σ")
    ax.plot(grid, truth, "k--", lw=1, label="truth")
    ax.plot(grid, mean, label="mean of f")
    ax.fill_between(grid[:, 0], mean - band, mean + band, alpha=0.3, label="± 2 std of f")
    ax.set(title=f"{title}: error {np.sqrt(np.mean((mean - truth) ** 2)):.3f}", xlabel="x")
axes[0].set_ylabel("y")
axes[1].legend(loc="upper right", fontsize="small")
