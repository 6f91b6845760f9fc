"""Complex data as real data of twice the size: the real and the imaginary part of a weight share a precision.

With y = Φw + ε, all complex, and circular noise, E|ε|² = σ², the same model in real numbers is

    [Re y]   [Re Φ  −Im Φ] [Re w]   [Re ε]
    [Im y] = [Im Φ   Re Φ] [Im w] + [Im ε]

with noise variance σ²/2 for each part, and precision 2α for each part of a weight with E|w|² = 1/α. The density is the
same, log p(y) = −N log π − log|C| − yᴴC⁻¹y with C = σ²I + ΦA⁻¹Φᴴ. An intercept is a column of ones without a prior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import array_api_compat
import numpy as np

from sparsebayes import _array
from sparsebayes._array import Array, Indices, to_numpy
from sparsebayes.bases.linear_map import LinearMap, is_linear_operator
from sparsebayes.bases.operators import Operator, block_means_and_norms
from sparsebayes.core.noise import Gaussian
from sparsebayes.core.units import NothingToModel
from sparsebayes.joint.path import JointRequest
from sparsebayes.joint.regression import check_groups
from sparsebayes.joint.unpenalised import check_unpenalised
from sparsebayes.rows.sources import in_memory
from sparsebayes.rows.validation import canonical, has_outputs, refuse_masked, require_finite


def is_complex(x: Any) -> bool:
    """Whether x, an array, a matrix, a linear operator or a list of numbers, is complex."""
    if array_api_compat.is_array_api_obj(x):
        return _array.is_complex(x)
    if hasattr(x, "dtype"):
        return str(x.dtype).startswith("complex")
    if not isinstance(x, list | tuple):
        return False
    try:
        return np.asarray(x).dtype.kind == "c"
    except ValueError:  # rows of different lengths, which are refused elsewhere
        return False


class ComplexMatrix:
    """The columns of a complex design, or of a real one for complex targets.

    Phi : ndarray, SciPy sparse matrix, linear operator or `Operator`.  shape : (N, M).
    """

    def __init__(self, Phi: Any) -> None:
        self.Phi = _checked(Phi)
        self.shape: tuple[int, int] = tuple(self.Phi.shape)
        self._sparse = hasattr(self.Phi, "tocsc")

    def columns(self, J: Indices) -> np.ndarray:
        """Φ[:, J], complex (N, |J|)."""
        J = np.asarray(J, dtype=np.int64)
        if isinstance(self.Phi, Operator):
            return to_numpy(self.Phi.columns(J)).astype(np.complex128)
        return self.Phi[:, J].toarray() if self._sparse else self.Phi[:, J]

    def adjoint(self, V: np.ndarray) -> np.ndarray:
        """ΦᴴV, complex (M, k), for complex V (N, k)."""
        if not isinstance(self.Phi, Operator):
            return np.asarray((self.Phi.T @ V.conj()).conj())
        if getattr(self.Phi, "dtype", None) is np.complex128:
            return np.asarray(self.Phi.adjoint(V))
        both = to_numpy(self.Phi.adjoint(np.concatenate([V.real, V.imag], axis=1)))
        return both[:, : V.shape[1]] + 1j * both[:, V.shape[1] :]


def _checked(Phi: Any) -> Any:
    """Phi as an operator, or as a finite complex matrix."""
    if isinstance(Phi, Operator):
        return Phi
    if is_linear_operator(Phi):
        return LinearMap(Phi)
    refuse_masked(Phi, "Phi")
    if hasattr(Phi, "tocsc"):
        Phi = canonical(Phi.tocsc().astype(np.complex128))
    else:
        Phi = np.asarray(to_numpy(in_memory(Phi)), dtype=np.complex128)
        if Phi.ndim != 2 or 0 in Phi.shape:
            raise ValueError(f"Phi must be a matrix with rows and columns, got shape {Phi.shape}.")
    require_finite(Phi, "Phi")
    return Phi


class Embedding(Operator):
    """The real embedding [[Re Φ, −Im Φ], [Im Φ, Re Φ]] (2N, 2M) of a complex design, never formed as a whole.

    Column m belongs to the real part of weight m, column M + m to its imaginary part.

    Parameters
    ----------
    matrix : ComplexMatrix
        Φ (N, M).
    intercept : bool
        Whether a column of ones follows, which counts in M.
    """

    def __init__(self, matrix: ComplexMatrix, intercept: bool = False) -> None:
        self.matrix, self.intercept = matrix, intercept
        self.atoms = matrix.shape[1] + intercept
        self.shape = (2 * matrix.shape[0], 2 * self.atoms)

    def columns(self, J: Indices) -> Array:
        """The columns [Re φ; Im φ] of real parts and [−Im φ; Re φ] of imaginary parts."""
        J = np.asarray(J, dtype=np.int64)
        number, place = np.unique(J % self.atoms, return_inverse=True)
        phi = self._complex(number)[:, place.reshape(-1)]
        phi = np.where(J >= self.atoms, 1j * phi, phi)
        return np.concatenate([phi.real, phi.imag])

    def _complex(self, numbers: np.ndarray) -> np.ndarray:
        """The complex columns of these numbers, ascending."""
        M = self.matrix.shape[1]
        phi = self.matrix.columns(numbers[numbers < M])
        ones = np.ones((phi.shape[0], int((numbers >= M).sum())))
        return np.concatenate([phi, ones], axis=1) if ones.shape[1] else phi

    def adjoint(self, V: Array) -> Array:
        """The real and the imaginary part of Φᴴ(V₁ + iV₂), V₁ and V₂ being the halves of V."""
        N = self.matrix.shape[0]
        Z = V[:N] + 1j * V[N:]
        product = self.matrix.adjoint(Z)
        if self.intercept:
            product = np.concatenate([product, Z.sum(axis=0)[None, :]])
        return np.concatenate([product.real, product.imag])

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """Means and norms of all columns, each complex column being looked at once."""
        step = max(1, self.block_elements // max(self.shape))  # unit vectors of a linear operator have M entries
        pieces = []
        for start in range(0, self.atoms, step):
            J = np.arange(start, min(start + step, self.atoms))
            both = block_means_and_norms(self.columns(np.append(J, J + self.atoms)), weights, center)
            pieces.append([each.reshape(2, -1) for each in both])
        means, norms = (np.concatenate(each, axis=1).reshape(-1) for each in zip(*pieces, strict=True))
        return means, norms


@dataclass(frozen=True, eq=False)
class ComplexData:
    """Complex data and what a user says of them, and the same in real numbers.

    operator : the real embedding.  y : complex targets (N,) or (N, T).  counts : how often each row counts, or None.
    likelihood, noise_variance, guess, request : as a user gives them.
    """

    operator: Embedding
    y: np.ndarray
    counts: Any
    likelihood: Gaussian
    noise_variance: Any
    guess: float | None
    request: JointRequest

    @classmethod
    def of(
        cls, Phi: Any, y: Any, counts: Any, intercept: bool, likelihood: Any, variance: Any, guess: Any, request: Any
    ) -> ComplexData:
        """The data, checked; ValueError for a likelihood that is not Gaussian."""
        if not isinstance(likelihood, Gaussian):
            raise ValueError(f"Complex data need Gaussian noise, got likelihood={likelihood!r}.")
        matrix = ComplexMatrix(Phi)
        y = _checked_targets(y, matrix.shape[0])
        if intercept and (y == y[:1]).all():
            raise NothingToModel("y must not be constant with an intercept: there is nothing to model.")
        return cls(Embedding(matrix, intercept), y, counts, likelihood, variance, guess, request)

    @property
    def real_targets(self) -> np.ndarray:
        """[Re y; Im y]."""
        return np.concatenate([self.y.real, self.y.imag])

    @property
    def real_counts(self) -> Any:
        """How often each row of the embedding counts."""
        return self.counts if self.counts is None or np.ndim(self.counts) == 0 else np.tile(to_numpy(self.counts), 2)

    @property
    def real_likelihood(self) -> Gaussian:
        """The noise of a real or an imaginary part, which has half the variance."""
        known, prior = self.likelihood.variance, self.likelihood.prior
        return Gaussian(
            None if prior is None else (prior[0], prior[1] / 2),
            None if known is None else np.tile(0.5 * np.asarray(known, dtype=np.float64), 2),
        )

    @property
    def real_variance(self) -> Any:
        """The known noise variance of a part, of several outputs maybe one each."""
        return None if self.noise_variance is None else 0.5 * np.asarray(self.noise_variance)[()]

    @property
    def real_request(self) -> JointRequest:
        """Both parts of a weight in one group, those of columns without a prior without one."""
        M, atoms = self.operator.matrix.shape[1], self.operator.atoms
        groups = check_groups(self.request.groups, M)
        groups = np.arange(M) if groups is None else groups
        own = check_unpenalised(self.request.unpenalised, M)
        own = np.zeros(0, dtype=np.int64) if own is None else own
        if len(own) == M:
            raise ValueError(f"unpenalised names all {M} columns: at least one must be left to be selected.")
        own = np.append(own, np.arange(M, atoms))
        labels = np.append(groups, np.full(atoms - M, groups.max() + 1))
        flat = np.append(own, own + atoms) if len(own) else None
        return replace(self.request, groups=np.tile(labels, 2), unpenalised=flat)


def _checked_targets(y: Any, N: int) -> np.ndarray:
    """y as finite complex numbers, (N,) or (N, T)."""
    refuse_masked(y, "y")
    y = np.asarray(to_numpy(in_memory(y)), dtype=np.complex128)
    if y.ndim not in (1, 2) or y.shape[0] != N or 0 in y.shape:
        raise ValueError(f"y must have one row per row of Phi: Phi has {N} rows, but y has shape {y.shape}.")
    require_finite(y, "y")
    return y if has_outputs(y) else y.reshape(N)
