"""Solvers: algorithms that maximise the evidence without seeing a row of data."""

from __future__ import annotations

from typing import Any

from sparsebayes.core.greedy import Greedy
from sparsebayes.core.solver import Solver
from sparsebayes.solvers.active_set import ActiveSet, ActiveSetSettings
from sparsebayes.solvers.fixed_point import FixedPoint
from sparsebayes.solvers.sequential import Sequential

NAMED: dict[str, Solver] = {
    "active-set": ActiveSet(),
    "thorough": ActiveSet(annealing=10, regrowth=4),
    "greedy": Greedy(),
    "sequential": Sequential(),
    "mackay": FixedPoint("mackay"),
    "em": FixedPoint("em"),
}


def as_solver(solver: Any, named: dict[str, Solver]) -> Solver:
    """A solver object as it is, its parameters checked, or the one that a name stands for."""
    if isinstance(solver, Solver):
        solver.check()
        return solver
    if isinstance(solver, str) and solver in named:
        return named[solver]
    raise ValueError(f"solver must be one of {list(named)} or a Solver object, got {solver!r}.")


__all__ = ["NAMED", "ActiveSet", "ActiveSetSettings", "FixedPoint", "Sequential", "as_solver"]
