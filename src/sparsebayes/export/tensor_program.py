"""Predictions of a described model, written in ONNX operators."""

from __future__ import annotations

import numpy as np

from sparsebayes.export.description import Averaging, Classification, Doubt, ExtraFunction, Regression, Regressions
from sparsebayes.export.expressions import evaluated
from sparsebayes.export.kernel_expressions import LEAST
from sparsebayes.export.tensors import Tensor
from sparsebayes.laplace.classes import NODES, RIDGES, SMALLEST, WIDTHS, _normal_points

SINGLE_RIDGE = 1e-6  # in place of the first of RIDGES, which is below the rounding of single precision


def regression_outputs(model: Regressions, X: Tensor) -> list[Tensor]:
    """The means (n, T) at queries X (n, d), and the standard deviations (n, T) if the model has them."""
    pieces = [_regression(each, X) for each in model.models]
    outputs = [first.joined(*others, axis=1) for first, *others in zip(*pieces, strict=True)]
    if np.array_equal(model.places, np.arange(len(model.places))):
        return outputs
    return [each.gathered(model.places, 1) for each in outputs]


def _regression(model: Regression, X: Tensor) -> list[Tensor]:
    phi = model.functions.at(X)
    mean, spread = phi @ model.weights + model.intercept, model.spread
    if spread is None:
        return [mean]
    centred = phi - spread.centre
    half = centred @ spread.root
    variance = (half * half).total(keepdims=True) + spread.constant
    if spread.extra is not None:
        variance = variance + _gained(spread.extra, X, half)
    return [mean, variance.apply("Sqrt") * model.scales]


def _gained(extra: ExtraFunction, X: Tensor, half: Tensor) -> Tensor:
    """What the function at each query adds to the variance, (n, 1); half : Rᵀ(φ − φ̄), (n, S)."""
    phi, own = extra.functions.at(X), evaluated(extra.kernel.own, X.expanded(1))
    alpha = own * own / extra.target_variance
    mean = phi @ extra.shares[:, None]
    phi, own = phi - mean, own - mean
    projection = (phi * extra.precisions) @ extra.columns
    residual, within = phi - projection @ extra.columns.T, projection @ extra.prior_root.T
    weighted = residual * extra.precisions
    left = weighted @ extra.columns - within @ extra.prior_root
    e = own - (half * (projection + left)).total(keepdims=True)
    S = (residual * weighted).total(keepdims=True) + (within * within).total(keepdims=True)
    S = S - (left * left).total(keepdims=True)
    precision = alpha + S.apply("Max", 0.0)
    return e * e / precision.apply("Max", LEAST)


def class_probabilities(model: Classification, X: Tensor, single: bool) -> Tensor:
    """The probabilities of the classes (n, classes) at queries X (n, d).

    single : whether the numbers are of single precision.
    """
    phi = model.functions.at(X)
    f = phi @ model.weights + model.intercept
    V = None if model.averaging is None else _covariance(model.averaging, phi)
    if len(model.intercept) == 1:
        p = _two_classes(f, None if V is None else V.total(axis=2))
    elif V is None:
        p = _softmax(f, axis=1)
    else:
        p = _many_classes(f, V, len(model.intercept), SINGLE_RIDGE if single else RIDGES[0])
    return p if model.doubt is None else _blended(model.doubt, X, p)


def class_scores(model: Classification, X: Tensor, single: bool) -> Tensor:
    """What `decision_function` says of queries X (n, d), a column for each class: (n, classes); (−f, f) of two classes.

    single : whether the numbers are of single precision.
    """
    if model.averaging is None and model.doubt is None:
        f = model.functions.at(X) @ model.weights + model.intercept
    else:
        f = class_probabilities(model, X, single).apply("Max", LEAST if single else SMALLEST).apply("Log")
        if len(model.intercept) == 1:
            f = f.gathered([1], 1) - f.gathered([0], 1)
    return (-f).joined(f, axis=1) if len(model.intercept) == 1 else f


def _covariance(averaging: Averaging, phi: Tensor) -> Tensor:
    """The covariance (n, K, K) of the outputs."""
    rows, (K, S) = [], averaging.centre.shape
    for k in range(K):
        mine = np.flatnonzero(averaging.output == k)
        own = phi.gathered(averaging.position[mine] if len(mine) else [0], 1)
        root = averaging.root[mine] if len(mine) else np.zeros((1, S))
        rows.append((own @ root - averaging.centre[k] @ averaging.root).expanded(1))
    T = rows[0].joined(*rows[1:], axis=1)
    return T @ T.apply("Transpose", perm=[0, 2, 1]) + averaging.intercept_covariance


def _two_classes(f: Tensor, variance: Tensor | None) -> Tensor:
    """The probabilities (n, 2) from the output (n, 1) and its variance; those of the mean if that is None."""
    size = f.apply("Abs")
    if variance is None:
        small = (-size).apply("Exp")
        p = small / (small + 1.0)
    else:
        p = _tail(size, variance.apply("Max", 0.0).apply("Sqrt"))
    first = f.apply("LessOrEqual", 0.0).where(1.0 - p, p)
    second = f.apply("LessOrEqual", 0.0).where(p, 1.0 - p)
    return first.joined(second, axis=1)


def _tail(size: Tensor, width: Tensor) -> Tensor:
    """E 1/(1+exp(f)), f ~ N(size, width²), by the trapezium rule: wider Gaussians need more points (n, 1)."""
    nodes, weights = trapezium_rules()
    values = 1.0 / ((width * nodes + size).apply("Exp") + 1.0)
    narrow, middle, wide = ((values @ column[:, None]) for column in weights)
    p = width.apply("LessOrEqual", WIDTHS[0]).where(narrow, width.apply("LessOrEqual", WIDTHS[1]).where(middle, wide))
    return (p + SMALLEST).apply("Min", 0.5)


def trapezium_rules() -> tuple[np.ndarray, np.ndarray]:
    """The nodes of the finest rule, and the weights that each of the rules gives them (rules, nodes)."""
    nodes, weights = np.linspace(-8.0, 8.0, NODES[-1]), np.zeros((len(NODES), NODES[-1]))
    for rule, count in zip(weights, NODES, strict=True):
        step = (NODES[-1] - 1) // (count - 1)
        rule[::step] = np.exp(-0.5 * nodes[::step] ** 2)
        rule /= rule.sum()
    return nodes, weights


def _many_classes(f: Tensor, V: Tensor, K: int, ridge: float) -> Tensor:
    """softmax(f) averaged over N(f, V), as `Multinomial.moderated_output` does it, (n, K)."""
    f, order = f.apply("TopK", np.asarray([K]), axis=1, largest=0, sorted=1)
    permutation = order.expanded(2).apply("Equal", np.arange(K)).apply("CastLike", f)
    contrast = permutation - 1.0 / K
    L = _root(contrast @ V @ contrast.apply("Transpose", perm=[0, 2, 1]), K, ridge)
    deviation = L @ class_points(K).T
    p = _softmax(f.expanded(2) + deviation.joined(-deviation, axis=2), axis=1)
    share = p.total(axis=2) / (2.0 * len(class_points(K))) + SMALLEST
    return (share.expanded(1) @ permutation).total(axis=1)


def class_points(K: int) -> np.ndarray:
    """The normal deviates (64, K − 1) that probabilities of K classes are averaged over, with their negatives."""
    return _normal_points(K)[:, : K - 1]


def _root(spread: Tensor, K: int, ridge: float) -> Tensor:
    """L (n, K, K−1) of the Cholesky factorisation of spread + ridge, column by column; the last pivot is rounding."""
    sizes = spread.apply("Abs").apply("ReduceMax", np.asarray([1, 2]), keepdims=1)
    least, columns = sizes * ridge, []
    A = spread + least * np.eye(K)
    for j in range(K - 1):
        column = A.gathered([j], 2)
        pivot = column.gathered([j], 1).apply("Max", least * 0.5).apply("Max", LEAST)
        columns.append(column / pivot.apply("Sqrt") * (np.arange(K) >= j).astype(np.float64)[:, None])
        A = A - columns[j] @ columns[j].apply("Transpose", perm=[0, 2, 1])
    return columns[0].joined(*columns[1:], axis=2)


def _softmax(f: Tensor, axis: int) -> Tensor:
    e = (f - f.apply("ReduceMax", np.asarray([axis]), keepdims=1)).apply("Exp")
    return e / e.total(axis=axis, keepdims=True)


def _blended(doubt: Doubt, X: Tensor, p: Tensor) -> Tensor:
    """Probabilities that tend to the shares of the classes far from the training rows."""
    half = doubt.functions.at(X) @ doubt.inverse_root.T
    t = (1.0 - (half * half).total(keepdims=True) / doubt.scale).apply("Max", 0.0).apply("Min", 1.0)
    return p * (1.0 - t) + t * doubt.shares
