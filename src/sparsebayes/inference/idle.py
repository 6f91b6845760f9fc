"""Functions beside a kernel that the dense model has no use for: columns, a bias, spikes.

A kernel's functions and a column can do each other's work. Under the uniform prior a sparse model keeps a
third of the columns that carry nothing (P(χ²₁ > 1)), and the kernel's functions bend to make up for them. In
the dense model they need not be told apart: with the kernels integrated out as a Gaussian process,

    t ~ N(Φw, C),   C = σ²I + Σ s_p K_p over the parts with centres,

the columns Φ alone are left: multiplied by R, RᵀR = C⁻¹, a sparse regression whose noise is known. A column
has to be worth ½ log N nats there, as a scale has: what BIC charges for a parameter.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from sparsebayes.inference.dense import DenseModel, DensePartAt
from sparsebayes.inference.regression import NoiseCollapseWarning, fit
from sparsebayes.priors import Smoothness


def idle_functions(model: DenseModel, theta: np.ndarray) -> np.ndarray:
    """Those without a centre that are not worth their weight, by their numbers among all functions."""
    parts = model.parts
    ends = np.cumsum([part.bound.n_functions for part in parts])
    numbers = [np.arange(end - part.bound.n_functions, end) for part, end in zip(parts, ends, strict=True)]
    beside = [k for k, part in enumerate(parts) if not part.has_centres]
    if not beside or len(beside) == len(parts):
        return np.zeros(0, dtype=np.int64)
    terms = model.terms(theta)
    kernels = [term for term in terms if term.part.has_centres]
    columns = np.concatenate([terms[k].columns for k in beside], axis=1)
    return np.concatenate([numbers[k] for k in beside])[_worthless(model, theta, kernels, columns, 1.0)]


def idle_columns(model: DenseModel, theta: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Those of some columns (N, M) the model does not have that are not worth their weight, by their numbers.

    Together they may be noise by another name (`complete`), and what they explain is in σ² too. So the noise
    is estimated with them, as a factor of C.
    """
    return _worthless(model, theta, model.terms(theta), columns, None)


def _worthless(
    model: DenseModel,
    theta: np.ndarray,
    terms: list[DensePartAt],
    columns: np.ndarray,
    noise_variance: float | None,
) -> np.ndarray:
    """Columns that are not worth ½ log N nats beside the terms, which are integrated out."""
    whitened = model.evidence.whitened(model.covariance(terms), model.tail(theta), columns)
    if whitened is None:
        return np.zeros(0, dtype=np.int64)
    target, functions = whitened
    if not functions.any():  # an intercept does all they could
        return np.arange(columns.shape[1])
    with warnings.catch_warnings():  # where they reproduce the target that is for the sparse model to say
        warnings.simplefilter("ignore", NoiseCollapseWarning)
        found = fit(functions, target, noise_variance=noise_variance, prior=charge(model.evidence.total))
    return np.delete(np.arange(columns.shape[1]), found.active)


def charge(total: float) -> Smoothness:
    """The prior under which a function has to be worth ½ log N nats."""
    return Smoothness(0.5 * math.log(total))
