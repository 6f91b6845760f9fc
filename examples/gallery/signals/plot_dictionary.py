"""
A signal as steps, tones and outliers
=====================================

Wavelets, cosines and single samples in one dictionary of 768 functions for 256 samples. The evidence selects a
dozen, and the contribution of each part is known.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import DCT, RelevanceVectorRegressor, Spike, Wavelet

rng = np.random.default_rng(0)
n = 256
X = np.arange(float(n))[:, None]
step = np.where(np.arange(n) < 128, 1.0, -1.0)
tone = 0.8 * np.cos(np.pi * 41 * (np.arange(n) + 0.5) / n)
glitches = np.zeros(n)
glitches[[40, 199]] = 4.0
y = step + tone + glitches + 0.1 * rng.standard_normal(n)

model = RelevanceVectorRegressor(Wavelet("haar", level=8) + DCT() + Spike(), prior="ric").fit(X, y)
print(model)

# %%
# The parts, beside the truth. `predict(X, parts=[0, 1])` is the signal without outliers.

figure, axes = plt.subplots(4, 1, figsize=(9, 6.4), sharex=True, layout="constrained")
axes[0].plot(y, lw=0.8, label="data")
axes[0].plot(model.predict(X, parts=[0, 1]), "C3", lw=1.2, label="steps and tones")
axes[0].set_ylabel("signal")
axes[0].legend(ncols=2, fontsize="small")
names = ["steps", "tones", "outliers"]
for ax, part, truth, name in zip(axes[1:], model.components_, (step, tone, glitches), names, strict=True):
    ax.plot(truth, color="0.75", lw=3, label="truth")
    ax.plot(part, "C0", lw=1.1, label="estimate")
    ax.set_ylabel(name)
axes[-1].legend(fontsize="small")
axes[-1].set_xlabel("sample")
