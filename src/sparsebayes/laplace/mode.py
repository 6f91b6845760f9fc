"""The mode of the weights at given precisions α, and the Gaussian problem around it (β = 1, curvature B)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, take, to_numpy
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.prior import Prior
from sparsebayes.laplace.linearised import Expansion, Linearised
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.laplace.settings import LAPLACE, LaplaceSettings
from sparsebayes.laplace.sharing import (
    common_scale,
    functions_of,
    grouped,
    linear_of,
    of_candidates,
    owners,
)

UNIT_NOISE = GaussianNoise(1.0, estimate=False)


@dataclass(frozen=True, eq=False)
class Mode:
    """The mode of the weights at precisions α, and the Gaussian around it.

    J : candidates, ascending.  alpha, w : (S,) on the scaled columns.  b : intercepts (K,).
    linear : the expansion at the mode, of these candidates.  state : posterior and evidence there; its functions are
        these candidates or, if outputs share their functions, groups of them.
    reached : whether it is the mode: weights of functions nearly alike may be too large for Newton's method.
        The evidence is that of the quadratic, and means nothing if the mode is far.
    restless : whether no α was found where its derivative with the curvature held fixed vanishes.
    highest : whether α is where the Laplace evidence itself is highest, the curvature moving with α, or is to go
        there when it settles.
    """

    J: np.ndarray
    alpha: Array
    w: Array
    b: Array
    linear: Linearised
    state: State
    reached: bool = False
    restless: bool = False
    highest: bool = False

    @property
    def objective(self) -> float:
        """Laplace evidence plus log priors."""
        return self.state.objective

    @property
    def expansion(self) -> Expansion:
        """The expansion around the mode."""
        return self.linear.expansion

    @property
    def owner(self) -> np.ndarray:
        """The function of the state that each candidate belongs to, (S,)."""
        return owners(self.state.problem)


@dataclass(frozen=True, eq=False)
class Model:
    """Functions in outputs, with precisions α and weights w (S,), and intercepts b (K,), of columns as given.

    The loop works on columns φ̃ = (φ − φ̄)/ν, so w = w̃/ν, α = α̃ν² and b = b̃ − Σ w φ̄. A model can be carried
    from the rows of some functions to those of others.
    """

    function: np.ndarray
    output: np.ndarray
    alpha: Array
    w: Array
    b: Array

    @classmethod
    def of(cls, mode: Mode, rows: LaplaceRows) -> Model:
        """The model of a mode over some rows."""
        norms, means, own = rows.scales(mode.J)
        w, output = mode.w / norms, rows.split(mode.J)[1]
        return cls(rows.numbers(mode.J), output, mode.alpha * norms**2, w, mode.b - own @ (means * w))

    def on(self, rows: LaplaceRows) -> tuple[np.ndarray, Array, Array, Array]:
        """(J, α, w, b) over the rows of other functions, without the functions that these do not have."""
        here = np.flatnonzero(np.isin(self.function, rows.functions))
        J = self.output[here] * rows.design.size + np.searchsorted(rows.functions, self.function[here])
        (norms, means, own), w = rows.scales(J), take(self.w, here)
        return J, take(self.alpha, here) / norms**2, w * norms, self.b + own @ (means * w)


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes over given rows under a prior, and the Gaussian problems around them.

    prior : resolved for the number of rows.
    target_scale : τ if y is a target divided by τ, for priors whose parameters have units.
    groups : (K,) a label 0, 1, … for each output: those of one label share their functions; None for none.
    """

    rows: LaplaceRows
    prior: Prior
    target_scale: float = 1.0
    settings: LaplaceSettings = LAPLACE
    groups: np.ndarray | None = None

    def of(self, model: Model) -> Mode:
        """The mode at the precisions of a model, from its weights."""
        return self.find(*model.on(self.rows))

    def find(self, J: np.ndarray, alpha: Array, w: Array, b: Array) -> Mode:
        """The mode of the candidates J at precisions α, by Newton's method with step halving from (w, b)."""
        rows, held, settings = self.rows, self.rows.held(J), self.settings
        f, last = rows.predictor(held, w, b), np.inf
        for _ in range(settings.newton_steps):
            mode = self.at(J, alpha, w, b, f, held)
            linear = mode.linear
            goal = of_candidates(mode.state)[2] / self.scale(linear)
            goal_b = linear.intercept(goal)
            goal_f = rows.predictor(held, goal, goal_b)
            predicted = _predicted_gain(mode, goal, goal_f - f)
            # the last steps square the error: a prediction this small, or no smaller than before, is rounding
            exhausted = predicted < settings.rounding * rows.n and predicted > 0.5 * last
            if predicted < settings.mode_tolerance * rows.n or exhausted:
                break
            last = predicted
            share = self._halved(mode, goal, goal_f, predicted)
            if share == 0.0:
                break
            w, b, f = w + share * (goal - w), b + share * (goal_b - b), f + share * (goal_f - f)
        return replace(mode, reached=abs(predicted) < settings.reached * rows.n)

    def at(self, J: np.ndarray, alpha: Array, w: Array, b: Array, f: Any, held: Any = None, **flags: bool) -> Mode:
        """The candidates J at precisions α and weights (w, b), expanded around the predictor f = Φw + b."""
        rows = self.rows
        linear = rows.linearise(rows.held(J) if held is None else held, rows.expand(f))
        state = self._start(self._problem(linear, J), np.arange(len(J)), alpha)
        return Mode(J, alpha, w, b, linear, state, **flags)

    def predictor_of(self, mode: Mode) -> Array | None:
        """f that a mode is expanded around, (N, K); None if weights and intercepts suffice to make the same again."""
        return mode.expansion.f

    def _halved(self, mode: Mode, goal: Array, goal_f: Array, predicted: float) -> float:
        """The largest share of Newton's step, by halves, that raises the log posterior; 0 if none does."""
        f = mode.expansion.f
        here = mode.expansion.value - _penalty(mode.alpha, mode.w)
        for halving in range(self.settings.halvings):
            share = 0.5**halving
            w = mode.w + share * (goal - mode.w)
            there = self.rows.value(f + share * (goal_f - f)) - _penalty(mode.alpha, w)
            if there >= here + 1e-4 * share * predicted:
                return share
        return 0.0

    def of_state(self, state: State, before: Mode | None) -> Mode:
        """The mode at the α of a state among all candidates.

        Newton's method starts where the quadratic has its maximum or, if that is worse, from `before`.
        """
        rows, linear, (J, alpha, w) = self.rows, linear_of(state.problem), of_candidates(state)
        scale = take(self.scale(linear), J)
        alpha, w = alpha * scale**2, w / scale
        near = (0 * w, rows.start()) if before is None else (_weights(before, J, rows.size), before.b)
        held = rows.held(J)

        def height(start: tuple[Array, Array]) -> float:
            return rows.value(rows.predictor(held, *start)) - _penalty(alpha, start[0])

        return self.find(J, alpha, *max([(w, linear.intercept(w, J)), near], key=height))

    def among_all(self, expansion: Expansion) -> Problem:
        """The problem of all candidates around an expansion."""
        linear = self.rows.linearise(self.rows.everything(), expansion)
        return self._problem(linear, np.arange(self.rows.size))

    def state(self, expansion: Expansion, J: np.ndarray, alpha: Array) -> State:
        """The model (J, α) in the problem of all candidates around an expansion."""
        return self._start(self.among_all(expansion), J, alpha)

    def scale(self, linear: Linearised) -> Array:
        """What the candidates of `linear` are divided by in their problem, (C,)."""
        return linear.scale if self.groups is None else common_scale(linear, self.groups)

    def unit(self, linear: Linearised, J: np.ndarray) -> Array:
        """What turns the α of the candidates J, those of `linear`, into the user's, (C,)."""
        norms = take(self.rows.norms, self.rows.split(J)[0])
        return namespace(norms).clip(self.scale(linear) * norms / self.target_scale, 1e-150, 1e150) ** 2

    def _problem(self, linear: Linearised, J: np.ndarray) -> Problem:
        """The problem of the candidates J, those of `linear`."""
        unit = self.prior.units(self.unit(linear, J), self.rows.numbers(J))
        problem = Problem(linear.quadratic(), self.prior, UNIT_NOISE, unit)
        return problem if self.groups is None else grouped(problem, linear, self.scale(linear), self.groups)

    def _start(self, problem: Problem, J: np.ndarray, alpha: Array) -> State:
        """The state of the candidates J of a problem at precisions α (S,) of the scaled columns."""
        alpha, (functions, first) = alpha / take(self.scale(linear_of(problem)), J) ** 2, functions_of(problem, J)
        return problem.start(functions, alpha if first is None else take(alpha, first), 1.0)


def _weights(mode: Mode, J: np.ndarray, size: int) -> Array:
    """The weights of a mode for the candidates J out of `size`, zero for those that are new."""
    weights = np.zeros(size)
    weights[mode.J] = to_numpy(mode.w)
    return asfloat64(weights[J], like=mode.w)


def _penalty(alpha: Array, w: Array) -> float:
    """½ wᵀAw."""
    return 0.5 * float((alpha * w) @ w)


def _predicted_gain(mode: Mode, goal: Array, change: Array) -> float:
    """What the quadratic says of the log posterior at the weights `goal`, where f has changed by `change`."""
    slope = mode.expansion.g - 0.5 * mode.expansion.curved(change)
    gained = float(namespace(change).sum(slope * change))
    return gained - _penalty(mode.alpha, goal) + _penalty(mode.alpha, mode.w)
