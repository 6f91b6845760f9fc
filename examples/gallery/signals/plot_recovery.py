"""
Sparse recovery from few measurements
=====================================

Thirty spikes in 512 samples, 120 random measurements with noise. The evidence finds the spikes without being
told how many there are; orthogonal matching pursuit is told the true number here.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoLarsCV, OrthogonalMatchingPursuit

from sparsebayes import SparseRecovery

rng = np.random.default_rng(1)
Phi = rng.standard_normal((120, 512)) / np.sqrt(120)
w = np.zeros(512)
w[rng.choice(512, 30, replace=False)] = rng.choice([-1.0, 1.0], 30) * rng.uniform(0.5, 2, 30)
y = Phi @ w + 0.01 * rng.standard_normal(120)

model = SparseRecovery().fit(Phi, y)
pursuit = OrthogonalMatchingPursuit(n_nonzero_coefs=30, fit_intercept=False).fit(Phi, y)
lasso = LassoLarsCV(fit_intercept=False).fit(Phi, y)

# %%
# Relative errors of the weights.

for name, weights in [("SparseRecovery", model.coef_), ("OMP", pursuit.coef_), ("LassoLarsCV", lasso.coef_)]:
    error = np.linalg.norm(weights - w) / np.linalg.norm(w)
    print(f"{name:15} {np.count_nonzero(weights):4d} atoms, relative error {error:.3f}")

# %%
# Every weight with its error bar.

figure, axes = plt.subplots(2, 1, figsize=(9, 4.4), sharex=True, layout="constrained")
axes[0].stem(w, linefmt="C7-", markerfmt=" ", basefmt=" ")
axes[0].errorbar(
    model.support_, model.coef_[model.support_], yerr=2 * model.coef_std_[model.support_], fmt="C0.", capsize=2
)
axes[0].set_title("SparseRecovery (grey: true weights)")
axes[1].stem(w, linefmt="C7-", markerfmt=" ", basefmt=" ")
axes[1].plot(np.flatnonzero(pursuit.coef_), pursuit.coef_[pursuit.coef_ != 0], "C1.")
axes[1].set_title("orthogonal matching pursuit, told the number of spikes")
axes[1].set_xlabel("sample")
for ax in axes:
    ax.set_ylabel("weight")
