"""Kernels that learn: gamma="evidence" and gamma="ard", and what a fitted model makes of each input."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from sparsebayes.bases import Basis, BoundBasis, as_basis
from sparsebayes.estimators._base import NONE, SparseBayesModel
from sparsebayes.inference.complete import Split
from sparsebayes.inference.idle import charge, idle_columns
from sparsebayes.inference.scales import WORDS, Learned, Rows, learn_scales, spread_rows
from sparsebayes.priors import as_prior

RELEVANCE_ROWS = 1000  # rows the relevance of inputs is measured on
FIXED_WORDS = ("scale", "auto")  # values of gamma that are known before the fit
DENSE_NOISE = 0.5  # the sparse fit starts with this share of the noise the dense model found


class LearningModel(SparseBayesModel):
    """A model whose kernel has a `gamma` that may be learned."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float

    def _basis(self) -> Basis:
        if isinstance(self.gamma, str) and self.gamma not in (*FIXED_WORDS, *WORDS):
            words = ", ".join(map(repr, (*FIXED_WORDS, *WORDS)))
            raise ValueError(f"gamma must be one of {words} or positive numbers, got {self.gamma!r}.")
        return as_basis(self.kernel, "scale" if self._learns else self.gamma, self.degree, self.coef0)

    @property
    def _learns(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma in WORDS

    @abstractmethod
    def _rows(self, bound: BoundBasis, X: np.ndarray, y: np.ndarray, counts: np.ndarray) -> Rows:
        """What the scales are learned from."""

    def _learn(
        self, bound: BoundBasis, X: Any, y: np.ndarray, weights: np.ndarray | None
    ) -> tuple[BoundBasis, np.ndarray]:
        """The basis at the scales of the highest evidence and its idle functions, where gamma asks for it."""
        self.__dict__.pop("scales_", None)
        if not self._learns:
            return bound, NONE
        if self.gamma == "ard":
            bound = bound.with_scale_per_input()
        if not len(bound.log_scales):
            raise ValueError(f"gamma={self.gamma!r} needs a kernel with scales, got kernel={self.kernel!r}.")
        counts = np.ones(len(y)) if weights is None else weights
        split = self._split(bound, X)
        learned = learn_scales(split.dense, self._rows(split.dense, X, y, counts))
        self.scales_ = np.exp(learned.bound.log_scales)
        self._use(learned, split)
        return split.with_scales_of(learned.bound), self._idle(learned, split, X)

    def _split(self, bound: BoundBasis, X: np.ndarray) -> Split:
        """The basis, and what of it the dense model has."""
        return Split.nowhere(bound)

    def _use(self, learned: Learned, split: Split) -> None:
        """What a subclass takes from the dense model besides the scales."""

    def _idle(self, learned: Learned, split: Split, X: np.ndarray) -> np.ndarray:
        """Which functions are no candidates."""
        if not len(split.complete):
            return learned.idle
        # by a σ² with complete parts in it the dense model would find too much idle: a prior that charges as
        # much for a function does better with all of them
        total = learned.model.total
        if not learned.all_rows or as_prior(self.prior).resolve(total).threshold >= charge(total).threshold:
            return NONE
        own = split.complete[idle_columns(learned.model, learned.theta, split.complete_columns(X))]
        return np.concatenate([split.among_all(learned.idle), own])

    def _keep(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        super()._keep(X, y, weights)
        self.__dict__.pop("input_relevance_", None)
        if self._learns:
            self.input_relevance_ = self._relevance_of_inputs(X, y, weights)

    def _relevance_of_inputs(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """E[(f(x) − f(x with input k at its mean))²]/Var f for every input k, (d,); summed over outputs."""
        counts = np.ones(len(y)) if weights is None else weights
        middle = np.average(X, axis=0, weights=counts)
        rows = spread_rows(np.unique(y, return_inverse=True)[1], RELEVANCE_ROWS)
        X, share = X[rows], counts[rows] / counts[rows].sum()
        coef = np.atleast_2d(self.coef_).T
        f = self._fitted_basis(X) @ coef
        variance = float(np.sum(share @ (f - share @ f) ** 2))
        relevance = np.zeros(X.shape[1])
        for k in np.flatnonzero(np.ptp(X, axis=0) > 0) if variance > 0 else []:
            moved = X.copy()
            moved[:, k] = middle[k]
            relevance[k] = float(np.sum(share @ (f - self._fitted_basis(moved) @ coef) ** 2)) / variance
        return relevance
