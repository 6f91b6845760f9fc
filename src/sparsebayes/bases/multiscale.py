"""The functions of a kernel at several widths at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from sparsebayes._array import Array
from sparsebayes.bases._learnable import split
from sparsebayes.bases._scales import positive_numbers
from sparsebayes.bases.base import Basis, BoundBasis, BoundConcatenation
from sparsebayes.bases.kernels import BoundKernel, CentredBasis


class MultiScale(Basis):
    """A kernel at several widths: at every training point one function of each, for the evidence to choose.

    Parameters
    ----------
    kernel : a kernel that has a width
        `RBF()`, `Matern()`, `LinearSpline()`, a product or sum of such, … Its own width is the unit.
    widths : positive numbers
        By which the width is multiplied. With (2, 1, ½) the scale γ of a Gaussian kernel becomes γ·{¼, 1, 4}.
    """

    def __init__(self, kernel: CentredBasis, widths: Sequence[float] = (2.0, 1.0, 0.5)) -> None:
        self.kernel = kernel
        self.widths = widths

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundMultiScale:
        """The kernel at each of the widths, with the rows of X as centres: part after part."""
        if not isinstance(self.kernel, CentredBasis):
            raise TypeError(f"kernel must be a kernel that has a width, got {self.kernel!r}")
        if not isinstance(self.widths, list | tuple | np.ndarray) or not len(self.widths):
            raise ValueError(f"widths must be one or more positive numbers, got {self.widths!r}")
        widths = positive_numbers(self.widths, "widths", len(self.widths))
        bound = self.kernel.bind(X, sample_weight)
        if not np.any(bound.kernel.width_powers):
            raise ValueError(f"kernel must be a kernel that has a width, got {self.kernel!r}")
        same = BoundMultiScale((bound,) * len(widths), log_widths=np.log(widths))
        return same.with_log_scales(bound.log_scales)


@dataclass(frozen=True, eq=False)
class BoundMultiScale(BoundConcatenation):
    """A bound kernel at several widths, each a part; log_widths (parts,) are those in units of its own.

    What can be learned are the scales of the kernel, which move all parts together.
    """

    log_widths: np.ndarray = field(kw_only=True)

    @property
    def scaled_apart(self) -> tuple[BoundBasis, ...]:
        """The whole: its parts share their scales."""
        return (self,)

    @property
    def log_scales(self) -> np.ndarray:
        """Those of the kernel, at a width of 1."""
        return self.parts[0].log_scales - self.log_widths[0] * self._powers()

    @property
    def scale_names(self) -> tuple[str, ...]:
        """Those of the kernel."""
        return self.parts[0].scale_names

    def with_log_scales(self, values: Any) -> Self:
        """The kernel with other scales, at the same widths in units of its own."""
        (values,) = split(values, [len(self.parts[0].log_scales)])
        shifts = np.outer(self.log_widths, self._powers())
        parts = (part.with_log_scales(values + shift) for part, shift in zip(self.parts, shifts, strict=True))
        return replace(self, parts=tuple(parts))

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """The sum of the gradients of the parts, as their scales move together."""
        gradient = super().scale_gradient(X, D)
        return gradient.reshape(len(self.parts), -1).sum(axis=0)

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """Those of the kernel, at a width of 1."""
        here = self.parts[0].with_log_scales(self.log_scales)
        return here.log_scale_bounds(X, reach, narrowest)

    def _powers(self) -> np.ndarray:
        kernel = self.parts[0]
        assert isinstance(kernel, BoundKernel)
        return kernel.kernel.width_powers
