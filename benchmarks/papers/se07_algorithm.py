"""Algorithm 1 of [SE07] as it is printed, and once more without loss of digits.

* Line 9: any function may be drawn next, active ones as well.
* Line 11: a function is in the model if q² > s and ℓ̂ has a turning point at a finite α, even if the objective
  is higher without it. Sections 3.2 and 3.4 of the paper add a function only if that raises ℓ̂, and footnote 9
  describes what line 11 does as a way to explore at first.
* Footnote 8: s = αS/(α−S) and q = αQ/(α−S) of active functions (α−Q is printed for q). If other functions can
  replace a function, S is a difference of numbers that agree in all digits, and its sign is arbitrary. A
  function with a negative s is deleted here, which the paper does not specify. `WithoutLoss` computes s and q
  by orthogonal factors instead.
* Columns are not normalised, as the paper mentions no norm. Splines are far larger than wavelets, and so are
  their α, so that the smoothness prior hardly affects them.
* Line 23: σ² by eq. 36, its denominator corrected, after every tenth action, unless it is given.
* Line 8: converged when no log α moves by more than 1e-6, all relevant functions are active, and the noise and
  the objective are stable [section 3.4.1]. With splines and footnote 8 this never happens in double precision.

The solvers of the library keep a function only if it raises the objective, lose no digits, and do not depend
on the size of a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq

from sparsebayes import Smoothness

NOISE_EVERY = 10  # actions, R of the algorithm
FIRST_NOISE = 0.1  # of the variance of t


class Algorithm1:
    """The model while it is fitted.

    active : the active functions, in the order in which they were added.
    alpha : α of all functions (M,), ∞ for those that are not active.
    beta : 1/σ².
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
        """Take this many actions; `watch` is called with the model after every tenth."""
        step = 1
        while step < actions:
            if not self._act_on(int(rng.integers(len(self.alpha)))):
                continue
            step += 1
            if step % NOISE_EVERY == 0:
                if not self.noise_given:
                    self._estimate_noise()
                watch(self)

    def _act_on(self, i: int) -> bool:
        """Add, re-estimate or delete function i; False if there is nothing to do."""
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
        """The shares in Φμ of the functions with numbers below `first`, and of the others."""
        terms, before = self.Phi[:, self.active] * self.mean, np.asarray(self.active) < first
        return terms[:, before].sum(axis=1), terms[:, ~before].sum(axis=1)

    def scores(self, i: int) -> tuple[float, float]:
        """s and q of function i [footnote 8, corrected]."""
        shared, beta = self.G[i, self.active], self.beta
        S = float(beta * self.G[i, i] - beta**2 * shared @ self.covariance @ shared)
        Q = float(beta * (self.h[i] - self.mean @ shared))
        share = self.alpha[i] / (self.alpha[i] - S) if np.isfinite(self.alpha[i]) else 1.0
        return share * S, share * Q

    def _update(self) -> None:
        """Recompute Σ and μ."""
        J, beta = self.active, self.beta
        self.covariance = np.linalg.inv(np.diag(self.alpha[J]) + beta * self.G[np.ix_(J, J)])
        self.mean = beta * self.covariance @ self.h[J]

    def _estimate_noise(self) -> None:
        """β where ½ [N − Σγ − β‖t−Φμ‖²] + ∂ log p(α|β)/∂ log β = 0 [eq. 36, corrected]."""
        J, alpha = self.active, self.alpha[self.active]
        residual = self.tt - 2 * self.mean @ self.h[J] + self.mean @ self.G[np.ix_(J, J)] @ self.mean
        free = self.n - float(np.sum(1 - alpha * self.covariance.diagonal()))  # N − Σγ
        if free <= 0 or residual <= 0:
            return
        unit = np.ones_like(alpha)

        def equation(log_beta: float) -> float:
            beta = math.exp(log_beta)
            return 0.5 * (free - beta * residual) + self.prior.derivatives(alpha, beta, unit)[2]

        # the derivative of the log prior is not positive: the zero is below that of the first term
        low, high = math.log(free / residual) - 1.0, math.log(free / residual) + 1.0
        while equation(low) <= 0:
            low -= 1.0
        self.beta = math.exp(brentq(equation, low, high, xtol=1e-12))
        self._update()


class WithoutLoss(Algorithm1):
    """Algorithm 1 with Σ, μ, s and q by orthogonal factors of [√β Φ; √A]: s is the square of a residual."""

    def scores(self, i: int) -> tuple[float, float]:
        """s and q of function i: its part orthogonal to the others, squared, and multiplied by t."""
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
        return np.linalg.qr(np.concatenate([math.sqrt(self.beta) * self.Phi[:, J], np.diag(np.sqrt(self.alpha[J]))]))

    def _above(self, v: np.ndarray, zeros: int) -> np.ndarray:
        return np.concatenate([math.sqrt(self.beta) * v, np.zeros(zeros)])
