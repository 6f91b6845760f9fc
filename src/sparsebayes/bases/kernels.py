"""Kernel bases: one function φ_m(x) = k(x, z_m) per training point z_m.

A kernel class states its parameters, how they become numbers (`resolve`) and the formula (`evaluate`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparsebayes._array import Array, asfloat64, device, namespace, take
from sparsebayes.bases._learnable import Learnable, as_scale, distances_in, split
from sparsebayes.bases.base import Basis, BoundBasis, as_indices, as_points, check_finite
from sparsebayes.bases.operators import DenseOperator, Operator


class CentredBasis(Basis):
    """A kernel k(x, z) with the training points as centres z_m: φ_m(x) = k(x, z_m).

    symmetric : whether k(x, z) = k(z, x), so that Φ may be computed as its transpose.
    learnable : the parameters that can be learned; with any, `scale_gradient` is theirs.
    """

    symmetric = True
    learnable: ClassVar[tuple[Learnable, ...]] = ()

    @abstractmethod
    def resolve(self, X: Array, sample_weight: Array | None) -> CentredBasis:
        """This kernel with every parameter checked and made a number, given the training points X (n, d)."""

    @abstractmethod
    def evaluate(self, X: Array, Z: Array) -> Array:
        """K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d). The parameters are numbers by now."""

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundKernel:
        """The kernel with the rows of X as centres."""
        X = as_points(X)
        if 0 in X.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {tuple(X.shape)}")
        return BoundKernel(self.resolve(X, sample_weight), X)

    def scale_gradient(self, X: Array, Z: Array, D: Array) -> np.ndarray:
        """Σ_nm D_nm ∂k(x_n, z_m)/∂ log η_p, (P,) in the order of `log_scales`; X (n, d), Z (m, d), D (n, m).

        Here and below the parameters are numbers by now.
        """
        return np.zeros(0)

    def positive_semidefinite_at(self, Z: Array) -> bool:
        """Whether K (m, m), K_ij = k(z_i, z_j), is certain to be symmetric and positive semi-definite."""
        return False

    @property
    def log_scales(self) -> np.ndarray:
        """log η (P,), the logarithms of the parameters that can be learned."""
        return np.concatenate([np.zeros(0), *(each.log_values(self) for each in self.learnable)])

    @property
    def scale_names(self) -> tuple[str, ...]:
        """A name for each of them."""
        return tuple(name for each in self.learnable for name in each.names(self))

    def with_log_scales(self, values: Any) -> CentredBasis:
        """The kernel with other values = log η (P,)."""
        now = {each.name: getattr(self, each.name) for each in self.learnable}
        pieces = split(values, [np.size(value) for value in now.values()])
        changed = {name: as_scale(new, now[name]) for name, new in zip(now, pieces, strict=True)}
        return type(self)(**(self.get_params(deep=False) | changed))

    def with_scale_per_input(self, d: int) -> CentredBasis:
        """The kernel with one number for each of d inputs in place of one for all."""
        names = [each.name for each in self.learnable if each.per_input]
        changed = {name: np.full(d, 1.0) * getattr(self, name) for name in names}
        return type(self)(**(self.get_params(deep=False) | changed))

    def log_scale_bounds(self, X: np.ndarray, reach: float) -> np.ndarray:
        """Bounds (P, 2) of log η from the distances between the rows of X."""
        bounds = (each.log_bounds(self, X, reach) for each in self.learnable)
        return np.concatenate([np.zeros((0, 2)), *bounds])


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
        """Φ at the rows of X, stored by columns where that costs nothing: a solver asks for columns."""
        if not self.kernel.symmetric or 0 in (X.shape[0], self.n_functions):
            return super().operator(X)
        return DenseOperator(BoundKernel(self.kernel, as_points(X))(self.centres).T)

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

    def log_scale_bounds(self, X: Array, reach: float = 1.0) -> np.ndarray:
        """Those of the kernel."""
        X = as_points(X, n_inputs=int(self.centres.shape[1]))
        return self.kernel.log_scale_bounds(distances_in(X), reach)


class Kernel(CentredBasis):
    """Any kernel: `function(X, Z)` returns K (n, m), K_nm = k(x_n, z_m), for X (n, d) and Z (m, d).

    It need not be symmetric, nor positive definite.
    """

    symmetric = False

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def resolve(self, X: Array, sample_weight: Array | None) -> Kernel:
        """The function as it is."""
        if not callable(self.function):
            raise TypeError(f"function must be a callable k(X, Z), got {self.function!r}")
        return Kernel(self.function)

    def evaluate(self, X: Array, Z: Array) -> Array:
        """What the function returns, its shape checked."""
        K: Any = self.function(X, Z)
        try:
            K = asfloat64(K, like=X)
        except (TypeError, ValueError) as error:
            raise ValueError(f"kernel must return an array of numbers, got {type(K).__name__}") from error
        expected = (X.shape[0], Z.shape[0])
        if tuple(K.shape) != expected:
            raise ValueError(f"kernel returned shape {tuple(K.shape)}, expected {expected}")
        return K


class Precomputed(Basis):
    """X itself is the kernel matrix: X_nm = k(x_n, z_m), the training points z_m in the columns."""

    def bind(self, X: Array, sample_weight: Array | None = None) -> BoundPrecomputed:
        """One function per column of the square X."""
        X = as_points(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be square when kernel='precomputed', got shape {tuple(X.shape)}")
        return BoundPrecomputed(np.arange(X.shape[1]), int(X.shape[1]))


@dataclass(frozen=True, eq=False)
class BoundPrecomputed(BoundBasis):
    """Columns `kept` of kernel matrices that are `n_train` columns wide."""

    kept: np.ndarray
    n_train: int

    @property
    def n_functions(self) -> int:
        """M, the number of columns kept."""
        return len(self.kept)

    def __call__(self, X: Array) -> Array:
        """X[:, kept]."""
        X = as_points(X)
        if X.shape[1] != self.n_train:
            raise ValueError(
                f"X must have as many columns as there were training points ({self.n_train}) "
                f"when kernel='precomputed', got {X.shape[1]}"
            )
        return X if np.array_equal(self.kept, np.arange(self.n_train)) else take(X, self.kept, axis=1)

    def select(self, J: Sequence[int]) -> BoundPrecomputed:
        """The columns J of those kept."""
        return BoundPrecomputed(self.kept[as_indices(J, self.n_functions)], self.n_train)
