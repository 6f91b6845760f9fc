"""Regression on rows that come in chunks or stay on disk, and `partial_fit`: what statistics of rows allow.

Only functions that do not depend on the training rows, as the columns of X, can be fitted so; those of a
kernel are centred at the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from sparsebayes._checks import NothingToModel
from sparsebayes.estimators._regression import RegressionModel
from sparsebayes.estimators._validation import (
    LEAST_SAMPLES,
    check_given,
    check_inputs,
    check_length,
    check_targets,
    check_weights,
    refuse_constant,
)
from sparsebayes.inference.chunks import parts_of
from sparsebayes.likelihoods import GAUSSIAN
from sparsebayes.rows import (
    Chunk,
    RowSource,
    RowStatistics,
    SlicedRows,
    is_chunked,
    is_too_large,
    read_rows,
)
from sparsebayes.rows.sources import check_affordable, is_on_disk


def _has_gaussian_noise(model: RegressionModel) -> bool:
    """Whether statistics of the rows are enough."""
    if model.noise_shape != GAUSSIAN:
        raise AttributeError(
            f"partial_fit is for Gaussian noise: noise_shape must be 2, got {model.noise_shape!r}."
        )
    return True


class StreamingRegression(RegressionModel):
    """A regression whose functions are given by the columns of X alone."""

    _statistics: RowStatistics | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or iterable of chunks
            Training inputs, dense or SciPy-sparse. Arrays on disk (memory maps, HDF5 and zarr datasets:
            whatever has shape, dtype and rows by slicing) larger than a fourth of scikit-learn's
            `working_memory` are read a block of rows at a time. An iterable yields tuples (X, y) or
            (X, y, sample_weight), each with some of the rows or none; an iterator will do.
        y : array-like of shape (n_samples,)
            Training targets; not constant. None where X is an iterable of chunks.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts: integer weights equal repeated rows, and rows of weight zero are left
            out.

        Returns
        -------
        self
            The fitted estimator.
        """
        chunks = self._chunks_of(X, y, sample_weight)
        if chunks is None:
            self._fit(X, y, sample_weight)
        else:
            rows = read_rows(RowSource(chunks, ChunkCheck(self, first=True)))
            if rows is None or rows.rows < LEAST_SAMPLES:
                raise ValueError(_too_few(0 if rows is None else rows.rows, chunks))
            refuse_constant(rows.constant)
            self._fit_rows(rows)
        self._statistics = None
        return self

    @available_if(_has_gaussian_noise)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to these rows and all that `partial_fit` has seen before.

        The rows are not kept, only statistics whose size depends on the number of columns. The model is that
        of `fit` on all rows together, however they were divided. It is solved anew at every call: very many
        chunks are better given to `fit`, as an iterable. There is a model as soon as two rows differ in y.
        `fit` forgets the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further training inputs, dense, SciPy-sparse or on disk.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        self
            The estimator, fitted to all rows seen so far.
        """
        before = self._statistics
        if before is None and hasattr(self, "_result"):
            message = "partial_fit starts anew: fit keeps no statistics of the rows it has seen."
            warnings.warn(message, UserWarning, stacklevel=2)
        chunks = _sliced(self, X, y, sample_weight) if is_too_large(X) else [(X, y, sample_weight)]
        check = ChunkCheck(self, before is None, one_pass=True)
        rows = RowStatistics.of(RowSource(chunks, check, may_be_empty=False), before)
        enough = rows is not None and rows.constant is None and min(rows.rows, rows.n) >= LEAST_SAMPLES
        try:
            if enough:
                self._fit_rows(rows)
        except NothingToModel:  # so far: no column varies yet
            enough = False
        if not enough:
            self.__dict__.pop("_result", None)
        self._statistics = rows  # last: rows that could not be fitted were not seen
        return self

    def _chunks_of(self, X: Any, y: Any, sample_weight: Any) -> Iterable[Any] | None:
        """The chunks X is or can be read in; None where it is held in memory."""
        if is_chunked(X, y):
            if sample_weight is not None:
                raise ValueError(
                    "sample_weight must be None where X gives chunks: it is the third part of each."
                )
            return X
        return _sliced(self, X, y, sample_weight) if is_too_large(X) else None

    def _fit_rows(self, rows: Any) -> None:
        """The model of rows that were read."""
        result = self._infer(rows, None, None)
        bound = self._basis().bind(np.empty((1, self.n_features_in_)))
        self._columns_kept = None
        self._store_common(result, bound, np.arange(bound.n_functions))
        self._store(result)


class ChunkCheck:
    """Turns chunks (X, y) or (X, y, sample_weight) into `Chunk`s, by what the estimator asks of data.

    first : whether the next chunk says how many columns there are, and their names; the others have to match.
    one_pass : whether the rows have to do with the memory of their statistics.
    """

    def __init__(self, estimator: Any, first: bool, one_pass: bool = False) -> None:
        self.estimator, self.first, self.one_pass = estimator, first, one_pass

    def __call__(self, chunk: Any) -> Chunk:
        """The chunk, all finite float64."""
        X, y, sample_weight = parts_of(chunk)
        X = check_inputs(self.estimator, X, fitting=self.first)
        self.first = False
        if self.one_pass:
            check_affordable(X.shape[1], "raise it for partial_fit.")
        y = check_targets(y, X.shape[0], self.estimator)
        weights = check_weights(sample_weight, X.shape[0], some=False)
        return Chunk(X.tocsr() if hasattr(X, "tocsr") else X, y, weights)


def _too_few(found: int, chunks: Iterable[Any]) -> str:
    """The sentence for rows of which too few were found."""
    spent = "" if found or not isinstance(chunks, Iterator) else " An iterator that was read before is empty."
    return f"X has {found} sample(s) of positive weight, but at least {LEAST_SAMPLES} are required.{spent}"


def _sliced(estimator: Any, X: Any, y: Any, sample_weight: Any) -> SlicedRows:
    """X on disk, with targets and weights that may be there too, a block of rows at a time."""
    check_given(y, estimator)
    n = X.shape[0]
    if not is_on_disk(y):
        y = column_or_1d(y, warn=True)
    check_length(y, n)
    if not is_on_disk(sample_weight):
        sample_weight = check_weights(sample_weight, n)
    elif tuple(sample_weight.shape) != (n,):
        shape = tuple(sample_weight.shape)
        raise ValueError(f"sample_weight must have shape ({n},), one value a row of X, got {shape}.")
    return SlicedRows(X, y, sample_weight)
