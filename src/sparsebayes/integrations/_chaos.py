"""What the adapters of polynomial chaos share: the fit of every output, and its coefficients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from sparsebayes import NoiseCollapseWarning
from sparsebayes.integrations._posterior import CoefficientPosterior


def fit_outputs(model: Any, design: np.ndarray, outputs: np.ndarray) -> list[Any]:
    """A fitted copy of the model for each output.

    A computer model has no noise, and an expansion may reproduce it exactly: no warning that the noise variance fell to
    its floor is given.

    Parameters
    ----------
    model : SparseBayesRegressor
        What fits the coefficients, without an intercept.
    design : ndarray of shape (N, M)
        The terms at the runs.
    outputs : ndarray of shape (N, L)
        The outputs of the runs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseCollapseWarning)
        return [clone(model).fit(design, column) for column in outputs.T]


def coefficients_of(models: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients and their standard errors, (M, L), of the models of L outputs."""
    posteriors = [CoefficientPosterior.of(model) for model in models]
    coefficients = np.stack([each.coefficients for each in posteriors], axis=-1)
    return coefficients, np.stack([each.standard_errors for each in posteriors], axis=-1)
