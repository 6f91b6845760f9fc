"""The prior for columns whose number is known: the stricter the fewer rows there are for each."""

from __future__ import annotations

from dataclasses import dataclass

from sparsebayes._checks import is_whole
from sparsebayes.core.prior import Prior, Uniform
from sparsebayes.priors.smoothness import Smoothness

ENOUGH, SCARCE = 2.0, 1.0  # rows per column: from the first on the uniform prior, below the second the strictest


@dataclass
class Automatic(Uniform):
    """Uniform if there are at least two rows per column, "aic" if at least one, "ric" if there are fewer.

    With fewer rows than columns the uniform prior lets functions in until the noise is gone. The smoothness prior of
    AIC and RIC penalises each function by its degrees of freedom, RIC by the choice among many as well.

    Parameters
    ----------
    columns : int
        The number of candidates M.
    """

    columns: int

    def resolve(self, n: float) -> Prior:
        """The prior for n observations."""
        if not is_whole(self.columns, 1):
            raise ValueError(f"columns of prior Automatic must be an integer >= 1, got {self.columns!r}.")
        if n >= ENOUGH * self.columns:
            return Uniform()
        return Smoothness("aic" if n >= SCARCE * self.columns else "ric").resolve(n)
