"""The Gaussian nearest to the posterior of the weights of two classes, which probabilities are averaged over.

Laplace's Gaussian lies at the mode. Where the data hardly determine a weight the posterior is skew: labels of the
one class forbid values of f on one side, and allow all on the other. A symmetric Gaussian about the mode then has
half of its mass where the posterior has none, and the average of a small probability comes out many times too
large. The Gaussian N(m, V) with the least divergence KL(N ‖ posterior) maximises

    Σ_n E log p(y_n|f_n) + E log p(w) + ½ log|V|,        f = Φw + b under N(m, V),

so that                     Φᵀ(y − E p) = A m,      V⁻¹ = A + Φᵀ diag(E p(1−p)) Φ.

For an intercept, whose prior is flat, the first equation says Σ_n E p_n = Σ_n y_n: averaged over the training
rows, the probability is the share of the class. That is true of the exact posterior as well.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from sparsebayes._array import Array, asfloat64, at_least, beside, is_foreign, namespace, row_squares, to_numpy
from sparsebayes.core.result import Result
from sparsebayes.laplace.by_width import by_width
from sparsebayes.laplace.mode import Mode
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.laplace.settings import LAPLACE, LaplaceSettings

WIDTHS = (4.0, 16.0)  # standard deviations beyond which an expectation needs more points
NODES = (49, 161, 321)
REACH = 8.0  # standard deviations within which a Gaussian is integrated
LEAST_SHARE, GROWTH = 1 / 64, 1.5  # of a step in V⁻¹: the least, and how it grows again
FEW, HURRIED, MANY = 2, 8, 10  # Newton steps for the mean at first, changes of V that this holds for, and then
LEAST_STEP = 1e-6  # share of a Newton step below which halving is given up
RIDGE = 1e-13  # of the mean diagonal: what rounding may take from a precision


class Expectations(NamedTuple):
    """E log p(y|f), E p and E p(1−p) over f ~ N(m, v) at each row, (N,) each."""

    log_prob: Array
    p: Array
    slope: Array


def expectations(y: Array, m: Array, v: Array) -> Expectations:
    """Expectations of a logistic likelihood by the trapezium rule.

    Parameters
    ----------
    y : array of shape (N,)
        Labels, 0 or 1.
    m, v : array of shape (N,)
        Mean and variance of f.

    Returns
    -------
    Expectations
        E log p(y|f), E p and E p(1−p), p = 1/(1+exp(−f)).
    """
    width = namespace(v).sqrt(at_least(v, 0.0))
    return Expectations(*by_width(width, WIDTHS, NODES, (y, m, width), _by_trapezium))


def _by_trapezium(nodes: int, y: Array, m: Array, width: Array) -> tuple[Array, Array, Array]:
    """The expectations (see `Expectations`) by this many nodes."""
    z = np.linspace(-REACH, REACH, nodes)
    weights = np.exp(-0.5 * z**2)
    weights /= weights.sum()
    if nodes < NODES[-1]:
        points = ((m + z * width, weight) for z, weight in zip(z.tolist(), weights.tolist(), strict=True))
        return _sums(y, points)
    return _sums(y, _spread_points(z, weights, m, width))


def _sums(y: Array, points: Iterable[tuple[Array, Any]]) -> tuple[Array, Array, Array]:
    """Sums over values of f (N,) and their weights, which add up to 1 at each row."""
    xp = namespace(y)
    log_prob, p, slope = xp.zeros_like(y), xp.zeros_like(y), xp.zeros_like(y)
    for f, weight in points:
        small = xp.exp(-xp.abs(f))
        p += weight * xp.where(f > 0, xp.ones_like(small), small) / (1 + small)
        slope += weight * small / (1 + small) ** 2
        log_prob += weight * (xp.clip((2 * y - 1) * f, None, 0.0) - xp.log1p(small))
    return log_prob, p, slope


def _spread_points(z: np.ndarray, weights: np.ndarray, m: Array, width: Array) -> Iterator[tuple[Array, Array]]:
    """Values of f with their weights where f varies by much more than the width of a sigmoid, 1.

    The values are f = sinh(u), u being equally spaced: near 0, where p turns, they are closer than 1, and far from
    there as close as the Gaussian needs. Where f has one sign within the reach they are those of `_by_trapezium`.
    """
    xp, step = namespace(m), float(z[1] - z[0]) / REACH
    far = xp.abs(m) > REACH * width
    reach = xp.asinh(xp.where(far, xp.ones_like(m), xp.abs(m) + REACH * width))
    scale = step * reach / (math.sqrt(2 * math.pi) * width)
    for point, weight in zip(z.tolist(), weights.tolist(), strict=True):
        u = point / REACH * reach
        f = xp.where(far, m + point * width, xp.sinh(u))
        yield f, xp.where(far, weight * xp.ones_like(m), scale * xp.cosh(u) * xp.exp(-0.5 * ((f - m) / width) ** 2))


class Expected(NamedTuple):
    """What is expected of the rows under N(m, V): a height, and two functions for what a step from there needs.

    height : Σ E log p(y|f).  slope : () -> Φᵀ(y − E p), (D,).  curvature : () -> Φᵀ diag(E p(1−p)) Φ, (D, D).
    """

    height: float
    slope: Callable[[], np.ndarray]
    curvature: Callable[[], np.ndarray]


class GaussianSearch(ABC):
    """The search for N(m, V): Newton's steps for the mean at given variances of f, and V at that mean, in turn.

    Attributes
    ----------
    alpha : ndarray of shape (D,)
        The precisions of the weights; 0 of an intercept, which comes last.
    settings : LaplaceSettings
        What the search depends on.
    """

    alpha: np.ndarray
    settings: LaplaceSettings

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """N, the number of rows."""

    @abstractmethod
    def spread(self, precision: np.ndarray | None) -> Any:
        """The standard deviations of f at the rows for V⁻¹ = precision, in the form that the other methods take.

        None stands for a V of zero.
        """

    @abstractmethod
    def expected(self, mean: np.ndarray, spread: Any) -> Expected:
        """What is expected of the rows under this mean and these standard deviations of f."""

    @abstractmethod
    def change(self, now: Any, before: Any, first: Any) -> tuple[float, float]:
        """How standard deviations of f changed from `first` to `before` (e_n) and to `now` (d_n) at each row.

        Returns the largest |d_n| and Σ_n d_n e_n, which is negative where they swing back. Both changes are relative:
        d_n = (now − before)/(1 + now).
        """

    def run(self, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """m (D,) and V⁻¹ (D, D), from the mode.

        V⁻¹ moves a share of the way, which is halved where the standard deviations of f swing back. A mean that is
        far from where it belongs would send V the wrong way: it gets more steps where few were not enough.
        """
        now = before = self.spread(None)
        share, (mean, precision) = 1.0, self.mean_at(mean, now, FEW)
        for step in range(self.settings.averaging_steps):
            used, first, before, now = precision, before, now, self.spread(precision)
            largest, product = self.change(now, before, first)
            if largest < self.settings.averaging_tolerance * share:
                break
            share = max(0.5 * share, LEAST_SHARE) if product < 0 else min(GROWTH * share, 1.0)
            mean, goal = self.mean_at(mean, now, FEW if step < HURRIED else MANY)
            precision = precision + share * (goal - precision)
        mean, _ = self.mean_at(mean, now, self.settings.newton_steps)
        return mean, used

    def mean_at(self, mean: np.ndarray, spread: Any, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """The mean after Newton steps with the standard deviations of f held fixed, and the precision there."""
        here = self._penalised(mean, spread)
        for _ in range(steps):
            slope = here.slope() - self.alpha * mean
            step = scipy.linalg.cho_solve(scipy.linalg.cho_factor(self._precision(here)), slope)
            if slope @ step < self.settings.rounding * self.n_rows:
                break
            share, there = 1.0, self._penalised(mean + step, spread)
            while not there.height > here.height and share > LEAST_STEP:
                share *= 0.5
                there = self._penalised(mean + share * step, spread)
            if not there.height > here.height:
                break
            mean, here = mean + share * step, there
        return mean, self._precision(here)

    def _penalised(self, mean: np.ndarray, spread: Any) -> Expected:
        """What is expected of the rows, ½ mᵀAm subtracted from its height."""
        found = self.expected(mean, spread)
        return found._replace(height=found.height - 0.5 * float(self.alpha @ mean**2))

    def _precision(self, at: Expected) -> np.ndarray:
        """A + Φᵀ diag(E p(1−p)) Φ, and a ridge for rounding."""
        H = 1.0 * at.curvature()
        H[np.diag_indices_from(H)] += self.alpha + RIDGE * np.mean(H.diagonal())
        return H


@dataclass(eq=False)
class NearestGaussian(GaussianSearch):
    """The search on rows in memory or on a device. What is said of the weights is on the host.

    Parameters
    ----------
    Phi : array of shape (N, D)
        The functions, and a column of ones if there is an intercept.
    y, counts : arrays of shape (N,)
        Labels, 0 or 1, and how often each row counts.
    alpha : ndarray of shape (D,)
        The precisions of the weights; 0 of the intercept.
    settings : LaplaceSettings
        What the search depends on.
    """

    Phi: Array
    y: Array
    counts: Array
    alpha: np.ndarray
    settings: LaplaceSettings = LAPLACE

    @property
    def n_rows(self) -> int:
        """N, the number of rows."""
        return int(self.y.shape[0])

    def spread(self, precision: np.ndarray | None) -> Array:
        """√(φᵀVφ) of each row, (N,)."""
        xp = namespace(self.y)
        if precision is None:
            return xp.zeros_like(self.y)
        L = scipy.linalg.cholesky(precision, lower=True)
        if is_foreign(self.Phi):
            inverse = scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True)
            return xp.sqrt(row_squares(self.Phi @ beside(inverse.T, self.Phi)))
        return spread_of(self.Phi, L)

    def expected(self, mean: np.ndarray, spread: Array) -> Expected:
        """What is expected of the rows; slope and curvature are computed when they are first used."""
        at = expectations(self.y, self.Phi @ beside(mean, self.y), spread**2)
        return Expected(
            float(self.counts @ at.log_prob),
            lambda: to_numpy(self.Phi.T @ (self.counts * (self.y - at.p))),
            lambda: to_numpy((self.Phi * (self.counts * at.slope)[:, None]).T @ self.Phi),
        )

    def change(self, now: Array, before: Array, first: Array) -> tuple[float, float]:
        """How the standard deviations of f changed: see `GaussianSearch.change`."""
        return change_of(now, before, first)


def spread_of(Phi: np.ndarray, L: np.ndarray) -> np.ndarray:
    """√(φᵀVφ) at each row φ of Phi (N, D), V⁻¹ = LLᵀ."""
    return np.sqrt(np.sum(scipy.linalg.solve_triangular(L, Phi.T, lower=True) ** 2, axis=0))


def change_of(now: Array, before: Array, first: Array) -> tuple[float, float]:
    """The largest relative change of standard deviations (N,), and its inner product with the change before that."""
    xp = namespace(now)
    change, last = (now - before) / (1 + now), (before - first) / (1 + before)
    return float(xp.max(xp.abs(change))), float(change @ last)


def with_average(result: Result, mode: Mode, rows: LaplaceRows, settings: LaplaceSettings) -> Result:
    """A result of one output with the Gaussian that its probabilities are averaged over, as `Result.averaged`.

    Parameters
    ----------
    result : Result
        The fitted model, in the user's units.
    mode : Mode
        Where its fit ended.
    rows : LaplaceRows
        The rows it was fitted to.
    settings : LaplaceSettings
        What the search depends on.

    Returns
    -------
    Result
        As it was, and the same model with another Gaussian as `averaged`; without it if the model is so large
        that the search would take long, or if a precision is singular to rounding.
    """
    Phi = rows.held(mode.J).design.columns(np.arange(len(mode.J)))
    if len(mode.J) ** 2 * Phi.shape[0] > settings.averaging_work:
        return result
    alpha, w, b = (to_numpy(each) for each in (mode.alpha, mode.w, mode.b))
    if rows.center:
        ones = namespace(Phi).ones_like(rows.counts)[:, None]
        Phi, alpha = namespace(Phi).concat([Phi, ones], axis=1), np.append(alpha, 0.0)
        w = np.append(w, b)
    search = NearestGaussian(Phi, rows.y[:, 0], rows.counts, alpha, settings)
    try:
        mean, precision = search.run(w)
        covariance = inverse_of(precision)
    except np.linalg.LinAlgError:
        return result
    return replace(result, averaged=in_units(result, mean, precision, covariance, mode, rows))


def inverse_of(precision: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite matrix, whose diagonal may span many orders of magnitude."""
    L = scipy.linalg.cholesky(precision, lower=True)
    half = scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True)
    return half.T @ half


def in_units(
    result: Result, mean: np.ndarray, precision: np.ndarray, V: np.ndarray, mode: Mode, rows: LaplaceRows
) -> Result:
    """The Gaussian N(mean, V) of the scaled weights and the intercept, in the form and the units of a `Result`.

    With an intercept, the last of the weights, f varies by (φ̃ − c)ᵀ Cov(w) (φ̃ − c) + v: the intercept moves with
    the weights as c = Λ_wb/Λ_bb says, Λ = V⁻¹, and v = 1/Λ_bb is its own variance.
    """
    norms, means, _ = (to_numpy(each) for each in rows.scales(mode.J))
    S, like = len(mode.J), result.mean
    covariance = V[:S, :S]
    centre = precision[:S, S:] / precision[S, S] if rows.center else np.zeros((S, 1))
    own = 1 / precision[S:, S:] if rows.center else np.zeros((1, 1))
    intercept = mean[S:] if rows.center else np.zeros(1)
    fields = {
        "mean": mean[:S] / norms,
        "covariance": covariance / np.outer(norms, norms),
        "intercept": intercept - (means @ (mean[:S] / norms)),
        "centre": (means + norms * centre[:, 0])[None, :],
        "intercept_covariance": own,
    }
    if not rows.center:
        fields |= {"intercept": intercept, "centre": np.zeros((1, S))}
    return replace(result, **{name: asfloat64(value, like=like) for name, value in fields.items()})
