"""Which columns beside a kernel are irrelevant, and what each input does to the predictions.

The functions of a kernel and a column can explain the same part of the targets. Under the uniform prior a sparse model
selects a third of the columns that carry nothing (P(χ²₁ > 1)), and the kernel's functions bend to make up for
them. With the kernels integrated out as a Gaussian process,

    y ~ N(Φw, C),   C = σ²I + Σ s_p K_p over the parts with centres,

only the columns Φ remain: multiplied by R, RᵀR = C⁻¹, they are a sparse regression whose noise is known. A
column is screened out unless it gains ½ log N nats there, the penalty for a parameter by BIC.
"""

from __future__ import annotations

import math

import numpy as np

from sparsebayes._array import asfloat64, is_numpy, rows_on_host, to_numpy
from sparsebayes.bases import BoundBasis
from sparsebayes.core.fit import fit_matrix
from sparsebayes.priors import Smoothness
from sparsebayes.scale_learning.evidence import GaussianEvidence, spread_rows
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.solvers.active_set import ActiveSet

NONE = np.zeros(0, dtype=np.int64)
RELEVANCE_ROWS = 1000  # rows that the relevance of inputs is measured on


def irrelevant_functions(process: GaussianProcess, theta: np.ndarray) -> np.ndarray:
    """Screen the functions without a centre that stand beside a kernel: columns, or a constant.

    Parameters
    ----------
    process : GaussianProcess
        With an exact covariance.
    theta : ndarray
        Its parameters θ.

    Returns
    -------
    ndarray of int
        Numbers of the irrelevant functions among all functions of the basis, ascending. None of them for
        classes, and if a part is not in the process: its σ² is then too large to judge by.
    """
    parts, evidence = process.parts_at(theta), process.evidence
    kernels = [each for each in parts if each.part.has_centres]
    others = [each for each in parts if not each.part.has_centres]
    if not (isinstance(evidence, GaussianEvidence) and process.all_parts and kernels and others):
        return NONE
    columns = np.concatenate([each.columns for each in others], axis=1)
    numbers = np.concatenate([each.part.numbers for each in others])
    # a column that repeats an earlier one is irrelevant
    distinct = np.sort(np.unique(columns, axis=1, return_index=True)[1])
    covariance, log_beta = process.covariance(kernels), process.log_beta(theta)
    target, functions = evidence.whitened(covariance, log_beta, columns[:, distinct])
    if not functions.any():  # an intercept explains all that they could
        return numbers
    prior = Smoothness(0.5 * math.log(evidence.total))
    found = fit_matrix(functions, target, prior=prior, solver=ActiveSet(), noise_variance=1.0)
    return np.delete(numbers, distinct[found.active])


def input_relevance(
    bound: BoundBasis, weights: np.ndarray, X: np.ndarray, y: np.ndarray, counts: np.ndarray | None
) -> np.ndarray:
    """E[(f(x) − f(x with input k at its mean))²]/Var f for every input k, summed over the outputs of f = Φw.

    Parameters
    ----------
    bound : BoundBasis
        The S functions that were selected, on the host.
    weights : ndarray of shape (S, K)
        Their weights for each output.
    X, y : ndarray of shape (N, d) and (N,) or (N, T)
        Training rows, and their targets or labels.
    counts : ndarray of shape (N,) or None
        How often each row counts; None for once each.

    Returns
    -------
    ndarray of shape (d,)
        0 for an input that does not matter; with interactions the sum may be above 1.
    """
    counts = np.ones(int(y.shape[0])) if counts is None else to_numpy(counts)
    y = to_numpy(y)
    if is_numpy(X):
        middle = np.average(X, axis=0, weights=counts)
    else:
        middle = to_numpy(asfloat64(counts / counts.sum(), like=X) @ asfloat64(X))
    rows = spread_rows(np.unique(y if y.ndim == 1 else y[:, 0], return_inverse=True)[1], RELEVANCE_ROWS)
    X, share = rows_on_host(X, rows), counts[rows] / counts[rows].sum()
    f = bound(X) @ weights
    variance = float(np.sum(share @ (f - share @ f) ** 2))
    relevance = np.zeros(X.shape[1])
    for k in np.flatnonzero(np.ptp(X, axis=0) > 0) if variance > 0 else []:
        moved = X.copy()
        moved[:, k] = middle[k]
        relevance[k] = float(np.sum(share @ (f - bound(moved) @ weights) ** 2)) / variance
    return relevance
