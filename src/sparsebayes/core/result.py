"""What a fit returns, in the units of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, roots_of_squares, row_products, take

BLOCK = 1 << 21  # numbers of a design matrix that are predicted together


@dataclass(frozen=True, eq=False)
class Result:
    """A fitted sparse Bayesian model with K ≥ 1 outputs, f = Φw + b, in the units of the data.

    A weight belongs to a function and an output; S weights are not zero, in the order of their outputs.

    Attributes
    ----------
    active, output : ndarray of int, shape (S,)
        The function and the output of each weight. A regression has one output, 0.
    mean, alpha, gamma : array of shape (S,)
        Posterior means μ of the weights, their prior precisions α, and γ = 1 − αΣ_mm, which says how well the
        data determine each of them [T01, eq. 17].
    covariance : array of shape (S, S)
        Posterior covariance Σ of the weights; SciPy-sparse and diagonal for orthonormal functions.
    intercept : array of shape (K,)
        The intercepts b; 0 without an intercept.
    centre, intercept_covariance : arrays of shape (K, S) and (K, K)
        The intercepts' share of the variance: how they move with the weights, and their covariance at given
        weights.
    likelihood : object
        p(y | f) at the solution: `GaussianNoise`, or a likelihood of `sparsebayes.laplace`.
    log_evidence, objective : float
        log p(y | α, likelihood), and the same plus the log priors, which is what was maximised;
        Laplace's approximation for likelihoods that are not Gaussian.
    evidence_path : ndarray
        The objective at each iteration, and at the end.
    converged : bool
        Whether the fit ended by its own criterion.
    certificate : Certificate or None
        What is known of the solution: whether it is a local maximum.
    trace : tuple of Move
        What the solver did, move by move.
    candidates : CandidateScores or None
        S, Q, s, q and θ of every candidate; None if they are too many to be held.
    classes : ndarray or None
        The labels in ascending order; None for a regression.
    averaged : Result or None
        The same model with the Gaussian that probabilities are averaged over, if that is not the one of
        `mean` and `covariance`.
    prior : Prior or None
        The prior on the precisions, its parameters numbers; None for a model without functions to select.
    """

    active: np.ndarray
    output: np.ndarray
    mean: Array
    alpha: Array
    gamma: Array
    covariance: Array
    intercept: Array
    centre: Array
    intercept_covariance: Array
    likelihood: Any
    log_evidence: float
    objective: float
    evidence_path: np.ndarray
    converged: bool
    certificate: Any = None
    trace: tuple[Any, ...] = ()
    candidates: Any = None
    classes: np.ndarray | None = None
    averaged: Any = None
    prior: Any = None

    @property
    def outputs(self) -> int:
        """K, the number of outputs."""
        return int(self.intercept.shape[0])

    @property
    def n_iter(self) -> int:
        """Iterations of the fit."""
        return len(self.evidence_path) - 1

    @property
    def has_intercept(self) -> bool:
        """Whether there is an intercept."""
        return bool(self.intercept_covariance[0, 0] > 0)

    @property
    def noise_variance(self) -> float:
        """σ², the variance of a target at given f; 0 for likelihoods that have no such parameter."""
        return self.likelihood.variance

    @property
    def degrees_of_freedom(self) -> float:
        """Effective degrees of freedom, Σγ [T01, eq. 17; SE07, eq. 13], without the intercepts."""
        return float(namespace(self.gamma).sum(self.gamma))

    def f_mean(self, columns: Array) -> Array:
        """The outputs f = Φw + b (n, K) from the functions of the weights (n, S)."""
        member = asfloat64(self.output[:, None] == np.arange(self.outputs), like=columns)
        return (columns * self.mean[None, :]) @ member + self.intercept[None, :]

    def f_variance(self, columns: Array) -> Array:
        """The variance (φ−φ̄)ᵀΣ(φ−φ̄) + Var b of a single output at each row, (n,)."""
        centred = columns - self.centre[0, :][None, :]
        return row_products(centred @ self.covariance, centred) + self.intercept_covariance[0, 0]

    def variance(self, columns: Array) -> Array:
        """The variance of a new target at each row, (n,): that of a single output, and the noise."""
        return self.noise_variance + self.f_variance(columns)

    def std(self, columns: Array, excess: float = 0.0) -> Array:
        """√(variance + excess) at each row, (n,); no square of a large number overflows."""
        centred, known = columns - self.centre[0, :][None, :], self.noise_variance + self.intercept_covariance[0, 0]
        return roots_of_squares(centred, self.covariance, known + excess)

    def probabilities(self, columns: Array, moderated: bool = True) -> Array:
        """Probabilities of the classes (n, classes) from the functions of the weights (n, S), for labels.

        moderated : whether they are averaged over the posterior of the weights.
        """
        return self.likelihood.probabilities(self, columns, moderated)

    def predict(self, Phi: Any, return_std: bool = False) -> Any:
        """Predict at new rows of the design.

        Parameters
        ----------
        Phi : array-like of shape (n, M) or Operator
            All M columns at the new rows; an array in memory or on disk, or SciPy-sparse.
        return_std : bool
            Whether to return the standard deviation of a new target as well, for one output; that of f if the
            noise variance was known at each row of the fit, since that of a new row is unknown.

        Returns
        -------
        mean : array of shape (n,) or (n, K)
            E[y] of a regression, else f.
        std : array of shape (n,)
            Only with `return_std`.
        """
        if hasattr(Phi, "combination") and not return_std and self.outputs == 1:
            return Phi.combination(self.active, self.mean) + self.intercept[0]
        blocks = ((self.f_mean(each), self.std(each) if return_std else None) for each in self._blocks(Phi))
        means, stds = zip(*blocks, strict=True)
        mean = namespace(means[0]).concat(means, axis=0)
        mean = mean[:, 0] if self.outputs == 1 else mean
        return (mean, namespace(mean).concat(stds)) if return_std else mean

    def _blocks(self, Phi: Any) -> Iterator[Array]:
        """The functions of the weights at the rows of Phi, a block of rows at a time."""
        if hasattr(Phi, "combination"):
            yield Phi.columns(self.active)
            return
        Phi = Phi if hasattr(Phi, "dtype") else asfloat64(Phi)  # a data frame, or lists of numbers
        Phi = Phi.tocsr() if hasattr(Phi, "tocsr") else Phi
        N, step = Phi.shape[0], max(1, BLOCK // max(Phi.shape[1], 1))
        for start in range(0, max(N, 1), step):  # a design without rows is one block
            rows = Phi[start : min(start + step, N), :]
            yield take(rows.toarray() if hasattr(rows, "toarray") else rows, self.active, axis=1)
