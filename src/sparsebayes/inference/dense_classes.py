"""The evidence of the dense model for classes by Laplace's approximation, to learn their scales from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from sparsebayes.inference.dense import DenseEvidence, inverse_of, plus_diagonal
from sparsebayes.likelihoods import Bernoulli

INTERCEPT_VARIANCE = 25.0  # of the intercept in log odds: flat, for all that data can say
NEWTON_STEPS = 50
MODE_TOLERANCE = 1e-10  # per row: nats a step to the mode may gain for it to be the last
ROUNDING = 1e-13  # per row: nats that rounding may stand for


@dataclass
class LaplaceEvidence(DenseEvidence):
    """Two classes, or each class against the rest: log p(y) by Laplace's approximation, summed over outputs.

    y : (N, outputs) of 0s and 1s.  counts : (N,) how often each row counts.
    The intercept has a normal prior, wide enough to be flat. Modes f are kept, to start the next ones from:
    with another K they move less than their a = K⁻¹f would move them.
    """

    y: np.ndarray
    counts: np.ndarray
    center: bool

    def __post_init__(self) -> None:
        self.n, self.tail = len(self.y), 0
        self._modes = np.zeros(self.y.shape)

    def __call__(self, K: np.ndarray, tail: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """L = log p(y|f) − ½ fᵀK⁻¹f − ½ log|I + KW| at the mode f, and G with the mode's own derivative."""
        value, G = 0.0, np.zeros_like(K)
        if self.center:
            K = K + INTERCEPT_VARIANCE
        for k in range(self.y.shape[1]):
            one, by_K = self._output(K, k)
            value, G = value + one, G + by_K
        return value, G, np.zeros(0)

    def _output(self, K: np.ndarray, k: int) -> tuple[float, np.ndarray]:
        a = self._mode(K, k)
        f = K @ a
        p, _, root = self._curvature(f)
        B_inverse, log_det = inverse_of(_balanced(K, root))
        value = self._log_likelihood(f, k) - 0.5 * float(a @ f) - 0.5 * log_det
        # ∂L/∂f through W: W diag (K⁻¹ + W)⁻¹ = 1 − diag B⁻¹
        slope = -0.5 * (1 - B_inverse.diagonal()) * (1 - 2 * p)
        moved = slope - root * (B_inverse @ (root * (K @ slope)))  # ∂f/∂K = (I + KW)⁻¹ ∂K g
        B_inverse *= root[:, None]
        B_inverse *= root
        G = np.outer(0.5 * a + moved, a) - np.multiply(B_inverse, 0.5, out=B_inverse)  # g = a at the mode
        return value, 0.5 * (G + G.T)

    def _mode(self, K: np.ndarray, k: int) -> np.ndarray:
        """a = K⁻¹f at the mode, by Newton's steps with halving."""
        a = self._newton(K, self._modes[:, k], k)
        here, nothing = self._height(K, a, k), self._height(K, 0 * a, k)
        if not here > nothing:
            a, here = 0 * a, nothing
        for _ in range(NEWTON_STEPS):
            step = self._newton(K, K @ a, k) - a
            share, there = self._halved(K, a, step, k, here)
            if share == 0.0:
                break
            # the step is taken even where it gains nothing: log|I + KW| is not stationary at the mode
            a, gained, here = a + share * step, there - here, there
            if gained < MODE_TOLERANCE * self.n:
                break
        self._modes[:, k] = K @ a
        return a

    def _newton(self, K: np.ndarray, f: np.ndarray, k: int) -> np.ndarray:
        """a after a step from f: (K⁻¹ + W)⁻¹ b = Ka with b = Wf + ∂ log p/∂f; f may be of another K."""
        _, W, root = self._curvature(f)
        b = W * f + self._gradient(f, k)
        factor = scipy.linalg.cho_factor(
            _balanced(K, root).T, lower=True, overwrite_a=True, check_finite=False
        )
        return b - root * scipy.linalg.cho_solve(factor, root * (K @ b), check_finite=False)

    def _curvature(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The probabilities, W = −∂² log p/∂f², and √W."""
        p = Bernoulli().mean(f)
        W = self.counts * p * (1 - p)
        return p, W, np.sqrt(W)

    def _halved(
        self, K: np.ndarray, a: np.ndarray, step: np.ndarray, k: int, here: float
    ) -> tuple[float, float]:
        share = 1.0
        while share > 1e-6:
            there = self._height(K, a + share * step, k)
            if there >= here - ROUNDING * self.n:
                return share, there
            share *= 0.5
        return 0.0, here

    def _height(self, K: np.ndarray, a: np.ndarray, k: int) -> float:
        f = K @ a
        return self._log_likelihood(f, k) - 0.5 * float(a @ f)

    def _log_likelihood(self, f: np.ndarray, k: int) -> float:
        return float(self.counts @ Bernoulli().log_prob(self.y[:, k : k + 1], f[:, None]))

    def _gradient(self, f: np.ndarray, k: int) -> np.ndarray:
        return self.counts * Bernoulli().gradient(self.y[:, k : k + 1], f[:, None])[:, 0]


def _balanced(K: np.ndarray, root: np.ndarray) -> np.ndarray:
    """B = I + √W K √W, whose eigenvalues are at least 1."""
    B = K * root
    B *= root[:, None]
    return plus_diagonal(B, 1.0)
