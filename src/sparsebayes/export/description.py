"""Fitted models as numbers, tables and formulas: what programs for a device are written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from sparsebayes._array import to_numpy
from sparsebayes.estimators import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from sparsebayes.estimators._error_bars import AugmentedBars, PosteriorBars, root_of
from sparsebayes.estimators._fitted import on_host
from sparsebayes.estimators._moderation import Coverage, Moderation
from sparsebayes.export.functions import Functions, KernelFunctions, functions_of

REGRESSORS = (RelevanceVectorRegressor, SparseBayesRegressor)
CLASSIFIERS = (RelevanceVectorClassifier, SparseBayesClassifier)


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance of a new target, ‖Rᵀ(φ − φ̄)‖² + c.

    Parameters
    ----------
    centre : ndarray of shape (S,)
        φ̄.
    root : ndarray of shape (S, S)
        R, lower triangular, with RRᵀ = Σ.
    constant : float
        c: the noise, the intercept, and what else is the same at all queries.
    extra : ExtraFunction or None
        The function at the query that variance="augmented" adds.
    """

    centre: np.ndarray
    root: np.ndarray
    constant: float
    extra: ExtraFunction | None = None


@dataclass(frozen=True, eq=False)
class ExtraFunction:
    """One more function k(·, x*) at each query x*, which adds e²/(α + S) to the variance.

    With b = k(X, x*) − m, o = k(x*, x*) − m, p = PᵀBb, r = b − Pp, g = PᵀBr − QᵀQp and α = k(x*, x*)²/v:
    e = o − (φ − φ̄)ᵀR(p + g) and S = rᵀBr + ‖Qp‖² − ‖g‖², which are bᵀBb − pᵀp and g = 0 but for rounding.

    Parameters
    ----------
    functions : Functions
        k at the N training rows.
    shares : ndarray of shape (N,)
        m is the mean of k(X, x*) with these weights; zeros without an intercept.
    precisions : ndarray of shape (N,)
        B.
    columns : ndarray of shape (N, S)
        P, the centred functions at the training rows times R, the root of Σ = RRᵀ.
    prior_root : ndarray of shape (S, S)
        Q = A^½R, lower triangular, A being the precisions of the weights.
    target_variance : float
        v.
    """

    functions: Functions
    shares: np.ndarray
    precisions: np.ndarray
    columns: np.ndarray
    prior_root: np.ndarray
    target_variance: float

    @property
    def kernel(self) -> KernelFunctions:
        """k."""
        (part,) = self.functions.parts
        assert isinstance(part, KernelFunctions)
        return part


@dataclass(frozen=True, eq=False)
class Regression:
    """f_t = φᵀw_t + b_t for T outputs that share their functions.

    Parameters
    ----------
    functions : Functions
        φ.
    weights : ndarray of shape (S, T)
        The posterior means of the weights.
    intercept : ndarray of shape (T,)
        b.
    scales : ndarray of shape (T,)
        What the standard deviation of each output is multiplied by.
    spread : Spread or None
        The variance of an output of scale 1; None if it is not exported.
    """

    functions: Functions
    weights: np.ndarray
    intercept: np.ndarray
    scales: np.ndarray
    spread: Spread | None


@dataclass(frozen=True, eq=False)
class Regressions:
    """Models of groups of outputs.

    Parameters
    ----------
    models : tuple of Regression
        One for each group.
    places : ndarray of int, shape (T,)
        Output t is number `places[t]` of the outputs of all models side by side.
    """

    models: tuple[Regression, ...]
    places: np.ndarray

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.models[0].functions.n_inputs

    @property
    def has_std(self) -> bool:
        """Whether standard deviations are exported."""
        return self.models[0].spread is not None


@dataclass(frozen=True, eq=False)
class Averaging:
    """The Gaussian that probabilities are averaged over: Σ = RRᵀ over the S weights of all outputs.

    Parameters
    ----------
    position, output : ndarray of int, shape (S,)
        The function and the output of each weight.
    root : ndarray of shape (S, S)
        R, lower triangular.
    centre : ndarray of shape (K, S)
        How the intercepts move with the weights.
    intercept_covariance : ndarray of shape (K, K)
        The covariance of the intercepts at given weights.
    """

    position: np.ndarray
    output: np.ndarray
    root: np.ndarray
    centre: np.ndarray
    intercept_covariance: np.ndarray


@dataclass(frozen=True, eq=False)
class Doubt:
    """Where the training rows are: t = 1 − ‖Hk(x)‖²/s between 0 and 1, and p is p(1 − t) + t·share of the class.

    Parameters
    ----------
    functions : Functions
        k, at points that represent the training rows.
    inverse_root : ndarray of shape (P, P)
        H, lower triangular.
    scale : float
        s.
    shares : ndarray of shape (classes,)
        The shares of the classes.
    """

    functions: Functions
    inverse_root: np.ndarray
    scale: float
    shares: np.ndarray


@dataclass(frozen=True, eq=False)
class Classification:
    """Probabilities of classes from outputs f_k = φᵀw_k + b_k: one output for two classes, else one for each.

    Parameters
    ----------
    functions : Functions
        φ.
    weights : ndarray of shape (S, K)
        w.
    intercept : ndarray of shape (K,)
        b.
    classes : ndarray
        The labels in the order of the probabilities.
    averaging : Averaging or None
        None if f is that of the mean weights alone.
    doubt : Doubt or None
        None if probabilities do not depend on where the training rows are.
    """

    functions: Functions
    weights: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray
    averaging: Averaging | None
    doubt: Doubt | None

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.functions.n_inputs


def describe(model: Any, std: bool = False) -> Regressions | Classification:
    """A fitted model as numbers, tables and formulas.

    Parameters
    ----------
    model : RelevanceVectorRegressor, SparseBayesRegressor, RelevanceVectorClassifier or SparseBayesClassifier
        A fitted estimator.
    std : bool
        Whether the standard deviation of a regression is wanted.

    Returns
    -------
    Regressions or Classification
        Its description; ValueError if something of it has no formula.
    """
    if not isinstance(model, (*REGRESSORS, *CLASSIFIERS)):
        names = ", ".join(each.__name__ for each in (*REGRESSORS, *CLASSIFIERS))
        raise TypeError(
            f"model must be one of {names}, got {type(model).__name__}: a Pipeline with one of them is exported by "
            "skl2onnx.to_onnx after sparsebayes.export.register_converters()."
        )
    check_is_fitted(model)
    if isinstance(model, REGRESSORS):
        return _regressions(model, std)
    if std:
        raise ValueError(f"std must be False for {type(model).__name__}, which has probabilities instead, got True.")
    return _classification(model)


def has_variance(model: Any) -> bool:
    """Whether a fitted model has standard deviations that can be exported."""
    models = getattr(model, "estimators_", [model])
    return all(isinstance(getattr(each, "_error_bars", None), AugmentedBars | PosteriorBars) for each in models)


def _regressions(model: Any, std: bool) -> Regressions:
    if not hasattr(model, "estimators_"):
        one = _regression(model, std)
        return Regressions((one,), np.arange(len(one.intercept)))
    models = tuple(_regression(each, std) for each in model.estimators_)
    return Regressions(models, np.argsort(np.concatenate(model.outputs_)))


def _regression(model: Any, std: bool) -> Regression:
    fitted, d = model._fitted, model.n_features_in_
    result = fitted.result
    functions = functions_of(fitted.basis, d)
    S, T = len(result.mean), len(result.intercept)
    weights = _host(result.mean).reshape(S, T) if S else np.zeros((1, T))
    scales = _host(getattr(result, "output_scales", np.ones(T)))
    return Regression(functions, weights, _host(result.intercept), scales, _spread(model, d) if std else None)


def _spread(model: Any, d: int) -> Spread:
    """The variance that `predict(X, return_std=True)` has; ValueError if it needs the Gaussian process."""
    bars, result = model._error_bars, model._fitted.result
    if not isinstance(bars, AugmentedBars | PosteriorBars):
        raise ValueError(
            f"std must be False with variance={model.variance!r}, whose standard deviation needs all {bars.n} training "
            "rows and a matrix of that size; fit with variance='auto', 'posterior' or 'augmented'."
        )
    if not len(result.mean):
        centre, root = np.zeros(1), np.zeros((1, 1))
    else:
        centre, root = _host(result.centre)[0], triangular_root(result.covariance)
    constant = result.noise_variance + float(result.intercept_covariance[0, 0])
    if isinstance(bars, AugmentedBars):
        return Spread(centre, root, constant, _extra(bars, root, d))
    return Spread(centre, root, constant + bars.excess)


def _extra(bars: AugmentedBars, root: np.ndarray, d: int) -> ExtraFunction:
    moved, N = bars.basis.centred_at(bars.X), len(bars.X)
    assert moved is not None, "fit has seen to it that there is one function to centre at a query"
    shares = bars.precisions / bars.precisions.sum() if bars.result.has_intercept else np.zeros(N)
    columns, prior_root = np.zeros((N, 1)), root
    if bars.Phi.shape[1]:
        columns, prior_root = bars.Phi @ root, np.sqrt(_host(bars.result.alpha))[:, None] * root
    return ExtraFunction(functions_of(moved, d), shares, bars.precisions, columns, prior_root, bars.target_variance)


def _classification(model: Any) -> Classification:
    fitted, d, moderated = model._fitted, model.n_features_in_, bool(model.moderated)
    moderation = fitted.moderation if moderated and fitted.moderation else Moderation()
    doubt = None if moderation.coverage is None else _doubt(moderation.coverage, d)
    if moderation.process is not None and getattr(model, "calibrated", False):
        process = moderation.process
        weights, functions = process.weights, functions_of(process.basis, d)
        weights = weights[:, None] if len(weights) else np.zeros((1, 1))
        return Classification(functions, weights, np.asarray([process.intercept]), on_host(model.classes_), None, doubt)
    functions, result = functions_of(fitted.basis, d), fitted.result
    result = result.averaged if moderated and result.averaged is not None else result
    weights = np.zeros((functions.size, result.outputs))
    weights[fitted.position, result.output] = _host(result.mean)
    averaging = _averaging(result, fitted.position) if moderated else None
    return Classification(functions, weights, _host(result.intercept), on_host(model.classes_), averaging, doubt)


def _averaging(result: Any, position: np.ndarray) -> Averaging:
    K = result.outputs
    if not len(position):
        none = np.zeros(1, dtype=np.int64)
        return Averaging(none, none, np.zeros((1, 1)), np.zeros((K, 1)), _host(result.intercept_covariance))
    root, centre = triangular_root(result.covariance), _host(result.centre)
    return Averaging(position, result.output, root, centre, _host(result.intercept_covariance))


def _doubt(coverage: Coverage, d: int) -> Doubt:
    inverse = scipy.linalg.solve_triangular(coverage.root, np.eye(len(coverage.root)), lower=True)
    return Doubt(functions_of(coverage.basis, d), inverse, coverage.own * coverage.least, coverage.shares)


def triangular_root(covariance: Any) -> np.ndarray:
    """R, lower triangular, with RRᵀ = covariance, which may be singular."""
    dense = covariance.toarray() if scipy.sparse.issparse(covariance) else _host(covariance)
    try:
        return np.linalg.cholesky(dense)
    except np.linalg.LinAlgError:
        upper: Any = np.linalg.qr(root_of(dense).T, mode="r")
        return upper.T


def _host(values: Any) -> np.ndarray:
    return np.asarray(to_numpy(values), dtype=np.float64)
