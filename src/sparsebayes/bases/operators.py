"""Design matrices as operators: what basis functions do on given rows, without saying how they are stored.

An operator Φ (N×M) answers three questions: single columns, `Φᵀ V`, and the weighted mean and norm of every
column. Nothing here knows targets, priors or solvers; a fast transform or a low-rank factor fits the same
three methods.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sparsebayes._array import (
    Array,
    Indices,
    asfloat64,
    few_times,
    is_numpy,
    namespace,
    take,
    weighted_squares,
)

BLOCK_ELEMENTS = 1 << 19  # elements of Φ looked at together: small enough to stay in the cache
TIE = 1e-10  # functions are equally like another where they differ by less in that
SAME = 1e-6  # 1 less how alike two functions are below which they count as one


class Operator(ABC):
    """N×M linear operator whose columns are basis functions evaluated on the data.

    orthonormal : whether ΦᵀΦ = I is certain, which makes a fit closed-form.
    """

    shape: tuple[int, int]
    orthonormal: bool = False

    def held(self) -> Operator:
        """The same in memory where that costs less than to evaluate it time and again."""
        return self

    @abstractmethod
    def columns(self, J: Indices) -> Array:
        """Φ[:, J] as a dense (N, |J|) array."""

    @abstractmethod
    def adjoint(self, V: Array) -> Array:
        """Φᵀ V for V of shape (N, k): an (M, k) array."""

    def combination(self, J: Indices, weights: Array) -> Array:
        """Φ[:, J] w for w = weights (|J|,)."""
        return self.columns(J) @ weights

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """Weighted column means m and norms of Φ − 1mᵀ, each of length M; m = 0 with `center=False`.

        The norm is √Σ_n w_n (φ_nm − m_m)². It is computed from the deviations, never as a difference of two
        large sums, and without overflow for entries as large as 1e±150.
        """
        N, M = self.shape
        xp = namespace(weights)
        step = max(1, BLOCK_ELEMENTS // max(N, 1))
        pieces = [
            block_means_and_norms(self.columns(range(start, min(start + step, M))), weights, center)
            for start in range(0, M, step)
        ]
        return xp.concat([p[0] for p in pieces]), xp.concat([p[1] for p in pieces])

    def far_apart(self, order: np.ndarray, size: int) -> np.ndarray | None:
        """So many of the functions in `order` that are little alike, its first among them.

        None where nothing is known of how alike functions are, or there are not so many that differ.
        """
        return None

    def squares(self, weights: Array, shift: Array, scale: Array) -> Array:
        """Σ_n W_nk ((φ_nm − shift_m)/scale_m)², columns m by weightings k: (M, K) from W (N, K)."""
        N, M = self.shape
        step = max(1, BLOCK_ELEMENTS // max(N, 1))
        pieces = []
        for start in range(0, M, step):
            stop = min(start + step, M)
            block = self.columns(range(start, stop)) - shift[None, start:stop]
            block *= 1 / scale[None, start:stop]  # in place: the block is a copy, and small
            block *= block
            pieces.append((weights.T @ block).T)
        return namespace(weights).concat(pieces, axis=0)


def block_means_and_norms(block: Array, weights: Array, center: bool) -> tuple[Array, Array]:
    """Weighted means and norms of the columns held in `block` (N, k)."""
    xp = namespace(block, weights)
    means = (weights @ block) / xp.sum(weights) if center else xp.zeros_like(block[0, :])
    deviations = block - means[None, :] if center else block
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = weighted_squares(deviations, weights)
    if bool(xp.all((squares > 1e-200) & (squares < 1e200))):
        norms = xp.sqrt(squares)
    else:  # squares overflow or underflow, or a column is zero: scale each column by its largest entry first
        peak = xp.max(xp.abs(deviations), axis=0)
        unit = deviations / xp.where(peak > 0, peak, xp.ones_like(peak))[None, :]
        norms = peak * xp.sqrt(weighted_squares(unit, weights))
    return means, without_constants(norms, means, float(xp.sum(weights))) if center else norms


def without_constants(norms: Array, means: Array, n: float) -> Array:
    """The norms of n centred rows, 0 for what rounding leaves of a constant column: no basis function."""
    xp = namespace(norms)
    return xp.where(norms <= 1e-13 * math.sqrt(n) * xp.abs(means), xp.zeros_like(norms), norms)


class DenseOperator(Operator):
    """A design matrix held in memory."""

    def __init__(self, Phi: Array) -> None:
        self.Phi = asfloat64(Phi)
        self.shape = (int(Phi.shape[0]), int(Phi.shape[1]))

    def columns(self, J: Indices) -> Array:
        """Φ[:, J]."""
        if isinstance(J, range) and J.step == 1:
            return self.Phi[:, J.start : J.stop]
        if is_numpy(self.Phi) and self.Phi.flags.f_contiguous:
            return take(self.Phi.T, J).T  # whole rows of Φᵀ
        return self.Phi[:, J] if is_numpy(self.Phi) else take(self.Phi, J, axis=1)

    def adjoint(self, V: Array) -> Array:
        """Φᵀ V, computed as (VᵀΦ)ᵀ, which BLAS does nearly twice as fast for a few columns V."""
        return few_times(V.T, self.Phi).T


class KernelMatrix(DenseOperator):
    """A positive semi-definite kernel at its own centres, NumPy: Φ_nm = k(z_n, z_m), stored by columns.

    The kernel is an inner product, so that |k(z, z')|/√(k(z, z) k(z', z')) says how alike two functions are.
    Nothing but that depends on its being one.
    """

    def far_apart(self, order: np.ndarray, size: int) -> np.ndarray | None:
        """One after the other the function least like those chosen, the earlier in `order` where two tie."""
        root = np.sqrt(np.maximum(self.Phi.diagonal(), 0.0))
        order = order[root[order] > 0]
        if not len(order):
            return None
        inverse = 1 / np.where(root > 0, root, 1.0)
        normalised = bool((inverse == 1.0).all())
        handicap = np.full(len(root), np.inf)
        handicap[order] = np.linspace(0.0, TIE, len(order))
        likest, alike = np.full(len(root), -1.0), np.empty(len(root))
        by_column, m = self.Phi.T, int(order[0])
        chosen = [m]
        while len(chosen) < size:
            np.abs(by_column[m], out=alike)
            if not normalised:
                alike *= inverse * inverse[m]
            np.maximum(likest, alike, out=likest)
            m = int(np.add(likest, handicap, out=alike).argmin())
            if likest[m] > 1 - SAME:
                return None
            chosen.append(m)
        return np.asarray(chosen)


class SparseOperator(Operator):
    """A SciPy-sparse design matrix; never made dense but for the columns asked for."""

    def __init__(self, X: Any) -> None:
        self.X = X.tocsc().astype(np.float64, copy=False)
        self.shape = self.X.shape

    def columns(self, J: Indices) -> Array:
        """Φ[:, J] as a dense array."""
        return self.X[:, np.asarray(J, dtype=np.int64)].toarray()

    def adjoint(self, V: Array) -> Array:
        """Φᵀ V."""
        return np.asarray(self.X.T @ V)

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """Means and norms from the stored entries; the columns where that would cancel, from the columns."""
        total = weights.sum()
        means = np.asarray(self.X.T @ weights) / total if center else np.zeros(self.shape[1])
        peak = np.asarray(abs(self.X).max(axis=0).todense()).ravel() if self.shape[0] else np.zeros(0)
        scale = np.where(peak > 0, peak, 1.0)
        squared = self.X.copy()
        squared.data = (squared.data / np.repeat(scale, np.diff(squared.indptr))) ** 2
        squares = np.asarray(squared.T @ weights)
        if not center:
            return means, scale * np.sqrt(squares)
        centred = squares - total * (means / scale) ** 2
        norms = scale * np.sqrt(np.maximum(centred, 0.0))
        for m in np.flatnonzero((centred < 1e-6 * squares) & (squares > 0)):
            norms[m] = self._column_norm(int(m), weights)
        return means, norms

    def squares(self, weights: Array, shift: Array, scale: Array) -> Array:
        """From the stored entries: Σ W (φ² − 2 shift φ)/scale² + shift² Σ W/scale².

        The shifts are means of sparse columns, small beside their norms, so little cancels; the columns where
        it does are looked at one by one.
        """
        unit = self.X.multiply(1 / scale[None, :]).tocsc()
        offset = (shift / scale)[:, None]
        powers = np.asarray(unit.multiply(unit).T @ weights)
        totals = offset**2 * weights.sum(axis=0)[None, :]
        result = powers - 2 * offset * np.asarray(unit.T @ weights) + totals
        for m in np.flatnonzero((result < 1e-6 * (powers + totals)).any(axis=1)):
            column = (self.columns([int(m)]) - shift[m]) / scale[m]
            result[m] = (column * column)[:, 0] @ weights
        return result

    def _column_norm(self, m: int, weights: Array) -> float:
        return float(block_means_and_norms(self.columns([m]), weights, True)[1][0])


class StackedOperator(Operator):
    """Operators side by side: [Φ₁ Φ₂ …].

    parts : operators of as many rows each, or matrices.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = _as_parts(parts)
        self.starts = np.cumsum([0] + [p.shape[1] for p in self.parts])
        self.shape = (self.parts[0].shape[0], int(self.starts[-1]))

    def columns(self, J: Indices) -> Array:
        """Φ[:, J], each column from the part it belongs to, in the order asked for."""
        order, pieces = [], []
        for part, mine, numbers in self._owners(J):
            order.append(mine)
            pieces.append(part.columns(numbers))
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return self.parts[0].columns(J)
        xp = namespace(*pieces)
        return take(xp.concat(pieces, axis=1), np.argsort(np.concatenate(order)), axis=1)

    def combination(self, J: Indices, weights: Array) -> Array:
        """Φ[:, J] w, what each part adds to it."""
        pieces = [part.combination(numbers, take(weights, mine)) for part, mine, numbers in self._owners(J)]
        return sum(pieces[1:], start=pieces[0]) if pieces else self.parts[0].combination(J, weights)

    def _owners(self, J: Indices) -> Iterator[tuple[Operator, np.ndarray, np.ndarray]]:
        """Parts that own some of J: which of J they are, and their numbers in the part."""
        J = np.asarray(J, dtype=np.int64)
        owner = np.searchsorted(self.starts, J, side="right") - 1
        for k in np.unique(owner):
            mine = np.flatnonzero(owner == k)
            yield self.parts[k], mine, J[mine] - self.starts[k]

    def adjoint(self, V: Array) -> Array:
        """Φᵀ V, the parts below each other."""
        return namespace(V).concat([part.adjoint(V) for part in self.parts], axis=0)

    def squares(self, weights: Array, shift: Array, scale: Array) -> Array:
        """The parts below each other."""
        pieces = [
            part.squares(weights, shift[start : start + part.shape[1]], scale[start : start + part.shape[1]])
            for part, start in zip(self.parts, self.starts[:-1].tolist(), strict=True)
        ]
        return namespace(weights).concat(pieces, axis=0)

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """Means and norms of every part."""
        pairs = [part.means_and_norms(weights, center) for part in self.parts]
        xp = namespace(weights)
        return xp.concat([p[0] for p in pairs]), xp.concat([p[1] for p in pairs])


def _as_parts(parts: Any) -> list[Operator]:
    """The parts of a stack as operators, at least one, all of as many rows."""
    try:
        given = list(parts)
    except TypeError:
        given = []
    if not given:
        raise ValueError(f"parts must be a list of at least one operator or matrix, got {parts!r}.")
    for part in given:
        if not isinstance(part, Operator) and len(getattr(part, "shape", ())) != 2:
            found = f"shape {tuple(part.shape)}" if hasattr(part, "shape") else repr(part)
            raise ValueError(f"each of parts must be an operator or a matrix, got {found}.")
    operators = [as_operator(part) for part in given]
    rows = [part.shape[0] for part in operators]
    if len(set(rows)) > 1:
        raise ValueError(f"parts must have the same number of rows, got {rows}.")
    return operators


def as_operator(Phi: Any) -> Operator:
    """An operator as it is, a SciPy-sparse matrix or an array wrapped."""
    if isinstance(Phi, Operator):
        return Phi
    return SparseOperator(Phi) if hasattr(Phi, "tocsc") else DenseOperator(Phi)
