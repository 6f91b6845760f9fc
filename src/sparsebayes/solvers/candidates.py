"""The scores S, Q, s and q of every candidate function at the solution of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, to_numpy


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """The scores of every candidate function at the solution, in the units of the data [TF03, eqs. 22-25].

    Attributes
    ----------
    function : ndarray of shape (M,)
        Numbers of the functions. Repeated and zero columns are not among them.
    output : ndarray of shape (M,)
        The output that a candidate would contribute to; 0 if there is one output.
    S, Q : ndarray of shape (M,)
        φᵀC⁻¹φ and φᵀC⁻¹t, C being the covariance of the targets under the fitted model.
        With several outputs that share their functions, Q and q are root mean squares over the outputs.
    s, q : ndarray of shape (M,)
        φᵀC⁻¹φ and φᵀC⁻¹t with C without the function itself; equal to S and Q for functions not in the model.
    """

    function: np.ndarray
    output: np.ndarray
    S: np.ndarray
    Q: np.ndarray
    s: np.ndarray
    q: np.ndarray

    @property
    def theta(self) -> np.ndarray:
        """θ = q² − s: under the uniform prior a function belongs in the model if θ > 0 [TF03, eq. 20]."""
        return self.q**2 - self.s

    @classmethod
    def of(cls, state: Any, unit: Array, function: np.ndarray, output: np.ndarray | None = None) -> Any:
        """The scores at a `State` of all candidates: S_user = S·unit, Q_user = Q·√unit with unit = ν²/τ².

        A state that has a method `candidate_scores` of its own (as closed forms do) supplies them itself.
        """
        if hasattr(state, "candidate_scores"):
            return state.candidate_scores(unit, function)
        scores, unit, J = state.scores, to_numpy(unit), state.J
        alpha, (inside_s, inside_q) = to_numpy(state.alpha), map(to_numpy, state.factors)
        S, Q = to_numpy(scores.S).copy(), to_numpy(scores.q).copy()
        s, q = S.copy(), Q.copy()
        s[J], q[J] = inside_s, inside_q
        S[J], Q[J] = alpha * inside_s / (alpha + inside_s), alpha * inside_q / (alpha + inside_s)
        output = np.zeros(len(function), dtype=np.int64) if output is None else output
        return cls(function, output, S * unit, Q * np.sqrt(unit), s * unit, q * np.sqrt(unit))
