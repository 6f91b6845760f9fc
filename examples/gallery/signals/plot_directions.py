"""
Directions of arrival
=====================

Three sources and an array of twelve sensors. The dictionary has a steering vector for each degree; complex data
are taken as they are, fifty snapshots share their atoms, and directions between the degrees are refined off the
grid.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import SparseRecovery

rng = np.random.default_rng(0)
sensors, angles = np.arange(12), np.arange(-90, 91)


def steering(degrees):
    """The response of a line of sensors half a wavelength apart."""
    return np.exp(1j * np.pi * np.outer(sensors, np.sin(np.deg2rad(degrees))))


true = np.array([-21.3, 4.6, 14.2])
signals = rng.standard_normal((3, 50)) + 1j * rng.standard_normal((3, 50))
noise = rng.standard_normal((12, 50)) + 1j * rng.standard_normal((12, 50))
Y = steering(true) @ signals + 0.7 * noise

model = SparseRecovery().fit(steering(angles), Y)
refined = model.refine(steering, angles)
print("atoms:", angles[model.support_])
print("refined:", refined.parameters.round(2), "truth:", true)

# %%
# The power of every atom, beside that of a conventional beamformer, which cannot separate the two sources at
# 4.6° and 14.2° as clearly.

A = steering(angles)
beam = np.mean(np.abs(A.conj().T @ Y / 12) ** 2, axis=1)
power = np.mean(np.abs(model.coef_) ** 2, axis=0)[model.support_]
plt.figure(figsize=(8, 3.2), layout="constrained")
plt.plot(angles, beam, color="0.6", label="beamformer")
plt.stem(angles[model.support_], power, linefmt="C0-", markerfmt="C0o", basefmt=" ", label="SparseRecovery")
for angle in true:
    plt.axvline(angle, color="C1", lw=1, ls=":", label="true" if angle == true[0] else None)
plt.xlabel("direction (degrees)")
plt.ylabel("power")
plt.legend()
