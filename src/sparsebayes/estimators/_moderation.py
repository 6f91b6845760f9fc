"""What the probabilities of a classifier rest on beside the posterior of its weights.

Far from all training rows every function of a local kernel vanishes, and a sparse model says what its intercept
says, as if it knew that. With all functions in the model, the share of the prior variance of f(x) that the training
rows explain is

    e(x) = k(x, Z) K_ZZ⁻¹ k(Z, x)/k(x, x),

Z being rows that represent all of them. It is 1 at the rows and 0 far away. Let e₀ be its least value at the training
rows, each without itself if it is one of Z, and at most ½. For a Gaussian kernel e falls like exp(−2γd²) with the
distance d, so that e < e₀² is further from the rows than any of them is from the others by √2. There, with
probability t = 1 − e/e₀², the label is that of a row drawn at random: p = (1 − t) p(y|x) + t·(share of the class).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from sparsebayes._array import Array, beside, column_squares, is_foreign, rows_on_host, to_numpy
from sparsebayes.bases import BoundBasis
from sparsebayes.bases.low_rank import greedy_cholesky, kernel_diagonal
from sparsebayes.estimators._training import HOST, Rows
from sparsebayes.laplace import ProcessClassifier, ProcessSettings

SETTINGS = ProcessSettings()
MOST_ROWS = 5000  # that the points which represent all rows are chosen from
HALF, SMALLEST = 0.5, 1e-30  # largest e₀, and the smallest e₀² that means anything
SAME = 1e-9  # relative difference of k(x, x) below which it is the same everywhere


@dataclass(frozen=True, eq=False)
class Coverage:
    """Where the training rows are.

    basis : the functions centred at Z.  root : the lower factor of K_ZZ.  own : k(x, x), the same for all x.
    least : e₀².  shares : of the classes, (K,).
    """

    basis: BoundBasis
    root: np.ndarray
    own: float
    least: float
    shares: np.ndarray

    @classmethod
    def of(cls, bound: BoundBasis, X: Array, shares: np.ndarray) -> Coverage | None:
        """The coverage of rows X, few of which come to the host.

        None if a kernel has no range, or one so short that rows do not reach others.
        """
        if not (bound.is_one_kernel and bound.positive_semidefinite):
            return None
        if bound.centred_at(X[:1, ...]) is None:
            return None
        n = int(X.shape[0])
        X = rows_on_host(X, np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int)))
        diagonal = kernel_diagonal(bound, X)
        if not (diagonal.min() > 0 and np.ptp(diagonal) <= SAME * diagonal.max()):
            return None
        L, pivots, residual = greedy_cholesky(bound, X, SETTINGS.cover, SETTINGS.cover_tolerance)
        own, root = float(diagonal[0]), L[pivots]
        others = 1 / np.sum(scipy.linalg.inv(root) ** 2, axis=0)  # what is left of each pivot without itself
        worst = max(float(residual.max()), float(others.max()))
        least = min(1 - worst / own, HALF) ** 2
        basis = bound.centred_at(X[pivots])
        if basis is None or not least > SMALLEST:
            return None
        return cls(basis, root, own, least, shares)

    def beside(self, X: Any) -> Coverage:
        """The same in the library and on the device of queries X."""
        return replace(self, basis=self.basis.beside(X))

    def doubt(self, X: Array) -> np.ndarray:
        """t of each query, (n,), on the host."""
        columns = self.basis(X).T
        if is_foreign(columns):
            half = beside(scipy.linalg.inv(self.root), X) @ columns
            explained = to_numpy(column_squares(half))
        else:
            half = scipy.linalg.solve_triangular(self.root, columns, lower=True, check_finite=False)
            explained = np.sum(half**2, axis=0)
        return np.clip(1 - explained / (self.own * self.least), 0.0, 1.0)

    def blended(self, X: Array, outputs: Array, likelihood: Any) -> Array:
        """Outputs (n, K) of probabilities that tend to the shares of the classes where t does to 1."""
        t = self.doubt(X)
        unlike = t > 0
        if not unlike.any():
            return outputs
        if is_foreign(outputs):
            return beside(self._blended(t, unlike, to_numpy(outputs), likelihood), outputs)
        return self._blended(t, unlike, outputs, likelihood)

    def _blended(self, t: np.ndarray, unlike: np.ndarray, outputs: np.ndarray, likelihood: Any) -> np.ndarray:
        """The same outputs (n, K) but for the queries `unlike` all training rows, whose t is not 0."""
        with np.errstate(divide="ignore"):
            known, unknown = np.log1p(-t[unlike])[:, None], np.log(t[unlike])[:, None]
        log_p = np.logaddexp(known + likelihood.log_probabilities(outputs[unlike]), unknown + np.log(self.shares))
        outputs = outputs.copy()
        outputs[unlike] = log_p[:, 1:] - log_p[:, :1] if outputs.shape[1] == 1 else log_p
        return outputs


@dataclass(frozen=True, eq=False)
class ProcessOutput:
    """f of the calibrated Gaussian process through few functions, in log odds of the second class."""

    basis: BoundBasis
    functions: np.ndarray
    weights: np.ndarray
    intercept: float

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """f at queries, (n, 1)."""
        return (self.basis(X) @ self.weights + self.intercept)[:, None]

    def beside(self, X: Any) -> ProcessOutput:
        """The same in the library and on the device of queries X."""
        return replace(self, basis=self.basis.beside(X), weights=beside(self.weights, X))

    def negated(self) -> ProcessOutput:
        """The same with the classes exchanged."""
        return replace(self, weights=-self.weights, intercept=-self.intercept)


@dataclass(frozen=True, eq=False)
class Moderation:
    """The Gaussian process, if probabilities are its own, and where the training rows are, if that is known."""

    process: ProcessOutput | None = None
    coverage: Coverage | None = None

    def beside(self, X: Any) -> Moderation:
        """The same in the library and on the device of queries X."""
        process = None if self.process is None else self.process.beside(X)
        return Moderation(process, None if self.coverage is None else self.coverage.beside(X))

    def outputs(self, X: Any, posterior: Callable[[Any], np.ndarray], likelihood: Any, calibrated: bool) -> np.ndarray:
        """The outputs (n, K) at queries; `posterior` gives those of the sparse model."""
        f = self.process(X) if self.process is not None and calibrated else posterior(X)
        return f if self.coverage is None else self.coverage.blended(X, f, likelihood)


def sparse_process(bound: BoundBasis, rows: Rows, center: bool, active: np.ndarray) -> ProcessOutput | None:
    """The calibrated Gaussian process of two classes through the functions `active` and a few more.

    Parameters
    ----------
    bound : BoundBasis
        The kernel functions, one centred at each row.
    rows : Rows
        The training rows, y being 0 or 1.
    center : bool
        Whether there is an intercept.
    active : ndarray of int
        The functions of the sparse model.

    Returns
    -------
    ProcessOutput or None
        None if the functions are not those of one positive semi-definite kernel, or the rows too many.
    """
    n, settings = int(rows.y.shape[0]), SETTINGS
    if n > settings.rows or not (bound.is_one_kernel and bound.positive_semidefinite) or bound.n_functions != n:
        return None
    X, y, counts = map(to_numpy, (rows.X, rows.y, rows.counts))  # few rows
    L, _, _ = greedy_cholesky(bound, X, settings.rank, settings.tolerance)
    unit = float(np.mean(kernel_diagonal(bound, X)))
    learned = len(np.unique(bound.log_scales)) - 1
    process = ProcessClassifier(L / np.sqrt(unit), y.astype(np.float64), counts, center, settings, learned)
    most = int(np.clip(round(settings.extra * counts.sum()), settings.least_extra, settings.most_extra))
    found = process.sparse(active, most)
    return ProcessOutput(
        bound.select(found.functions.tolist()).beside(HOST),
        found.functions,
        found.weights / unit,
        float(found.intercept),
    )
