"""
Missing samples
===============

Samples that are NaN are filled in, and their error bars say how uncertain they are.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import denoise
from sparsebayes.datasets import make_signal

_, noisy, clean = make_signal("heavisine", 1024, snr=5.0, random_state=0)
gaps = noisy.copy()
gaps[200:230] = np.nan
gaps[np.random.default_rng(0).choice(1024, 250, replace=False)] = np.nan
mean, std = denoise(gaps, return_std=True)
missing = np.isnan(gaps)
error = mean - clean
print(f"error where seen {np.sqrt(np.mean(error[~missing] ** 2)):.3f}, where missing ", end="")
print(f"{np.sqrt(np.mean(error[missing] ** 2)):.3f}; ", end="")
print(f"missing samples within two standard deviations: {np.mean(np.abs(error[missing]) < 2 * std[missing]):.2f}")

plt.figure(figsize=(9, 3.4), layout="constrained")
plt.plot(gaps, ".", color="0.6", ms=2.5, label="samples")
plt.plot(clean, "k", lw=0.8, label="truth")
plt.plot(mean, "C0", label="denoised")
plt.fill_between(np.arange(1024), mean - 2 * std, mean + 2 * std, alpha=0.3, label="± 2 std")
plt.axvspan(200, 230, color="C1", alpha=0.2, label="no samples")
plt.xlim(0, 500)
plt.ylim(-7.5, 7.5)
plt.xlabel("sample")
plt.ylabel("signal")
plt.legend(ncols=5, loc="upper right", fontsize="small")
