"""Priors on one precision that governs several weights: a function's in T outputs, or those of a group of columns.

With everything per output (`core.posterior`) the objective depends on the precision of a group through

    ℓ(α) = ½ Σ_i [log α − log(α+λ_i) + c_i/(α+λ_i)] + m · log p(α)

m is how often log p counts per output (`Prior.multiplicities`). The penalty of each weight, as the smoothness prior
has one, counts for every column of the group; a density of α itself counts once for all outputs, 1/T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, take, to_numpy
from sparsebayes.core.groups import GroupedProblem, Groups
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Derivatives, Prior

GRID, STEPS = 25, 12  # values of log α that are compared, and Newton steps from the best of them
EQUAL = 1e-9  # relative difference between the λ of a group that counts as none
BELOW, ABOVE = 8.0, 14.0  # how far in log α they reach below the least λ²/c and above the largest λ


@dataclass
class Multiplied(Prior):
    """A prior on a precision that governs several weights; its log density counts m times.

    Its methods take (λ, √c) (M, d) in place of (s, q) (M,), which are taken as well. The last column of `unit` is
    m, (M,); the other columns are what the prior itself takes.

    Parameters
    ----------
    prior : Prior
        The prior of a precision that governs one weight.
    """

    prior: Prior

    @property
    def depends_on_noise(self) -> bool:  # type: ignore[override]
        """Whether the log density changes with β."""
        return self.prior.depends_on_noise

    @property
    def flat(self) -> bool:  # type: ignore[override]
        """Whether the log density is constant."""
        return self.prior.flat

    def relaxed(self) -> Prior:
        """The uniform prior on such precisions, whose log density is 0 however often it counts."""
        return Multiplied(self.prior.relaxed())

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """argmax_α ℓ(α) + log p(α) for every (λ, √c); ∞ where the function is better not in the model.

        On a grid in log α first, as there may be several maxima, then by Newton steps.
        """
        alike = self._of_equal_directions(s, q, beta, unit)
        if alike is not None:
            return alike
        lam, c = _two_dimensional(s), _two_dimensional(q * q)
        xp, useful = namespace(lam), np.flatnonzero(to_numpy(c > lam).any(axis=1))  # the others have no maximum
        best = np.full(lam.shape[0], np.inf)
        if len(useful):
            lam, c, unit = take(lam, useful), take(c, useful), take(unit, useful)
            log_alpha, gain = self._climbed(*self._best_of_grid(lam, c, beta, unit), lam, c, beta, unit)
            best[useful] = to_numpy(xp.where(gain > 0, xp.exp(log_alpha), math.inf))
        return asfloat64(best, like=lam)

    def _of_equal_directions(self, s: Array, q: Array, beta: float, unit: Array) -> Array | None:
        """The closed form if the λ of every group are the same, as those of complex weights are; None if they are not.

        Then ℓ(α) is d times that of one column with q² = Σ c/d, and its m is a d-th of that of the group.
        """
        multiplicity = to_numpy(unit[:, -1])
        if not len(multiplicity) or not (multiplicity == multiplicity[0]).all():
            return None
        d = 1 if s.ndim == 1 else int(s.shape[1])
        if s.ndim == 2:
            values = to_numpy(s)
            if float((values.max(axis=1) - values.min(axis=1) - EQUAL * values.max(axis=1)).max()) > 0:
                return None
            s, q = s[:, 0], namespace(q).sqrt(namespace(q).sum(q * q, axis=1) / d)
        prior = self.prior.scaled(float(multiplicity[0]) / d)
        return None if prior is None else prior.maximise(s, q, beta, _own(unit))

    def gain(self, alpha: Array, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """ℓ(α) + log p(α): the gain of having the function in the model; 0 at α = ∞."""
        return self._gain(alpha, _two_dimensional(s), _two_dimensional(q * q), beta, unit)

    def _gain(self, alpha: Array, lam: Array, c: Array, beta: float, unit: Array) -> Array:
        """The gain from λ and c (M, d)."""
        xp = namespace(alpha)
        inside = xp.isfinite(alpha) & (alpha > 0)
        finite = xp.where(inside, alpha, 1.0)
        column = finite[:, None]
        value = 0.5 * xp.sum(c / (column + lam) - xp.log1p(lam / column), axis=1)
        if not self.flat:
            value = value + self.log_density(finite, beta, unit)
        return xp.where(inside, value, 0.0)

    def _best_of_grid(self, lam: Array, c: Array, beta: float, unit: Array) -> tuple[Array, Array, Array]:
        """The best log α of a grid for every function, the gain there, and the distance to the next."""
        xp = namespace(lam)
        least = xp.min(xp.where(c > lam, lam * lam / xp.where(c > lam, c, 1.0), math.inf), axis=1)
        low = xp.log(least) - BELOW
        step = (xp.log(xp.max(lam, axis=1)) + ABOVE - low) / (GRID - 1)
        gain, place = xp.full_like(low, -math.inf), low
        for k in range(GRID):
            value = self._gain(xp.exp(low + k * step), lam, c, beta, unit)
            place, gain = xp.where(value > gain, low + k * step, place), xp.where(value > gain, value, gain)
        return place, gain, step

    def _climbed(
        self, place: Array, gain: Array, step: Array, lam: Array, c: Array, beta: float, unit: Array
    ) -> tuple[Array, Array]:
        """The maximum near log α = place, and the gain there: Newton steps, each no longer than `step`."""
        xp = namespace(lam)
        for _ in range(STEPS):
            first, second = self._slopes(xp.exp(place), lam, c, beta, unit)
            move = xp.where(second < 0, -first / xp.where(second < 0, second, -1.0), xp.sign(first) * step)
            move = xp.where(xp.abs(move) > step, xp.sign(move) * step, move)
            value = self._gain(xp.exp(place + move), lam, c, beta, unit)
            better = value >= gain
            place, gain = xp.where(better, place + move, place), xp.where(better, value, gain)
            step = xp.where(better, step, 0.25 * step)
        return place, gain

    def _slopes(self, alpha: Array, lam: Array, c: Array, beta: float, unit: Array) -> tuple[Array, Array]:
        """First and second derivative of ℓ(α) + log p(α) by log α."""
        xp, column = namespace(alpha), alpha[:, None]
        share = column / (column + lam)
        first = 0.5 * xp.sum(1 - share - c * share / (column + lam), axis=1)
        second = 0.5 * xp.sum(share / (column + lam) * (2 * c * share - c - lam), axis=1)
        if self.flat:
            return first, second
        by_prior = self.derivatives(alpha, beta, unit)
        return first + by_prior[0], second + by_prior[1]

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """m log p(α)."""
        return unit[:, -1] * self.prior.log_density(alpha, beta, _own(unit))

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """The derivatives of m log p(α): the sums by β for each m on its own."""
        multiplicity, scale = to_numpy(unit[:, -1]), unit[:, -1]
        first, second, _, _, mixed = self.prior.derivatives(alpha, beta, _own(unit))
        by_beta = [0.0, 0.0]
        for each in np.unique(multiplicity) if self.depends_on_noise else ():
            J = np.flatnonzero(multiplicity == each)
            sums = self.prior.derivatives(take(alpha, J), beta, take(_own(unit), J))[2:4]
            by_beta = [total + float(each) * value for total, value in zip(by_beta, sums, strict=True)]
        return scale * first, scale * second, by_beta[0], by_beta[1], scale * mixed


def _own(unit: Array) -> Array:
    """The `unit` of the prior itself."""
    return unit[:, 0] if unit.shape[1] == 2 else unit[:, :-1]


def _two_dimensional(x: Array) -> Array:
    """x (M, d) as it is, x (M,) as (M, 1)."""
    return x if x.ndim == 2 else x[:, None]


def share(problem: Problem, outputs: int = 1, label: np.ndarray | None = None) -> Problem:
    """The problem with one α for a function's weights in all outputs, and for all columns of one label (M,)."""
    quadratic, prior, unit, groups = problem.quadratic, problem.prior, problem.unit, None
    sizes: np.ndarray = np.ones(quadratic.size)
    if label is not None and len(values := np.unique(label)) < quadratic.size:
        groups = Groups(quadratic, np.searchsorted(values, label))
        sizes, unit = groups.sizes, take(unit, groups.first)
    multiplicity = prior.multiplicities(sizes, outputs, to_numpy(unit))
    alike = prior.scaled(float(multiplicity[0])) if (multiplicity == multiplicity[0]).all() else None
    if groups is None and alike is not None:
        return Problem(quadratic, alike, problem.noise, unit)
    if groups is not None or (not prior.flat and (multiplicity != 1).any()):
        own = unit if unit.ndim == 2 else unit[:, None]
        prior, unit = Multiplied(prior), quadratic.xp.concat([own, asfloat64(multiplicity, like=unit)[:, None]], axis=1)
    if groups is None:
        return Problem(quadratic, prior, problem.noise, unit)
    return GroupedProblem(quadratic, prior, problem.noise, unit, groups)
