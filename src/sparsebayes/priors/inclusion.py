"""The inclusion prior: a price for each function that is in the model, however many weights it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparsebayes._array import Array, namespace
from sparsebayes._checks import is_number
from sparsebayes.core.prior import Derivatives, Prior, Uniform


@dataclass
class Inclusion(Prior):
    """c nats for each function in the model: prior odds of exp(−c) that a function is in it, α uniform if it is.

    One precision counts once, whether it governs one weight or those of many outputs. With c = log M, of M candidates
    about one is expected in the model, and noise alone brings in about one as well.

    Parameters
    ----------
    c : float
        Nats per function, ≥ 0.
    """

    c: float

    def resolve(self, n: float) -> Inclusion:
        """The prior itself; ValueError unless c is a number ≥ 0."""
        if not is_number(self.c) or float(self.c) < 0:
            raise ValueError(f"c of prior Inclusion(c) must be a number >= 0, got {self.c!r}.")
        return self

    def scaled(self, factor: float) -> Inclusion:
        """The prior with c times `factor`."""
        return Inclusion(factor * float(self.c))

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """s²/(q²−s) if the gain there is positive; else ∞."""
        alpha = Uniform().maximise(s, q, beta, unit)
        return namespace(s).where(self.gain(alpha, s, q, beta, unit) > 0, alpha, math.inf)

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """−c."""
        return namespace(alpha).full_like(alpha, -float(self.c))

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """All zero."""
        zero = namespace(alpha).zeros_like(alpha)
        return zero, zero, 0.0, 0.0, zero
