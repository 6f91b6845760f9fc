"""
Error bars far from the data
============================

Far from all training points the functions of a local kernel are zero: the error bars of the sparse model are those of
the noise there, and say nothing of what is unknown. With variance="gp" they grow with the distance from the data.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import ExtrapolationWarning, RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc

warnings.simplefilter("ignore", ExtrapolationWarning)
X, y, _ = make_sinc(n=60, random_state=0)
grid = np.linspace(-18, 18, 300)[:, None]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, variance in zip(axes, ["posterior", "gp"], strict=True):
    mean, std = RelevanceVectorRegressor(variance=variance).fit(X, y).predict(grid, return_std=True)
    ax.plot(X, y, "k.", ms=4, label="data")
    ax.plot(grid, mean, label="mean")
    ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.3, label="± 2 std")
    ax.set(title=f'variance="{variance}"', xlabel="x")
axes[0].set_ylabel("y")
axes[0].legend(loc="lower left", fontsize="small")
