"""Sobol indices of a polynomial chaos expansion, with error bars from the posterior of its coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.integrations._posterior import CoefficientPosterior


@dataclass(frozen=True, eq=False)
class SobolIndices:
    """First-order and total Sobol indices of D inputs, with error bars.

    The indices are those of the posterior mean of the coefficients. The error bars are standard deviations over draws
    of the coefficients from their posterior: they count the noise and the size of the sample, but not terms that were
    not selected.

    Attributes
    ----------
    first, total : ndarray of shape (D,)
        The share of the variance that is due to each input alone, and to it with all its interactions.
    first_std, total_std : ndarray of shape (D,)
        Their standard deviations.
    first_draws, total_draws : ndarray of shape (n_draws, D)
        The indices of each draw, for intervals: ``np.quantile(indices.first_draws, [0.025, 0.975], axis=0)``.
    variance : float
        The variance of the expansion.

    Notes
    -----
    With L outputs every array has one more axis, of length L, at its end.
    """

    first: np.ndarray
    total: np.ndarray
    first_std: np.ndarray
    total_std: np.ndarray
    first_draws: np.ndarray
    total_draws: np.ndarray
    variance: Any


def sobol_indices(
    posterior: CoefficientPosterior, degrees: np.ndarray, norms: np.ndarray, n_draws: int, random_state: Any
) -> SobolIndices:
    """Sobol indices of an expansion in orthogonal polynomials, each a product of one polynomial per input.

    Parameters
    ----------
    posterior : CoefficientPosterior
        The posterior of the M coefficients.
    degrees : ndarray of int, shape (M, D)
        The degree of each term in each input.
    norms : ndarray of shape (M,)
        E[ψ_m²] of each term.
    n_draws : int
        Draws from the posterior for the error bars.
    random_state : int or None
        Seed of the draws.
    """
    used = degrees[posterior.active] > 0
    norms = norms[posterior.active]
    alone = used & (used.sum(axis=1) == 1)[:, None]
    first, total, variance = _shares(posterior.mean[None, :], norms, alone, used)
    first_draws, total_draws, _ = _shares(posterior.draws(n_draws, random_state), norms, alone, used)
    return SobolIndices(
        first=first[0],
        total=total[0],
        first_std=first_draws.std(axis=0),
        total_std=total_draws.std(axis=0),
        first_draws=first_draws,
        total_draws=total_draws,
        variance=float(variance[0]),
    )


def _shares(
    coefficients: np.ndarray, norms: np.ndarray, alone: np.ndarray, used: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First-order and total indices (n, D) and variances (n,) of n sets of coefficients (n, S).

    alone, used : whether a term depends on an input alone, and whether at all, (S, D).
    """
    parts = coefficients**2 * norms
    variance = parts[:, used.any(axis=1)].sum(axis=1)
    divisor = np.where(variance > 0, variance, 1.0)[:, None]
    return parts @ alone / divisor, parts @ used / divisor, variance


def stack(indices: list[SobolIndices]) -> SobolIndices:
    """The indices of several outputs in one record, the outputs along the last axis of every array."""
    names = SobolIndices.__dataclass_fields__
    stacked: dict[str, Any] = {name: np.stack([getattr(each, name) for each in indices], axis=-1) for name in names}
    return SobolIndices(**stacked)
