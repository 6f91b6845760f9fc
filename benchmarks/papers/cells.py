"""A printed figure beside the measured one, and what the comparison says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MATCHED, BEATEN, MISSED = "matched", "beaten", "missed"
ERRORS = 2  # standard errors within which two figures agree
WORSE = 0.15  # share by which a cell may be worse without being marked


@dataclass(frozen=True)
class Cell:
    """One printed figure of a relevance vector machine and the draws measured for it.

    where : the item and the quantity, for the scorecard.
    values : the measured draws.
    runs : how many draws the printed figure is the mean of; 1 for a figure of a single draw, for which the standard
        error of the difference is that of one draw.
    spread : printed standard deviation of a draw; None takes the measured one.
    deviation : standard deviation of a single measured draw, if there is only one (such as a binomial one).
    rounding : half a unit of the last printed digit.
    truth : what the figure estimates, if it is best to be near to it; None if less is better.
    cause : why it is missed, if it is.
    """

    where: str
    printed: float
    values: Sequence[float]
    runs: int = 1
    spread: float | None = None
    deviation: float | None = None
    rounding: float = 0.0
    truth: float | None = None
    cause: str = ""

    @property
    def mean(self) -> float:
        """Mean of the draws."""
        return float(np.mean(self.values))

    @property
    def std(self) -> float:
        """Standard deviation of a draw."""
        if self.deviation is not None:
            return self.deviation
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def standard_error(self) -> float:
        """Of the measured mean."""
        return self.std / math.sqrt(len(self.values))

    @property
    def tolerance(self) -> float:
        """Two standard errors of the difference of both figures, and the rounding of the printed one."""
        spread = self.std if self.spread is None else self.spread
        return ERRORS * math.hypot(self.standard_error, spread / math.sqrt(self.runs)) + self.rounding

    @property
    def verdict(self) -> str:
        """Matched, beaten or missed."""
        if abs(self.mean - self.printed) <= self.tolerance * (1 + 1e-9):
            return MATCHED
        return BEATEN if self._cost(self.mean) < self._cost(self.printed) else MISSED

    @property
    def much_worse(self) -> bool:
        """Whether it is missed by more than 15 %."""
        return self.verdict == MISSED and self._cost(self.mean) > (1 + WORSE) * self._cost(self.printed)

    def _cost(self, value: float) -> float:
        return value if self.truth is None else abs(value - self.truth)

    def measured(self) -> str:
        """The mean and its standard error, with the digits that it deserves."""
        return with_error(self.values, self.deviation)


def with_error(values: Sequence[float], deviation: float | None = None) -> str:
    """Mean ± standard error of the mean, rounded to two digits of the error."""
    mean = float(np.mean(values))
    if deviation is None and len(values) < 2:
        return f"{mean:.4g}"
    std = float(np.std(values, ddof=1)) if deviation is None else deviation
    error = std / math.sqrt(len(values))
    if error <= 1e-9 * abs(mean) or abs(mean) < 1e-9:
        return f"{mean:.4g} ± 0" if abs(mean) >= 1e-9 else "0 ± 0"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def percent(share: float, rows: int) -> float:
    """Standard deviation, in per cent, of an error rate (in per cent) on so many test rows."""
    p = share / 100
    return 100 * math.sqrt(max(p * (1 - p), 1e-12) / rows)
