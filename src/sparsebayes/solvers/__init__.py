"""One algorithm a file; none of them sees a row of data."""

from __future__ import annotations

from typing import Any

from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.base import Monitor, Progress, Solution, Solver
from sparsebayes.solvers.certificate import Certificate, certify
from sparsebayes.solvers.fixed_point import FixedPoint
from sparsebayes.solvers.orthonormal import DiagonalState, Orthonormal
from sparsebayes.solvers.sequential import Sequential

NAMED = {
    "active-set": ActiveSet(),
    "thorough": ActiveSet(stages=10, rebuilds=4),
    "sequential": Sequential(),
    "mackay": FixedPoint("mackay"),
    "em": FixedPoint("em"),
    "orthonormal": Orthonormal(),
}


def as_solver(solver: Any) -> Solver:
    """A solver object as it is, its arguments checked, or the one a name stands for."""
    if isinstance(solver, Solver):
        solver.check()
        return solver
    if isinstance(solver, str) and solver in NAMED:
        return NAMED[solver]
    raise ValueError(f"solver must be one of {list(NAMED)} or a Solver object, got {solver!r}.")


__all__ = [
    "ActiveSet",
    "Certificate",
    "DiagonalState",
    "FixedPoint",
    "Monitor",
    "Orthonormal",
    "Progress",
    "Sequential",
    "Solution",
    "Solver",
    "as_solver",
    "certify",
]
