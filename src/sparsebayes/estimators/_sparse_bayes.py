"""Sparse Bayesian linear regression, a drop-in for scikit-learn's ARDRegression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsebayes.bases import Basis, Columns
from sparsebayes.estimators._streaming import StreamingRegression
from sparsebayes.solvers import Progress


class SparseBayesRegressor(StreamingRegression):
    """Sparse Bayesian linear regression: the columns of X are the candidates, the evidence picks a few.

    y = Σ_m w_m x_m + b + ε, w_m ~ N(0, 1/α_m), ε ~ N(0, σ²) [T01; TF03], the model of automatic relevance
    determination.

    Parameters
    ----------
    prior : {"uniform", "aic", "bic", "ric"} or Prior, default="uniform"
        Prior on the precision of each weight. "uniform" is the classical relevance vector machine; the others
        are sparser, in this order. Objects: `Uniform`, `Gamma`, `Smoothness`, `Laplace`.
    solver : {"active-set", "thorough", "sequential", "mackay", "em"} or Solver, default="active-set"
        How the evidence is maximised. Objects: `ActiveSet`, `Sequential`, `FixedPoint`.
    noise_variance : float, optional
        σ² > 0 where it is known. None estimates it.
    noise_prior : tuple (c, d), optional
        Gamma(c, d) prior on the noise precision 1/σ² where that is estimated. None for none.
    noise_shape : float or "evidence", default=2.0
        p of the noise density ∝ exp(−|ε/s|^p): 2 is Gaussian noise, larger values up to 8 are noise with
        lighter tails and at last sharp bounds, such as that of rounding; its variance is σ² whatever p is.
        "evidence" estimates p, which stays 2 unless another value gains ½ log n in evidence plus log priors,
        and where there are fewer than ten rows for each weight. With p > 2 posterior and evidence are
        Laplace's approximation and a fit takes longer. For `noise_prior` and rows that are not in memory it
        must be 2.
    fit_intercept : bool, default=True
        With True an intercept with a flat prior is integrated out: a constant added to y moves the
        predictions by as much and changes nothing else. The evidence ∫ p(y | b) db is then the density of
        the n − 1 orthonormal contrasts of y, with its −(n−1)/2 · log 2π, divided by √n. With False the model
        is y = Φw + ε to the letter and the evidence is the density of y under N(0, σ²I + ΦA⁻¹Φᵀ), with its
        −n/2 · log 2π (noise_shape=2; else Laplace's approximation to the same integrals).
    max_iter : int, default=10000
        Most iterations of the solver; a `ConvergenceWarning` says when they did not suffice.
    tol : float, default=1e-6
        What a change must gain, in nats, and how far a log α must move, for the solver to go on.
    random_state : int, RandomState instance or None, default=None
        Seed of solvers that draw candidates at random. The default solver draws nothing.
    verbose : int, default=0
        1 prints a progress line every tenth iteration to standard error, 2 one every iteration.
    callback : callable, optional
        Called with a `Progress` each iteration; a true return value stops the fit.

    Attributes
    ----------
    relevance_ : ndarray of int, shape (n_relevant,)
        Numbers of the retained columns of X, ascending.
    relevance_vectors_ : ndarray of shape (0, n_features_in_)
        Always without a row: columns are not centred at a training point.
    coef_ : ndarray of shape (n_relevant,)
        Posterior means of the weights of the retained functions, in the order of `relevance_`.
    intercept_ : float
        The intercept; 0 with `fit_intercept=False`.
    alpha_ : ndarray of shape (n_relevant,)
        Prior precisions α of those weights.
    noise_variance_ : float
        σ², estimated or as given.
    noise_shape_ : float
        p, estimated or as given. 2 where the fit with Gaussian noise, which comes first, let σ² fall to its
        floor, or was stopped by the callback.
    covariance_ : ndarray of shape (n_relevant, n_relevant)
        Posterior covariance Σ of those weights.
    log_evidence_ : float
        Log marginal likelihood of y; `fit_intercept` says how an intercept is counted.
    evidence_path_ : ndarray
        Evidence plus log priors at each iteration, and at the end.
    n_iter_ : int
        Iterations of the solver.
    converged_ : bool
        Whether the solver ended by its own criterion.
    certificate_ : Certificate
        What can be said of the solution: whether it is a local maximum, and by how much not.
    n_features_in_ : int
        Columns of X seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where all of them are strings.

    See Also
    --------
    RelevanceVectorRegressor : Kernel functions centred at the training points are the candidates.

    Notes
    -----
    X may be dense or SciPy-sparse; a sparse X is not made dense, with an intercept neither. The scale of a
    column does not matter. Columns that repeat an earlier one or its negative, and zero or (with an
    intercept) constant ones, are left out. Rows may stay on disk, or come in chunks: see `fit` and
    `partial_fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import SparseBayesRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 20))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + 0.1 * np.random.default_rng(3).standard_normal(50)
    >>> SparseBayesRegressor(prior="bic").fit(X, y).relevance_
    array([4, 7])
    """

    def __init__(
        self,
        *,
        prior: Any = "uniform",
        solver: Any = "active-set",
        noise_variance: float | None = None,
        noise_prior: tuple[float, float] | None = None,
        noise_shape: float | str = 2.0,
        fit_intercept: bool = True,
        max_iter: int = 10000,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.prior = prior
        self.solver = solver
        self.noise_variance = noise_variance
        self.noise_prior = noise_prior
        self.noise_shape = noise_shape
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _basis(self) -> Basis:
        return Columns()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
