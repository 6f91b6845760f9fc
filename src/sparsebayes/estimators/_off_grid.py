"""Atoms that were moved off the grid of a sparse recovery."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._checks import is_number
from sparsebayes.joint.off_grid import OffGridProblem, OffGridState, parameter_std, refine

SAME_ATOM = 1e-6  # of the size of an atom: how far atoms(grid) may be from the columns of Phi


@dataclass(frozen=True, eq=False)
class OffGridAtoms:
    """The model y = Σ_m a(θ_m) w_m + ε whose evidence is highest over θ as well.

    Attributes
    ----------
    parameters : ndarray of shape (S,)
        θ of each atom, such as directions or frequencies, ascending.
    parameter_std : ndarray of shape (S,)
        Standard deviations of θ, from the curvature of the log evidence at its maximum.
    coef : ndarray of shape (S,) or (T, S)
        Posterior means of the weights.
    coef_std : ndarray of shape (S,)
        Their standard deviations, the same for every snapshot.
    alpha : ndarray of shape (S,)
        Precisions: E|w_m|² = 1/α_m.
    noise_variance : float
        σ².
    log_evidence : float
        log p(y | θ, α, σ²).
    converged : bool
        Whether the search ended by its own criterion.
    atoms : callable
        θ (k,) -> (N, k), as it was given.
    """

    parameters: np.ndarray
    parameter_std: np.ndarray
    coef: np.ndarray
    coef_std: np.ndarray
    alpha: np.ndarray
    noise_variance: float
    log_evidence: float
    converged: bool
    atoms: Callable[[np.ndarray], Any]

    def predict(self) -> np.ndarray:
        """The measurements without noise, (N,) or (N, T)."""
        return np.asarray(self.atoms(self.parameters)) @ self.coef.T


def off_grid_atoms(
    atoms: Any,
    grid: Any,
    y: np.ndarray,
    selected: tuple[np.ndarray, np.ndarray, np.ndarray],
    noise: tuple[float, bool],
    penalty: float | None,
) -> OffGridAtoms:
    """The refined atoms of measurements y (N,) or (N, T), from those selected on the grid.

    selected : numbers (S,), columns (N, S) and precisions (S,) of the selected atoms.
    noise : σ², and whether it is known.  penalty : nats for each atom, None for log M.
    """
    support, columns, alpha = selected
    grid = _checked_grid(atoms, grid, support, columns)
    variance, known = noise
    if penalty is not None and not (is_number(penalty) and penalty >= 0):
        raise ValueError(f"penalty must be a number >= 0 or None, got {penalty!r}.")
    cost = math.log(len(grid)) if penalty is None else float(penalty)
    Y = y if y.ndim == 2 else y[:, None]
    problem = OffGridProblem.of(atoms, Y, grid, variance if known else None, cost)
    with np.errstate(over="ignore", under="ignore"):
        state = refine(OffGridState(problem, grid[support], alpha, 1 / variance))
    order = np.argsort(state.theta)
    mean = (state.beta * state.covariance @ (state.A.conj().T @ Y))[order]
    return OffGridAtoms(
        parameters=state.theta[order],
        parameter_std=parameter_std(state)[order],
        coef=mean.T if y.ndim == 2 else mean[:, 0],
        coef_std=np.sqrt(state.covariance.diagonal().real[order]),
        alpha=state.alpha[order],
        noise_variance=1 / state.beta,
        log_evidence=state.log_evidence,
        converged=state.converged,
        atoms=atoms,
    )


def _checked_grid(atoms: Any, grid: Any, support: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The grid as finite ascending numbers; ValueError unless atoms(grid) has the columns of Phi."""
    if not callable(atoms):
        raise ValueError(f"atoms must be a function of an array of parameters, got {atoms!r}.")
    grid = np.asarray(grid, dtype=np.float64)
    if grid.ndim != 1 or len(grid) < 2 or not (np.isfinite(grid).all() and (np.diff(grid) > 0).all()):
        raise ValueError(f"grid must have at least two finite numbers in ascending order, got shape {grid.shape}.")
    if len(support) and support.max() >= len(grid):
        raise ValueError(f"grid must have one value per column of Phi, got {len(grid)}.")
    made = np.asarray(atoms(grid[support]))
    if made.shape != columns.shape or np.abs(made - columns).max(initial=0) > SAME_ATOM * np.abs(columns).max(
        initial=0
    ):
        raise ValueError("atoms(grid) must have the columns of Phi, got others.")
    return grid
