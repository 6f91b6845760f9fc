"""Intervals and samples of new targets: quantiles and draws of the predictive distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import gennorm
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sparsebayes._array import Array, at_least, beside, is_foreign, namespace, to_numpy
from sparsebayes._checks import is_number, require_whole
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.result import Result
from sparsebayes.estimators._outputs import intercept_of, intervals_of_each, noise_of, samples_of_each
from sparsebayes.estimators._parts import model_of_parts
from sparsebayes.estimators._validation import check_inputs
from sparsebayes.laplace import GeneralizedNormal

NODES = 257  # of the trapezium rule
REACH = 9.0  # standard deviations beyond which a Gaussian counts as zero
DROP = 40.0  # nats below its peak at which the noise density counts as zero
SHARES = 33  # at which half widths are found; between them a polynomial


class PredictiveNoise(Protocol):
    """What is known of a new target beside the variance of f."""

    def half_widths(self, level: float, f_variance: Array) -> Array:
        """Half the width of the central interval of probability `level` at each query, (q,)."""

    def draw(self, rng: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
        """Errors y − f."""


@dataclass(frozen=True)
class GaussianPredictive:
    """Gaussian noise: y is Gaussian.  variance : σ², or one for each output (T,)."""

    variance: Any

    def half_widths(self, level: float, f_variance: Array) -> Array:
        """√(σ² + Var f) times the quantile of the standard normal distribution."""
        return float(-ndtri(0.5 * (1 - level))) * namespace(f_variance).sqrt(self.variance + f_variance)

    def draw(self, rng: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
        """Errors y − f."""
        return math.sqrt(self.variance) * rng.standard_normal(shape)


@dataclass(frozen=True)
class GeneralizedPredictive:
    """Generalized normal noise: y is the sum of the noise and a Gaussian, symmetric about its mean."""

    noise: GeneralizedNormal

    def half_widths(self, level: float, f_variance: Array) -> Array:
        """The quantiles depend on the share of the noise in the variance alone: found at a few shares, on the host."""
        if is_foreign(f_variance):
            return beside(self.half_widths(level, to_numpy(f_variance)), f_variance)
        total = self.noise.variance + f_variance
        share = f_variance / total
        low, high = float(share.min()), float(share.max())
        if high - low < 1e-12:
            return self._relative(level, low) * np.sqrt(total)
        nodes = low + (high - low) * 0.5 * (1 - np.cos(np.pi * np.arange(SHARES) / (SHARES - 1)))
        values = [self._relative(level, node) for node in nodes]
        weights = (-1.0) ** np.arange(SHARES)  # those of Chebyshev points; SciPy would add them up in a random order
        weights[[0, -1]] *= 0.5
        return BarycentricInterpolator(nodes, values, wi=weights)(share) * np.sqrt(total)

    def draw(self, rng: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
        """Errors y − f."""
        return gennorm(self.noise.shape, scale=self.noise.scale).rvs(shape, random_state=rng)

    def _relative(self, level: float, share: float) -> float:
        """The half width in standard deviations of y, if f has this share of the variance of y."""
        upper = 0.5 * (1 + level)
        unit = GeneralizedNormal.of_variance(self.noise.shape, 1.0)
        scale, wide = unit.scale * math.sqrt(1 - share), math.sqrt(share)
        if share < 1e-18:
            return float(gennorm(self.noise.shape, scale=scale).ppf(upper))
        # the wider of the two distributions is the one whose cumulative density is smooth
        if wide < scale:
            u, weights = _nodes(REACH * wide, lambda u: np.exp(-0.5 * (u / wide) ** 2))
            cumulative = gennorm(self.noise.shape, scale=scale).cdf
        else:
            reach = scale * DROP ** (1 / self.noise.shape)
            u, weights = _nodes(reach, lambda u: np.exp(-(np.abs(u / scale) ** self.noise.shape)))

            def cumulative(x: np.ndarray) -> np.ndarray:
                return ndtr(x / wide)

        most = -2 * float(ndtri(0.5 * (1 - level))) + 4.0  # both quantiles together, and more
        return float(brentq(lambda r: float(weights @ cumulative(r - u)) - upper, -most, most, xtol=1e-13))


def _nodes(reach: float, density: Any) -> tuple[np.ndarray, np.ndarray]:
    """The trapezium rule from −reach to reach with a density that need not be normalised."""
    u = reach * np.linspace(-1.0, 1.0, NODES)
    weights = density(u)
    return u, weights / weights.sum()


def predictive_noise(result: Result) -> PredictiveNoise:
    """The distribution of y − f of a fitted regression; ValueError if it is not known."""
    likelihood = result.likelihood
    if isinstance(likelihood, GaussianNoise):
        return GaussianPredictive(noise_of(result))
    if isinstance(likelihood, GeneralizedNormal):
        return GeneralizedPredictive(likelihood)
    raise ValueError(
        f"predict_interval and sample_y need Gaussian or GeneralizedNormal noise, got likelihood={likelihood!r}: "
        "the distribution of a new target is not known; use predict."
    )


def predicted_interval(model: Any, X: Any, level: float, parts: Any) -> tuple[Array, Array]:
    """The bounds of the central interval of a new target at each row of X."""
    check_is_fitted(model)
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, such as 0.95, got {level!r}.")
    if hasattr(model, "estimators_"):
        return intervals_of_each(model, X, level, parts)
    result = model._fitted.for_queries(X).result
    mean, std = model.predict(X, return_std=True, parts=parts)
    half = predictive_noise(result).half_widths(float(level), at_least(std**2 - noise_of(result), 0.0))
    return mean - half, mean + half


def drawn_targets(model: Any, X: Any, n_samples: int, random_state: Any, parts: Any) -> Array:
    """New targets at all rows of X jointly, (n_queries, n_samples)."""
    check_is_fitted(model)
    require_whole(n_samples, "n_samples", 1)
    if hasattr(model, "estimators_"):
        return samples_of_each(model, X, n_samples, check_random_state(random_state), parts)
    noise, rng = predictive_noise(model._fitted.result), check_random_state(random_state)
    fitted, bars = model_of_parts(model, parts, X, with_bars=True)
    rows = fitted.query(check_inputs(model, X, fitting=False))
    columns = fitted.basis(rows)
    mean = columns @ fitted.result.mean + intercept_of(fitted.result)
    root, own = bars.factor(rows, columns)

    def normal(*shape: int) -> Array:
        """Random numbers, drawn on the host, so that they are the same with every library."""
        return beside(rng.standard_normal(shape), mean)

    queries, samples = int(columns.shape[0]), int(n_samples)
    if mean.ndim == 1:
        f = mean[:, None] + root @ normal(root.shape[1], samples) + math.sqrt(own) * normal(queries, samples)
        return f + beside(noise.draw(rng, (queries, samples)), mean)
    T, xp = int(mean.shape[1]), namespace(mean)
    f = xp.reshape(root @ normal(root.shape[1], T * samples), (queries, T, samples))
    result: Any = fitted.result
    f = (
        f
        + math.sqrt(own) * normal(queries, T, samples)
        + math.sqrt(result.noise_variance) * normal(queries, T, samples)
    )
    return mean[:, :, None] + result.output_scales[:, None] * f
