"""Priors p(α) on the precision of a weight: `base` says what one is, a file each has the others."""

from __future__ import annotations

from typing import Any

from sparsebayes.priors.base import Prior
from sparsebayes.priors.gamma import Gamma
from sparsebayes.priors.laplace import Laplace
from sparsebayes.priors.smoothness import Smoothness
from sparsebayes.priors.uniform import Uniform

NAMED = {
    "uniform": Uniform(),
    "aic": Smoothness("aic"),
    "bic": Smoothness("bic"),
    "ric": Smoothness("ric"),
}


def as_prior(prior: Any, also: tuple[str, ...] = ()) -> Prior:
    """A prior object as it is, or the one a name stands for.

    also : further names the caller has seen to; an error mentions them.
    """
    if isinstance(prior, Prior):
        return prior
    if prior is None:
        return NAMED["uniform"]
    if isinstance(prior, str) and prior in NAMED:
        return NAMED[prior]
    raise ValueError(f"prior must be one of {[*also, *NAMED]} or a Prior object, got {prior!r}.")


__all__ = ["Gamma", "Laplace", "Prior", "Smoothness", "Uniform", "as_prior"]
