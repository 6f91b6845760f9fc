"""Kernels and bases, scales given and learned, error bars, intercepts and weights of regression."""

from __future__ import annotations

from functools import partial

import api
import numpy as np
from cases import QUERIES, Record, add, box, fits, of_regressor, sinc

from sparsebayes import (
    DCT,
    RBF,
    Bias,
    Columns,
    CubicSpline,
    Kernel,
    KernelSum,
    Laplacian,
    Linear,
    LinearSpline,
    Matern,
    MultiScale,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spike,
    ThinPlateSpline,
    Wavelet,
)
from sparsebayes.datasets import make_signal


def inverse_multiquadric(X, Z):
    """A kernel the package does not have."""
    return 1.0 / np.sqrt(1.0 + ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


def lopsided(X, Z):
    """A kernel that is not symmetric."""
    return np.tanh(X[:, :1] - 2.0 * Z[:, 0][None, :])


def waves(n=90, seed=7):
    """A trend, a period of 3 and noise."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 12, size=(n, 1)), axis=0)
    y = 0.2 * X[:, 0] + np.sin(2 * np.pi * X[:, 0] / 3) + 0.15 * rng.standard_normal(n)
    return X, y, np.linspace(-1, 14, QUERIES)[:, None]


def signal(name="bumps", n=128, seed=0):
    """A signal at equally spaced positions."""
    X, y, _ = make_signal(name, n, random_state=seed)
    return X, y, X[3 :: n // QUERIES][:QUERIES] + 0.01


def repeated_rows():
    """Every row but the last ten twice, with targets of their own."""
    X, y, queries = box(60)
    return np.concatenate([X, X[:50]]), np.concatenate([y, y[10:60]]), queries


def constant_input():
    """A third input that does not vary, and one that nearly repeats the first."""
    X, y, queries = box(70, d=4)
    for rows in (X, queries):
        rows[:, 2], rows[:, 3] = 5.0, rows[:, 0] * (1 + 1e-9)
    return X, y, queries


def scaled(factor_X, factor_y):
    """The same data in other units."""
    X, y, queries = box()
    return factor_X * X, factor_y * y, factor_X * queries


def precomputed():
    """The kernel matrix in place of the points."""
    X, y, queries = box()
    return inverse_multiquadric(X, X), y, inverse_multiquadric(queries, X)


NAMES = (
    "rbf",
    "laplacian",
    "matern",
    "rational-quadratic",
    "poly",
    "linear",
    "cosine",
    "sigmoid",
    "histogram-intersection",
    "linear-spline",
    "cubic-spline",
    "thin-plate-spline",
)
for name in NAMES:
    fits(f"kernel {name}, three inputs", box, name)
for name in (
    "laplacian",
    "matern",
    "rational-quadratic",
    "linear-spline",
    "cubic-spline",
    "thin-plate-spline",
):
    fits(f"kernel {name}, sinc, no intercept", sinc, name, gamma=0.1, fit_intercept=False)
fits("kernel poly, degree and coef0", box, "poly", gamma=0.5, degree=4, coef0=1.0)
fits("kernel sigmoid, coef0", box, "sigmoid", gamma=0.3, coef0=-0.5)
fits("kernel precomputed", precomputed, "precomputed")
fits("kernel callable", box, inverse_multiquadric)
fits("kernel callable, not symmetric", box, lopsided)

BASES = {
    "RBF(width=3)": RBF(width=3.0),
    "Matern(nu=1.5)": Matern(0.2, nu=1.5),
    "RationalQuadratic(alpha=0.4)": RationalQuadratic(0.2, alpha=0.4),
    "Polynomial(degree=5)": Polynomial(0.02, degree=5, coef0=1.0),
    "Sigmoid": Sigmoid(0.3, coef0=0.2),
    "LinearSpline(width=2)": LinearSpline(width=2.0),
    "CubicSpline(width=2)": CubicSpline(width=2.0),
    "ThinPlateSpline(width=9)": ThinPlateSpline(width=9.0),
    "Periodic": Periodic(3.0, width=0.7),
    "product": RBF(0.05) * Periodic(3.0),
    "product of three": RBF(0.05) * Linear() * Kernel(inverse_multiquadric),
    "KernelSum": KernelSum([RBF(0.2), Linear()]),
    "KernelSum with weights": KernelSum([Matern(0.1), Matern(1.0) * Linear()], weights=[2.0, 0.3]),
    "MultiScale": MultiScale(RBF(0.2)),
    "MultiScale of a product": MultiScale(RationalQuadratic(0.1) * Periodic(3.0), widths=(0.5, 3.0)),
    "MultiScale of a sum": MultiScale(KernelSum([Laplacian(0.3), Matern(0.1)]), widths=[2.0]),
    "Columns(degree=3)": Columns(degree=3),
    "RBF + Columns + Bias": RBF(0.5) + Columns(degree=2) + Bias(),
    "Linear + RBF": Linear() + RBF(0.2),
    "MultiScale + Columns": MultiScale(RBF(0.3)) + Columns(),
    "RBF + Periodic + product": RBF(0.1) + Periodic(3.0) + RBF(0.01) * Periodic(3.0),
    "Wavelet + Columns": Wavelet("haar") + Columns(),
}
for label, basis in BASES.items():
    fits(f"basis {label}", waves, basis)
fits("basis Bias + Columns, no intercept", waves, Bias() + Columns(degree=2), fit_intercept=False)
fits("basis RBF with a gamma for each input", box, RBF([1.0, 3.0, 0.1]) + Columns(degree=2))

for label, basis in {"Wavelet": Wavelet(), "DCT": DCT(), "Spike": Spike()}.items():
    fits(f"samples {label}, closed form", signal, basis, fit_intercept=False, noise_variance=0.02)
    fits(f"samples {label}, with an intercept", signal, basis, prior="bic", noise_variance=0.02)
fits(
    "samples Wavelet, noise estimated",
    partial(signal, "doppler"),
    Wavelet("db4"),
    prior="bic",
    fit_intercept=False,
)
fits("samples Wavelet of an image", partial(signal, "blocks"), Wavelet("haar", shape=(8, 16)), prior="aic")
fits("samples Wavelet + DCT, thorough", signal, Wavelet() + DCT(), prior="bic", solver="thorough")
fits("samples RBF + Spike", signal, RBF(0.5) + Spike(), prior="ric")
fits("samples DCT, weights", signal, DCT(), prior="bic", weights=np.arange(128) % 3 + 1.0)

fits("gamma scale", box, gamma="scale")
fits("gamma auto", box, gamma="auto")
fits("gamma number", box, gamma=0.5)
fits("gamma list", box, gamma=[2.0, 0.5, 0.01])
for word in ("evidence", "ard"):
    for name in ("rbf", "matern", "laplacian", "rational-quadratic", "poly"):
        fits(f"gamma {word}, {name}", box, name, gamma=word)
fits("gamma evidence, linear-spline", sinc, "linear-spline", gamma="evidence")
fits("gamma ard, linear-spline", partial(box, 100, 30), "linear-spline", gamma="ard")
fits("gamma evidence, sinc, bic", sinc, gamma="evidence", prior="bic")
fits("gamma evidence, noise known", sinc, gamma="evidence", noise_variance=0.01)
fits("gamma evidence, no intercept", sinc, gamma="evidence", fit_intercept=False)
fits("gamma evidence, product", waves, RBF() * Periodic(3.0), gamma="evidence")
fits("gamma evidence, KernelSum", waves, KernelSum([RBF(), Periodic(3.0)]), gamma="evidence")
fits("gamma evidence, MultiScale", sinc, MultiScale(RBF()), gamma="evidence")
fits("gamma evidence, RBF + Columns", waves, RBF() + Columns(degree=2), gamma="evidence")
fits("gamma ard, RBF + Matern", box, RBF() + Matern(), gamma="ard")
fits("gamma ard, RBF + Columns", box, RBF() + Columns(degree=2), gamma="ard")
fits("gamma ard, constant input", constant_input, gamma="ard")
fits("gamma ard, weights", box, gamma="ard", weights=np.arange(80) % 4 / 2.0)
fits("gamma ard, fewer rows", partial(box, 12), gamma="ard")
fits("gamma evidence beside Spike", partial(signal, "heavisine"), RBF() + Spike(), gamma="evidence")
fits("gamma evidence beside Wavelet", partial(signal, "blocks"), RBF() + Wavelet("haar"), gamma="evidence")
fits("gamma evidence, mackay", sinc, gamma="evidence", solver="mackay")
fits("gamma evidence, subset of regressors", partial(sinc, 1200), gamma="evidence")
fits("gamma ard, subset of regressors", partial(box, 1100), gamma="ard")


def with_covariance(name, data, *args, **options):
    """A regressor whose joint covariance is recorded as well."""

    def record() -> Record:
        X, y, queries = data()
        return of_regressor(api.regressor(*args, **options).fit(X, y), queries, covariance=True)

    add(name, record)


for variance in ("auto", "posterior"):
    with_covariance(f"variance {variance}", sinc, gamma=0.1, variance=variance)
for variance in ("auto", "posterior", "dense"):
    with_covariance(f"variance {variance}, gamma ard", box, gamma="ard", variance=variance)
with_covariance(
    "variance dense, gamma evidence, no intercept",
    sinc,
    gamma="evidence",
    variance="dense",
    fit_intercept=False,
)
with_covariance("variance dense, RBF + Columns", waves, RBF() + Columns(), gamma="evidence", variance="dense")
fits("variance augmented", sinc, gamma=0.1, variance="augmented")
fits("variance augmented, gamma ard", box, gamma="ard", variance="augmented")
fits("variance augmented, no intercept", box, gamma=1.0, variance="augmented", fit_intercept=False)

fits("rows repeated", repeated_rows)
fits("rows repeated, Matern", repeated_rows, "matern", fit_intercept=False)
fits("rows constant input", constant_input)
fits("rows two", partial(sinc, 2))
fits("rows three", partial(sinc, 3, seed=1))
fits("rows six", partial(sinc, 6, seed=1))
fits("rows in large units", partial(scaled, 1e4, 1e6))
fits("rows in small units", partial(scaled, 1e-3, 1e-8))
fits("rows in small units, Laplacian", partial(scaled, 1e-3, 1e-8), "laplacian", fit_intercept=False)
fits("weights counts", sinc, gamma=0.1, weights=np.arange(100) % 4 * 1.0)
fits("weights fractions", sinc, gamma=0.1, weights=np.linspace(0.1, 2.0, 100))
fits("weights zero for half", box, weights=np.arange(80) % 2 * 1.0, fit_intercept=False)
fits("weights precomputed", precomputed, "precomputed", weights=np.arange(80) % 3 * 1.0)
fits(
    "nothing to find, ric",
    lambda: (box()[0], np.random.default_rng(8).standard_normal(80), box()[2]),
    prior="ric",
)
