"""A prior whose derivatives are taken by finite differences, so that it is written in two methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sparsebayes._array import Array, namespace
from sparsebayes.core.prior import Derivatives, Prior

STEP = 5e-3  # of the stencils in log α and log β: error STEP⁴ along an axis, STEP² for the mixed derivative


@dataclass
class NumericPrior(Prior):
    """A `Prior` that needs only `maximise` and `log_density`: its derivatives are central differences."""

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """Five-point differences of `log_density` in log α and log β."""

        def value(i: int, j: int) -> Array:
            return self.log_density(alpha * math.exp(i * STEP), beta * math.exp(j * STEP), unit)

        first, second = _differences(lambda k: value(k, 0))
        if not self.depends_on_noise:
            return first, second, 0.0, 0.0, namespace(alpha).zeros_like(first)
        total = namespace(alpha).sum
        by_beta, by_beta2 = (float(total(each)) for each in _differences(lambda k: value(0, k)))
        mixed = (value(1, 1) - value(1, -1) - value(-1, 1) + value(-1, -1)) / (4 * STEP**2)
        return first, second, by_beta, by_beta2, mixed


def _differences(f: Callable[[int], Array]) -> tuple[Array, Array]:
    """First and second derivative of f at 0, from its values at −2 … 2 steps."""
    ahead, behind = f(1), f(-1)
    far_ahead, far_behind = f(2), f(-2)
    first = (8 * (ahead - behind) - (far_ahead - far_behind)) / (12 * STEP)
    return first, (16 * (ahead + behind) - (far_ahead + far_behind) - 30 * f(0)) / (12 * STEP**2)
