"""Products and sums of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from sparsebayes._array import Array
from sparsebayes.bases.arguments import split
from sparsebayes.bases.concatenation import HasParts, scales_of_parts
from sparsebayes.bases.contract import Scale
from sparsebayes.bases.kernels._distances import totals
from sparsebayes.bases.kernels.contract import CentredBasis
from sparsebayes.bases.kernels.learnable import Learnable
from sparsebayes.bases.kernels.scales import Bounds, check_bounds, positive_numbers


class _Composed(HasParts, CentredBasis):
    """A kernel made of others. Its scales are its own, then those of one part after the other.

    sign : what stands between the parts in the name of a function.
    """

    sign: ClassVar[str]

    @property
    def label(self) -> str:
        """What the parts are called, such as "(RBF + Linear)"."""
        return f"({f' {self.sign} '.join(part.label for part in self.parts)})"

    @property
    def symmetric(self) -> bool:
        """Whether all parts are symmetric."""
        return all(part.symmetric for part in self.parts)

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Whether all parts are positive semi-definite, as sums and elementwise products of them then are."""
        return all(part.positive_semidefinite_at(Z) for part in self.parts)

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """Every part resolved."""
        self.check_parts(CentredBasis, "kernels")
        return self.with_params(parts=[part.resolve(X, sample_weight) for part in self.parts])

    @property
    def scales(self) -> tuple[Scale, ...]:
        """Its own scales, and those of the parts."""
        return (*super().scales, *scales_of_parts(self.parts))

    def with_log_scales(self, values: Any) -> Self:
        """Each part with its own scales."""
        own, *pieces = split(values, [len(super().scales), *(len(part.scales) for part in self.parts)])
        parts = [part.with_log_scales(piece) for part, piece in zip(self.parts, pieces, strict=True)]
        return super().with_log_scales(own).with_params(parts=parts)

    def with_scale_per_input(self, d: int) -> Self:
        """Each part with one scale per input."""
        return self.with_params(parts=[part.with_scale_per_input(d) for part in self.parts])

    @property
    def has_width(self) -> bool:
        """Whether some part has a width."""
        return any(part.has_width for part in self.parts)

    def widened(self, factor: float) -> Self:
        """Each part with functions `factor` times as wide."""
        return self.with_params(parts=[part.widened(factor) for part in self.parts])

    def log_scale_bounds(self, X: np.ndarray, reach: float, narrowest: float) -> np.ndarray:
        """Its own bounds, and those of the parts."""
        parts = (part.log_scale_bounds(X, reach, narrowest) for part in self.parts)
        return np.concatenate([super().log_scale_bounds(X, reach, narrowest), *parts])


class KernelProduct(_Composed):
    """The product of kernels, k(x, z) = Π_j k_j(x, z): usually written `a * b`.

    Parameters
    ----------
    parts : list of kernels
        k_j. Their parameters have the names `part{j}__{parameter}`.
    """

    sign = "×"

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm, one factor per part."""
        K = self.parts[0].evaluate(X, Z)
        for part in self.parts[1:]:
            K = K * part.evaluate(X, Z)
        return K

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log η for a scale of part j: that of k_j, times the other factors."""
        values = [part.evaluate(X, Z) for part in self.parts]
        pieces = [np.zeros(0)]
        for j, part in enumerate(self.parts):
            others = D
            for value in values[:j] + values[j + 1 :]:
                others = others * value
            pieces.append(part.free_scale_gradient(X, Z, others))
        return np.concatenate(pieces)


class KernelSum(_Composed):
    """The sum of kernels as one kernel, k(x, z) = Σ_j c_j k_j(x, z).

    A function of it is a sum of one function of each part, at the same centre and in fixed proportions. A
    concatenation `a + b` has the functions of both, each with a weight of its own.

    Parameters
    ----------
    parts : list of kernels
        k_j. Their parameters have the names `part{j}__{parameter}`.
    weights : positive numbers, one per part, optional
        c_j, by default all 1.
    weights_bounds : "fixed" or a pair of positive numbers, optional
        "fixed" holds the weights when scales are learned; a pair bounds them.
    """

    sign = "+"
    learnable: ClassVar[tuple[Learnable, ...]] = (
        Learnable("weights", power=0.0, limits=(1e-3, 1e3), per_input=False, is_width=False),
    )

    def __init__(self, parts: Sequence[CentredBasis], weights: Any = None, *, weights_bounds: Bounds = None) -> None:
        super().__init__(parts)
        self.weights = weights
        self.weights_bounds = weights_bounds

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """Every part resolved, the weights as numbers."""
        resolved, count = super().resolve(X, sample_weight), len(self.parts)
        check_bounds(self.weights_bounds, "weights_bounds")
        given = np.ones(count) if self.weights is None else self.weights
        return resolved.with_params(weights=positive_numbers(given, "weights", count))

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm, one term per part."""
        terms = zip(self.weights.tolist(), self.parts, strict=True)
        return sum(weight * part.evaluate(X, Z) for weight, part in terms)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log c_j = c_j k_j, and c_j times the gradient of k_j by its own scales."""
        terms = list(zip(self.weights.tolist(), self.parts, strict=True))
        by_weights = self.weights * totals((D, part.evaluate(X, Z)) for part in self.parts)
        by_parts = (weight * part.free_scale_gradient(X, Z, D) for weight, part in terms)
        return np.concatenate([by_weights, *by_parts])
