"""Priors p(α) on the precision of a weight; `core.prior` says what a prior is."""

from __future__ import annotations

from typing import Any

from sparsebayes.core.prior import Prior, Uniform
from sparsebayes.priors.automatic import Automatic, alternatives, subset_evidence
from sparsebayes.priors.gamma import Gamma
from sparsebayes.priors.inclusion import Inclusion
from sparsebayes.priors.laplace import Laplace
from sparsebayes.priors.numeric import NumericPrior
from sparsebayes.priors.per_part import PerPart
from sparsebayes.priors.smoothness import Smoothness

NAMED: dict[str, Prior] = {
    "uniform": Uniform(),
    "aic": Smoothness("aic"),
    "bic": Smoothness("bic"),
    "ric": Smoothness("ric"),
}


def as_prior(prior: Any, also: tuple[str, ...] = ()) -> Prior:
    """A prior object unchanged, or the prior that a name stands for.

    Parameters
    ----------
    prior : Prior or {"uniform", "aic", "bic", "ric"}
        The prior, or its name.
    also : tuple of str
        Further names that the caller accepts; the error message lists them too.

    Returns
    -------
    Prior
        The prior, its parameters not yet resolved.
    """
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, str) and prior in NAMED:
        return NAMED[prior]
    raise ValueError(f"prior must be one of {[*also, *NAMED]} or a Prior object, got {prior!r}.")


__all__ = [
    "Automatic",
    "Gamma",
    "Inclusion",
    "Laplace",
    "NumericPrior",
    "PerPart",
    "Prior",
    "Smoothness",
    "Uniform",
    "alternatives",
    "as_prior",
    "subset_evidence",
]
