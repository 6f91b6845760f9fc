"""The functions of several bases side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from sparsebayes._array import Array, asfloat64, namespace, take
from sparsebayes.bases.arguments import as_indices, split
from sparsebayes.bases.contract import Basis, BoundBasis, Scale
from sparsebayes.bases.names import Product
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.bases.stacked_operator import StackedOperator


class HasParts(BaseEstimator):
    """A specification made of others: part k has the parameters `part{k}` and `part{k}__{parameter}`."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts

    @classmethod
    def joined(cls, *terms: Any) -> Self:
        """One composition of all terms; a term of the same kind contributes its parts."""
        return cls([part for term in terms for part in (term.parts if isinstance(term, cls) else [term])])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters; with `deep` also every part and its parameters."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for k, part in enumerate(self.parts):
                params[f"part{k}"] = part
                params |= {f"part{k}__{name}": value for name, value in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set `parts`, then whole parts (`part0=...`), then parameters of parts (`part0__gamma=...`)."""
        if "parts" in params:
            self.parts = params.pop("parts")
        replaced = list(self.parts)
        for name in [name for name in params if re.fullmatch(r"part\d+", name)]:
            k = int(name.removeprefix("part"))
            if k >= len(replaced):
                raise ValueError(f"{name} does not exist: there are {len(replaced)} parts.")
            replaced[k] = params.pop(name)
            self.parts = replaced
        super().set_params(**params)
        return self

    def check_parts(self, kind: type, kinds: str) -> None:
        """TypeError unless `parts` is a list of `kind`, which the message calls `kinds`."""
        if not isinstance(self.parts, list | tuple) or not self.parts:
            raise TypeError(f"parts must be a non-empty list of {kinds}, got {self.parts!r}.")
        for part in self.parts:
            if not isinstance(part, kind):
                raise TypeError(f"parts must be {kinds}, got {part!r}.")


def scales_of_parts(parts: Iterable[Any]) -> tuple[Scale, ...]:
    """The scales of all parts, named part0__gamma, …"""
    return tuple(
        each._replace(name=f"part{k}__{each.name}", parameter=f"part{k}__{each.parameter}")
        for k, part in enumerate(parts)
        for each in part.scales
    )


class Concatenation(HasParts, Basis):
    """The functions of several bases side by side: Φ = [Φ_1 Φ_2 …]. Usually written `a + b`.

    The parameters of part k have the names `part{k}` and `part{k}__{parameter}`.

    Parameters
    ----------
    parts : list of Basis
        The bases, in the order of their functions.
    """

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """Every part bound to the same data and centres."""
        self.check_parts(Basis, "bases")
        return BoundConcatenation(tuple(part.bind(X, sample_weight, centres) for part in self.parts))

    @property
    def pairwise(self) -> bool:
        """Whether X is a kernel matrix for some part."""
        return any(part.pairwise for part in self.parts)


@dataclass(frozen=True, eq=False)
class BoundConcatenation(BoundBasis):
    """Bound bases side by side.

    Parameters
    ----------
    parts : tuple of BoundBasis
        The parts, with Φ_1, Φ_2, … as their functions.
    order : ndarray of shape (M,), optional
        Column m is column `order[m]` of [Φ_1 Φ_2 …]; by default column m.
    """

    parts: tuple[BoundBasis, ...]
    order: np.ndarray | None = None

    @property
    def n_functions(self) -> int:
        """M, over all parts."""
        return sum(part.n_functions for part in self.parts)

    def __call__(self, X: Array) -> Array:
        """[Φ_1 Φ_2 …] at the rows of X."""
        return self._ordered([part(X) for part in self.parts], axis=1)

    def select(self, J: Sequence[int]) -> Self:
        """The functions J, in that order. A part keeps its place even without functions, for `centred_at`."""
        stacked = as_indices(J, self.n_functions)
        if self.order is not None:
            stacked = self.order[stacked]
        starts = self._starts()
        # side="right" so that a part without functions owns nothing
        owner = np.searchsorted(starts, stacked, side="right") - 1
        parts = tuple(part.select(stacked[owner == k] - starts[k]) for k, part in enumerate(self.parts))
        order = np.argsort(np.argsort(owner, kind="stable"))
        is_sorted = np.array_equal(order, np.arange(len(order)))
        return replace(self, parts=parts, order=None if is_sorted else order)

    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """The names that the parts give; with " (part0)" and so on after them where parts are of one kind."""
        families = [part.families for part in self.parts]
        alike = [any(own & other for j, other in enumerate(families) if j != k) for k, own in enumerate(families)]
        suffixes = [f" (part{k})" if ambiguous else "" for k, ambiguous in enumerate(alike)]
        return self._names_of_parts(inputs, suffixes)

    def products(self, inputs: Sequence[str]) -> list[Product | None]:
        """The factors of the functions of all parts."""
        joined = [each for part in self.parts for each in part.products(inputs)]
        return joined if self.order is None else [joined[m] for m in self.order]

    def _names_of_parts(self, inputs: Sequence[str] | None, suffixes: Sequence[str]) -> list[str]:
        parts = zip(self.parts, suffixes, strict=True)
        joined = [name + suffix for part, suffix in parts for name in part.names(inputs)]
        return joined if self.order is None else [joined[m] for m in self.order]

    @property
    def families(self) -> frozenset[str]:
        """The kinds of the functions of all parts."""
        return frozenset().union(*(part.families for part in self.parts))

    def at_rows(self, rows: np.ndarray) -> Self:
        """Every part with its functions named by these rows."""
        return replace(self, parts=tuple(part.at_rows(rows) for part in self.parts))

    def operator(self, X: Array) -> Operator:
        """The operators of the parts side by side."""
        parts = [part.operator(X).held() for part in self.parts if part.n_functions]
        if self.order is not None or not parts:
            return DenseOperator(self(X))
        return StackedOperator(parts)

    def weighted(self, X: Array, weights: Array) -> Array:
        """Φw at the rows of X: the sum of what each part adds to it, if some part has a fast way to that."""
        if not self.few_batches:
            return super().weighted(X, weights)
        contributions = self.contributions(X, weights)
        return namespace(contributions).sum(contributions, axis=0)

    def contributions(self, X: Array, weights: Array) -> Array:
        """What each part adds to Φw at the rows of X: (parts, n), with w = weights (M,)."""
        pieces = zip(self.parts, self._pieces(weights), strict=True)
        return namespace(weights).stack([part.weighted(X, w) for part, w in pieces])

    @property
    def few_batches(self) -> bool:
        """Whether large batches are better for some part that has functions."""
        return any(part.few_batches for part in self.parts if part.n_functions)

    @property
    def vectors(self) -> Array | None:
        """The centres of all functions, (M, d); None if any function has no centre."""
        vectors = [part.vectors for part in self.parts if part.n_functions]
        if not vectors or any(v is None for v in vectors):
            return None
        return self._ordered(vectors, axis=0)

    def known_centres(self, n_features: int) -> Array:
        """The centres of the functions that have one, part after part."""
        pieces = [centres for part in self.parts if (centres := part.known_centres(n_features)).shape[0]]
        return namespace(*pieces).concat(pieces) if pieces else super().known_centres(n_features)

    def centred_at(self, X: Array) -> BoundBasis | None:
        """The parts that have centres, each centred at the rows of X; None if no part has."""
        moved = tuple(m for m in (part.centred_at(X) for part in self.parts) if m is not None)
        return replace(self, parts=moved, order=None) if moved else None

    def beside(self, X: Array) -> Self:
        """Every part in the library and on the device of X."""
        return replace(self, parts=tuple(part.beside(X) for part in self.parts))

    def numbers(self, rows: np.ndarray, n: int) -> tuple[np.ndarray, int]:
        """The numbers within the parts, each part counted after the one before it."""
        numbers, start = [], 0
        for part in self.parts:
            own, count = part.numbers(rows, n)
            numbers.append(start + own)
            start += count
        return np.concatenate(numbers), start

    def detached(self) -> Self:
        """Every part counted by the positions of its own functions."""
        return replace(self, parts=tuple(part.detached() for part in self.parts))

    @property
    def scale_groups(self) -> tuple[BoundBasis, ...]:
        """The groups of all parts; the whole basis if its functions are not in the order of the parts."""
        if self.order is not None:
            return (self,)
        return tuple(group for part in self.parts for group in part.scale_groups)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The scales of all parts, one part after the other."""
        return scales_of_parts(self.parts)

    def with_log_scales(self, values: Any) -> Self:
        """Each part with its own scales."""
        pieces = split(values, [len(part.scales) for part in self.parts])
        parts = (part.with_log_scales(piece) for part, piece in zip(self.parts, pieces, strict=True))
        return replace(self, parts=tuple(parts))

    def with_scale_per_input(self) -> Self:
        """Each part with one scale per input."""
        return replace(self, parts=tuple(part.with_scale_per_input() for part in self.parts))

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """The gradients of the parts, one part after the other."""
        pieces = zip(self.parts, self._pieces(asfloat64(D)), strict=True)
        return np.concatenate([part.scale_gradient(X, piece) for part, piece in pieces])

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """The bounds of the parts, one part after the other."""
        return np.concatenate([part.log_scale_bounds(X, reach, narrowest) for part in self.parts])

    def _starts(self) -> np.ndarray:
        """Where the functions of each part begin among those of all parts, and their number."""
        return np.cumsum([0, *(part.n_functions for part in self.parts)])

    def _pieces(self, A: Array) -> list[Array]:
        """A (…, M), whose last axis runs over the functions, in one piece per part."""
        if A.shape[-1] != self.n_functions:
            raise ValueError(f"D must have a column per function ({self.n_functions}), got {A.shape[-1]}.")
        stacked = A if self.order is None else take(A, np.argsort(self.order), axis=A.ndim - 1)
        return [stacked[..., a:b] for a, b in pairwise(self._starts().tolist())]

    def _ordered(self, blocks: list[Array], axis: int) -> Array:
        joined = namespace(*blocks).concat(blocks, axis=axis)
        return joined if self.order is None else take(joined, self.order, axis=axis)
