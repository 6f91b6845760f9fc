"""
Governing equations from data
=============================

The Lorenz system, noise on its states, and a library of cubic polynomials: the evidence selects the terms of
each equation, without a threshold, and every coefficient has a standard error. PySINDy does the rest.
"""

import matplotlib.pyplot as plt
import numpy as np
import pysindy
from scipy.integrate import solve_ivp

from sparsebayes.integrations.pysindy import SparseBayesOptimizer


def lorenz(_, s):
    """The right-hand side."""
    return [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]


time = np.arange(0, 10, 0.002)
states = solve_ivp(lorenz, (0, 10), [-8, 8, 27], t_eval=time, rtol=1e-9, atol=1e-9).y.T
noisy = states + 0.1 * np.random.default_rng(0).standard_normal(states.shape)

# %%
# Differences of order 4, and a library of 20 terms for each equation.

optimizer = SparseBayesOptimizer()
model = pysindy.SINDy(
    optimizer=optimizer,
    feature_library=pysindy.PolynomialLibrary(degree=3),
    differentiation_method=pysindy.FiniteDifference(order=4),
).fit(noisy, t=time, feature_names=["x", "y", "z"])
model.print(precision=2)

# %%
# The coefficients that were selected, with two standard errors.

names, found = model.get_feature_names(), model.coefficients()
figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, equation, row, error in zip(axes, "xyz", found, optimizer.standard_errors_, strict=True):
    kept = np.flatnonzero(row)
    ax.errorbar(np.arange(len(kept)), row[kept], yerr=2 * error[kept], fmt="o", capsize=4)
    ax.set_xticks(np.arange(len(kept)), [names[j] for j in kept])
    ax.axhline(0, color="0.7", lw=1)
    ax.margins(x=0.3)
    ax.set_title(f"d{equation}/dt")
axes[0].set_ylabel("coefficient ± 2 std")
