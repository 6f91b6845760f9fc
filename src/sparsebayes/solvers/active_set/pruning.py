"""MacKay pruning of a candidate pool: MacKay's updates on a set of functions small enough to be cheap.

From the full basis these updates find good optima, as every function competes with every other from the
start, but each update costs O(M³). Here they work on pools of a few hundred functions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparsebayes._array import Indices, NotPositiveDefinite, asfloat64, to_numpy
from sparsebayes.core.newton import maximise_jointly
from sparsebayes.core.posterior import Problem, State
from sparsebayes.solvers.active_set.settings import ActiveSetSettings
from sparsebayes.solvers.fixed_point import mackay_step


def candidate_pool(problem: Problem, most: int, settings: ActiveSetSettings) -> np.ndarray:
    """At most `most` functions, of no more columns than half the rows, that the first model is pruned from.

    Functions far apart, if the quadratic knows which are: then every function has one like it in the pool.
    Else functions spread over the range of h = φᵀt. Neither chance nor the order of the functions matters.
    """
    quadratic, h = problem.quadratic, problem.projections
    single = problem.size == quadratic.size  # every function is one column
    # rounded: a sum of weights may be a rounding error away from a whole number
    size = int(min(most, problem.size, round(quadratic.n, 6) / 2 * problem.size / quadratic.size))
    if quadratic.products is not None and size and single:
        # starting from the largest |h|, which the sign of t does not change
        order = np.argsort(-np.abs(h), kind="stable")
        chosen = quadratic.products.far_apart(order, max(1, round(settings.spread_share * size)))
        if chosen is not None:
            return chosen
    order = np.argsort(h, kind="stable")
    places = np.linspace(0, problem.size - 1, size)
    # rounded towards the nearer end, in the middle to the larger |h|: the sign of t does not matter either
    below, above = (np.abs(h[order[round_(places).astype(np.int64)]]) for round_ in (np.floor, np.ceil))
    middle = 0.5 * (problem.size - 1)
    lower = (places < middle) | ((places == middle) & (below > above))
    return order[np.where(lower, np.floor(places), np.ceil(places)).astype(np.int64)]


def prune(state: State, rounds: int, power: float, hopeless: float) -> State | None:
    """MacKay's updates that delete functions whose α/β grows beyond `hopeless`; None if they fail.

    They fail if functions cannot be told apart to working precision. power > 1 over-relaxes the updates. While
    there are more functions than half the rows the noise stays as it is: estimated then, it would collapse.
    The caller keeps the better of before and after, so that there is no safeguard here.
    """
    try:
        for _ in range(rounds):
            alpha, beta = mackay_step(state, power)
            if len(state.active.J) > state.problem.quadratic.n / 2:
                beta = state.beta
            keep = np.flatnonzero(to_numpy(alpha) < hopeless * beta)
            if not len(keep):
                return state
            if len(keep) < state.size:
                state = state.keep(keep, alpha, beta)
                continue
            settled = float(np.abs(np.log(to_numpy(alpha / state.alpha))).max()) < 0.3 * power
            state = state.moved(alpha, beta)
            if settled:
                break
        return state
    except NotPositiveDefinite:
        return None


def pruned_pools(
    problem: Problem,
    J: Indices,
    alpha: float,
    beta: float,
    how: tuple[int, float],
    settings: ActiveSetSettings,
) -> list[State]:
    """What is left of the functions J, all starting at the precision `alpha`.

    A prior that penalises every function can delete the useful ones before they have found their weights, so
    the pool is also pruned under the uniform prior, and the survivors then come under the prior.
    """
    relaxed = replace(problem, prior=problem.prior.relaxed())
    outcomes = []
    for under in (problem,) if problem.prior.flat else (problem, relaxed):
        try:
            start = under.start(J, asfloat64(np.full(len(J), alpha), like=problem.quadratic.h), beta)
            # of functions that are almost parallel only the first: pruning would not decide between them
            alike = np.abs(to_numpy(start.active.G)) > 1 - settings.parallel
            single = len(alike) == start.size  # every function is one column
            if single and np.count_nonzero(alike) > start.size:  # more than the diagonal
                start = start.keep(np.flatnonzero(~np.triu(alike, 1).any(axis=0)))
            survivors = prune(start, *how, settings.hopeless)
            if survivors is not None and under is relaxed:
                survivors = problem.state(survivors.active, survivors.alpha, survivors.beta)
                survivors = maximise_jointly(survivors, settings.loose, settings.first_steps)
        except NotPositiveDefinite:
            continue
        outcomes += [] if survivors is None else [survivors]
    return outcomes


def joined(state: State, J: np.ndarray, alpha: np.ndarray) -> State | None:
    """The state with the functions J added; None if they cannot be told apart to working precision."""
    try:
        return state.extended(J, alpha)
    except NotPositiveDefinite:
        return None


def without_least(state: State, number: int) -> State:
    """The state without the functions that add least to the objective, by the exact gains [TF03, A.4]."""
    order = np.argsort(to_numpy(state.keep_gain), kind="stable")
    return state.keep(np.sort(order[number:]))
