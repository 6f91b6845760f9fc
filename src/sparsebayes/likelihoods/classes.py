"""Labels: Bernoulli for two classes, Multinomial for more."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import qmc

from sparsebayes._array import Array, asfloat64, namespace, take, to_numpy
from sparsebayes.likelihoods.base import LaplaceLikelihood

POINTS = 64  # pairs of points that an average over softmax outputs is taken at
WIDTHS = (4.0, 16.0)  # standard deviations of an output beyond which its sigmoid needs more points
NODES = (33, 129, 257)
SMALLEST = 1e-300  # keeps the logarithm of a probability finite


class ClassLikelihood(LaplaceLikelihood):
    """y are 0s and 1s, f the logarithms of their probabilities but for a constant of the row."""

    @abstractmethod
    def mean(self, f: Array) -> Array:
        """E[y|f], the probabilities (N, K)."""

    @abstractmethod
    def log_mean(self, f: Array) -> Array:
        """log E[y|f] (N, K), to the last digit where the probability is too small for floating point."""

    @abstractmethod
    def moderated_output(self, mean: Array, covariance: Array) -> Array:
        """The outputs that give E[y] over f ~ N(mean, covariance), (N, K) from (N, K) and (N, K, K)."""

    def moderated(self, mean: Array, covariance: Array) -> Array:
        """E[y] over f ~ N(mean, covariance): what the posterior leaves open about f makes p less certain."""
        return self.mean(self.moderated_output(mean, covariance))

    def gradient(self, y: Array, f: Array) -> Array:
        """g = y − E[y|f]: both are of the exponential family in f (N, K)."""
        return y - self.mean(f)


@dataclass(frozen=True)
class Bernoulli(ClassLikelihood):
    """y ∈ {0, 1}, p(y=1|f) = 1/(1+exp(−f)) [T01, eq. 23]: one output, g = y − p, b = p(1−p)."""

    outputs: int = 1

    def log_prob(self, y: Array, f: Array) -> Array:
        """y f − log(1+exp f), without overflow."""
        xp = namespace(f)
        tail = xp.log1p(xp.exp(-xp.abs(f)))
        return (y * f - xp.where(f > 0, f, xp.zeros_like(f)) - tail)[:, 0]

    def mean(self, f: Array) -> Array:
        """1/(1+exp(−f)), accurate to the last digit where it is small."""
        xp = namespace(f)
        small = xp.exp(-xp.abs(f))
        return xp.where(f > 0, 1 / (1 + small), small / (1 + small))

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, None]:
        """b = p(1−p)."""
        xp = namespace(f)
        small = xp.exp(-xp.abs(f))
        return small / (1 + small) ** 2, None

    def start(self, y: Array, counts: Array) -> Array:
        """The log odds of the rows."""
        share = (counts @ y) / namespace(y).sum(counts)
        return namespace(y).log(share / (1 - share))

    def log_mean(self, f: Array) -> Array:
        """−log(1+exp(−f)), without overflow."""
        xp = namespace(f)
        return xp.where(f < 0, f, xp.zeros_like(f)) - xp.log1p(xp.exp(-xp.abs(f)))

    def moderated_output(self, mean: Array, covariance: Array) -> Array:
        """The log odds of ∫ σ(f + √v z) N(z|0, 1) dz, by the trapezium rule.

        The wider the sigmoid is spread the more points it takes; a row's do not depend on the other rows. The
        probability is exact to 1e-4 up to v = 256, and within 0.02 whatever v is.
        """
        xp = namespace(mean)
        v = xp.stack([covariance[:, k, k] for k in range(mean.shape[1])], axis=1)
        width = xp.sqrt(xp.where(v > 0, v, xp.zeros_like(v)))
        needed = np.searchsorted(WIDTHS, to_numpy(xp.max(width, axis=1)))
        groups = [np.flatnonzero(needed == k) for k in range(len(NODES))]
        pieces = [
            self._log_odds(take(mean, rows), take(width, rows), nodes)
            for rows, nodes in zip(groups, NODES, strict=True)
            if len(rows)
        ]
        return take(xp.concat(pieces, axis=0), np.argsort(np.concatenate(groups)))

    def _log_odds(self, mean: Array, width: Array, nodes: int) -> Array:
        """The nodes are symmetric: the less probable class has p ≤ ½, to its last digit, the other 1−p."""
        xp = namespace(mean)
        size, p = xp.abs(mean), xp.zeros_like(mean)
        z = np.linspace(-8.0, 8.0, nodes)
        weights = np.exp(-0.5 * z**2)
        with np.errstate(over="ignore"):  # 1/(1 + ∞) is 0, as it should be
            for point, weight in zip(z.tolist(), (weights / weights.sum()).tolist(), strict=True):
                f = point * width
                f += size
                p += weight / (1 + xp.exp(f))
        p = xp.clip(p, None, 0.5)
        return xp.sign(mean) * (xp.log1p(-p) - xp.log(p + SMALLEST))


@dataclass(frozen=True)
class Multinomial(ClassLikelihood):
    """y one of K classes as a row of 0s and one 1, p = softmax(f) [T01, eq. 28], B = diag(p) − ppᵀ.

    Adding a constant to all K outputs changes nothing: B has the null vector 1. The prior on the weights (and
    for the intercepts the condition that they sum to zero) fixes it.
    """

    outputs: int

    def log_prob(self, y: Array, f: Array) -> Array:
        """yᵀf − log Σ exp f, without overflow."""
        xp = namespace(f)
        peak = xp.max(f, axis=1)
        total = xp.log(xp.sum(xp.exp(f - peak[:, None]), axis=1))
        return xp.sum(y * (f - peak[:, None]), axis=1) - total

    def mean(self, f: Array) -> Array:
        """softmax(f)."""
        xp = namespace(f)
        e = xp.exp(f - xp.max(f, axis=1)[:, None])
        return e / xp.sum(e, axis=1)[:, None]

    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, Array]:
        """d = u = p."""
        p = self.mean(f)
        return p, p

    def start(self, y: Array, counts: Array) -> Array:
        """The logarithms of the shares of the classes, which sum to zero."""
        xp = namespace(y)
        share = xp.log((counts @ y) / xp.sum(counts))
        return share - xp.mean(share)

    def log_mean(self, f: Array) -> Array:
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
        eye = xp.eye(self.outputs, dtype=mean.dtype)
        order = xp.argsort(mean, axis=1)
        sort = xp.astype(order[:, :, None] == xp.arange(self.outputs)[None, None, :], mean.dtype)
        mean = (sort @ mean[:, :, None])[:, :, 0]
        contrast = sort - 1 / self.outputs  # what all outputs share says nothing
        spread = contrast @ covariance @ xp.matrix_transpose(contrast)
        typical = xp.max(xp.abs(spread), axis=(1, 2))[:, None, None]
        L = xp.linalg.cholesky(spread + eye[None, :, :] * (1e-10 * typical + SMALLEST))
        # contrasts have one dimension less: the last pivot is what is added above, and rounding
        L = L * xp.astype(xp.arange(self.outputs) < self.outputs - 1, mean.dtype)
        total = xp.zeros_like(mean)
        points = _normal_points(self.outputs)
        for point in points:
            deviation = L @ asfloat64(point, like=mean)
            total = total + self.mean(mean + deviation) + self.mean(mean - deviation)
        log_p = xp.log(total / (2 * len(points)) + SMALLEST)
        return (xp.matrix_transpose(sort) @ log_p[:, :, None])[:, :, 0]


@lru_cache
def _normal_points(dimension: int) -> np.ndarray:
    """Low-discrepancy normal deviates, half of a set that is symmetric about zero."""
    return qmc.MultivariateNormalQMC(np.zeros(dimension), seed=0).random(POINTS)
