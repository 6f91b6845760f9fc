"""SE07's algorithm 1 as it is printed, and once more without loss of digits.

* Line 9: any function is visited, those in the model as well.
* Line 11: a function is in the model wherever q² > s and ℓ̂ turns at a finite α, even where the objective is
  higher without it. Sections 3.2 and 3.4 of the paper have it come in where that raises ℓ̂, and footnote 9
  speaks of what line 11 does as a way to explore at first.
* Footnote 8: s = αS/(α−S) and q = αQ/(α−S) of functions in the model (α−Q is printed for q). Where others can
  do the work of a function, S is a difference of numbers that agree in all digits, and its sign is chance. A
  function whose s comes out negative goes: the paper does not say. `WithoutLoss` has s and q by orthogonal
  factors instead.
* Columns are as they are given: no norm is mentioned. Splines are larger than wavelets by far, and so are
  their α, so that the smoothness prior hardly weighs on them.
* Line 23: σ² by eq. 36, its denominator put right, after every tenth action, unless it is given.
* Line 8: converged when no α moves by more than 1e-6 in its logarithm, all relevant functions are in, and the
  noise and the objective are stable [section 3.4.1]. With splines and footnote 8 that is
  never met in double precision.

The library's own solvers keep a function only where it raises the objective, lose no digits, and do not
depend on the size of a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from sparsebayes import Smoothness
from sparsebayes.likelihoods import Gaussian

NOISE_EVERY = 10  # actions, R of the algorithm
FIRST_NOISE = 0.1  # of the variance of t


class Algorithm1:
    """The model while it is learned.

    active : functions in it, in the order they came.  alpha : (M,), ∞ for the others.  beta : 1/σ².
    """

    def __init__(self, Phi: np.ndarray, t: np.ndarray, c: float, noise: float | None = None) -> None:
        self.Phi, self.t = Phi, t
        self.prior = Smoothness(c)
        self.G, self.h, self.tt, self.n = Phi.T @ Phi, Phi.T @ t, float(t @ t), len(t)
        self.noise_given = noise is not None
        self.beta = 1 / (FIRST_NOISE * float(t.var()) if noise is None else noise)
        self.alpha = np.full(Phi.shape[1], np.inf)
        norms = np.sqrt(self.G.diagonal())
        first = int(np.argmax(np.abs(self.h) / np.where(norms > 0, norms, np.inf)))
        self.active = [first]
        self.alpha[first] = self._turning_point(self.beta * norms[first] ** 2, self.beta * self.h[first])
        self._update()

    def run(self, actions: int, rng: np.random.Generator, watch: Callable[[Algorithm1], None]) -> None:
        """So many actions; `watch` is shown the model after each tenth."""
        step = 1
        while step < actions:
            if not self._visit(int(rng.integers(len(self.alpha)))):
                continue
            step += 1
            if step % NOISE_EVERY == 0:
                if not self.noise_given:
                    self._estimate_noise()
                watch(self)

    def _visit(self, i: int) -> bool:
        """Add, re-estimate or delete function i; False where nothing is to be done."""
        inside = np.isfinite(self.alpha[i])
        alpha = self._turning_point(*self.scores(i))
        if not np.isfinite(alpha):
            if not inside or len(self.active) == 1:
                return False
            self.active.remove(i)
        elif not inside:
            self.active.append(i)
        self.alpha[i] = alpha
        self._update()
        return True

    def _turning_point(self, s: float, q: float) -> float:
        if not 0 < s < q * q < np.inf:
            return np.inf
        return float(self.prior.turning_point(np.asarray([s]), np.asarray([q]), self.beta)[0])

    def contributions(self, first: int) -> tuple[np.ndarray, np.ndarray]:
        """What the functions before that number add to Φμ, and what the others do."""
        terms, before = self.Phi[:, self.active] * self.mean, np.asarray(self.active) < first
        return terms[:, before].sum(axis=1), terms[:, ~before].sum(axis=1)

    def scores(self, i: int) -> tuple[float, float]:
        """s and q of function i [footnote 8, put right]."""
        shared, beta = self.G[i, self.active], self.beta
        S = float(beta * self.G[i, i] - beta**2 * shared @ self.covariance @ shared)
        Q = float(beta * (self.h[i] - self.mean @ shared))
        share = self.alpha[i] / (self.alpha[i] - S) if np.isfinite(self.alpha[i]) else 1.0
        return share * S, share * Q

    def _update(self) -> None:
        """Σ and μ, from nothing."""
        J, beta = self.active, self.beta
        self.covariance = np.linalg.inv(np.diag(self.alpha[J]) + beta * self.G[np.ix_(J, J)])
        self.mean = beta * self.covariance @ self.h[J]

    def _estimate_noise(self) -> None:
        J, alpha = self.active, self.alpha[self.active]
        residual = self.tt - 2 * self.mean @ self.h[J] + self.mean @ self.G[np.ix_(J, J)] @ self.mean
        determined = float(np.sum(1 - alpha * self.covariance.diagonal()))
        unit = np.ones_like(alpha)
        self.beta = Gaussian(self.beta).reestimate(
            self.n, residual, determined, lambda beta: self.prior.derivatives(alpha, beta, unit)[2]
        )
        self._update()


class WithoutLoss(Algorithm1):
    """The same with Σ, μ, s and q from orthogonal factors of [√β Φ; √A]: s is the square of a residual."""

    def scores(self, i: int) -> tuple[float, float]:
        """s and q of function i: what the others leave of it, and of that in t."""
        others = [j for j in self.active if j != i]
        basis = self.basis if len(others) == len(self.active) else self._factors(others)[0]
        rest = self._above(self.Phi[:, i], len(others))
        for _ in range(2):  # twice is enough
            rest = rest - basis @ (basis.T @ rest)
        return float(rest @ rest), float(rest @ self._above(self.t, len(others)))

    def _update(self) -> None:
        self.basis, R = self._factors(self.active)
        inverse = solve_triangular(R, np.eye(len(R)))
        self.covariance = inverse @ inverse.T
        self.mean = inverse @ (self.basis.T @ self._above(self.t, len(R)))

    def _factors(self, J: list[int]) -> tuple[np.ndarray, np.ndarray]:
        return np.linalg.qr(
            np.concatenate([math.sqrt(self.beta) * self.Phi[:, J], np.diag(np.sqrt(self.alpha[J]))])
        )

    def _above(self, v: np.ndarray, zeros: int) -> np.ndarray:
        return np.concatenate([math.sqrt(self.beta) * v, np.zeros(zeros)])
