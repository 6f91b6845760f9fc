"""Kernels with more than 1500 points: through a factor of low rank, or with their matrix formed after all."""

from __future__ import annotations

from functools import partial

import numpy as np
from cases import QUERIES, classes, fits, fits_labels, two_classes
from cases_kernels import lopsided

from sparsebayes import RBF, Columns, KernelSum, Linear, LinearSpline, Matern, MultiScale
from sparsebayes.datasets import make_friedman, make_sinc2d


def plane(n: int = 1600, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Two inputs, sin(‖x‖)/‖x‖."""
    X, y, _ = make_sinc2d(n, random_state=seed)
    return X, y, make_sinc2d(QUERIES, random_state=100 + seed)[0]


def friedman(n: int = 1600) -> tuple[np.ndarray, ...]:
    """Ten inputs: a kernel of high rank."""
    X, y, _ = make_friedman(n=n, random_state=0)
    return X, y, make_friedman(n=QUERIES, random_state=1)[0]


def with_repeats() -> tuple[np.ndarray, ...]:
    """Rows on a grid, many of them more than once."""
    X, y, queries = plane(2000, 3)
    return X.round(0), y, queries


GAMMA = 1 / 2.5**2
fits("large, low rank", plane, gamma=GAMMA)
fits("large, low rank, no intercept", partial(plane, 2500, 1), gamma=GAMMA, fit_intercept=False)
fits("large, low rank, loose tolerance", partial(plane, 2500, 2), gamma=GAMMA, tol=1e-2)
fits("large, low rank, bic", plane, gamma=GAMMA, prior="bic")
fits("large, low rank, noise known", plane, gamma=GAMMA, noise_variance=0.01)
fits("large, low rank, noise prior", plane, gamma=GAMMA, noise_prior=(5.0, 0.1))
fits("large, low rank, weights", plane, gamma=GAMMA, weights=np.arange(1600) % 3 + 0.5)
fits("large, low rank, repeated rows", with_repeats, gamma=GAMMA)
fits("large, low rank, augmented variance", plane, gamma=GAMMA, variance="augmented")
fits("large, low rank, wide kernel", plane, gamma=1e-4)
fits("large, low rank, product", plane, RBF(0.05) * RBF(0.1))
fits("large, low rank, KernelSum", plane, KernelSum([RBF(GAMMA), Linear()]))
fits("large, low rank, Matern", plane, Matern(0.05), noise_variance=0.01)
fits("large, low rank, noise shape", plane, gamma=GAMMA, noise_shape=3.0)
fits("large, formed, narrow kernel", plane, gamma=10.0, prior="bic", max_iter=60)
fits("large, formed, Laplacian", plane, "laplacian", gamma=1.0, tol=1e-2)
fits("large, formed, ten inputs", friedman, tol=1e-2)
fits("large, formed, sequential", plane, gamma=GAMMA, solver="sequential", max_iter=150)
fits("large, formed, not symmetric", plane, lopsided, prior="bic")
fits("large, formed, splines", plane, LinearSpline(), tol=1e-2, prior="ric")
fits("largest, by columns, Laplacian", partial(plane, 16_100), "laplacian", gamma=0.3, prior="ric", tol=1e-1)
fits(
    "largest, by columns, narrow kernel",
    partial(plane, 16_100),
    gamma=3.0,
    prior="ric",
    tol=1e-1,
    max_iter=30,
)
fits("large, concatenation", plane, RBF(GAMMA) + Columns(degree=2), tol=1e-2)
fits("large, MultiScale", plane, MultiScale(RBF(GAMMA), widths=(2.0, 1.0)), tol=1e-2)
fits("large, gamma evidence", plane, gamma="evidence", tol=1e-2)
fits("large, gamma ard, variance dense", plane, gamma="ard", variance="dense", tol=1e-2)
fits_labels("large, two classes", partial(two_classes, 1600), gamma=1.0)
fits_labels(
    "large, two classes, no intercept, bic",
    partial(two_classes, 2000),
    gamma=1.0,
    fit_intercept=False,
    prior="bic",
)
fits_labels("large, three classes", partial(classes, 3, 1600), gamma=0.5, tol=1e-2)
fits_labels("large, two classes, formed", partial(two_classes, 1600), "laplacian", gamma=3.0, tol=1e-2)
fits_labels(
    "largest, two classes, Laplacian",
    partial(two_classes, 16_100),
    "laplacian",
    gamma=0.3,
    prior="ric",
    tol=1e-1,
)
fits_labels("large, two classes, gamma ard", partial(two_classes, 1600), gamma="ard", tol=1e-2)
fits_labels(
    "large, two classes, weights",
    partial(two_classes, 1600),
    gamma=1.0,
    class_weight="balanced",
    weights=np.arange(1600) % 3 + 0.5,
)
