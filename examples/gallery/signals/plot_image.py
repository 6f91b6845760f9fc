"""
An image, denoised
==================

An array with two axes is an image.
"""

import matplotlib.pyplot as plt
import numpy as np
import pywt

from sparsebayes import denoise

clean = pywt.data.camera().astype(float)
noisy = clean + 25 * np.random.default_rng(0).standard_normal(clean.shape)
figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for ax, image, title in zip(axes, [noisy, denoise(noisy)], ["noisy", "denoised"], strict=True):
    ax.imshow(image, cmap="gray", vmin=0, vmax=255)
    ax.set_title(f"{title}: RMSE {np.sqrt(np.mean((image - clean) ** 2)):.1f}")
    ax.axis("off")
