"""The prior that the data choose: how much a further function is charged, by the evidence of the models it leads to."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import gammaln

from sparsebayes._checks import is_whole
from sparsebayes.core.prior import Prior, Uniform
from sparsebayes.priors.smoothness import Smoothness

ENOUGH = 1.5  # rows per column below which a model of most columns would not predict, and evidence cannot tell


@dataclass
class Automatic(Uniform):
    """The uniform prior or "bic", whichever the rows speak for; "ric" if there are fewer than 1.5 rows per column.

    Where most columns matter the uniform prior predicts best, where few of many do the strict one: with each a model is
    fitted, and the one with the higher evidence is kept, less log C(M, k) for the choice of k functions among M
    (`subset_evidence`). With fewer rows the uniform prior lets functions in until the noise is gone, so
    that only the strictest is left. Where one prior has to be named before anything is fitted it is the uniform one.

    Parameters
    ----------
    columns : int
        The number of candidates M.
    """

    columns: int

    def resolve(self, n: float) -> Prior:
        """The first of the alternatives for n observations."""
        return self.alternatives(n)[0]

    def alternatives(self, n: float) -> list[Prior]:
        """The priors whose models are compared, for n observations."""
        if not is_whole(self.columns, 1):
            raise ValueError(f"columns of prior Automatic must be an integer >= 1, got {self.columns!r}.")
        if n < ENOUGH * self.columns:
            return [Smoothness("ric").resolve(n)]
        return [Uniform(), Smoothness("bic").resolve(n)]


def alternatives(prior: Prior, n: float) -> list[Prior]:
    """The prior for n observations, or those of an `Automatic` one."""
    return prior.alternatives(n) if isinstance(prior, Automatic) else [prior.resolve(n)]


def subset_evidence(log_evidence: float, selected: int, candidates: int) -> float:
    """log p(y | α, σ²) − log C(M, k): the evidence of a model of k functions if all sets of k of M are as probable.

    Every number of functions is as probable, too: its constant −log(M+1) is left out.
    """
    return log_evidence - float(gammaln(candidates + 1) - gammaln(selected + 1) - gammaln(candidates - selected + 1))
