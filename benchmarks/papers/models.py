"""Estimators with every setting that matters given, so that a change of the package's defaults changes no table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR

from sparsebayes import RBF, Bias, RelevanceVectorClassifier, RelevanceVectorRegressor, WaveletDenoiser
from sparsebayes import fit as fit_matrix

MOST_STEPS = 500_000  # libsvm may not end on a large C
COMMON: dict[str, Any] = {
    "prior": "uniform",
    "solver": "active-set",
    "fit_intercept": True,
    "max_iter": 10_000,
    "tol": 1e-6,
    "gamma": "scale",  # of no effect on a kernel that states its width
    "random_state": 0,
}
REGRESSION: dict[str, Any] = {
    "effort": "default",
    "likelihood": "gaussian",
    "noise_variance": None,
    "variance": "posterior",
}
CLASSIFICATION: dict[str, Any] = {"moderated": True, "polish": False}


def regressor(kernel: Any, **settings: Any) -> RelevanceVectorRegressor:
    """A relevance vector regression; `settings` replace those above."""
    return RelevanceVectorRegressor(kernel, **COMMON | REGRESSION | settings)


def classifier(kernel: Any, **settings: Any) -> RelevanceVectorClassifier:
    """A relevance vector classification; `settings` replace those above."""
    return RelevanceVectorClassifier(kernel, **COMMON | CLASSIFICATION | settings)


def gaussian(width: float) -> RBF:
    """exp(−‖x − z‖²/width²), of fixed width."""
    return RBF(width=width)


def matrix_fit(Phi: Any, y: np.ndarray, **settings: Any) -> Any:
    """`fit` on a design matrix, its settings given; no intercept unless a column is one."""
    given = {"prior": "uniform", "solver": "active-set", "effort": "default", "noise_variance": None}
    given |= {"fit_intercept": False, "max_iter": 10_000, "tol": 1e-6, "random_state": 0}
    return quietly(lambda: fit_matrix(Phi, y, **given | settings))


def denoiser(prior: str, level: int, noise_variance: float | None = None) -> WaveletDenoiser:
    """Symmlets [SE07]: periodic, one prior for all coefficients, no averaging over shifts."""
    return WaveletDenoiser(
        "sym8", prior=prior, level=level, noise_variance=noise_variance, shifts=0, ndim=1, boundary="periodic"
    )


def svr(**settings: Any) -> SVR:
    """libsvm's regression; C, epsilon and gamma are to be given."""
    return SVR(max_iter=MOST_STEPS, **settings)


def svc(**settings: Any) -> SVC:
    """libsvm's classification; C and gamma are to be given."""
    return SVC(max_iter=MOST_STEPS, **settings)


def quietly(work: Any) -> Any:
    """The value of work(), without warnings: whether a fit converged is a column, not a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


def with_bias(basis: Any) -> Any:
    """A basis and a constant function, whose weight has a prior as the others have [T01, eq. 2]."""
    return basis + Bias()
