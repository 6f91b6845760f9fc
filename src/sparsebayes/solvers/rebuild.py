"""Rebuilding: groups of related functions are taken out, and the model grown again without them.

A swap exchanges one function for one other. Where several do together what several others would do better, as
splines that model a step with Haar wavelets to mend it, every single exchange is a loss, and only taking the
group out as a whole leads on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.posterior import State
from sparsebayes.solvers.stages import better

Regrow = Callable[[State, float], tuple[State, bool]]


def rebuilt(state: State, size: int, regrow: Regrow) -> tuple[State, bool]:
    """One sweep: every active function, the least worth first, is taken out with the size − 1 closest to it.

    regrow : grows the rest again, the objective to beat being the second argument; False where to stop.
    The outcome stays if it is better. A function that was in a group already need not lead one of its own.
    """
    tried: set[int] = set()
    for m in state.J[np.argsort(to_numpy(state.worth), kind="stable")].tolist():
        where = np.flatnonzero(state.J == m)
        if m in tried or not len(where) or state.size <= size:
            continue
        group = related(state, int(where[0]), size)
        tried.update(state.J[group].tolist())
        rival, going = regrow(state.keep(np.delete(np.arange(state.size), group)), state.objective)
        if better(rival, state):
            state, tried = rival, set()
        if not going:
            return state, False
    return state, True


def related(state: State, position: int, size: int) -> np.ndarray:
    """The positions of the `size` functions most correlated with one, it among them, in the posterior.

    |Σ_ij|/√(Σ_ii Σ_jj): the weights of functions that do the same work trade off against each other.
    """
    row = np.abs(to_numpy(state.covariance[position, :])) / np.sqrt(to_numpy(state.variance))
    row[position] = np.inf
    return np.argsort(-row, kind="stable")[:size]
