"""SE07's algorithm 1 to the letter. Where functions are nearly dependent it has no fixed point.

* Line 9: any function is visited, those in the model as well.
* Line 11: a function is in the model wherever q² > s and ℓ̂ turns at a finite α, even where the objective is
  higher without it.
* Footnote 8: s = αS/(α−S) and q = αQ/(α−S) of functions in the model. Where others can do its work the S of a
  function is next to α, the difference has no digits left, and its sign is chance. A function whose s comes
  out negative goes: the paper does not say.
* Columns are as they are: no norm is mentioned. Splines are larger than wavelets by far, and so are their α,
  so that the smoothness prior hardly weighs on them.
* Line 23: σ² by eq. 36, its denominator put right, after every tenth action.

The library's own solvers keep a function only where it raises the objective, lose no digits, and do not
depend on the size of a column.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparsebayes import Smoothness
from sparsebayes.likelihoods import Gaussian

NOISE_EVERY = 10  # actions, R of the algorithm
FIRST_NOISE = 0.1  # of the variance of t


class Algorithm1:
    """The model while it is learned.

    active : functions in it, in the order they came.  alpha : (M,), ∞ for the others.  beta : 1/σ².
    """

    def __init__(self, Phi: np.ndarray, t: np.ndarray, c: float) -> None:
        self.prior = Smoothness(c)
        self.G, self.h, self.tt, self.n = Phi.T @ Phi, Phi.T @ t, float(t @ t), len(t)
        self.beta = 1 / (FIRST_NOISE * float(t.var()))
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
                self._estimate_noise()
                watch(self)

    def _visit(self, i: int) -> bool:
        """Add, re-estimate or delete function i; False where nothing is to be done."""
        inside = np.isfinite(self.alpha[i])
        share = self.alpha[i] / (self.alpha[i] - self.S[i]) if inside else 1.0
        alpha = self._turning_point(share * self.S[i], share * self.Q[i])
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
        if not s > 0 or not np.isfinite(s + q * q):
            return np.inf
        return float(self.prior.turning_point(np.asarray([s]), np.asarray([q]), self.beta)[0])

    def _update(self) -> None:
        """Σ and μ, and S and Q of all functions [footnote 8, put right]."""
        J, beta = self.active, self.beta
        rows = self.G[J]
        self.covariance = np.linalg.inv(np.diag(self.alpha[J]) + beta * rows[:, J])
        self.mean = beta * self.covariance @ self.h[J]
        self.S = beta * self.G.diagonal() - beta**2 * np.einsum("jm,jm->m", rows, self.covariance @ rows)
        self.Q = beta * (self.h - self.mean @ rows)

    def _estimate_noise(self) -> None:
        J, alpha = self.active, self.alpha[self.active]
        residual = self.tt - 2 * self.mean @ self.h[J] + self.mean @ self.G[np.ix_(J, J)] @ self.mean
        determined = float(np.sum(1 - alpha * self.covariance.diagonal()))
        unit = np.ones_like(alpha)
        self.beta = Gaussian(self.beta).reestimate(
            self.n, residual, determined, lambda beta: self.prior.derivatives(alpha, beta, unit)[2]
        )
        self._update()
