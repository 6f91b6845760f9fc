"""What the adapters of polynomial chaos share: the fit of every output, and its coefficients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from sparsebayes import NoiseCollapseWarning
from sparsebayes.integrations._posterior import CoefficientPosterior
from sparsebayes.integrations._sobol import SobolIndices, sobol_indices, stack


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


class PosteriorSobol:
    """Sobol indices of an expansion, from the posterior of its coefficients.  models : the model of each output."""

    models: list[Any]

    def _terms(self) -> tuple[np.ndarray, np.ndarray]:
        """The degree of each term in each input (M, D), and E[ψ²] of each term (M,)."""
        raise NotImplementedError

    def sobol(self, n_draws: int = 1000, random_state: Any = 0) -> SobolIndices:
        """First-order and total Sobol indices with error bars from draws of the posterior of the coefficients.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        random_state : int or None
            Their seed.

        Returns
        -------
        SobolIndices
            Arrays of shape (D,), or (D, L) for L > 1 outputs.
        """
        degrees, norms = self._terms()
        posteriors = [CoefficientPosterior.of(model) for model in self.models]
        indices = [sobol_indices(each, degrees, norms, n_draws, random_state) for each in posteriors]
        return self._of_outputs(indices)

    def _of_outputs(self, indices: list[SobolIndices]) -> SobolIndices:
        """The indices of one output, or of several stacked."""
        return indices[0] if len(indices) == 1 else stack(indices)
