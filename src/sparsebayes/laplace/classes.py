"""Likelihoods of labels: Bernoulli for two classes, Multinomial for more."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import qmc

from sparsebayes._array import Array, asfloat64, beside, device, is_foreign, namespace, to_numpy
from sparsebayes.laplace.by_width import by_width
from sparsebayes.laplace.likelihood import Encoded, LaplaceLikelihood, host
from sparsebayes.laplace.predictions import log_probabilities

POINTS = 64  # pairs of points that an average over softmax outputs is taken at
WIDTHS = (4.0, 16.0)  # standard deviations of an output beyond which its sigmoid needs more points
NODES = (33, 129, 257)
RIDGES = (1e-10, 1e-7, 1e-4, 1.0)  # of the largest element: added to a covariance until it has a root
BLOCK = 1 << 14  # numbers that are averaged together: they stay in the cache
SMALLEST = 1e-300  # keeps the logarithm of a probability finite


@dataclass
class ClassLikelihood(LaplaceLikelihood):
    """A likelihood of labels: y are 0s and 1s, f the logarithms of their probabilities up to a constant per row."""

    @abstractmethod
    def mean(self, f: Array) -> Array:
        """E[y|f], the probabilities (N, K)."""

    @abstractmethod
    def moderated_output(self, mean: Array, covariance: Array) -> Array:
        """The outputs that give E[y] over f ~ N(mean, covariance), (N, K) from (N, K) and (N, K, K)."""

    def gradient(self, y: Array, f: Array) -> Array:
        """g = y − E[y|f], as in every exponential family whose natural parameter is f (N, K)."""
        return y - self.mean(f)

    @abstractmethod
    def log_probabilities(self, f: Array) -> Array:
        """Logarithms of the probabilities of all classes, (N, number of classes), from the outputs (N, K).

        They are accurate even if a probability is too small for floating point.
        """

    def probabilities(self, result: Any, columns: Array, moderated: bool) -> Array:
        """Probabilities of the classes under a fitted model: see `core.result.Result.probabilities`."""
        return namespace(columns).exp(log_probabilities(result, columns, moderated))


def one_hot(y: Any, weights: Any = None) -> tuple[Array, np.ndarray]:
    """Labels as rows of 0s and one 1, in the library of the labels, and the classes in ascending order.

    y : (N,) labels of any type that can be sorted.  weights : (N,) how often each row counts, or None; every
    class needs a row that counts, for its intercept would go to −∞ without one.
    """
    labels = y if is_foreign(y) else host(y)
    check_label_vector(labels, int(labels.shape[0]) if labels.ndim else 0)
    classes, numbers = number_classes(labels)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes, got {len(classes)} class(es): {classes.tolist()}.")
    codes = codes_of(numbers, len(classes))
    if is_foreign(labels):
        counts = to_numpy(column_sums(codes, None if weights is None else beside(weights, codes)))
    else:
        counts = np.bincount(numbers, None if weights is None else to_numpy(weights))
    if not counts.min() > 0:
        missing = classes[counts <= 0].tolist()
        raise ValueError(f"sample_weight leaves no row of class {missing} in y; remove those rows.")
    return codes, classes


def codes_of(numbers: Array, K: int) -> Array:
    """The numbers (N,) of classes as rows of 0s and one 1, (N, K)."""
    if not is_foreign(numbers):
        return np.eye(K)[numbers]
    xp = namespace(numbers)
    return xp.astype(numbers[:, None] == beside(np.arange(K), numbers)[None, :], xp.float64)


def column_sums(codes: Array, weights: Array | None) -> Array:
    """Σ_n w_n of the rows of each class, (K,)."""
    return namespace(codes).sum(codes, axis=0) if weights is None else weights @ codes


def check_label_vector(y: Any, n: int) -> Array:
    """y as a vector of n labels.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    n : int
        How many rows there are.
    """
    labels = y if is_foreign(y) else host(y)
    if labels.ndim != 1 or labels.shape[0] != n:
        raise ValueError(f"y must be a vector of labels, one per row of Phi, got shape {tuple(labels.shape)}.")
    floats = is_float(labels)
    if floats and not bool(namespace(labels).all(namespace(labels).isfinite(labels))):
        raise ValueError("y contains NaN or infinity; every label must be a class.")
    return labels


def is_float(labels: Array) -> bool:
    """Whether labels are real floating point numbers."""
    if not is_foreign(labels):
        return labels.dtype.kind == "f"
    return bool(namespace(labels).isdtype(labels.dtype, "real floating"))


def number_classes(labels: Any) -> tuple[np.ndarray, Array]:
    """Number the classes that occur in labels.

    Parameters
    ----------
    labels : array-like of shape (N,)
        Labels of any type that can be sorted.

    Returns
    -------
    classes : ndarray
        The classes in ascending order, on the host.
    numbers : array of shape (N,)
        The number of each label among them, where the labels are.
    """
    if is_foreign(labels):
        found = namespace(labels).unique_inverse(labels)
        return to_numpy(found[0]), namespace(labels).reshape(found[1], (-1,))
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"y must hold labels that can be sorted, got {' and '.join(kinds)} together.") from error


@dataclass
class Bernoulli(ClassLikelihood):
    """Two classes: y ∈ {0, 1}, p(y=1|f) = 1/(1+exp(−f)) [T01, eq. 23]; one output, g = y − p, B = p(1−p).

    It has no parameters.
    """

    def encode(self, y: Any, weights: Any = None) -> Encoded:
        """Check labels of two classes and turn them into 0 and 1; see `LaplaceLikelihood.encode`."""
        codes, classes = one_hot(y, weights)
        if len(classes) != 2:
            raise ValueError(
                f"y must have two classes with likelihood=Bernoulli(), got {len(classes)}; use Multinomial()."
            )
        return Encoded(self, codes[:, 1:], classes)

    def log_prob(self, y: Array, f: Array) -> Array:
        """−log(1+exp(−f)) of y = 1 and −log(1+exp f) of y = 0, without overflow, (N,)."""
        return _log_sigmoid((2 * y - 1) * f)[:, 0]

    def mean(self, f: Array) -> Array:
        """1/(1+exp(−f)), accurate to the last digit where it is small."""
        xp = namespace(f)
        small = xp.exp(-xp.abs(f))
        return xp.where(f > 0, 1 / (1 + small), small / (1 + small))

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, None]:
        """p(1−p)."""
        xp = namespace(f)
        small = xp.exp(-xp.abs(f))
        return small / (1 + small) ** 2, None

    def log_curvature_slope(self, y: Array, f: Array) -> Array:
        """1 − 2p."""
        return 1 - 2 * self.mean(f)

    def start(self, y: Array, counts: Array) -> Array:
        """The log odds of the rows."""
        share = (counts @ y) / namespace(y).sum(counts)
        return namespace(y).log(share / (1 - share))

    def log_probabilities(self, f: Array) -> Array:
        """Logarithms −log(1+exp(±f)) of 1 − p and p, (N, 2), from the output (N, 1), without overflow."""
        return _log_sigmoid(namespace(f).concat([-f, f], axis=1))

    def moderated_output(self, mean: Array, covariance: Array) -> Array:
        """The log odds of ∫ σ(f + √v z) N(z|0, 1) dz, by the trapezium rule.

        The larger v, the more points are used; the points of a row do not depend on the other rows. The
        probability is exact to 1e-4 up to v = 256, and within 0.02 for any v.
        """
        v = covariance[:, :, 0]
        xp = namespace(v)
        width = xp.sqrt(xp.where(v > 0, v, xp.zeros_like(v)))
        return by_width(width, WIDTHS, NODES, (mean, width), self._log_odds)[0]

    def _log_odds(self, nodes: int, mean: Array, width: Array) -> tuple[Array]:
        """The log odds by this many nodes.

        The nodes are symmetric, so that the less probable class has p ≤ ½, accurate to its last digit.
        """
        xp = namespace(mean)
        size = xp.abs(mean)
        z, weights = (asfloat64(each, like=mean) for each in _trapezium_rule(nodes))
        with np.errstate(over="ignore"):  # 1/(1 + ∞) is 0, as it should be
            tails = [1 / (1 + xp.exp(width[rows, :] * z + size[rows, :])) @ weights for rows in _blocks(mean, nodes)]
        p = xp.concat(tails)[:, None]
        p = xp.clip(p, None, 0.5)
        return (xp.sign(mean) * (xp.log1p(-p) - xp.log(p + SMALLEST)),)


@dataclass
class Multinomial(ClassLikelihood):
    """K classes: y is a row of 0s and one 1, p = softmax(f) [T01, eq. 28], B = diag(p) − ppᵀ; K outputs.

    Adding a constant to all K outputs changes nothing: B has the null vector 1. The prior on the weights (and
    for the intercepts the condition that they sum to zero) fixes it.

    Parameters
    ----------
    outputs : int
        K, the number of classes; 0 takes it from the labels.
    """

    outputs: int = 0

    def encode(self, y: Any, weights: Any = None) -> Encoded:
        """Check labels and turn each into a row of 0s and one 1; see `LaplaceLikelihood.encode`."""
        codes, classes = one_hot(y, weights)
        if self.outputs not in (0, len(classes)):
            raise ValueError(f"y must have {self.outputs} classes with likelihood={self!r}, got {len(classes)}.")
        return Encoded(Multinomial(len(classes)), codes, classes)

    def log_prob(self, y: Array, f: Array) -> Array:
        """yᵀf − log Σ exp f, without overflow."""
        return namespace(f).sum(y * self.log_probabilities(f), axis=1)

    def mean(self, f: Array) -> Array:
        """softmax(f) over the second axis; f may have a third, of several points."""
        xp = namespace(f)
        e = xp.exp(f - xp.max(f, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, Array]:
        """d = u = p."""
        p = self.mean(f)
        return p, p

    def curvature_slope(self, y: Array, f: Array, H: Array) -> Array:
        """B (diag H − 2Hp), from ∂B_kl/∂f_m = δ_kl B_km − B_km p_l − p_k B_lm."""
        xp, p = namespace(f), self.mean(f)
        eye = xp.eye(self.outputs, dtype=f.dtype, device=device(f))[None, :, :]
        inner = xp.sum(eye * H, axis=2) - 2 * (H @ p[:, :, None])[:, :, 0]
        return p * (inner - xp.sum(p * inner, axis=1)[:, None])

    def start(self, y: Array, counts: Array) -> Array:
        """The logarithms of the shares of the classes, which sum to zero."""
        xp = namespace(y)
        share = xp.log((counts @ y) / xp.sum(counts))
        return share - xp.mean(share)

    def log_probabilities(self, f: Array) -> Array:
        """f − log Σ exp f."""
        xp = namespace(f)
        shifted = f - xp.max(f, axis=1)[:, None]
        return shifted - xp.log(xp.sum(xp.exp(shifted), axis=1))[:, None]

    def moderated_output(self, mean: Array, covariance: Array) -> Array:
        """The logarithm of softmax(f) averaged over a fixed set of points spread like N(mean, covariance).

        The outputs of each row are put in ascending order first, so that the order of the classes, for which
        no set of points is symmetric, does not matter.
        """
        xp = namespace(mean)
        eye = xp.eye(self.outputs, dtype=mean.dtype, device=device(mean))
        order = xp.argsort(mean, axis=1)
        sort = xp.astype(order[:, :, None] == beside(np.arange(self.outputs), order)[None, None, :], mean.dtype)
        mean = (sort @ mean[:, :, None])[:, :, 0]
        contrast = sort - 1 / self.outputs  # what all outputs share does not change the probabilities
        spread = contrast @ covariance @ xp.matrix_transpose(contrast)
        typical = xp.max(xp.abs(spread), axis=(1, 2))[:, None, None]
        L = _root(spread, eye[None, :, :] * typical + SMALLEST * eye[None, :, :])
        # contrasts have one dimension less: the last pivot is what is added above, and rounding
        L = L * asfloat64(np.arange(self.outputs) < self.outputs - 1, like=mean)
        points, averages = asfloat64(_normal_points(self.outputs).T, like=mean), []
        for rows in _blocks(mean, 2 * POINTS * self.outputs):
            middle, deviation = mean[rows, :, None], L[rows, ...] @ points
            averages.append(xp.mean(self.mean(xp.concat([middle + deviation, middle - deviation], axis=2)), axis=2))
        log_p = xp.log(xp.concat(averages) + SMALLEST)
        return (xp.matrix_transpose(sort) @ log_p[:, :, None])[:, :, 0]


def _log_sigmoid(f: Array) -> Array:
    """−log(1+exp(−f)), without overflow."""
    xp = namespace(f)
    return xp.clip(f, None, 0.0) - xp.log1p(xp.exp(-xp.abs(f)))


def _root(spread: Array, ridge: Array) -> Array:
    """L (N, K, K) with LLᵀ = spread, and as little of the ridge as it takes."""
    for share in RIDGES[:-1]:
        try:
            return namespace(spread).linalg.cholesky(spread + share * ridge)
        except Exception:  # every library raises a class of its own here
            continue
    return namespace(spread).linalg.cholesky(spread + RIDGES[-1] * ridge)


def _blocks(mean: Array, numbers: int) -> list[slice]:
    """The rows of mean (n, K), divided so that a block with so many numbers per row stays in the cache."""
    n, step = int(mean.shape[0]), max(1, BLOCK // numbers)
    return [slice(a, min(a + step, n)) for a in range(0, max(n, 1), step)]


@lru_cache
def _trapezium_rule(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the standard normal distribution within eight standard deviations, and their shares."""
    z = np.linspace(-8.0, 8.0, nodes)
    weights = np.exp(-0.5 * z**2)
    return z, weights / weights.sum()


@lru_cache
def _normal_points(dimension: int) -> np.ndarray:
    """Low-discrepancy normal deviates, half of a set that is symmetric about zero."""
    return qmc.MultivariateNormalQMC(np.zeros(dimension), seed=0).random(POINTS)
