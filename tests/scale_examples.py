"""Bases with scales of every kind, and data: what the tests of Gaussian processes run over."""

import numpy as np

from sparsebayes.bases import (
    RBF,
    Columns,
    Laplacian,
    LinearSpline,
    Matern,
    RationalQuadratic,
    ThinPlateSpline,
)

BASES = {
    "rbf": RBF(),
    "matern": Matern(nu=1.5),
    "laplacian": Laplacian(),
    "rational-quadratic": RationalQuadratic(),
    "linear-spline": LinearSpline(),  # no covariance where inputs are negative
    "thin-plate-spline": ThinPlateSpline(),
    "dictionary": RBF() + Columns(degree=2),
    "two kernels": RBF() + Matern(),
}

FIXED = {
    "rbf": RBF(0.4),
    "two kernels": RBF(0.4) + Matern(0.2),
    "columns": RBF(0.4) + Columns(2),
    "no covariance": ThinPlateSpline(2.0) + Columns(),
}


def data(seed, n=25, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * [1.0, 2.0, 0.5]
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(n), rng
