"""The functions of a kernel at several widths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from sparsebayes._array import Array
from sparsebayes.bases.arguments import split
from sparsebayes.bases.concatenation import BoundConcatenation
from sparsebayes.bases.contract import Basis, BoundBasis, Scale
from sparsebayes.bases.kernels.contract import CentredBasis
from sparsebayes.bases.kernels.scales import positive_numbers


class MultiScale(Basis):
    """A kernel at several widths: one function of each width per centre, among which the evidence chooses.

    Parameters
    ----------
    kernel : a kernel that has a width
        `RBF()`, `Matern()`, `LinearSpline()`, a product or sum of such, … Its own width is the unit.
    widths : positive numbers
        Factors of the width. With (2, 1, ½) the scale γ of a Gaussian kernel becomes γ·{¼, 1, 4}.
    """

    def __init__(self, kernel: CentredBasis, widths: Sequence[float] = (2.0, 1.0, 0.5)) -> None:
        self.kernel = kernel
        self.widths = widths

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """The kernel at each of the widths, one part per width."""
        if not isinstance(self.kernel, CentredBasis):
            raise TypeError(f"kernel must be a kernel that has a width, got {self.kernel!r}.")
        widths = positive_numbers(self.widths, "widths")
        bound = self.kernel.bind(X, sample_weight, centres)
        if not bound.kernel.has_width:
            raise ValueError(f"kernel must be a kernel that has a width, got {self.kernel!r}.")
        parts = (replace(bound, kernel=bound.kernel.widened(width)) for width in widths.tolist())
        return BoundMultiScale(tuple(parts), log_widths=np.log(widths))


@dataclass(frozen=True, eq=False)
class BoundMultiScale(BoundConcatenation):
    """A bound kernel at several widths, one part per width.

    The scales that can be learned are those of the kernel at width 1; they change all parts together.

    Parameters
    ----------
    parts : tuple of BoundKernel
        The kernel at each of the widths.
    order : ndarray of shape (M,), optional
        Column m is column `order[m]` of the parts side by side; by default column m.
    log_widths : ndarray of shape (parts,)
        Logarithms of the widths, in units of the width of the kernel.
    """

    log_widths: np.ndarray = field(kw_only=True)

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """Such as "RBF at row 17, width × 2"."""
        return self._names_of_parts(inputs, [f", width × {width:.4g}" for width in np.exp(self.log_widths)])

    @property
    def scale_groups(self) -> tuple[BoundBasis, ...]:
        """The basis as a whole, because its parts share their scales."""
        return (self,)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scales of the kernel at width 1."""
        here, wide = self.parts[0].scales, float(self.log_widths[0])
        return tuple(each._replace(log_value=each.log_value - wide * each.width_power) for each in here)

    def with_log_scales(self, values: Any) -> Self:
        """The kernel with other scales, at the same widths in units of its own."""
        here = self.parts[0].scales
        (values,) = split(values, [len(here)])
        shifts = np.outer(self.log_widths, [scale.width_power for scale in here])
        parts = (part.with_log_scales(values + shift) for part, shift in zip(self.parts, shifts, strict=True))
        return replace(self, parts=tuple(parts))

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """The sum of the gradients of the parts, because they share their scales."""
        gradient = super().scale_gradient(X, D)
        return gradient.reshape(len(self.parts), -1).sum(axis=0)

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """The bounds of the kernel's scales at width 1."""
        here = self.parts[0].with_log_scales(self.log_scales)
        return here.log_scale_bounds(X, reach, narrowest)
