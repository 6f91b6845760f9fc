"""Predictions by some parts of a concatenation of bases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._array import asfloat64, is_numpy
from sparsebayes._checks import is_whole
from sparsebayes.bases import BoundConcatenation
from sparsebayes.estimators._error_bars import ErrorBars, Factor, PosteriorBars
from sparsebayes.estimators._fitted import Fitted


@dataclass(frozen=True, eq=False)
class BarsOfParts(ErrorBars):
    """The variance of the sparse model if only some of its functions are there; the intercept always is.

    all_functions : the variance of the whole model.  kept : positions among its `size` functions.
    """

    all_functions: PosteriorBars
    kept: np.ndarray
    size: int

    def for_queries(self, X: Any) -> BarsOfParts:
        """The same error bars in the library and on the device that queries X are computed with."""
        return replace(self, all_functions=self.all_functions.for_queries(X))

    def variance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The variance at each query, (q,)."""
        return self.all_functions.variance(X, self._padded(columns))

    def covariance(self, X: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The covariance of all queries jointly, (q, q)."""
        return self.all_functions.covariance(X, self._padded(columns))

    def factor(self, X: np.ndarray, columns: np.ndarray) -> Factor:
        """The covariance of f as a product."""
        return self.all_functions.factor(X, self._padded(columns))

    def _padded(self, columns: np.ndarray) -> np.ndarray:
        """The columns of all functions (q, size), zero for those that are not there."""
        if is_numpy(columns):
            padded = np.zeros((len(columns), self.size))
            padded[:, self.kept] = columns
            return padded
        places = asfloat64(self.kept[:, None] == np.arange(self.size)[None, :], like=columns)
        return columns @ places


def model_of_parts(model: Any, parts: Any, X: Any, with_bars: bool) -> tuple[Fitted, ErrorBars]:
    """The fitted functions of these parts with their weights, and their error bars; None means all parts.

    Both are in the library and on the device that queries X are computed with.
    with_bars : whether the error bars are needed: those of variance="gp" and "augmented" have no parts.
    """
    fitted, bars = model._fitted, model._error_bars
    if parts is None:
        return fitted.for_queries(X), bars.for_queries(X)
    chosen = [_number(model, part) for part in _as_list(model, parts)]
    if with_bars and not isinstance(bars, PosteriorBars):
        raise ValueError(
            f"parts has no error bars with variance={model.variance!r}, which belongs to all parts together: "
            "fit with variance='posterior'."
        )
    basis = fitted.basis
    owner = np.repeat(np.arange(len(basis.parts)), [part.n_functions for part in basis.parts])
    kept = np.flatnonzero(np.isin(owner if basis.order is None else owner[basis.order], chosen))
    result = replace(fitted.result, mean=fitted.result.mean[kept])
    fitted = replace(fitted, basis=basis.select(kept.tolist()), result=result)
    return fitted.for_queries(X), BarsOfParts(bars, kept, len(owner)).for_queries(X)


def _as_list(model: Any, parts: Any) -> list[Any]:
    """The parts that are to predict, if the model has parts."""
    if not isinstance(model._fitted.basis, BoundConcatenation):
        kernel = f"kernel={model.kernel!r}" if hasattr(model, "kernel") else type(model).__name__
        raise ValueError(f"parts needs a kernel of several parts, such as RBF() + Spike(), got {kernel}.")
    if not isinstance(parts, list | tuple) or not parts:
        raise ValueError(f"parts must be a non-empty list of parts of the kernel, got {parts!r}.")
    return list(parts)


def _number(model: Any, part: Any) -> int:
    """The number of a part that is given by its number, its name or as an object."""
    count = len(model._fitted.basis.parts)
    own = list(getattr(model.kernel, "parts", ()))
    if is_whole(part, 0) and part < count:
        return int(part)
    names = {f"part{k}": k for k in range(count)}
    if isinstance(part, str) and part in names:
        return names[part]
    matches = [k for k, each in enumerate(own) if each is part] or [
        k for k, each in enumerate(own) if _same(each, part)
    ]
    if len(own) == count and len(matches) == 1:
        return matches[0]
    found = "which fits several of them" if matches else "which is none of them"
    listed = f" or one of {own}" if own else ""
    raise ValueError(
        f"parts must have numbers from 0 to {count - 1}, names from 'part0' to 'part{count - 1}'{listed}, "
        f"got {part!r}, {found}."
    )


def _same(a: Any, b: Any) -> bool:
    """Whether two parameters, or two objects by their parameters, are the same."""
    if type(a) is not type(b):
        return False
    if hasattr(a, "get_params"):
        return _same(a.get_params(deep=False), b.get_params(deep=False))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(np.array_equal(a, b))
