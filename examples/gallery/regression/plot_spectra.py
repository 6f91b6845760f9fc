"""
Spectra: few samples, many wavelengths
======================================

Forty spectra at 256 wavelengths, and the concentration of one of three substances. A kernel machine compares
whole spectra, selects a few of them, and says how uncertain its predictions are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor

rng = np.random.default_rng(0)
wavelength = np.linspace(900, 1700, 256)


def band(centre, width):
    """An absorption band."""
    return np.exp(-0.5 * ((wavelength - centre) / width) ** 2)


def spectra(n):
    """Spectra of mixtures of three substances on a sloping baseline, and the concentration of the first."""
    amounts = rng.uniform(0, 1, (n, 3))
    pure = np.stack([band(1210, 25), band(1150, 60) + 0.7 * band(1420, 50), band(1290, 70)])
    baseline = rng.normal(0, 0.1, (n, 1)) + rng.normal(0, 0.1, (n, 1)) * (wavelength - 1300) / 400
    return amounts @ pure + baseline + 0.004 * rng.standard_normal((n, 256)), amounts[:, 0]


X, y = spectra(40)
X_new, y_new = spectra(400)

# %%
# The defaults, beside partial least squares with six components, and beside a choice of single wavelengths.

model = RelevanceVectorRegressor().fit(X, y)
columns = SparseBayesRegressor().fit(X, y)
pls = PLSRegression(6).fit(X, y)


def report(name, mean, std=None):
    """Print the error, and the share of new samples within two standard deviations."""
    inside = "" if std is None else f", within two standard deviations {np.mean(np.abs(mean - y_new) < 2 * std):.2f}"
    print(f"{name}: error {np.sqrt(np.mean((mean - y_new) ** 2)):.4f}{inside}")


mean, std = model.predict(X_new, return_std=True)
report(f"{len(model.relevance_)} spectra", mean, std)
report(f"{len(columns.relevance_)} wavelengths", *columns.predict(X_new, return_std=True))
report("partial least squares", pls.predict(X_new).ravel())

# %%
# Single wavelengths have an error that is twice as large, and error bars that are too small: the columns
# themselves are noisy, which the model of a design matrix does not know of. Compare whole spectra where that is
# so. Their error bars are wide: forty spectra in 256 inputs leave much open.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
axes[0].plot(wavelength, X.T, lw=0.5, color="0.7")
axes[0].plot(wavelength, model.relevance_vectors_.T, lw=1.2)
axes[0].set(xlabel="wavelength (nm)", ylabel="absorbance", title="in colour: selected spectra")
axes[1].errorbar(y_new[:80], (mean - y_new)[:80], yerr=2 * std[:80], fmt=".", lw=0.7)
axes[1].axhline(0, color="0.5", lw=1)
axes[1].set(xlabel="concentration", ylabel="error ± 2 std", title="new samples")
