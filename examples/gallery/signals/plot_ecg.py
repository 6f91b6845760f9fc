"""
An electrocardiogram, denoised
==============================

The noise and the shrinkage of every level of the wavelet transform are estimated; nothing is tuned. The picture has the
first half of the record.
"""

import matplotlib.pyplot as plt
import numpy as np
import pywt

from sparsebayes import denoise

clean = pywt.data.ecg().astype(float)
noisy = clean + 20 * np.random.default_rng(0).standard_normal(clean.size)
mean, std = denoise(noisy, return_std=True)
plt.figure(figsize=(9, 3.2), layout="constrained")
plt.plot(noisy, "C7", lw=0.6, label="noisy")
plt.plot(mean, "C0", lw=1, label="denoised")
plt.fill_between(np.arange(clean.size), mean - 2 * std, mean + 2 * std, alpha=0.3, label="± 2 std")
plt.xlim(0, 512)
plt.xlabel("sample")
plt.ylabel("amplitude")
plt.legend()
