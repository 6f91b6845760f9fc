"""
Force constants of a chain
==========================

Forces on the beads of a ring with springs between first and second neighbours, fitted with force constants up
to the tenth neighbour and third order. trainstation trains the model; "sparse-bayes" is one of its fit methods
after `register()`.
"""

import matplotlib.pyplot as plt
import numpy as np
from trainstation import Optimizer

from sparsebayes.integrations.trainstation import SparseBayesOptimizer, register

rng = np.random.default_rng(0)
beads, reach = 60, 10
moved = 0.1 * rng.standard_normal(beads)

# %%
# One column for each neighbour and order: the force Σ (u_j − u_i)^p of the bonds on both sides of every bead.

columns, names = [], []
for neighbour in range(1, reach + 1):
    right, left = np.roll(moved, -neighbour) - moved, np.roll(moved, neighbour) - moved
    for order in (1, 2, 3):
        columns.append(right**order + (-1) ** (order + 1) * left**order)
        names.append(f"neighbour {neighbour}, order {order}")
A = np.column_stack(columns)
true = np.zeros(A.shape[1])
true[[0, 1, 2, 3]] = 5.0, -8.0, 6.0, 1.2
forces = A @ true + 0.02 * rng.standard_normal(beads)

# %%
# Thirty candidate constants, sixty force components.

np.random.seed(0)  # trainstation draws its training rows from NumPy's global generator
optimizer = SparseBayesOptimizer((A, forces), train_size=0.9)
optimizer.train()
np.random.seed(0)
lasso = Optimizer((A, forces), fit_method="lasso", train_size=0.9)
lasso.train()
np.random.seed(0)
named = Optimizer((A, forces), fit_method=register(), train_size=0.9)
named.train()
print(f"sparse Bayes: test error {optimizer.rmse_test:.4f}, {optimizer.n_nonzero_parameters} constants")
print(f"the same by name: test error {named.rmse_test:.4f}")
print(f"lasso: test error {lasso.rmse_test:.4f}, {lasso.n_nonzero_parameters} constants")

# %%
# The constants that were selected, with two standard errors, beside the true ones.

kept = np.flatnonzero((optimizer.parameters != 0) | (true != 0))
place = np.arange(len(kept))
plt.figure(figsize=(8, 3.6), layout="constrained")
plt.bar(place, true[kept], color="0.85", label="true")
plt.errorbar(
    place, optimizer.parameters[kept], yerr=2 * optimizer.standard_errors[kept], fmt="o", capsize=4, label="± 2 std"
)
plt.xticks(place, [names[j] for j in kept], rotation=25, ha="right")
plt.ylabel("force constant")
plt.legend()
