"""Likelihoods p(y|f): what is known of y once f = Φw is given. They know nothing of Φ, w or α.

Each has `log_prob`, its `gradient` g = ∂ log p/∂f and its `curvature` B = −∂² log p/∂f². Those whose
curvature depends on f (the Laplace likelihoods) work on f of shape (N, K), K being `outputs`, and also give
the curvature of each row as diag(d) − uuᵀ, which products with N rows can use without N K×K matrices.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import qmc

from sparsebayes._array import Array, asfloat64, namespace, take, to_numpy

AT_FLOOR = 1e-6  # relative: how near its ceiling β counts as being there
POINTS = 64  # pairs of points that an average over softmax outputs is taken at
WIDTHS = (4.0, 16.0)  # standard deviations of an output beyond which its sigmoid needs more points
NODES = (33, 129, 257)
SMALLEST = 1e-300  # keeps the logarithm of a probability finite


@dataclass(frozen=True)
class Gaussian:
    """y = f + ε, ε ~ N(0, 1/β), with an optional Gamma(c, d) prior on the precision β [T01, eq. 6].

    beta : β, the precision the fit starts from, or keeps where `estimate` is False.
    c, d : the prior, as T01 counts it: it adds c log β − dβ to the objective [T01, eq. 36].
    beta_max : the ceiling on β. Once t lies in the span of fewer than N columns the evidence grows without
        bound as 1/β → 0; the ceiling (a floor on the noise variance) keeps the numbers finite.
    """

    beta: float
    estimate: bool = True
    c: float = 0.0
    d: float = 0.0
    beta_max: float = math.inf

    def log_prob(self, y: Array, f: Array) -> Array:
        """log p(y_n|f_n), one value a row."""
        return 0.5 * (math.log(self.beta / (2 * math.pi)) - self.beta * (y - f) ** 2)

    def gradient(self, y: Array, f: Array) -> Array:
        """g = ∂ log p / ∂f = β (y − f)."""
        return self.beta * (y - f)

    def curvature(self, y: Array, f: Array) -> Array:
        """b = −∂² log p / ∂f² = β, whatever f is: one pass over the rows is enough."""
        return self.beta * namespace(f).ones_like(f)

    def with_beta(self, beta: float) -> Gaussian:
        """The same noise model at another precision."""
        return replace(self, beta=min(float(beta), self.beta_max))

    def at_floor(self, beta: float) -> bool:
        """Whether an estimated noise with this precision is at the floor that `beta_max` puts under it."""
        return self.estimate and beta >= self.beta_max * (1 - AT_FLOOR)

    def log_prior(self, beta: float) -> float:
        """c log β − dβ; nothing where the noise is given."""
        return self.c * math.log(beta) - self.d * beta if self.estimate else 0.0

    def log_prior_slopes(self, beta: float) -> tuple[float, float]:
        """First and second derivative of `log_prior` by log β."""
        return self.c - self.d * beta, -self.d * beta

    def reestimate(self, n: float, residual: float, shrink: float, prior_slope=None) -> float:
        """The precision β that makes the noise equation zero, 'all at once' [T01, eq. 46; SE07, eq. 36].

            ½ [n − shrink − β·residual] + c − dβ + ∂ log p(α|β)/∂ log β = 0

        MacKay: residual = ‖t−Φμ‖², shrink = Σγ.  EM: residual = ‖t−Φμ‖² + Σγ/β_old, shrink = 0.
        prior_slope : β -> the last term, for priors on α that depend on the noise; then the equation is
        solved numerically around the closed form.
        """
        numerator, denominator = n - shrink + 2 * self.c, residual + 2 * self.d
        if numerator <= 0 or denominator <= numerator / self.beta_max:
            return self.beta_max if numerator > 0 else self.beta
        plain = numerator / denominator
        if prior_slope is None:
            return min(plain, self.beta_max)

        def equation(log_beta: float) -> float:
            beta = math.exp(log_beta)
            return 0.5 * (numerator - beta * denominator) + prior_slope(beta)

        low, high = math.log(plain) - 1.0, math.log(plain) + 1.0
        for _ in range(60):
            if equation(low) > 0:
                break
            low -= 1.0
        while equation(high) > 0 and high < math.log(plain) + 60:
            high += 1.0
        if not equation(low) > 0 > equation(high):
            return min(plain, self.beta_max)
        return min(math.exp(brentq(equation, low, high, xtol=1e-12)), self.beta_max)


class LaplaceLikelihood(ABC):
    """A likelihood whose posterior is approximated by a Gaussian around its mode [T01, 3.1].

    y and f : (N, K) with K = `outputs`.
    """

    outputs: int

    @abstractmethod
    def log_prob(self, y: Array, f: Array) -> Array:
        """log p(y_n|f_n), one value a row: (N,)."""

    @abstractmethod
    def mean(self, f: Array) -> Array:
        """E[y|f], the probabilities (N, K)."""

    @abstractmethod
    def curvature_factors(self, f: Array) -> tuple[Array, Array | None]:
        """(d, u), each (N, K), with B_n = diag(d_n) − u_n u_nᵀ; u is None where it is zero."""

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

    def curvature(self, y: Array, f: Array) -> Array:
        """B_n = −∂² log p/∂f² of every row, (N, K, K); it does not depend on y."""
        xp = namespace(f)
        d, u = self.curvature_factors(f)
        B = d[:, :, None] * xp.eye(self.outputs, dtype=f.dtype)[None, :, :]
        return B if u is None else B - u[:, :, None] * u[:, None, :]


@dataclass(frozen=True)
class Bernoulli(LaplaceLikelihood):
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

    def curvature_factors(self, f: Array) -> tuple[Array, None]:
        """b = p(1−p)."""
        xp = namespace(f)
        small = xp.exp(-xp.abs(f))
        return small / (1 + small) ** 2, None

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
class Multinomial(LaplaceLikelihood):
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

    def curvature_factors(self, f: Array) -> tuple[Array, Array]:
        """d = u = p."""
        p = self.mean(f)
        return p, p

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
