"""Kernel bases: one function φ_m(x) = k(x, z_m) per training point z_m.

A kernel class states its parameters, how they become numbers (`resolve`) and the formula (`evaluate`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sparsebayes._array import Array, asfloat64, device, diagonal, is_numpy, namespace, take
from sparsebayes.bases._distances import total
from sparsebayes.bases._learnable import HasScales, Learnable, on_host, split
from sparsebayes.bases._parts import HasParts
from sparsebayes.bases._scales import positive_numbers
from sparsebayes.bases.base import Basis, BoundBasis, as_indices, as_points, check_finite
from sparsebayes.bases.on_demand import KernelOperator
from sparsebayes.bases.operators import DenseOperator, KernelMatrix, Operator

HELD_ELEMENTS = 1500**2  # of a kernel matrix: up to so many it is formed at once
SELF_PRODUCTS = 64  # points whose k(x, x) are taken together


class CentredBasis(HasScales, Basis):
    """A kernel k(x, z) with the training points as centres z_m: φ_m(x) = k(x, z_m).

    `a * b` is the kernel whose value is the product of both.

    learnable : the parameters that can be learned; a kernel that has any defines `scale_gradient`.
    """

    @property
    def symmetric(self) -> bool:
        """Whether k(x, z) = k(z, x), so that Φ may be computed as its transpose."""
        return True

    @abstractmethod
    def resolve(self, X: Array, sample_weight: Array | None) -> CentredBasis:
        """This kernel with every parameter checked and made a number, given the training points X (n, d)."""

    @abstractmethod
    def evaluate(self, X: Array, Z: Array) -> Array:
        """K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d). The parameters are numbers by now."""

    def diagonal(self, X: Array) -> Array:
        """k(x_n, x_n) of the rows of X (n, d)."""
        starts = range(0, X.shape[0], SELF_PRODUCTS)
        blocks = [X[start : start + SELF_PRODUCTS, :] for start in starts]
        return namespace(X).concat([diagonal(self.evaluate(block, block)) for block in blocks])

    def __mul__(self, other: CentredBasis) -> KernelProduct:
        if not isinstance(other, CentredBasis):
            return NotImplemented
        return KernelProduct([*_factors_of(self), *_factors_of(other)])

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundKernel:
        """The kernel with the rows of X as centres."""
        X = as_points(X)
        if 0 in X.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {tuple(X.shape)}")
        return BoundKernel(self.resolve(X, sample_weight), X)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """Σ_nm D_nm ∂k(x_n, z_m)/∂ log η_p, (P,) in the order of `log_scales`; X (n, d), Z (m, d), D (n, m).

        Here as well the parameters are numbers by now.
        """
        if self.learnable:
            raise NotImplementedError(f"{type(self).__name__} has parameters to learn but no scale_gradient")
        return np.zeros(0)

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Whether K (m, m), K_ij = k(z_i, z_j), is certain to be symmetric and positive semi-definite."""
        return False


@dataclass(frozen=True, eq=False)
class BoundKernel(BoundBasis):
    """φ_m(x) = k(x, z_m): a kernel whose parameters are numbers, and the centres z_m (M, d)."""

    kernel: CentredBasis
    centres: Array

    @property
    def n_functions(self) -> int:
        """M, the number of centres."""
        return int(self.centres.shape[0])

    def __call__(self, X: Array) -> Array:
        """Φ (n, M), φ_nm = k(x_n, z_m)."""
        X = as_points(X, n_inputs=int(self.centres.shape[1]))
        if 0 in (X.shape[0], self.n_functions):
            return namespace(X).zeros((X.shape[0], self.n_functions), dtype=X.dtype, device=device(X))
        with np.errstate(over="ignore", invalid="ignore"):  # said better by check_finite
            return check_finite(self.kernel.evaluate(X, self.centres), self.kernel)

    def operator(self, X: Array) -> Operator:
        """Φ at the rows of X, in memory while it is small; beyond that evaluated as it is asked for.

        In memory it is stored by columns where that costs nothing: a solver asks for columns.
        """
        if is_numpy(X) and X.shape[0] * self.n_functions > HELD_ELEMENTS:
            X = as_points(X, n_inputs=int(self.centres.shape[1]))
            return KernelOperator(self.kernel, X, self.centres)
        if not self.kernel.symmetric or 0 in (X.shape[0], self.n_functions):
            return super().operator(X)
        Phi = BoundKernel(self.kernel, as_points(X))(self.centres).T
        own = is_numpy(Phi) and (X is self.centres or np.array_equal(X, self.centres))
        return KernelMatrix(Phi) if own and self.positive_semidefinite else DenseOperator(Phi)

    def select(self, J: Sequence[int]) -> BoundKernel:
        """The centres J alone."""
        return BoundKernel(self.kernel, take(self.centres, as_indices(J, self.n_functions), axis=0))

    @property
    def vectors(self) -> Array:
        """The centres, (M, d)."""
        return self.centres

    def centred_at(self, X: Array) -> BoundKernel:
        """The same kernel with the rows of X as centres."""
        return BoundKernel(self.kernel, as_points(X, n_inputs=int(self.centres.shape[1])))

    @property
    def positive_semidefinite(self) -> bool:
        """What the kernel says of these centres."""
        return self.kernel.positive_semidefinite_at(self.centres)

    @property
    def log_scales(self) -> np.ndarray:
        """Those of the kernel."""
        return self.kernel.log_scales

    @property
    def scale_names(self) -> tuple[str, ...]:
        """Those of the kernel."""
        return self.kernel.scale_names

    def with_log_scales(self, values: Any) -> BoundKernel:
        """The kernel with other scales, the same centres."""
        return BoundKernel(self.kernel.with_log_scales(values), self.centres)

    def with_scale_per_input(self) -> BoundKernel:
        """The kernel with scales for each input."""
        return BoundKernel(self.kernel.with_scale_per_input(int(self.centres.shape[1])), self.centres)

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """That of the kernel."""
        X = as_points(X, n_inputs=int(self.centres.shape[1]))
        D = asfloat64(D, like=X)
        expected = (X.shape[0], self.n_functions)
        if tuple(D.shape) != expected:
            raise ValueError(
                f"D must have a row per row of X and a column per function, {expected}, got shape "
                f"{tuple(D.shape)}"
            )
        if 0 in expected or not len(self.log_scales):
            return np.zeros(len(self.log_scales))
        with np.errstate(over="ignore", invalid="ignore"):  # said better by check_finite
            return check_finite(self.kernel.scale_gradient(X, self.centres, D), self.kernel)

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """Those of the kernel."""
        X = as_points(X, n_inputs=int(self.centres.shape[1]))
        return self.kernel.log_scale_bounds(on_host(X), reach, narrowest)


class _Composed(HasParts, CentredBasis):
    """A kernel made of others: their scales, one part after the other, after its own."""

    @property
    def symmetric(self) -> bool:
        """Where all parts are."""
        return all(part.symmetric for part in self.parts)

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Where all parts are: so are sums and products of such matrices, entry by entry."""
        return all(part.positive_semidefinite_at(Z) for part in self.parts)

    @property
    def log_scales(self) -> np.ndarray:
        """Its own, and those of the parts."""
        return np.concatenate([super().log_scales, *(part.log_scales for part in self.parts)])

    @property
    def scale_names(self) -> tuple[str, ...]:
        """Its own, and part0__gamma, …"""
        parts = (f"part{k}__{name}" for k, part in enumerate(self.parts) for name in part.scale_names)
        return (*super().scale_names, *parts)

    @property
    def width_powers(self) -> np.ndarray:
        """All parts are made wider together."""
        return np.concatenate([super().width_powers, *(part.width_powers for part in self.parts)])

    def with_log_scales(self, values: Any) -> Self:
        """Each part with its own scales."""
        own, *pieces = split(
            values, [len(super().log_scales), *(len(part.log_scales) for part in self.parts)]
        )
        parts = [part.with_log_scales(piece) for part, piece in zip(self.parts, pieces, strict=True)]
        return super().with_log_scales(own).set_params(parts=parts)

    def with_scale_per_input(self, d: int) -> Self:
        """Each part with scales for each input."""
        return (
            super().with_scale_per_input(d).set_params(parts=[p.with_scale_per_input(d) for p in self.parts])
        )

    def log_scale_bounds(self, X: np.ndarray, reach: float, narrowest: float) -> np.ndarray:
        """Those of the parts."""
        parts = (part.log_scale_bounds(X, reach, narrowest) for part in self.parts)
        return np.concatenate([super().log_scale_bounds(X, reach, narrowest), *parts])


class KernelProduct(_Composed):
    """The product of kernels, k(x, z) = Π_j k_j(x, z): usually written `a * b`.

    parts : list of kernels k_j. Their parameters go by the names `part{j}__{parameter}`.
    """

    def __init__(self, parts: Sequence[CentredBasis]) -> None:
        self.parts = parts

    def resolve(self, X: Array, sample_weight: Array | None) -> KernelProduct:
        """Every part resolved."""
        self.check_parts(CentredBasis, "kernels")
        return KernelProduct([part.resolve(X, sample_weight) for part in self.parts])

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm, one factor a part."""
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
            pieces.append(part.scale_gradient(X, Z, others))
        return np.concatenate(pieces)


class KernelSum(_Composed):
    """The sum of kernels as one kernel, k(x, z) = Σ_j c_j k_j(x, z).

    A function of it is a sum of one function of each part, at the same centre and in fixed proportions. In a
    concatenation `a + b` there are the functions of both, each with a weight of its own.

    Parameters
    ----------
    parts : list of kernels
        k_j. Their parameters go by the names `part{j}__{parameter}`.
    weights : positive numbers, one a part, optional
        c_j, by default all 1.
    """

    learnable: ClassVar[tuple[Learnable, ...]] = (
        Learnable("weights", power=0.0, limits=(1e-3, 1e3), per_input=False, is_width=False),
    )

    def __init__(self, parts: Sequence[CentredBasis], weights: Any = None) -> None:
        self.parts = parts
        self.weights = weights

    def resolve(self, X: Array, sample_weight: Array | None) -> KernelSum:
        """Every part resolved, weights as numbers."""
        self.check_parts(CentredBasis, "kernels")
        count = len(self.parts)
        weights = np.ones(count) if self.weights is None else positive_numbers(self.weights, "weights", count)
        return KernelSum([part.resolve(X, sample_weight) for part in self.parts], weights)

    def evaluate(self, X: Array, Z: Array) -> Array:
        """K_nm, one term a part."""
        terms = zip(self.weights.tolist(), self.parts, strict=True)
        return sum(weight * part.evaluate(X, Z) for weight, part in terms)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """∂k/∂ log c_j = c_j k_j, and c_j times the gradient of k_j by its own scales."""
        terms = list(zip(self.weights.tolist(), self.parts, strict=True))
        by_weights = [weight * total(D, part.evaluate(X, Z)) for weight, part in terms]
        return np.concatenate(
            [by_weights, *(weight * part.scale_gradient(X, Z, D) for weight, part in terms)]
        )


def _factors_of(kernel: CentredBasis) -> Sequence[CentredBasis]:
    return kernel.parts if isinstance(kernel, KernelProduct) else [kernel]
