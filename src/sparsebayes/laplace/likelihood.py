"""The interface of likelihoods p(y|f) whose posterior is approximated around its mode [T01, 3.1]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sparsebayes._array import Array, device, is_foreign, namespace, to_numpy
from sparsebayes.core.specification import Specification
from sparsebayes.rows.sources import in_memory
from sparsebayes.rows.validation import check_targets


class Encoded(NamedTuple):
    """Targets as a likelihood reads them.

    likelihood : the likelihood with every parameter a number.
    codes : (N, K), float64, in the library of y.  classes : the labels in ascending order; None for numbers.
    """

    likelihood: Any
    codes: Array
    classes: np.ndarray | None = None


@dataclass
class LaplaceLikelihood(Specification, ABC):
    """A likelihood p(y|f) with K = `outputs` outputs f; it knows nothing of Φ, w or α.

    y and f have shape (N, K), of any array namespace. The curvature B = −∂² log p/∂f² of each row is
    diag(d) − uuᵀ, which products with N rows can use without N K×K matrices. B must have no negative
    eigenvalue: then the posterior has one mode, and Newton's steps find it. A density that is not
    log-concave may give its expected curvature, which has none.

    A subclass supplies `log_prob`, `gradient`, `curvature_factors` and `start`, and can be given to `fit`.

    Attributes
    ----------
    outputs : int
        K, the number of outputs.
    has_noise : bool
        Whether it is a density of y − f whose variance is a parameter that a fit can estimate.
    """

    outputs = 1
    has_noise = False

    @property
    def variance(self) -> float:
        """The variance of y at given f; 0 for a likelihood without a noise parameter."""
        return 0.0

    @abstractmethod
    def log_prob(self, y: Array, f: Array) -> Array:
        """The log-likelihood of each row.

        Parameters
        ----------
        y, f : array of shape (N, K)
            Encoded targets, and outputs.

        Returns
        -------
        array of shape (N,)
            log p(y_n|f_n).
        """

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """The gradient of the log-likelihood.

        Parameters
        ----------
        y, f : array of shape (N, K)
            Encoded targets, and outputs.

        Returns
        -------
        array of shape (N, K)
            g = ∂ log p/∂f.
        """

    @abstractmethod
    def curvature_factors(self, y: Array, f: Array) -> tuple[Array, Array | None]:
        """The curvature of the log-likelihood.

        Parameters
        ----------
        y, f : array of shape (N, K)
            Encoded targets, and outputs.

        Returns
        -------
        d, u : array of shape (N, K)
            Factors of B_n = diag(d_n) − u_n u_nᵀ; u is None if it is zero.
        """

    @abstractmethod
    def start(self, y: Array, counts: Array) -> Array:
        """The intercepts of the model without functions.

        Parameters
        ----------
        y : array of shape (N, K)
            Encoded targets.
        counts : array of shape (N,)
            How often each row counts.

        Returns
        -------
        array of shape (K,)
            The intercepts.
        """

    def curvature(self, y: Array, f: Array) -> Array:
        """The curvature as one matrix per row.

        Parameters
        ----------
        y, f : array of shape (N, K)
            Encoded targets, and outputs.

        Returns
        -------
        array of shape (N, K, K)
            B_n = −∂² log p/∂f².
        """
        xp = namespace(f)
        d, u = self.curvature_factors(y, f)
        B = d[:, :, None] * xp.eye(self.outputs, dtype=f.dtype, device=device(f))[None, :, :]
        return B if u is None else B - u[:, :, None] * u[:, None, :]

    def log_curvature_slope(self, y: Array, f: Array) -> Array:
        """How the curvature of a likelihood with one output changes with f; needed to learn scales.

        Parameters
        ----------
        y, f : array of shape (N, 1)
            Encoded targets, and outputs.

        Returns
        -------
        array of shape (N, 1)
            ∂ log d/∂f.
        """
        raise NotImplementedError(
            f"likelihood={self!r} does not say how its curvature changes with f (log_curvature_slope), which "
            "learning the scales of a basis needs; give the scales as numbers."
        )

    def curvature_slope(self, y: Array, f: Array, H: Array) -> Array:
        """How a trace with the curvature changes with f; needed to maximise the Laplace evidence itself.

        A likelihood with one output has it from `log_curvature_slope`: H ∂d/∂f.

        Parameters
        ----------
        y, f : array of shape (N, K)
            Encoded targets, and outputs.
        H : array of shape (N, K, K)
            A symmetric matrix for each row.

        Returns
        -------
        array of shape (N, K)
            ∂ tr(B_n H_n)/∂f_n.
        """
        if self.outputs > 1:
            raise NotImplementedError(f"likelihood={self!r} does not say how its curvature changes with f.")
        return H[:, :, 0] * self.curvature_factors(y, f)[0] * self.log_curvature_slope(y, f)

    def encode(self, y: Any, weights: Any = None) -> Encoded:
        """Check targets and turn them into what the likelihood reads: here one number per row.

        Parameters
        ----------
        y : array-like of shape (N,)
            Targets.
        weights : array of shape (N,), optional
            How often each row counts.

        Returns
        -------
        Encoded
            The likelihood with every parameter a number, y (N, 1) as float64, and no classes.
        """
        values = y if is_foreign(y) else host(y)
        like = values if is_foreign(values) else None
        return Encoded(self, check_targets(values, int(values.shape[0]), like=like)[:, None])


def host(y: Any) -> np.ndarray:
    """Targets, an array of any namespace, on disk, or a sequence, as a NumPy array."""
    y = in_memory(y)
    return to_numpy(y) if hasattr(y, "__array_namespace__") else np.asarray(y)
