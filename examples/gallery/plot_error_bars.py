"""
Error bars far from the data
============================

With variance="gp" the error bars grow with the distance from the data.
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
    ax.plot(X, y, "k.", ms=4)
    ax.plot(grid, mean)
    ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.3)
    ax.set(title=f'variance="{variance}"', xlabel="x")
