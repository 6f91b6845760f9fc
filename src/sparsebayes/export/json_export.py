"""Fitted models as JSON for other languages: functions, weights, covariance. docs/model-files.md has the schema."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from sparsebayes._array import to_numpy
from sparsebayes.bases import (
    RBF,
    Cosine,
    CubicSpline,
    HistogramIntersection,
    KernelProduct,
    KernelSum,
    Laplacian,
    Linear,
    LinearSpline,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    ThinPlateSpline,
)
from sparsebayes.bases.columns import BoundBias, BoundColumns
from sparsebayes.bases.concatenation import BoundConcatenation
from sparsebayes.bases.kernels.contract import BoundKernel
from sparsebayes.bases.kernels.multiscale import BoundMultiScale
from sparsebayes.estimators import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from sparsebayes.estimators._fitted import model_on_host

FORMAT, VERSION = "sparsebayes formula", 1
CLASSIFIERS = (RelevanceVectorClassifier, SparseBayesClassifier)
ESTIMATORS = (RelevanceVectorRegressor, SparseBayesRegressor, *CLASSIFIERS)
ERROR_BARS = {"PosteriorBars": "posterior", "AugmentedBars": "augmented", "ProcessBars": "gp"}

PARAMETERS: dict[type, tuple[str, ...]] = {
    RBF: ("gamma",),
    Laplacian: ("gamma",),
    Matern: ("gamma", "nu"),
    RationalQuadratic: ("gamma", "alpha"),
    Periodic: ("period", "width"),
    Polynomial: ("gamma", "degree", "coef0", "origin"),
    Sigmoid: ("gamma", "coef0"),
    Linear: (),
    Cosine: (),
    HistogramIntersection: (),
    LinearSpline: ("width", "origin"),
    CubicSpline: ("width", "origin"),
    ThinPlateSpline: ("width",),
    KernelProduct: ("parts",),
    KernelSum: ("parts", "weights"),
}
PER_INPUT = ("gamma", "width", "period", "origin")


def to_json(model: Any, indent: int | None = None) -> str:
    """A fitted model as JSON text, for programs in other languages.

    The text has the functions with their numbers, the weights with their covariance, the intercept and the noise, in
    plain words; every number round-trips. `save` stores the whole estimator instead.

    Parameters
    ----------
    model : RelevanceVectorRegressor, SparseBayesRegressor, RelevanceVectorClassifier or SparseBayesClassifier
        A fitted estimator, whose functions are kernels of this package, columns, their products, and constants.
    indent : int, optional
        Spaces by which the levels of the text are indented; None for one line.

    Returns
    -------
    str
        JSON; the page "Model files" of the documentation has the schema.

    Examples
    --------
    >>> import json
    >>> import numpy as np
    >>> from sparsebayes import SparseBayesRegressor
    >>> from sparsebayes.export import to_json
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> model = SparseBayesRegressor(noise_variance=0.01).fit(X, 2 * X[:, 1])
    >>> content = json.loads(to_json(model))
    >>> content["models"][0]["functions"]["parts"][0]["terms"]
    [[[1, 0.0]]]
    """
    from sparsebayes import __version__

    if not isinstance(model, ESTIMATORS):
        names = ", ".join(each.__name__ for each in ESTIMATORS)
        raise TypeError(f"model must be one of {names} for JSON, got {type(model).__name__}.")
    check_is_fitted(model)
    model = model_on_host(model)
    features = getattr(model, "feature_names_in_", None)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "package": __version__,
        "estimator": type(model).__name__,
        "n_features": int(model.n_features_in_),
        "feature_names": None if features is None else [str(name) for name in features],
        **(_classification(model) if isinstance(model, CLASSIFIERS) else _regressions(model)),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)


def _regressions(model: Any) -> dict[str, Any]:
    """The models of all groups of outputs."""
    if not hasattr(model, "estimators_"):
        return {"kind": "regression", "models": [_regression(model, range(len(model._fitted.result.intercept)))]}
    pairs = zip(model.estimators_, model.outputs_, strict=True)
    return {"kind": "regression", "models": [_regression(*pair) for pair in pairs]}


def _regression(model: Any, outputs: Any) -> dict[str, Any]:
    """The model of outputs that share their functions."""
    result, bars = model._fitted.result, model._error_bars
    scales = to_numpy(getattr(result, "output_scales", np.ones(1)))
    mean = to_numpy(result.mean)
    return {
        "outputs": [int(t) for t in outputs],
        "functions": _functions(model),
        "weights": (mean[:, None] if mean.ndim == 1 else mean).T.tolist(),
        "intercept": to_numpy(result.intercept).tolist(),
        "centre": to_numpy(result.centre)[0].tolist(),
        "covariance": _dense(result.covariance).tolist(),
        "intercept_variance": float(result.intercept_covariance[0, 0]),
        "noise_variance": float(result.noise_variance),
        "excess_variance": float(getattr(bars, "excess", 0.0)),
        "output_scales": scales.tolist(),
        "noise_shape": _number(model.noise_shape_),
        "error_bars": ERROR_BARS[type(bars).__name__],
        "log_evidence": _number(result.log_evidence),
    }


def _classification(model: Any) -> dict[str, Any]:
    """The outputs of a classifier and its classes."""
    fitted = model._fitted
    result = fitted.result
    classes = result.classes.tolist()
    if not all(type(label) in (bool, int, float, str) for label in classes):
        raise ValueError(f"model must have classes that are text or numbers for JSON, got {classes!r}.")
    return {
        "kind": "classification",
        "classes": classes,
        "link": "logistic" if result.outputs == 1 else "softmax",
        "functions": _functions(model),
        "weights": fitted.of_weights(result.mean, 0.0).tolist(),
        "intercept": to_numpy(result.intercept).tolist(),
        "terms": np.column_stack([fitted.position, result.output]).tolist(),
        "centre": to_numpy(result.centre).tolist(),
        "covariance": _dense(result.covariance).tolist(),
        "intercept_covariance": to_numpy(result.intercept_covariance).tolist(),
        "log_evidence": _number(result.log_evidence),
    }


def _functions(model: Any) -> dict[str, Any]:
    """The selected functions: parts side by side, and their order."""
    d = int(model.n_features_in_)
    parts, order = _parts(model._fitted.basis, d)
    return {"parts": parts, "order": order.tolist()}


def _parts(basis: Any, d: int) -> tuple[list[dict[str, Any]], np.ndarray]:
    """The parts of a basis, and the number of each function among those of all parts side by side."""
    if type(basis) not in (BoundConcatenation, BoundMultiScale):
        return [_part(basis, d)], np.arange(basis.n_functions)
    found, orders, start = [], [np.zeros(0, dtype=np.int64)], 0
    for part in basis.parts:
        own, order = _parts(part, d)
        found += own
        orders.append(start + order)
        start += part.n_functions
    stacked = np.concatenate(orders)
    return found, stacked if basis.order is None else stacked[basis.order]


def _part(basis: Any, d: int) -> dict[str, Any]:
    """Functions of one kind; ValueError if they have no formula."""
    if type(basis) is BoundKernel:
        return {"kind": "kernel", "kernel": _kernel(basis.kernel, d), "centres": to_numpy(basis.centres).tolist()}
    if type(basis) is BoundColumns:
        origin = np.broadcast_to(np.asarray(basis.origin, dtype=np.float64), d).tolist()
        rows = [[k for k in row if k < d] for row in basis.functions.tolist()]
        return {"kind": "terms", "terms": [[[k, origin[k] if len(row) > 1 else 0.0] for k in row] for row in rows]}
    if type(basis) is BoundBias:
        return {"kind": "terms", "terms": [[]] * basis.n_functions}
    raise ValueError(
        f"model has functions of the kind {type(basis).__name__.removeprefix('Bound')}, which have no formula for "
        "JSON: kernels of this package, Columns and Bias have one; save() stores every model."
    )


def _kernel(kernel: Any, d: int) -> dict[str, Any]:
    """A kernel with its parameters as numbers, one per input where there can be one per input."""
    if type(kernel) not in PARAMETERS:
        raise ValueError(f"model has the kernel {type(kernel).__name__}, whose formula is not known, so not for JSON.")
    found: dict[str, Any] = {"name": type(kernel).__name__}
    for name in PARAMETERS[type(kernel)]:
        value = getattr(kernel, name)
        if name == "parts":
            found[name] = [_kernel(part, d) for part in value]
        elif name in PER_INPUT:
            found[name] = np.broadcast_to(np.asarray(value, dtype=np.float64), d).tolist()
        else:
            found[name] = np.asarray(value).tolist()
    return found


def _dense(covariance: Any) -> np.ndarray:
    return covariance.toarray() if scipy.sparse.issparse(covariance) else to_numpy(covariance)


def _number(value: Any) -> float | None:
    """A number, or None if it is not finite."""
    return float(value) if math.isfinite(value) else None
