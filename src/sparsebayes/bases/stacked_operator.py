"""Operators side by side, and any design matrix as an operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices, namespace, take
from sparsebayes.bases.operators import Operator
from sparsebayes.bases.single_operator import dense_operator
from sparsebayes.bases.sparse_operator import SparseOperator


class StackedOperator(Operator):
    """Operators side by side: [Φ₁ Φ₂ …].

    Parameters
    ----------
    parts : sequence of operators or matrices
        Φ₁, Φ₂, …, at least one, all with the same number of rows.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = _as_parts(parts)
        self.starts = np.cumsum([0] + [p.shape[1] for p in self.parts])
        self.shape = (self.parts[0].shape[0], int(self.starts[-1]))

    def columns(self, J: Indices) -> Array:
        """Φ[:, J], each column from the part that it belongs to, in the order of J."""
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
        """Φ[:, J] w as the sum of what each part adds to it."""
        pieces = [part.combination(numbers, take(weights, mine)) for part, mine, numbers in self._owners(J)]
        return sum(pieces[1:], start=pieces[0]) if pieces else self.parts[0].combination(J, weights)

    def _owners(self, J: Indices) -> Iterator[tuple[Operator, np.ndarray, np.ndarray]]:
        """Parts that own some of J, the positions of these in J, and their numbers within the part."""
        J = np.asarray(J, dtype=np.int64)
        owner = np.searchsorted(self.starts, J, side="right") - 1
        for k in np.unique(owner):
            mine = np.flatnonzero(owner == k)
            yield self.parts[k], mine, J[mine] - self.starts[k]

    def adjoint(self, V: Array) -> Array:
        """ΦᵀV, one part below the other."""
        return namespace(V).concat([part.adjoint(V) for part in self.parts], axis=0)

    def squares(self, weights: Array, shift: Array, scale: Array) -> Array:
        """The squares of every part."""
        slices = [slice(a, a + part.shape[1]) for a, part in zip(self.starts.tolist(), self.parts, strict=False)]
        pieces = [part.squares(weights, shift[s], scale[s]) for s, part in zip(slices, self.parts, strict=True)]
        return namespace(weights).concat(pieces, axis=0)

    def means_and_norms(self, weights: Array, center: bool) -> tuple[Array, Array]:
        """The means and norms of every part."""
        pairs = [part.means_and_norms(weights, center) for part in self.parts]
        xp = namespace(weights)
        return xp.concat([p[0] for p in pairs]), xp.concat([p[1] for p in pairs])


def _as_parts(parts: Any) -> list[Operator]:
    """The parts of a stack as operators, at least one, all with the same number of rows."""
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
    """A design matrix as an operator.

    Parameters
    ----------
    Phi : Operator, SciPy sparse matrix or array of shape (N, M)
        Φ.

    Returns
    -------
    Operator
        An operator unchanged, a matrix wrapped.
    """
    if isinstance(Phi, Operator):
        return Phi
    return SparseOperator(Phi) if hasattr(Phi, "tocsc") else dense_operator(Phi)
