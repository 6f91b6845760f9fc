"""A prior for each part of a concatenation of bases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, take, to_numpy
from sparsebayes.core.prior import Derivatives, Prior


@dataclass
class PerPart(Prior):
    """One prior for the functions of each part of a design [Φ_1 Φ_2 …].

    Parameters
    ----------
    priors : sequence of Prior
        One per part.
    sizes : sequence of int
        The number of functions of each part, in the order of the columns.
    """

    priors: Sequence[Prior]
    sizes: Sequence[int]

    @property
    def depends_on_noise(self) -> bool:  # type: ignore[override]
        """Whether the log density of some part changes with β."""
        return any(prior.depends_on_noise for prior in self.priors)

    @property
    def flat(self) -> bool:  # type: ignore[override]
        """Whether the log density of every part is constant."""
        return all(prior.flat for prior in self.priors)

    def resolve(self, n: float) -> PerPart:
        """Every prior with its parameters as numbers."""
        return PerPart([prior.resolve(n) for prior in self.priors], self.sizes)

    def multiplicities(self, sizes: Any, outputs: int, unit: Any) -> Any:
        """How often log p(α) counts per output, by the prior of each function's part."""
        found = [prior.multiplicities(sizes, outputs, unit[:, 0]) for prior in self.priors]
        return np.choose(unit[:, 1].astype(np.int64), found)

    def units(self, unit: Array, function: Any) -> Array:
        """(M, 2): the factor that turns a solver's α into the user's, and the part of each function."""
        part = np.searchsorted(np.cumsum(self.sizes), function, side="right")
        if len(part) and part.max() >= len(self.priors):
            raise ValueError(f"sizes of PerPart add up to {sum(self.sizes)} functions, got a design with more columns.")
        return namespace(unit).stack([unit, asfloat64(part, like=unit)], axis=1)

    def maximise(self, s: Array, q: Array, beta: float, unit: Array) -> Array:
        """The best α of each function under the prior of its part."""
        return self._chosen(unit, lambda prior, own: prior.maximise(s, q, beta, own))

    def log_density(self, alpha: Array, beta: float, unit: Array) -> Array:
        """log p(α) of each function under the prior of its part."""
        return self._chosen(unit, lambda prior, own: prior.log_density(alpha, beta, own))

    def derivatives(self, alpha: Array, beta: float, unit: Array) -> Derivatives:
        """The derivatives of each part at its own functions; the sums by β are sums over the parts."""
        part, xp = to_numpy(unit[:, 1]), namespace(alpha)
        members = [np.flatnonzero(part == k) for k in range(len(self.priors))]
        pieces = [
            prior.derivatives(take(alpha, J), beta, take(unit[:, 0], J))
            for prior, J in zip(self.priors, members, strict=True)
        ]
        first, second, by_beta, by_beta2, mixed = zip(*pieces, strict=True)
        place = np.argsort(np.concatenate(members))
        by_alpha, curvature, mixture = (take(xp.concat(each), place) for each in (first, second, mixed))
        return by_alpha, curvature, sum(by_beta), sum(by_beta2), mixture

    def _chosen(self, unit: Array, values: Callable[[Prior, Array], Array]) -> Array:
        """The values of each function under the prior of its part."""
        xp = namespace(unit)
        chosen = values(self.priors[0], unit[:, 0])
        for k, prior in enumerate(self.priors[1:], start=1):
            chosen = xp.where(unit[:, 1] == k, values(prior, unit[:, 0]), chosen)
        return chosen
