"""Atoms a(θ) between the points of a grid: θ, the precisions and the noise where the evidence is highest.

With A = [a(θ_1) … a(θ_S)] (N, S), Y (N, T), Σ = (βAᴴA + diag α)⁻¹, μ = βΣAᴴY, R = Y − Aμ, γ = 1 − αΣ_mm, and κ = 1 for
complex data or ½ for real data,

    L = κ [ T (Σ log α + N log β + log|Σ| − N log(π/κ)) − β‖R‖² − Σ_m α_m‖μ_m‖² ]

    ∂L/∂θ_m     = 2κβ Re (R μ_mᴴ − T A Σ_·m)ᴴ ∂a/∂θ_m
    ∂L/∂ log α_m = κ (Tγ_m − α_m‖μ_m‖²)
    ∂L/∂ log β   = κ (T (N − Σγ) − β‖R‖²)

What is maximised is L less a penalty for each atom, so that moves that change the number of atoms can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize

DIFFERENCE = 1e-4  # of the spacing of the grid: step of the derivative of an atom
CURVATURE_STEP = 1e-3  # of every coordinate: step of the second derivatives of L
NEAR = 2.5  # spacings of the grid within which two atoms may be merged
ROUNDS = 100  # of moves that change the number of atoms, at most
CLIMBS, ITERATIONS = 10, 300  # restarts of L-BFGS while an atom is at its bound, and iterations of each
FREEDOM = 12.0  # by how much log α and log β may change in one climb
LEAST_GAIN = 1e-6  # in nats, of a move

Atoms = Callable[[np.ndarray], Any]


@dataclass(frozen=True, eq=False)
class OffGridProblem:
    """Measurements, a family of atoms, and the grid.

    atoms : θ (k,) -> (N, k).  Y : (N, T), reduced to N columns if there are more.  outputs : T.
    grid : θ of the grid, ascending, (M,).  variance : σ² if it is known, else None.  penalty : nats for each atom.
    """

    atoms: Atoms
    Y: np.ndarray
    outputs: int
    grid: np.ndarray
    variance: float | None
    penalty: float

    @classmethod
    def of(
        cls, atoms: Atoms, Y: np.ndarray, grid: np.ndarray, variance: float | None, penalty: float
    ) -> OffGridProblem:
        """The problem of measurements Y (N, T); if T > N, Y is replaced by N columns with the same YYᴴ."""
        N, T = Y.shape
        reduced = np.linalg.qr(Y.conj().T)[1].conj().T if T > N else Y
        return cls(atoms, reduced, T, grid, variance, penalty)

    @cached_property
    def on_grid(self) -> np.ndarray:
        """The atoms of the grid, (N, M)."""
        return np.asarray(self.atoms(self.grid))

    @cached_property
    def kappa(self) -> float:
        """κ: 1 for complex data or atoms, ½ for real ones."""
        return 1.0 if np.iscomplexobj(self.Y) or np.iscomplexobj(self.on_grid) else 0.5

    def spacing(self, theta: np.ndarray) -> np.ndarray:
        """The distance of the grid points on both sides of each θ, (S,)."""
        k = np.clip(np.searchsorted(self.grid, theta), 1, len(self.grid) - 1)
        return self.grid[k] - self.grid[k - 1]

    def derivative(self, theta: np.ndarray) -> np.ndarray:
        """∂a/∂θ (N, S) by central differences."""
        h = DIFFERENCE * self.spacing(theta)
        return (np.asarray(self.atoms(theta + h)) - np.asarray(self.atoms(theta - h))) / (2 * h)


@dataclass(frozen=True, eq=False)
class OffGridState:
    """Atoms at θ (S,) with precisions α (S,) under noise of precision β, and their posterior."""

    problem: OffGridProblem
    theta: np.ndarray
    alpha: np.ndarray
    beta: float
    converged: bool = True

    @cached_property
    def A(self) -> np.ndarray:
        """The atoms, (N, S)."""
        return np.asarray(self.problem.atoms(self.theta)).reshape(len(self.problem.Y), len(self.theta))

    @cached_property
    def _factor(self) -> np.ndarray:
        """The lower Cholesky factor of Σ⁻¹ = βAᴴA + diag α, rows and columns divided by √α."""
        scaled = self.A / np.sqrt(self.alpha)
        return np.linalg.cholesky(self.beta * scaled.conj().T @ scaled + np.eye(len(self.alpha)))

    @cached_property
    def covariance(self) -> np.ndarray:
        """Σ (S, S)."""
        inverse = np.linalg.inv(self._factor) / np.sqrt(self.alpha)
        return inverse.conj().T @ inverse

    @cached_property
    def mean(self) -> np.ndarray:
        """μ (S, T)."""
        return self.beta * self.covariance @ (self.A.conj().T @ self.problem.Y)

    @cached_property
    def residual(self) -> np.ndarray:
        """R (N, T)."""
        return self.problem.Y - self.A @ self.mean

    @cached_property
    def gamma(self) -> np.ndarray:
        """γ = 1 − αΣ_mm (S,)."""
        return 1 - self.alpha * self.covariance.diagonal().real

    @cached_property
    def powers(self) -> np.ndarray:
        """‖μ_m‖² (S,)."""
        return np.sum(np.abs(self.mean) ** 2, axis=1)

    @cached_property
    def log_evidence(self) -> float:
        """L."""
        problem, T, N = self.problem, self.problem.outputs, len(self.problem.Y)
        log_det = 2 * float(np.sum(np.log(self._factor.diagonal().real)))
        constant = N * (math.log(self.beta) - math.log(math.pi / problem.kappa))
        misfit = self.beta * float(np.sum(np.abs(self.residual) ** 2)) + float(self.alpha @ self.powers)
        return problem.kappa * (T * (constant - log_det) - misfit)

    @property
    def objective(self) -> float:
        """L less the penalty of all atoms."""
        return self.log_evidence - self.problem.penalty * len(self.theta)

    def gradient(self) -> tuple[np.ndarray, np.ndarray, float]:
        """∂L/∂θ (S,), ∂L/∂ log α (S,) and ∂L/∂ log β."""
        problem, T, N = self.problem, self.problem.outputs, len(self.problem.Y)
        direction = self.residual @ self.mean.conj().T - T * self.A @ self.covariance
        slope = np.einsum("nm,nm->m", direction.conj(), problem.derivative(self.theta)).real
        by_beta = T * (N - self.gamma.sum()) - self.beta * float(np.sum(np.abs(self.residual) ** 2))
        kappa = problem.kappa
        return 2 * kappa * self.beta * slope, kappa * (T * self.gamma - self.alpha * self.powers), kappa * by_beta

    def gains(self) -> np.ndarray:
        """What each atom adds to L at its α, (S,), from s = 1/Σ_mm − α and q = μ_m/Σ_mm."""
        variance = self.covariance.diagonal().real
        with np.errstate(divide="ignore"):
            fits = self.powers / variance + self.problem.outputs * np.log(np.maximum(self.alpha * variance, 0.0))
        return self.problem.kappa * fits

    def gains_of_grid(self) -> tuple[np.ndarray, np.ndarray]:
        """The best α of an atom at each point of the grid, and what adding it would gain, (M,) each."""
        problem, T, Phi = self.problem, self.problem.outputs, self.problem.on_grid
        cross = self.A.conj().T @ Phi
        explained = np.einsum("sm,sm->m", cross.conj(), self.covariance @ cross).real
        norms = np.sum(np.abs(Phi) ** 2, axis=0)
        s = np.maximum(self.beta * (norms - self.beta * explained), 1e-10 * self.beta * norms)
        q2 = np.sum(np.abs(self.beta * Phi.conj().T @ self.residual) ** 2, axis=1) / T
        u = np.maximum(q2 / s, 1.0)
        with np.errstate(divide="ignore"):
            return s / (u - 1), problem.kappa * T * (u - 1 - np.log(u))


def climb(state: OffGridState) -> OffGridState:
    """The maximum of L over θ, log α and log β near a state, no atom moving further than a spacing at a time."""
    for _ in range(CLIMBS):
        state, at_bound = _climb_once(state)
        if not at_bound:
            break
    return state


def _climb_once(state: OffGridState) -> tuple[OffGridState, bool]:
    """The maximum within a spacing of the grid, and whether an atom is at that bound."""
    problem, first, S = state.problem, state.log_evidence, len(state.theta)
    x = np.concatenate([state.theta, np.log(state.alpha), [math.log(state.beta)]])
    scale = np.concatenate([problem.spacing(state.theta), np.ones(S + 1)])
    low, high = -np.ones(2 * S + 1), np.ones(2 * S + 1)
    low[:S] = np.maximum(low[:S], (problem.grid[0] - state.theta) / scale[:S])
    high[:S] = np.minimum(high[:S], (problem.grid[-1] - state.theta) / scale[:S])
    low[S:], high[S:] = low[S:] * FREEDOM, high[S:] * FREEDOM
    if problem.variance is not None:
        low[-1] = high[-1] = 0.0

    def loss(z: np.ndarray) -> tuple[float, np.ndarray]:
        at = _at(state, x + scale * z)
        gradient = np.concatenate([each if np.ndim(each) else [each] for each in at.gradient()])
        return first - at.log_evidence, -gradient * scale

    options = {"maxiter": ITERATIONS, "ftol": 1e-11, "gtol": 1e-7 * problem.outputs}
    found = minimize(loss, 0 * x, jac=True, method="L-BFGS-B", bounds=np.column_stack([low, high]), options=options)
    # status 1: too many iterations; a line search that finds nothing higher has reached the limit of rounding
    end = replace(_at(state, x + scale * found.x), converged=found.status != 1)
    inside = (end.theta > problem.grid[0]) & (end.theta < problem.grid[-1])
    return end, bool((inside & (np.abs(found.x[:S]) > 1 - 1e-9)).any())


def _at(state: OffGridState, x: np.ndarray) -> OffGridState:
    """The state at coordinates (θ, log α, log β)."""
    S = len(state.theta)
    return OffGridState(state.problem, x[:S], np.exp(x[S:-1]), math.exp(x[-1]))


def refine(state: OffGridState) -> OffGridState:
    """Climb, and delete, merge and add atoms while that raises the objective."""
    best = climb(state) if len(state.theta) else state
    for _ in range(ROUNDS):
        for start in _moves(best):
            end = climb(start) if len(start.theta) else start
            if end.objective > best.objective + LEAST_GAIN:
                best = end
                break
        else:
            return best
    return replace(best, converged=False)


def _moves(state: OffGridState) -> Iterator[OffGridState]:
    """Where to climb from: without the least useful atom, with two neighbours merged, with another atom."""
    if len(state.theta):
        weakest = int(np.argmin(state.gains()))
        if state.gains()[weakest] < state.problem.penalty + LEAST_GAIN:
            yield _subset(state, np.delete(np.arange(len(state.theta)), weakest))
    order = np.argsort(state.theta)
    gaps = np.diff(state.theta[order])
    for k in np.argsort(gaps):
        if gaps[k] < NEAR * state.problem.spacing(state.theta[order[k : k + 1]])[0]:
            yield _merged(state, int(order[k]), int(order[k + 1]))
    alpha, gain = state.gains_of_grid()
    m = int(np.argmax(gain))
    if gain[m] > state.problem.penalty:
        theta = np.append(state.theta, state.problem.grid[m])
        yield OffGridState(state.problem, theta, np.append(state.alpha, alpha[m]), state.beta)


def _subset(state: OffGridState, kept: np.ndarray) -> OffGridState:
    return OffGridState(state.problem, state.theta[kept], state.alpha[kept], state.beta)


def _merged(state: OffGridState, i: int, j: int) -> OffGridState:
    """One atom in place of two: at the mean of their θ weighted by their powers, with the sum of their variances."""
    total = state.powers[i] + state.powers[j]
    theta = (state.powers[i] * state.theta[i] + state.powers[j] * state.theta[j]) / total
    rest = np.delete(np.arange(len(state.theta)), [i, j])
    alpha = 1 / (1 / state.alpha[i] + 1 / state.alpha[j])
    merged = _subset(state, rest)
    return replace(merged, theta=np.append(merged.theta, theta), alpha=np.append(merged.alpha, alpha))


def parameter_std(state: OffGridState) -> np.ndarray:
    """The standard deviations of θ (S,) from the curvature of L over θ, log α and log β; NaN without a maximum."""
    problem, S = state.problem, len(state.theta)
    x = np.concatenate([state.theta, np.log(state.alpha), [math.log(state.beta)]])
    scale = np.concatenate([problem.spacing(state.theta), np.ones(S + 1)])
    free = np.arange(2 * S if problem.variance is not None else 2 * S + 1)
    hessian = np.empty((len(free), len(free)))
    for k in free:
        step = CURVATURE_STEP * scale * (np.arange(2 * S + 1) == k)
        both = [_at(state, x + sign * step).gradient() for sign in (1, -1)]
        up, down = (np.concatenate([each if np.ndim(each) else [each] for each in g]) * scale for g in both)
        hessian[k] = (up - down)[free] / (2 * CURVATURE_STEP)
    try:
        inverse = np.linalg.inv(-0.5 * (hessian + hessian.T))
    except np.linalg.LinAlgError:
        return np.full(S, np.nan)
    with np.errstate(invalid="ignore"):
        return np.sqrt(inverse.diagonal()[:S]) * scale[:S]
