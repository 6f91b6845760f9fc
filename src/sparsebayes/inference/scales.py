"""Scales of a basis by the evidence of the dense model (`dense`), then the sparse model at these scales.

L-BFGS in (log η, log shares of the parts, log β). A handful of starting widths compete on few rows, the best
goes on with more. Where there are more rows still, all of them have their say through few centres
(`centres`): few rows cannot show fine structure, few centres cannot follow it, and which of the two misses
less is told by more centres. Widths stay between the smallest distance in the data and far more than the
largest: an input along which the kernel is that wide is as good as absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from sparsebayes.bases import BoundBasis
from sparsebayes.inference.centres import CentredModel
from sparsebayes.inference.dense import DenseEvidence, DenseModel
from sparsebayes.inference.idle import idle_functions

WORDS = ("evidence", "ard")  # one width, or a scale for each input
FEW_ROWS, ROWS = 300, 1000  # in the competition of the starts, and in the end
MANY_ROWS, CENTRES, JUDGES = 20_000, 300, 1000  # rows and centres beyond that, and centres that judge
WIDTHS = (1.0, 0.3, 0.1, 2.5)  # starts, in units of half the largest distance between rows
REACH = 1e3  # largest width, in units of the largest distance
ALIVE = 4.0  # the same where more rows go on: beyond it an input has next to no slope to come back by
STEPS, TRIAL_STEPS = 60, 20  # of L-BFGS, and of starts that compete
TOLERANCE = 1e-6  # nats a row: what a step has to gain for another one
SHARE_RANGE = (-7.0, 14.0)  # log share of a part, in units of the variance of f
NOISE_RANGE = (-14.0, 1.0)  # log σ² in units of the variance of y
FIRST_NOISE = 0.1  # of the variance of y
IMPOSSIBLE = 1e20  # what the optimiser is told of a covariance that is not positive definite


Model = DenseModel | CentredModel  # θ -> L and its gradient


@dataclass(frozen=True)
class Learned:
    """A basis at the scales that were learned.

    log_evidence : of the dense model on the rows it was learned from.  noise_variance : its σ²; NaN where
    there is no noise to estimate.  idle : numbers of the functions without a centre it has no use for.
    model, theta : the dense model of up to `ROWS` rows, and its parameters.  all_rows : whether that is all.
    """

    bound: BoundBasis
    log_evidence: float
    noise_variance: float
    idle: np.ndarray
    model: DenseModel
    theta: np.ndarray
    all_rows: bool


@dataclass(frozen=True)
class Rows:
    """What scales are learned from.

    order : (N,) where not all rows are used they are evenly spaced in the order of these values.
    spread : variance of the target; 1 for classes.
    evidence : rows -> their dense evidence.
    through : (rows, centres) -> the evidence of rows through centres; None where only few rows can be used.
    """

    X: np.ndarray
    order: np.ndarray
    spread: float
    evidence: Callable[[np.ndarray], DenseEvidence]
    through: Callable[[np.ndarray, np.ndarray], CentredModel] | None = None


def learn_scales(bound: BoundBasis, rows: Rows) -> Learned:
    """The basis at the scales of the highest dense evidence that was found."""
    model, value, theta = _by_few_rows(bound, rows)
    idle = np.zeros(0, dtype=np.int64)
    if rows.through is not None and len(rows.X) > ROWS:
        value, theta = _by_many_rows(bound, rows, model, theta)
    else:
        value, theta = _without_idle(model, bound, rows, value, theta)
        value, theta = _unless_nothing(model, model, bound, rows, value, theta)
        idle = idle_functions(model, theta)
    noise = math.exp(-theta[-1]) if model.evidence.tail else math.nan
    all_rows = len(rows.X) <= ROWS
    return Learned(bound.with_log_scales(theta[: model.scales]), value, noise, idle, model, theta, all_rows)


def _by_few_rows(bound: BoundBasis, rows: Rows) -> tuple[DenseModel, float, np.ndarray]:
    """The dense model of up to `ROWS` rows, its evidence, and θ where that is highest."""
    X, alive = rows.X, bound.log_scale_bounds(rows.X, ALIVE)
    starts: list[np.ndarray] = []
    for n in sorted({min(FEW_ROWS, len(X)), min(ROWS, len(X))}):
        chosen = spread_rows(rows.order, n)
        model = DenseModel(bound, X[chosen], rows.evidence(chosen))
        starts = starts or [_first(model, _start(bound, X, width), rows.spread) for width in WIDTHS]
        bounds = _bounds(model, bound, rows)
        best = _best(model, starts, bounds, STEPS if n == min(ROWS, len(X)) else 0)
        starts = _again(best[1], model.scales, alive)
    return model, *best


def _by_many_rows(
    bound: BoundBasis, rows: Rows, few: DenseModel, theta: np.ndarray
) -> tuple[float, np.ndarray]:
    """θ, or what all rows make of it through few centres: which one has the higher evidence with more."""
    assert rows.through is not None
    everyone = spread_rows(rows.order, MANY_ROWS)
    start = _again(theta, few.scales, bound.log_scale_bounds(rows.X, ALIVE))[-1]
    model = rows.through(everyone, spread_rows(rows.order, CENTRES))
    other = _maximise(model, start, _bounds(few, bound, rows), STEPS)[1]
    judge = rows.through(everyone, spread_rows(rows.order, JUDGES))
    best = max(((judge(each)[0], each) for each in (theta, other)), key=lambda each: each[0])
    return _unless_nothing(judge, few, bound, rows, *best)


def spread_rows(order: np.ndarray, n: int) -> np.ndarray:
    """n rows evenly spaced in the order of the values `order`; all of them, in place, where n is N."""
    if n >= len(order):
        return np.arange(len(order))
    places = np.round(np.linspace(0, len(order) - 1, n)).astype(np.int64)
    return np.sort(np.argsort(order, kind="stable")[places])


def _start(bound: BoundBasis, X: np.ndarray, width: float) -> np.ndarray:
    """log η of functions `width` times half the diagonal of the data wide; what is no width stays."""
    shared, each = (
        _as_wide_as(bound, X, 0.5 * width),
        _as_wide_as(bound, X, 0.5 * width * math.sqrt(X.shape[1])),
    )
    return np.where(_per_input(bound), each, shared)


def _as_wide_as(bound: BoundBasis, X: np.ndarray, reach: float) -> np.ndarray:
    """log η of functions `reach` times the largest distance wide; what is no width stays as it is."""
    at, beyond = bound.log_scale_bounds(X, reach), bound.log_scale_bounds(X, 2 * reach)
    moves = np.abs(beyond - at) > 1e-9
    return np.where(moves.any(axis=1), np.where(moves[:, 0], at[:, 0], at[:, 1]), bound.log_scales)


def _per_input(bound: BoundBasis) -> np.ndarray:
    """Which scales are those of single inputs."""
    return np.asarray(["[" in name for name in bound.scale_names], dtype=bool)


def _unless_nothing(
    judge: Model, few: DenseModel, bound: BoundBasis, rows: Rows, value: float, theta: np.ndarray
) -> tuple[float, np.ndarray]:
    """θ, unless noise alone is as good: then the widest start, with shares of next to nothing.

    Functions as narrow as rows are apart are noise by another name. The evidence hardly tells the two apart,
    and the sparse model would keep a function for every row. Scales at work have to be worth ½ log N nats.
    """
    shares = _bounds(few, bound, rows)[few.scales : few.scales + len(few.parts), 0]
    noise = np.full(few.evidence.tail, -math.log(rows.spread))
    nothing = np.concatenate([_start(bound, rows.X, max(WIDTHS)), shares, noise])
    at_work = int(np.sum(theta[: few.scales] != _as_wide_as(bound, rows.X, REACH)))
    charge, alone = 0.5 * math.log(judge.total) * max(at_work, 1), judge(nothing)[0]
    return (alone, nothing) if value < alone + charge else (value, theta)


def _without_idle(
    model: DenseModel, bound: BoundBasis, rows: Rows, value: float, theta: np.ndarray
) -> tuple[float, np.ndarray]:
    """θ without the inputs that are not worth their scale, the others maximised again.

    A scale is a parameter: it has to be worth ½ log N nats, which is what BIC charges for one.
    """
    widest, charge = _as_wide_as(bound, rows.X, REACH), 0.5 * math.log(model.total)
    inputs = np.flatnonzero(_per_input(bound) & (widest != bound.log_scales)).tolist()
    alone = {k: model(_changed(theta, k, widest[k]))[0] for k in inputs}
    idle, standing = [], value
    for k in sorted(inputs, key=lambda k: -alone[k]):
        trial = _changed(theta, k, widest[k])
        left = model(trial)[0]
        if left > standing - charge:
            theta, standing = trial, left
            idle.append(k)
    bounds = _bounds(model, bound, rows)
    bounds[idle] = theta[idle, None]
    return _maximise(model, theta, bounds, STEPS) if idle else (value, theta)


def _changed(theta: np.ndarray, k: int, value: float) -> np.ndarray:
    changed = theta.copy()
    changed[k] = value
    return changed


def _first(model: DenseModel, log_scales: np.ndarray, spread: float) -> np.ndarray:
    """θ to start from: shares that add up to the spread, noise a tenth of it."""
    parts = len(model.parts)
    share = math.log(spread / parts)
    tail = np.full(model.evidence.tail, -math.log(FIRST_NOISE * spread))
    return np.concatenate([log_scales, np.full(parts, share), tail])


def _again(theta: np.ndarray, scales: int, bounds: np.ndarray) -> list[np.ndarray]:
    """θ, and θ with its scales within these bounds where they are not."""
    revived = np.concatenate([np.clip(theta[:scales], bounds[:, 0], bounds[:, 1]), theta[scales:]])
    return [theta] if np.array_equal(theta, revived) else [theta, revived]


def _bounds(model: DenseModel, bound: BoundBasis, rows: Rows) -> np.ndarray:
    """(θ, 2): lowest and highest."""
    unit = math.log(rows.spread)
    shares = np.tile(unit + np.asarray(SHARE_RANGE), (len(model.parts), 1))
    noise = np.tile(-unit - np.asarray(NOISE_RANGE)[::-1], (model.evidence.tail, 1))
    return np.concatenate([bound.log_scale_bounds(rows.X, REACH), shares, noise])


def _best(model: Model, starts: list[np.ndarray], bounds: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
    """The start that has come highest after a few steps, so many further on."""
    tried = [_maximise(model, start, bounds, TRIAL_STEPS) for start in starts]
    best = max(tried, key=lambda each: each[0])
    return _maximise(model, best[1], bounds, steps) if steps else best


def _maximise(model: Model, theta: np.ndarray, bounds: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
    """L-BFGS from θ, within bounds: the evidence and where it is."""
    start = np.clip(theta, bounds[:, 0], bounds[:, 1])
    first = model(start)[0]
    level = first if math.isfinite(first) else 0.0

    def downhill(theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Nats a row below the start: that does not change with the units of the target."""
        value, gradient = model(theta)
        if not math.isfinite(value):
            return IMPOSSIBLE, np.zeros_like(gradient)
        return (level - value) / model.total, -gradient / model.total

    found = minimize(
        downhill,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": TOLERANCE},
    )
    return level - float(found.fun) * model.total, found.x


__all__ = ["WORDS", "Learned", "Rows", "learn_scales", "spread_rows"]
