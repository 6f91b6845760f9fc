"""log p(y) of classes by Laplace's approximation, as a function of the covariance of f."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, add_diagonal, asfloat64, diagonal, namespace, solve_positive, to_numpy
from sparsebayes.scale_learning.evidence import Evidence, inverse_of

NEWTON_STEPS = 50
MODE_TOLERANCE = 1e-10  # nats per row: a step to the mode that gains less is the last
ROUNDING = 1e-13  # nats per row that may be rounding
SHORTEST = 1e-6  # share of a Newton step below which it is no longer halved


@dataclass(eq=False)
class LaplaceEvidence(Evidence):
    """Laplace's approximation to log p(y) of one or several outputs, each with an f of its own, summed.

    Two classes have one output; more classes have one output each, that class against all others.

    Parameters
    ----------
    y : ndarray of shape (N, K)
        0s and 1s.
    counts : ndarray of shape (N,)
        How often each row counts.
    center : bool
        Whether there is an intercept.
    likelihood : object
        p(y | f) of one output, with `log_prob(y, f)` (N,), `gradient(y, f)` (N, 1), `curvature_factors(y, f)`
        = (W, None) and `log_curvature_slope(y, f)` = ∂ log W/∂f (N, 1), for y and f of shape (N, 1).
    intercept_variance : float
        Prior variance of the intercept, wide enough to be flat for log odds.
    """

    likelihood: Any
    intercept_variance: float = 25.0

    # a label says so little that ½ log N nats would drop inputs which inform: of 20 equal ones half
    drops_inputs = False

    def __post_init__(self) -> None:
        self.order = self.y @ np.arange(1, self.y.shape[1] + 1)  # the numbers of the classes
        # the last modes f are where the next search starts: with another K they move less than their K⁻¹f
        self.memory = np.zeros(self.y.shape)

    def __call__(self, K: Array, log_beta: np.ndarray) -> tuple[float, Array, np.ndarray]:
        """L = log p(y|f) − ½ fᵀK⁻¹f − ½ log|I + KW| at the mode f, and ∂L/∂K, through the mode as well."""
        value, G = 0.0, namespace(K).zeros_like(K)
        if self.center:
            K = K + self.intercept_variance
        for k in range(self.y.shape[1]):
            one, by_K = self._output(K, k)
            value, G = value + one, G + by_K
        return value, G, np.zeros(0)

    def _output(self, K: Array, k: int) -> tuple[float, Array]:
        """L and ∂L/∂K of output k."""
        a = self._mode(K, k)
        f = K @ a
        _, root = self._curvature(f, k)
        B_inverse, log_det = inverse_of(_balanced(K, root))
        value = self._height(K, a, k) - 0.5 * log_det
        # ∂L/∂f through W: W diag (K⁻¹ + W)⁻¹ = 1 − diag B⁻¹
        by_W = self.likelihood.log_curvature_slope(self.y[:, k : k + 1], f[:, None])[:, 0]
        slope = -0.5 * (1 - diagonal(B_inverse)) * by_W
        moved = slope - root * (B_inverse @ (root * (K @ slope)))  # ∂f/∂K = (I + KW)⁻¹ ∂K g
        B_inverse *= 0.5 * root[:, None]
        B_inverse *= root
        G = (0.5 * a + moved)[:, None] * a[None, :] - B_inverse  # g = a at the mode
        return value, 0.5 * (G + G.T)

    def _mode(self, K: Array, k: int) -> Array:
        """a = K⁻¹f at the mode of output k, by Newton's method with step halving."""
        n, a = K.shape[0], self._newton(K, asfloat64(self.memory[:, k], like=K), k)
        here, nothing = self._height(K, a, k), self._height(K, 0 * a, k)
        if not here > nothing:
            a, here = 0 * a, nothing
        for _ in range(NEWTON_STEPS):
            step, share = self._newton(K, K @ a, k) - a, 1.0
            there = self._height(K, a + step, k)
            while not there >= here - ROUNDING * n and share > SHORTEST:
                share *= 0.5
                there = self._height(K, a + share * step, k)
            if share <= SHORTEST:
                break
            # the step is taken even if it gains nothing: log|I + KW| is not stationary at the mode
            a, gained, here = a + share * step, there - here, there
            if gained < MODE_TOLERANCE * n:
                break
        memory = self.memory.copy()
        memory[:, k] = to_numpy(K @ a)
        self.memory = memory
        return a

    def _newton(self, K: Array, f: Array, k: int) -> Array:
        """a after a step from f: (K⁻¹ + W)⁻¹ b = Ka with b = Wf + ∂ log p/∂f; f may belong to another K."""
        W, root = self._curvature(f, k)
        b = W * f + self.counts * self.likelihood.gradient(self.y[:, k : k + 1], f[:, None])[:, 0]
        return b - root * solve_positive(_balanced(K, root), root * (K @ b))

    def _curvature(self, f: Array, k: int) -> tuple[Array, Array]:
        """W = −∂² log p/∂f² and √W."""
        d, _ = self.likelihood.curvature_factors(self.y[:, k : k + 1], f[:, None])
        W = self.counts * d[:, 0]
        return W, namespace(W).sqrt(W)

    def _height(self, K: Array, a: Array, k: int) -> float:
        """log p(y|f) − ½ fᵀK⁻¹f with f = Ka."""
        f = K @ a
        log_prob = self.likelihood.log_prob(self.y[:, k : k + 1], f[:, None])
        return float(self.counts @ log_prob) - 0.5 * float(a @ f)


def _balanced(K: Array, root: Array) -> Array:
    """B = I + √W K √W, whose eigenvalues are at least 1."""
    B = K * root
    B *= root[:, None]
    return add_diagonal(B, 1.0)
