"""Polynomial chaos with OpenTURNS: sparse expansions as a `FunctionalChaosResult`, with error bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import openturns as ot

from sparsebayes import SparseBayesRegressor
from sparsebayes.integrations._chaos import PosteriorSobol, coefficients_of, fit_outputs


@dataclass(frozen=True, eq=False)
class SparseChaos(PosteriorSobol):
    """A fitted polynomial chaos expansion.

    Attributes
    ----------
    result : openturns.FunctionalChaosResult
        The expansion: `getMetaModel()`, `getCoefficients()`, and whatever else takes such a result, such as
        `openturns.FunctionalChaosSobolIndices`.
    coefficients, standard_errors : ndarray of shape (M, L)
        Posterior means and standard deviations of the coefficients of the first M basis functions, for L outputs; zero
        for functions that were not selected.
    models : list of SparseBayesRegressor
        The fitted model of each output.
    degrees : ndarray of int, shape (M, D)
        The degree of each basis function in each input.
    """

    result: Any
    coefficients: np.ndarray
    standard_errors: np.ndarray
    models: list[Any]
    degrees: np.ndarray

    def _terms(self) -> tuple[np.ndarray, np.ndarray]:
        return self.degrees, np.ones(len(self.degrees))  # the bases of OpenTURNS are orthonormal


def fit_chaos(
    input_sample: Any, output_sample: Any, distribution: Any, basis: Any, size: int, model: Any = None
) -> SparseChaos:
    """Fit a sparse polynomial chaos expansion in an orthonormal basis of OpenTURNS.

    Parameters
    ----------
    input_sample : openturns.Sample or array-like of shape (N, D)
        Where the model was run.
    output_sample : openturns.Sample or array-like of shape (N, L) or (N,)
        What it returned. Every output gets a model of its own.
    distribution : openturns.Distribution
        The distribution of the inputs; they are mapped to the measure of the basis.
    basis : openturns.OrthogonalProductPolynomialFactory
        The basis; its enumerate function gives the order of its functions.
    size : int
        The first `size` functions are the candidates; there may be more of them than runs.
        `basis.getEnumerateFunction().getMaximumDegreeCardinal(p)` is their number up to degree p.
    model : SparseBayesRegressor, optional
        What fits the coefficients; None for ``SparseBayesRegressor(fit_intercept=False)``.

    Returns
    -------
    SparseChaos
        The `FunctionalChaosResult`, the standard errors of the coefficients, and Sobol indices with error bars.
    """
    model = SparseBayesRegressor(fit_intercept=False) if model is None else model
    if getattr(model, "fit_intercept", False):
        raise ValueError("model must have fit_intercept=False, got True: the basis contains the constant.")
    inputs, outputs = _sample(input_sample, "input_sample"), _sample(output_sample, "output_sample")
    _check(inputs, outputs, distribution, basis, size)
    transformation = ot.DistributionTransformation(distribution, basis.getMeasure())
    standardised = transformation(inputs)
    functions = [basis.build(k) for k in range(size)]
    design = np.hstack([np.asarray(function(standardised)) for function in functions])
    models = fit_outputs(model, design, np.asarray(outputs))
    coefficients, errors = coefficients_of(models)
    active = np.flatnonzero(coefficients.any(axis=1))
    result = ot.FunctionalChaosResult(
        inputs,
        outputs,
        distribution,
        transformation,
        ot.DistributionTransformation(basis.getMeasure(), distribution),
        basis,
        [int(k) for k in active],
        ot.Sample(coefficients[active]),
        [functions[k] for k in active],
    )
    result.setInvolvesModelSelection(True)
    enumerate_function = basis.getEnumerateFunction()
    degrees = np.array([list(enumerate_function(k)) for k in range(size)])
    return SparseChaos(result, coefficients, errors, models, degrees)


def _sample(values: Any, name: str) -> Any:
    """The values as a Sample; one-dimensional values are one column."""
    if isinstance(values, ot.Sample):
        return values
    array = np.asarray(values, dtype=float)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two axes, got shape {array.shape}.")
    return ot.Sample(array.reshape(len(array), -1))


def _check(inputs: Any, outputs: Any, distribution: Any, basis: Any, size: Any) -> None:
    """Raise ValueError unless the arguments of `fit_chaos` belong together."""
    dimension = basis.getMeasure().getDimension()
    if not distribution.getDimension() == inputs.getDimension() == dimension:
        raise ValueError(
            f"input_sample, distribution and basis must have the same dimension, got {inputs.getDimension()}, "
            f"{distribution.getDimension()} and {dimension}."
        )
    if inputs.getSize() != outputs.getSize():
        raise ValueError(
            f"output_sample must have one row per row of input_sample, {inputs.getSize()}, got {outputs.getSize()}."
        )
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise ValueError(f"size must be an integer >= 1, got {size!r}.")
