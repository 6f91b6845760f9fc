"""Polynomial chaos with chaospy: sparse expansions with error bars on coefficients and Sobol indices.

`chaospy.fit_regression(expansion, samples, evals, model=SparseBayesRegressor(fit_intercept=False))` works as it is;
`fit_expansion` keeps the posterior of the coefficients as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chaospy
import numpoly
import numpy as np

from sparsebayes import SparseBayesRegressor
from sparsebayes.integrations._chaos import PosteriorSobol, coefficients_of, fit_outputs
from sparsebayes.integrations._sobol import SobolIndices, stack


@dataclass(frozen=True, eq=False)
class ChaosExpansion(PosteriorSobol):
    """A fitted polynomial chaos expansion.

    Attributes
    ----------
    polynomial : numpoly.ndpoly of shape () or (L,)
        The fitted polynomial, as chaospy's descriptive functions take it; L polynomials for L outputs.
    coefficients, standard_errors : ndarray of shape (M,) or (M, L)
        Posterior means and standard deviations of the coefficients; zero for terms that were not selected.
    models : list of SparseBayesRegressor
        The fitted model of each output.
    expansion, distribution : numpoly.ndpoly, chaospy.Distribution
        The M candidate terms, and the distribution of the inputs.
    norms : ndarray of shape (M,)
        E[ψ²] of each term.
    """

    polynomial: Any
    coefficients: np.ndarray
    standard_errors: np.ndarray
    models: list[Any]
    expansion: Any
    distribution: Any
    norms: np.ndarray

    def _terms(self) -> tuple[np.ndarray, np.ndarray]:
        return _degrees(self.expansion, len(self.distribution)), self.norms

    def _of_outputs(self, indices: list[SobolIndices]) -> SobolIndices:
        return indices[0] if self.coefficients.ndim == 1 else stack(indices)


def fit_expansion(
    expansion: Any, distribution: Any, samples: Any, evals: Any, model: Any = None, norms: Any = None
) -> ChaosExpansion:
    """Fit a sparse polynomial chaos expansion, and keep the posterior of its coefficients.

    Parameters
    ----------
    expansion : numpoly.ndpoly of shape (M,)
        Orthogonal polynomials, as `chaospy.generate_expansion` makes them; M may exceed the number of samples.
    distribution : chaospy.Distribution
        The distribution of the D inputs, which are independent.
    samples : array-like of shape (D, K)
        Where the model was run.
    evals : array-like of shape (K,) or (K, L)
        What it returned. Every output gets a model of its own.
    model : SparseBayesRegressor, optional
        What fits the coefficients; None for ``SparseBayesRegressor(fit_intercept=False)``.
    norms : array-like of shape (M,), optional
        E[ψ²] of each term, as `chaospy.generate_expansion(..., retall=True)` returns them. None computes them, which
        takes long for hundreds of terms.

    Returns
    -------
    ChaosExpansion
        The polynomial, its coefficients and their standard errors; `sobol()` gives Sobol indices.

    Examples
    --------
    >>> import chaospy
    >>> from sparsebayes.integrations.chaospy import fit_expansion
    >>> inputs = chaospy.Iid(chaospy.Uniform(-1, 1), 3)
    >>> terms, norms = chaospy.generate_expansion(6, inputs, retall=True)
    >>> x = inputs.sample(40, rule="sobol")
    >>> fitted = fit_expansion(terms, inputs, x, x[0] + 2 * x[1] * x[2], norms=norms)
    >>> fitted.sobol().first.round(2)
    array([0.43, 0.  , 0.  ])
    """
    model = SparseBayesRegressor(fit_intercept=False) if model is None else model
    samples, evals = np.atleast_2d(samples), np.asarray(evals, dtype=float)
    _check(expansion, distribution, samples, evals, model)
    norms = chaospy.E(expansion**2, distribution) if norms is None else np.asarray(norms, dtype=float)
    if norms.shape != expansion.shape:
        raise ValueError(f"norms must have one value per term, {len(expansion)}, got shape {norms.shape}.")
    design = expansion(*samples).T
    models = fit_outputs(model, design, evals.reshape(len(evals), -1))
    coefficients, errors = coefficients_of(models)
    if evals.ndim == 1:
        coefficients, errors = coefficients[:, 0], errors[:, 0]
    polynomial = numpoly.sum(expansion * coefficients.T, axis=-1)
    return ChaosExpansion(polynomial, coefficients, errors, models, expansion, distribution, norms)


def _check(expansion: Any, distribution: Any, samples: np.ndarray, evals: np.ndarray, model: Any) -> None:
    """Raise ValueError unless the arguments of `fit_expansion` belong together."""
    if samples.ndim != 2 or len(samples) != len(distribution):
        raise ValueError(
            f"samples must have one row per input, {len(distribution)}, got shape {samples.shape}: transpose it if its "
            "rows are runs."
        )
    if evals.ndim not in (1, 2) or len(evals) != samples.shape[1]:
        raise ValueError(f"evals must have one row per run, {samples.shape[1]}, got shape {evals.shape}.")
    if expansion.ndim != 1:
        raise ValueError(f"expansion must be a one-dimensional array of polynomials, got shape {expansion.shape}.")
    if getattr(model, "fit_intercept", False):
        raise ValueError("model must have fit_intercept=False, got True: the expansion contains the constant.")


def _degrees(expansion: Any, dimension: int) -> np.ndarray:
    """The degree of each term in each input, (M, D): the exponents of its leading monomial."""
    expansion = numpoly.set_dimensions(expansion, dimension)
    return np.asarray(numpoly.lead_exponent(expansion, graded=True))
