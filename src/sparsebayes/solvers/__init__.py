"""Solvers: algorithms that maximise the evidence without seeing a row of data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sparsebayes.core.greedy import Greedy
from sparsebayes.core.solver import Solver
from sparsebayes.solvers.active_set import ActiveSet, ActiveSetSettings, Search, Sweep
from sparsebayes.solvers.active_set.search import DEFAULT, as_search
from sparsebayes.solvers.fixed_point import FixedPoint
from sparsebayes.solvers.sequential import Sequential

NAMED: dict[str, Solver] = {
    "active-set": ActiveSet(),
    "greedy": Greedy(),
    "sequential": Sequential(),
    "mackay": FixedPoint("mackay"),
    "em": FixedPoint("em"),
}


def as_solver(solver: Any, named: dict[str, Solver], effort: Any = "default") -> Solver:
    """A solver object as it is, its parameters checked, or the one that a name stands for.

    Parameters
    ----------
    solver : str or Solver
        A name out of `named`, or an object.
    named : dict of str to Solver
        The solvers that have a name.
    effort : {"fast", "default", "high"} or float
        How long the default solver looks for a higher maximum; "default" for any other solver.

    Returns
    -------
    Solver
        The default solver with this effort, any other as it is.
    """
    search = as_search(effort)
    if isinstance(solver, Solver):
        solver.check()
        chosen = solver
    elif isinstance(solver, str) and solver in named:
        chosen = named[solver]
        if isinstance(chosen, ActiveSet):
            return replace(chosen, effort=effort)
    else:
        raise ValueError(f"solver must be one of {list(named)} or a Solver object, got {solver!r}.")
    if search is not DEFAULT:
        raise ValueError(
            f"effort must be 'default' with solver={solver!r}, got {effort!r}: it is an option of the default solver; "
            "use solver='auto', or an object such as ActiveSet(effort='high')."
        )
    return chosen


__all__ = ["NAMED", "ActiveSet", "ActiveSetSettings", "FixedPoint", "Search", "Sequential", "Sweep", "as_solver"]
