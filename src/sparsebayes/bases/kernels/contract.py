"""Kernel bases: one function φ_m(x) = k(x, z_m) per centre z_m, by default the training points.

A kernel class states its parameters, which of them can be learned, and the formula (`evaluate`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparsebayes._array import Array, asfloat64, beside, device, diagonal, namespace, on_accelerator, take, to_numpy
from sparsebayes.bases.arguments import as_indices, as_points, check_finite, split
from sparsebayes.bases.contract import Basis, BoundBasis, Scale
from sparsebayes.bases.kernel_operator import KERNEL_MEMORY, KernelMemory, KernelOperator
from sparsebayes.bases.kernels.learnable import Learnable, exp_like
from sparsebayes.bases.kernels.scales import check_bounds, positive_number, positive_scale, resolve_gamma
from sparsebayes.bases.names import at_places
from sparsebayes.bases.operators import Operator

SELF_PRODUCTS, ON_ACCELERATOR = 64, 2048  # points whose k(x, x) are computed together


class CentredBasis(Basis):
    """A kernel k(x, z) as a basis: φ_m(x) = k(x, z_m) with centres z_m. `a * b` is the product of kernels.

    Attributes
    ----------
    learnable : tuple of Learnable
        The parameters that can be learned. A kernel that has any defines `scale_gradient`.
    always_positive : bool
        Whether k is positive semi-definite whatever its parameters and the points.
    is_local : bool
        Whether k(x, z) vanishes with the distance between x and z; the word "scale" then measures each input in units
        of its own spread.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = ()
    always_positive: ClassVar[bool] = False
    is_local: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """What the functions are called, before the number of their centre."""
        return type(self).__name__

    @property
    def symmetric(self) -> bool:
        """Whether k(x, z) = k(z, x), so that Φ may be computed as its transpose."""
        return True

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Whether K (m, m), K_ij = k(z_i, z_j), is certain to be symmetric and positive semi-definite."""
        return self.always_positive

    def resolve(self, X: Array, sample_weight: Array | None) -> Self:
        """This kernel with every parameter checked and made a number.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows.
        sample_weight : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        CentredBasis
            Here, with the parameters that can be learned made numbers.
        """
        numbers: dict[str, Any] = {}
        for each in self.learnable:
            value = getattr(self, each.name)
            check_bounds(each.bounds(self), f"{each.name}_bounds")
            if each.from_data:
                numbers[each.name] = resolve_gamma(value, X, sample_weight, each.power if self.is_local else None)
            elif each.per_input:
                numbers[each.name] = positive_scale(value, each.name, int(X.shape[1]))
            else:
                numbers[each.name] = positive_number(value, each.name)
        return self.with_params(**numbers)

    @abstractmethod
    def evaluate(self, X: Array, Z: Array) -> Array:
        """K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d). The parameters are numbers."""

    def matrix(self, X: Array, Z: Array) -> Array:
        """K of `evaluate`; ValueError if it is not finite."""
        with np.errstate(over="ignore", invalid="ignore"):  # the error names the kernel
            return check_finite(self.evaluate(X, Z), self)

    def diagonal(self, X: Array) -> Array:
        """k(x_n, x_n) for the rows of X (n, d): (n,)."""
        size = ON_ACCELERATOR if on_accelerator(X) else SELF_PRODUCTS
        blocks = [X[start : start + size, :] for start in range(0, X.shape[0], size)]
        return namespace(X).concat([diagonal(self.matrix(block, block)) for block in blocks])

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """Σ_nm D_nm ∂k(x_n, z_m)/∂ log η_p in the order of `learnable`, whether they are held fixed or not.

        Parameters
        ----------
        X, Z : arrays of shape (n, d) and (m, d)
            Rows and centres.
        D : array of shape (n, m)
            The derivative of some L by K. The parameters are numbers.
        """
        if self.learnable:
            raise NotImplementedError(
                f"{type(self).__name__} has parameters to learn but no scale_gradient: define it, or leave learnable "
                "empty."
            )
        return np.zeros(0)

    def free_scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """Those of `scale_gradient` whose scales are not held fixed, in the order of `scales`: (P,)."""
        if not self.scales:
            return np.zeros(0)
        gradient = self.scale_gradient(X, Z, D)
        sizes = [np.size(getattr(self, each.name)) for each in self.learnable]
        free = np.repeat([each.is_free(self) for each in self.learnable], sizes).astype(bool)
        return np.concatenate([gradient[: len(free)][free], gradient[len(free) :]])

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundKernel:
        """The kernel with centres at the rows of X, or at the `centres` given."""
        X = as_points(X)
        if 0 in X.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {tuple(X.shape)}.")
        kernel = self.resolve(X, sample_weight)
        if centres is None:
            return BoundKernel(kernel, X)
        Z = asfloat64(as_points(centres, int(X.shape[1]), "centres"), like=X)
        if not Z.shape[0]:
            raise ValueError("centres must have at least one row, got none.")
        return BoundKernel(kernel, Z, by_row=False)

    def __mul__(self, other: CentredBasis) -> CentredBasis:
        # a product is a kernel itself, so its module needs this one
        from sparsebayes.bases.kernels.composed import KernelProduct

        if not isinstance(other, CentredBasis):
            return NotImplemented
        return KernelProduct.joined(self, other)

    def with_params(self, **params: Any) -> Self:
        """The same kernel with other parameters."""
        return type(self)(**(self.get_params(deep=False) | params))

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The P numbers that can be learned and are not held fixed, once the parameters are numbers."""
        return tuple(scale for each in self.learnable for scale in each.scales(self))

    def with_log_scales(self, values: Any) -> Self:
        """The same kernel with the scales exp(values), values (P,)."""
        now = {each.name: getattr(self, each.name) for each in self.learnable if each.is_free(self)}
        pieces = split(values, [np.size(value) for value in now.values()])
        return self.with_params(**{k: exp_like(new, now[k]) for k, new in zip(now, pieces, strict=True)})

    def with_scale_per_input(self, d: int) -> Self:
        """The same kernel with one number for each of d inputs in place of one for all; fixed ones stay."""
        names = [each.name for each in self.learnable if each.per_input and each.is_free(self)]
        return self.with_params(**{name: np.full(d, 1.0) * getattr(self, name) for name in names})

    @property
    def has_width(self) -> bool:
        """Whether some parameter is a width, or a power of one."""
        return any(each.is_width for each in self.learnable)

    def widened(self, factor: float) -> Self:
        """The same kernel with functions `factor` times as wide, be their widths held fixed or not."""
        now = {each.name: (getattr(self, each.name), each.power) for each in self.learnable if each.is_width}
        logs = {name: np.log(np.atleast_1d(value)) + power * np.log(factor) for name, (value, power) in now.items()}
        return self.with_params(**{name: exp_like(logs[name], now[name][0]) for name in now})

    def log_scale_bounds(self, X: np.ndarray, reach: float, narrowest: float) -> np.ndarray:
        """Bounds (P, 2) of the log scales from the distances between the rows of X (n, d)."""
        bounds = (each.log_bounds(self, X, reach, narrowest) for each in self.learnable)
        return np.concatenate([np.zeros((0, 2)), *bounds])


@dataclass(frozen=True, eq=False)
class BoundKernel(BoundBasis):
    """φ_m(x) = k(x, z_m).

    Parameters
    ----------
    kernel : CentredBasis
        k, its parameters being numbers.
    centres : array of shape (M, d)
        The centres z_m.
    by_row : bool
        Whether the centres are the training rows.
    labels : ndarray of int, shape (M,), optional
        The numbers of the centres among all that there were, for the names of the functions; by default 0, 1, …
    """

    kernel: CentredBasis
    centres: Array
    by_row: bool = True
    labels: np.ndarray | None = None
    is_one_kernel = True

    @property
    def n_functions(self) -> int:
        """M, the number of centres."""
        return int(self.centres.shape[0])

    def __call__(self, X: Array) -> Array:
        """Φ (n, M), φ_nm = k(x_n, z_m)."""
        X = as_points(X, self.centres.shape[1])
        if 0 in (X.shape[0], self.n_functions):
            return namespace(X).zeros((X.shape[0], self.n_functions), dtype=X.dtype, device=device(X))
        return self.kernel.matrix(X, self.centres)

    def select(self, J: Sequence[int]) -> BoundKernel:
        """The kernel with the centres J."""
        chosen = as_indices(J, self.n_functions)
        labels = chosen if self.labels is None else self.labels[chosen]
        return replace(self, centres=take(self.centres, chosen, axis=0), labels=labels)

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """Such as "RBF at row 17", or "RBF at centre 17" if the centres are no training rows."""
        labels = np.arange(self.n_functions) if self.labels is None else self.labels
        return at_places(self.kernel.label, "row" if self.by_row else "centre", labels)

    @property
    def families(self) -> frozenset[str]:
        """What the kernel is called."""
        return frozenset([self.kernel.label])

    def at_rows(self, rows: np.ndarray) -> BoundKernel:
        """The same functions, named by these numbers if their centres are the training rows."""
        return replace(self, labels=rows) if self.by_row else self

    def operator(self, X: Array, memory: KernelMemory = KERNEL_MEMORY) -> Operator:
        """Φ at the rows of X, in memory while it is small, else evaluated whenever it is needed.

        In memory it is stored by columns where that costs nothing, because solvers read columns.

        Parameters
        ----------
        X : array of shape (n, d)
            Rows.
        memory : KernelMemory
            How large the matrix may be.

        Returns
        -------
        Operator
            A `KernelOperator` if the matrix has more than `memory.held` elements.
        """
        X = as_points(X, self.centres.shape[1])
        elements = X.shape[0] * self.n_functions
        if not elements:
            return super().operator(X)
        operator = KernelOperator(self.kernel, X, self.centres, memory)
        return operator if elements > memory.held else operator.dense()

    @property
    def is_local(self) -> bool:  # type: ignore[override]
        """Whether the functions vanish far from their centres."""
        return self.kernel.is_local

    @property
    def vectors(self) -> Array:
        """The centres, (M, d)."""
        return self.centres

    def beside(self, X: Array) -> BoundKernel:
        """The kernel with its centres in the library and on the device of X."""
        return replace(self, centres=beside(self.centres, X))

    def centred_at(self, X: Array) -> BoundKernel:
        """The same kernel with the rows of X as centres."""
        return replace(self, centres=as_points(X, self.centres.shape[1]), labels=None)

    @property
    def positive_semidefinite(self) -> bool:
        """Whether the kernel matrix of the centres is certain to be positive semi-definite."""
        return self.kernel.positive_semidefinite_at(self.centres)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scales of the kernel."""
        return self.kernel.scales

    def with_log_scales(self, values: Any) -> BoundKernel:
        """The kernel with other scales, at the same centres."""
        return replace(self, kernel=self.kernel.with_log_scales(values))

    def with_scale_per_input(self) -> BoundKernel:
        """The kernel with one scale per input."""
        return replace(self, kernel=self.kernel.with_scale_per_input(int(self.centres.shape[1])))

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """The gradient of the kernel; ValueError if it is not finite."""
        X = as_points(X, self.centres.shape[1])
        D = asfloat64(D, like=X)
        expected = (X.shape[0], self.n_functions)
        if tuple(D.shape) != expected:
            raise ValueError(f"D must have a row per row of X and a column per function, got {tuple(D.shape)}.")
        if 0 in expected or not self.scales:
            return np.zeros(len(self.scales))
        with np.errstate(over="ignore", invalid="ignore"):  # the error names the kernel
            return check_finite(self.kernel.free_scale_gradient(X, self.centres, D), self.kernel)

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """The bounds of the kernel's scales."""
        return self.kernel.log_scale_bounds(to_numpy(as_points(X, self.centres.shape[1])), reach, narrowest)
