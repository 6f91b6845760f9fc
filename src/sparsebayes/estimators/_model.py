"""What all regressors and classifiers have in common: parameters, tags, and the covariance of their weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import scipy.sparse
from sklearn.base import BaseEstimator

from sparsebayes._array import Array
from sparsebayes.bases import Basis
from sparsebayes.estimators._callbacks import CallbackSupportMixin
from sparsebayes.estimators._described import WithFormula
from sparsebayes.estimators._representation import FittedRepresentation
from sparsebayes.solvers.monitor import Progress


@dataclass(eq=False, repr=False, kw_only=True)
class SparseModel(WithFormula, FittedRepresentation, CallbackSupportMixin, BaseEstimator):
    """Parameters of a sparse Bayesian model of f = Φw + b; `_docs.Parameters` says what they mean."""

    prior: Any = "uniform"
    solver: Any = "auto"
    fit_intercept: bool = True
    max_iter: int = 10000
    tol: float = 1e-6
    max_time: float | None = None
    random_state: Any = None
    verbose: int = 0
    callback: Callable[[Progress], Any] | None = None
    checkpoint: Any = None

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """The names of the parameters, looked up once: scikit-learn reads the signature every time."""
        return super()._get_param_names()

    @property
    def covariance_(self) -> Array:
        """Posterior covariance Σ of the weights that are not 0, made dense only when it is read."""
        if not hasattr(self, "_fitted"):
            raise AttributeError(f"{type(self).__name__} has no covariance_ before it is fitted: call fit first.")
        if hasattr(self, "estimators_"):
            raise AttributeError("covariance_ is that of one model, got a model for each output: see estimators_.")
        covariance = self._fitted.result.covariance
        dense = covariance.toarray() if scipy.sparse.issparse(covariance) else covariance
        return self._fitted.published(dense)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __sklearn_tags__(self) -> Any:
        """X may be sparse if its columns are the functions; for some kernels it is the kernel matrix."""
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", None)
        tags.input_tags.sparse = not hasattr(self, "kernel")
        tags.input_tags.pairwise = (
            kernel.pairwise if isinstance(kernel, Basis) else isinstance(kernel, str) and kernel == "precomputed"
        )
        tags.array_api_support = not hasattr(self, "kernel")
        return tags
