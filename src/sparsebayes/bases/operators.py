"""Design matrices as operators: what basis functions do on given rows, independent of how they are stored.

An operator Φ (N×M) gives single columns, `Φᵀ V`, and the weighted mean and norm of every column. It knows
nothing of targets, priors or solvers; a fast transform or a low-rank factor has the same methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes import _array
from sparsebayes._array import Array, Indices, asfloat64, columns_at, is_foreign, is_numpy, namespace, take, to_numpy
from sparsebayes._threads import in_parallel
from sparsebayes.core.units import without_constants

if TYPE_CHECKING:
    from sparsebayes.bases.low_rank import LowRankOperator

TIE = 1e-10  # similarities of functions that differ by less are equal
SAME = 1e-6  # functions whose similarity is within this of 1 are the same
STRIPS, PARALLEL = 32, 1 << 20  # strips of columns that are read side by side, and least elements of one


@dataclass(frozen=True)
class LowRankSettings:
    """Settings of the low-rank factor K ≈ LLᵀ of a kernel matrix by pivoted Cholesky.

    Parameters
    ----------
    max_rank : int
        Largest rank r.
    rows_per_rank : int
        Least number of rows per column of L: with fewer, a factor saves nothing.
    smallest_block, largest_block : int
        Least and largest number of pivots that are found together.
    block_growth : float
        Largest size of a block as a share of the pivots found before, beyond `smallest_block`.
    draws_per_pivot : int
        Number of points drawn for every pivot of a block.
    pivot_share : float
        A drawn point becomes a pivot if its residual is at least this share of the largest residual.
    early_rank, early_trace : float
        The factor is given up once it has `early_rank` of its largest rank while more than `early_trace` of
        the trace of K is left.
    cheap_rank : int
        Below this rank the factor is refined beyond its tolerance, which costs little.
    cheap_tol : float
        The tolerance of a factor below `cheap_rank`, relative to the largest diagonal element of K.
    compared : int
        Number of functions whose variation is compared with the residual.
    faithful : float
        Largest residual, as a share of the variation of the functions, of a factor that is used.
    strip_elements : int
        Number of elements of L that are computed together.
    """

    max_rank: int = 1200
    rows_per_rank: int = 4
    smallest_block: int = 32
    largest_block: int = 160
    block_growth: float = 0.5
    draws_per_pivot: int = 3
    pivot_share: float = 0.05
    early_rank: float = 0.3
    early_trace: float = 0.05
    cheap_rank: int = 128
    cheap_tol: float = 1e-11
    compared: int = 8
    faithful: float = 0.1
    strip_elements: int = 1 << 21


LOW_RANK = LowRankSettings()


class Operator(ABC):
    """N×M matrix Φ whose columns are basis functions at the rows of the data.

    Attributes
    ----------
    shape : tuple of int
        (N, M).
    orthonormal : bool
        Whether ΦᵀΦ = I is certain, so that a fit has a closed form.
    is_formed : bool
        Whether columns are cheap. False for a kernel matrix that is evaluated whenever it is needed.
    block_elements : int
        Number of elements of Φ that are processed together: few enough to stay in the cache.
    is_sparse : bool
        Whether only few of its columns may be made dense at a time.
    is_wide : bool
        Whether its columns take more memory than the operator has for them, so that they come in batches.
    """

    shape: tuple[int, int]
    orthonormal: bool = False
    is_sparse: bool = False
    is_wide: bool = False
    is_formed: bool = True
    block_elements: int = 1 << 19

    @abstractmethod
    def columns(self, J: Indices) -> Array:
        """Φ[:, J] as a dense (N, |J|) array."""

    @abstractmethod
    def adjoint(self, V: Array) -> Array:
        """ΦᵀV (M, k) for V (N, k)."""

    def combination(self, J: Indices, weights: Array) -> Array:
        """Φ[:, J] w (N,) for w = weights (|J|,)."""
        return self.columns(J) @ weights

    def held(self) -> Operator:
        """The same operator, in memory if it fits there."""
        return self

    def low_rank(self, tol: float, settings: LowRankSettings = LOW_RANK) -> LowRankOperator | None:
        """A factor of low rank, Φ ≈ LLᵀ.

        Parameters
        ----------
        tol : float
            Largest element of diag(Φ − LLᵀ), relative to the largest of diag Φ.
        settings : LowRankSettings
            Settings of the factorisation.

        Returns
        -------
        LowRankOperator or None
            LLᵀ. None if Φ is not certain to be symmetric and positive semi-definite, or the rank would be too
            large.
        """
        return None

    def far_apart(self, order: np.ndarray, size: int) -> np.ndarray | None:
        """Functions that are as different from each other as possible.

        Parameters
        ----------
        order : ndarray of int
            The functions to choose from. The first one is chosen, and the earlier one of two that tie.
        size : int
            How many to choose.

        Returns
        -------
        ndarray of shape (size,) or None
            None if the similarity of functions is unknown, or fewer of them differ.
        """
        return None

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """Weighted means m of the columns and norms of the columns of Φ − 1mᵀ.

        Norms √Σ_n w_n (φ_nm − m_m)² are computed from the deviations, never as a difference of two large
        sums, and without overflow for entries as large as 1e±150.

        Parameters
        ----------
        weights : array of shape (N,)
            Row weights w.
        center : bool
            Whether to subtract the means; without, m = 0.

        Returns
        -------
        means, norms : arrays of shape (M,)
        """
        pieces = [block_means_and_norms(self.columns(J), weights, center) for J in self._blocks()]
        xp = namespace(weights)
        return xp.concat([p[0] for p in pieces]), xp.concat([p[1] for p in pieces])

    def squares(self, weights: Array, shift: Array, scale: Array) -> Array:
        """Σ_n W_nk ((φ_nm − shift_m)/scale_m)² for columns m and weightings k: (M, K).

        Parameters
        ----------
        weights : array of shape (N, K)
            W.
        shift, scale : arrays of shape (M,)
            What is subtracted from every column, and what it is divided by.
        """
        pieces = []
        for J in self._blocks():
            block = self.columns(J) - shift[None, J.start : J.stop]
            block *= 1 / scale[None, J.start : J.stop]  # in place: the block is a copy, and small
            block *= block
            pieces.append((weights.T @ block).T)
        return namespace(weights).concat(pieces, axis=0)

    def _blocks(self, larger: int = 1) -> Iterator[range]:
        """The numbers of all columns in ranges of `larger` times `block_elements` elements of Φ."""
        N, M = self.shape
        step = max(1, larger * self.block_elements // max(N, 1))
        for start in range(0, M, step):
            yield range(start, min(start + step, M))


def block_means_and_norms(block: Array, weights: Array, center: bool) -> tuple[Array, Array]:
    """Weighted means and norms of columns held in memory, as `Operator.means_and_norms`.

    Parameters
    ----------
    block : array of shape (N, k)
        The columns.
    weights : array of shape (N,)
        Row weights.
    center : bool
        Whether to subtract the means; without, they are 0.

    Returns
    -------
    means, norms : arrays of shape (k,)
    """
    xp = namespace(block, weights)
    means = (weights @ block) / xp.sum(weights) if center else xp.zeros_like(block[0, :])
    deviations = block - means[None, :] if center else block
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = _array.weighted_squares(deviations, weights)
    if bool(xp.all((squares > 1e-200) & (squares < 1e200))):
        norms = xp.sqrt(squares)
    else:  # squares overflow or underflow, or a column is zero: scale each column by its largest entry first
        peak = xp.max(xp.abs(deviations), axis=0)
        unit = deviations / xp.where(peak > 0, peak, xp.ones_like(peak))[None, :]
        norms = peak * xp.sqrt(_array.weighted_squares(unit, weights))
    return means, without_constants(norms, means, float(xp.sum(weights))) if center else norms


class DenseOperator(Operator):
    """A design matrix held in memory.

    Parameters
    ----------
    Phi : array of shape (N, M)
        Φ.
    """

    def __init__(self, Phi: Array) -> None:
        self.Phi = asfloat64(Phi)
        self.shape = (int(Phi.shape[0]), int(Phi.shape[1]))
        if is_foreign(Phi):
            self.block_elements = _array.together(self.block_elements, Phi)

    def columns(self, J: Indices) -> Array:
        """Φ[:, J]."""
        if isinstance(J, range) and J.step == 1:
            return self.Phi[:, J.start : J.stop]
        if is_numpy(self.Phi) and self.Phi.flags.f_contiguous:
            return take(self.Phi.T, J).T  # whole rows of Φᵀ
        return columns_at(self.Phi, J)

    def adjoint(self, V: Array) -> Array:
        """ΦᵀV, computed as (VᵀΦ)ᵀ, which is nearly twice as fast in BLAS if V has few columns."""
        (N, M), pieces = self.shape, list[Array]()
        if not is_numpy(self.Phi) or N * M < STRIPS * PARALLEL:
            return _array.few_times(V.T, self.Phi).T
        # reading Φ takes the time: strips of its columns are read side by side
        strips = list(gen_batches(M, -(-M // STRIPS)))
        in_parallel(lambda part: _array.few_times(V.T, self.Phi[:, part]).T, strips, pieces.append)
        return np.concatenate(pieces)


class KernelMatrix(DenseOperator):
    """A positive semi-definite kernel at its own centres, Φ_nm = k(z_n, z_m).

    The kernel is an inner product, so that |k(z, z')|/√(k(z, z) k(z', z')) is the similarity of two
    functions.

    Parameters
    ----------
    Phi : ndarray of shape (M, M)
        Φ, best stored by columns.
    """

    def far_apart(self, order: np.ndarray, size: int) -> np.ndarray | None:
        """Chooses one function after the other, each the least similar to those chosen before."""
        xp, root = namespace(self.Phi), np.sqrt(np.maximum(to_numpy(_array.diagonal(self.Phi)), 0.0))
        order = order[root[order] > 0]
        if not len(order):
            return None
        inverse, handicap = 1 / np.where(root > 0, root, 1.0), np.full(len(root), np.inf)
        normalised = bool((inverse == 1.0).all())
        handicap[order] = np.linspace(0.0, TIE, len(order))
        inverse, handicap = (asfloat64(x, like=self.Phi) for x in (inverse, handicap))
        most_similar, by_column, m = xp.full_like(handicap, -1.0), self.Phi.T, _array.index(order[:1], self.Phi)
        chosen, similarities = [m], []
        while len(chosen) < size:  # the numbers of the functions stay on the device until the end
            similarity = xp.abs(xp.take(by_column, m, axis=0)[0, :])
            if not normalised:
                similarity *= inverse * xp.take(inverse, m)
            most_similar = xp.maximum(most_similar, similarity)
            m = xp.reshape(xp.argmin(most_similar + handicap), (1,))
            similarities.append(xp.take(most_similar, m))
            chosen.append(m)
        if similarities and float(xp.max(xp.concat(similarities))) > 1 - SAME:
            return None
        return to_numpy(xp.concat(chosen))
