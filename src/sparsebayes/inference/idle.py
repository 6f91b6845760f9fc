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

import numpy as np

from sparsebayes.inference.dense import DenseModel
from sparsebayes.inference.regression import fit
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
    K = model.covariance([term for term in terms if term.part.has_centres])
    columns = np.concatenate([terms[k].columns for k in beside], axis=1)
    whitened = model.evidence.whitened(K, model.tail(theta), columns)
    if whitened is None:
        return np.zeros(0, dtype=np.int64)
    target, functions = whitened
    candidates = np.concatenate([numbers[k] for k in beside])
    if not functions.any():  # an intercept does all they could
        return candidates
    charge = Smoothness(0.5 * math.log(model.evidence.total))
    found = fit(functions, target, noise_variance=1.0, prior=charge)
    return np.delete(candidates, found.active)
