"""
Polynomial chaos and Sobol indices
==================================

The Ishigami function from sixty runs: 325 candidate polynomials, of which the evidence selects a few. Their
posterior gives error bars on the Sobol indices. chaospy makes the polynomials.
"""

import chaospy
import matplotlib.pyplot as plt
import numpy as np

from sparsebayes.integrations.chaospy import fit_expansion

inputs = chaospy.Iid(chaospy.Uniform(-np.pi, np.pi), 3)
terms, norms = chaospy.generate_expansion(14, inputs, cross_truncation=0.75, retall=True, normed=True)
np.random.seed(0)
x = inputs.sample(60, rule="latin_hypercube")
clean = np.sin(x[0]) + 7 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])
y = clean + 0.05 * clean.std() * np.random.standard_normal(60)

# %%
# More candidates than runs, and 5 % noise.

fitted = fit_expansion(terms, inputs, x, y, norms=norms)
kept = np.flatnonzero(fitted.coefficients)
print(f"{len(kept)} of {len(terms)} terms")

# %%
# Indices with error bars, beside the true ones.

indices = fitted.sobol()
true = {"first": [0.3139, 0.4424, 0.0], "total": [0.5576, 0.4424, 0.2437]}
place = np.arange(3)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
for ax, kind in zip(axes, ["first", "total"], strict=True):
    ax.bar(place, true[kind], color="0.85", label="true")
    ax.errorbar(
        place, getattr(indices, kind), yerr=2 * getattr(indices, f"{kind}_std"), fmt="o", capsize=4, label="± 2 std"
    )
    ax.set(title=f"{kind}-order indices" if kind == "first" else "total indices")
    ax.set_xticks(place, ["x1", "x2", "x3"])
axes[0].set_ylabel("share of the variance")
axes[0].legend()
