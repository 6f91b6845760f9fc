"""The Gaussian process classifier with the kernel of a sparse model, through few functions.

With all functions of a kernel in the model f = b + h, h ~ N(0, sK), b ~ N(0, 25). For K ≈ LLᵀ, L (N, r), that is
f = Fu with F = (√s L, 5·1) and u ~ N(0, I), and its mode takes Newton's steps in r + 1 weights. At the mode û

    H = FᵀWF + I,      V_n = F_nᵀH⁻¹F_n,      without row n:  m₋ = f − V₋(y − p),   V₋ = V/(1 − V W₁),

W₁ being the curvature p(1 − p) of one copy of the row. The process has few parameters, s and the width, so that unlike
those of a sparse model, whose functions were selected by the labels, these predictions without a row are honest.
They choose s, and the slope a and the bias b of p = 1/(1 + exp(−(a f + b))), by their log loss.

Sparse again: of all f in the span of some functions k(·, x_z) and the intercept, the one nearest to the mode in the
metric of the log posterior, (u − û)ᵀH(u − û). Functions are added to those of the sparse model one by one, each
the one that brings f nearest (orthogonal matching pursuit).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import expit

from sparsebayes.laplace.settings import PROCESS, ProcessSettings


class ProcessMode(NamedTuple):
    """The mode û (D,) of the process at a share s, the factor R of H = RᵀR, f and f without its row, (N,)."""

    weights: np.ndarray
    root: np.ndarray
    f: np.ndarray
    others: np.ndarray


class Calibration(NamedTuple):
    """p = 1/(1 + exp(−(slope·f + bias))), and the log loss of the predictions without their row."""

    slope: float
    bias: float
    log_loss: float


class SparseProcess(NamedTuple):
    """f = Σ w k(·, x_z) + b of the calibrated process, in log odds.

    functions : ndarray of int (S,).  weights : (S,) of kernel functions as they are.  intercept : b.
    calibration : what is already in the weights.  share : s.
    """

    functions: np.ndarray
    weights: np.ndarray
    intercept: float
    calibration: Calibration
    share: float


@dataclass(eq=False)
class ProcessClassifier:
    """The Gaussian process of two classes.

    L : (N, r) with K ≈ LLᵀ.  y : (N,) 0 and 1.  counts : (N,) how often each row counts.
    center : whether there is an intercept.  learned : how many scales of K were fitted to the labels beside one width.
    """

    L: np.ndarray
    y: np.ndarray
    counts: np.ndarray
    center: bool
    settings: ProcessSettings = PROCESS
    learned: int = 0

    def best(self) -> tuple[float, ProcessMode, Calibration]:
        """The share, with its mode and calibration, by the log loss of predictions without their row.

        It is the smallest share, that of the smoothest f, whose log loss is within a few nats of the least: half a
        nat for each learned scale, by which the labels that it was fitted to are predicted too well.
        """
        found, weights = [], None
        for share in self.settings.shares:
            mode = self.mode(share, weights)
            found.append((share, mode, calibrate(mode.others, self.y, self.counts, self.settings.slope_spread)))
            weights = mode.weights
        least = min(calibration.log_loss for _, _, calibration in found)
        nats = self.settings.indifferent + self.settings.per_scale * self.learned
        near = least + nats / float(self.counts.sum())
        return [each for each in found if each[2].log_loss <= near][-1]

    def features(self, share: float) -> np.ndarray:
        """F (N, r + 1); (N, r) without an intercept."""
        F = np.sqrt(share) * self.L
        constant = np.full((len(F), 1), np.sqrt(self.settings.intercept_variance))
        return np.concatenate([F, constant], axis=1) if self.center else F

    def mode(self, share: float, weights: np.ndarray | None = None) -> ProcessMode:
        """The mode at a share, by Newton's method with step halving from some weights."""
        F, settings = self.features(share), self.settings
        weights = np.zeros(F.shape[1]) if weights is None else weights
        height = self._height(F, weights)
        for _ in range(settings.newton_steps):
            p = expit(F @ weights)
            slope = F.T @ (self.counts * (self.y - p)) - weights
            root = self._root(F, p)
            step = scipy.linalg.cho_solve((root, False), slope)
            if slope @ step < settings.mode_tolerance * len(F):
                break
            length, there = 1.0, self._height(F, weights + step)
            while not there > height and length > settings.shortest:
                length *= 0.5
                there = self._height(F, weights + length * step)
            if not there > height:
                break
            weights, height = weights + length * step, there
        f = F @ weights
        p = expit(f)
        root = self._root(F, p)
        V = np.sum(scipy.linalg.solve_triangular(root, F.T, trans="T") ** 2, axis=0)
        kept = np.maximum(1 - V * p * (1 - p), settings.shortest)
        return ProcessMode(weights, root, f, f - V / kept * (self.y - p))

    def _height(self, F: np.ndarray, weights: np.ndarray) -> float:
        f = F @ weights
        return float(self.counts @ (self.y * f - np.logaddexp(0.0, f))) - 0.5 * float(weights @ weights)

    def _root(self, F: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The upper factor of H."""
        H = (F * (self.counts * p * (1 - p))[:, None]).T @ F
        H[np.diag_indices_from(H)] += 1.0
        return scipy.linalg.cholesky(H, check_finite=False)

    def sparse(self, start: np.ndarray, most: int) -> SparseProcess:
        """The calibrated process through the functions `start` and at most so many others."""
        share, mode, calibration = self.best()
        rows = np.sqrt(share) * self.L  # k(·, x_m) = F v with v = √s ℓ_m, times s
        columns = mode.root[:, : rows.shape[1]] @ rows.T
        target, constant = mode.root @ mode.weights, mode.root[:, rows.shape[1] :]
        goal = 2 * self.settings.nats_per_row * float(self.counts.sum())
        chosen = pursue(columns, constant, target, np.unique(start), most, goal)
        design = np.concatenate([columns[:, chosen], constant], axis=1)
        weights = scipy.linalg.lstsq(design, target, cond=self.settings.dependent)[0]
        own = weights[len(chosen) :] * np.sqrt(self.settings.intercept_variance)
        intercept = calibration.slope * float(own.sum()) + calibration.bias
        return SparseProcess(
            chosen, calibration.slope * share * weights[: len(chosen)], intercept, calibration, float(share)
        )


def pursue(
    columns: np.ndarray, free: np.ndarray, target: np.ndarray, start: np.ndarray, most: int, goal: float
) -> np.ndarray:
    """Columns that bring their combination near to a target, by orthogonal matching pursuit.

    Parameters
    ----------
    columns, free : ndarray of shape (D, N) and (D, q)
        The columns to choose from, and those that are always there.
    target : ndarray of shape (D,)
        What is to be approximated.
    start : ndarray of int
        The columns that are chosen in any case.
    most : int
        How many others at most.
    goal : float
        The squared distance that suffices.

    Returns
    -------
    ndarray of int
        The columns that were chosen, ascending.
    """
    basis = scipy.linalg.orth(np.concatenate([columns[:, start], free], axis=1))
    residual = target - basis @ (basis.T @ target)
    rest = columns - basis @ (basis.T @ columns)
    sizes, least, chosen = np.sum(columns**2, axis=0), 1e-10, list(start)
    for _ in range(most):
        if residual @ residual <= goal:
            break
        left = np.sum(rest**2, axis=0)
        usable = left > least * sizes
        score = np.where(usable, (rest.T @ residual) ** 2 / np.where(usable, left, 1.0), 0.0)
        best = int(np.argmax(score))
        if not score[best] > 0:
            break
        direction = rest[:, best] / np.sqrt(left[best])
        chosen.append(best)
        residual = residual - direction * (direction @ residual)
        rest = rest - np.outer(direction, direction @ rest)
    return np.sort(np.asarray(chosen, dtype=np.int64))


def calibrate(f: np.ndarray, y: np.ndarray, counts: np.ndarray, spread: float, steps: int = 100) -> Calibration:
    """The slope exp(c) and the bias with the least log loss, c ~ N(0, spread²).

    Parameters
    ----------
    f : ndarray of shape (N,)
        Predictions of each row without that row.
    y, counts : ndarray of shape (N,)
        Labels, 0 or 1, and how often each row counts.
    spread : float
        Standard deviation of the logarithm of the slope: rows that are all predicted rightly would make it infinite.
    steps : int
        Most Newton steps.

    Returns
    -------
    Calibration
        Slope, bias and log loss. The mean of the probabilities is the share of the class.
    """
    scale = max(float(np.sqrt(np.average(f**2, weights=counts))), 1e-300)
    z, c, b = f / scale, np.log(scale), float(np.log(counts @ y / (counts @ (1 - y))))

    def height(c: float, b: float) -> float:
        g = np.exp(c) * z + b
        return float(counts @ (y * g - np.logaddexp(0.0, g))) - 0.5 * ((c - np.log(scale)) / spread) ** 2

    here = height(c, b)
    for _ in range(steps):
        g, moved = np.exp(c) * z + b, np.exp(c) * z
        p = expit(g)
        error, W = counts * (y - p), counts * p * (1 - p)
        slope = np.asarray([error @ moved - (c - np.log(scale)) / spread**2, error.sum()])
        curvature = np.asarray([[W @ moved**2 + 1 / spread**2, W @ moved], [W @ moved, W.sum()]])
        step = np.linalg.solve(curvature + 1e-12 * np.trace(curvature) * np.eye(2), slope)
        if slope @ step < 1e-14 * len(f):
            break
        share = 1.0
        while not height(c + share * step[0], b + share * step[1]) >= here and share > 1e-8:
            share *= 0.5
        c, b = c + share * step[0], b + share * step[1]
        here = height(c, b)
    g = np.exp(c) * z + b
    return Calibration(float(np.exp(c) / scale), b, float(counts @ (np.logaddexp(0.0, g) - y * g) / counts.sum()))
