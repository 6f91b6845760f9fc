"""The relevance vector machine for regression, a drop-in for scikit-learn's SVR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from sparsebayes.bases import Basis, BoundBasis
from sparsebayes.estimators._augmented import Augmentation, check_centre
from sparsebayes.estimators._candidates import is_pairwise
from sparsebayes.estimators._learning import DENSE_NOISE, LearningModel
from sparsebayes.estimators._regression import RegressionModel
from sparsebayes.estimators._variances import DenseVariance
from sparsebayes.inference.centres import CentredModel
from sparsebayes.inference.complete import Split
from sparsebayes.inference.dense import GaussianEvidence
from sparsebayes.inference.dense_variance import DensePosterior
from sparsebayes.inference.left_out import LeftOut, excess_variance
from sparsebayes.inference.regression import checked_variance
from sparsebayes.inference.scales import Learned, Rows
from sparsebayes.solvers import Progress

VARIANCES = ("auto", "posterior", "augmented", "dense")


class RelevanceVectorRegressor(LearningModel, RegressionModel):
    """Relevance vector machine: kernel regression with few kernel functions and error bars.

    One candidate function k(·, x_m) is centred at each training point x_m, and the evidence decides which
    to keep: y = Σ_m w_m k(x, x_m) + b + ε, w_m ~ N(0, 1/α_m), ε ~ N(0, σ²) [T01; TF03].

    Parameters
    ----------
    kernel : str, callable or Basis, default="rbf"
        "rbf", "laplacian", "matern", "rational-quadratic", "poly", "linear", "cosine", "sigmoid",
        "histogram-intersection", "linear-spline", "cubic-spline", "thin-plate-spline" or "precomputed" (X is
        the kernel matrix, the training points in its columns); a callable k(X, Z) that returns an array
        (n, m); or a basis object, such as `RBF(gamma=[1.0, 0.1]) + Columns(degree=2)`.
    gamma : {"scale", "auto", "evidence", "ard"}, float or sequence of float, default="scale"
        Scale of the named kernels "rbf", "laplacian", "matern", "rational-quadratic", "poly" and "sigmoid",
        one for all inputs or one each.
        "scale" is 1 / (n_features · Var(X)), "auto" is 1 / n_features. A Gaussian of width r has gamma =
        1/r². "evidence" learns one width, "ard" a scale for each input, of any kernel or basis that has
        scales (those that a basis object has been given are then of no account): they maximise the evidence
        of the model with all functions in, on up to 1000 rows and, beyond, through few centres. On up to 1000
        rows, functions without a centre that this model has no use for are then no candidates.
    degree : int, default=3
        Degree of kernel="poly".
    coef0 : float, default=0.0
        Constant in kernel="poly" and kernel="sigmoid".
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
    variance : {"auto", "posterior", "augmented", "dense"}, default="auto"
        What the standard deviation of a prediction rests on. "posterior" is that of the sparse model, which
        with a local kernel shrinks to the noise far from the relevance vectors. "auto" is the same, and with
        gamma="evidence" or "ard" on up to 1000 rows a constant more, `excess_variance_`, for what the sparse
        model does not know of the functions it left out; a covariance has it on its diagonal, as if that were
        independent from query to query. "augmented" adds one more function, centred at the query point, with
        the prior variance of the training targets: the standard deviation then grows with the distance from
        the data [Rasmussen & Quiñonero-Candela 2005, RVM*]. The mean stays that of the sparse model. Fitting
        then keeps the training rows, and a prediction costs a pass over them. "dense", with gamma="evidence"
        or "ard", is that of the Gaussian process the scales were learned from, given up to 1000 rows: it
        counts that other functions would have done as well.
    max_iter : int, default=10000
        Most iterations of the solver; a `ConvergenceWarning` says when they did not suffice.
    tol : float, default=1e-6
        What a change must gain, in nats, and how far a log α must move, for the solver to go on. With 1e-2
        the default solver ends sooner, mostly a fraction of a nat lower.
    random_state : int, RandomState instance or None, default=None
        Seed of solvers that draw candidates at random. The default solver draws nothing.
    verbose : int, default=0
        1 prints a progress line every tenth iteration to standard error, 2 one every iteration.
    callback : callable, optional
        Called with a `Progress` each iteration; a true return value stops the fit.

    Attributes
    ----------
    relevance_ : ndarray of int, shape (n_relevant,)
        Numbers of the retained candidates, ascending: the rows of X in `fit` they are centred at. For a
        concatenation of bases, their numbers in the list of all candidates, part after part.
    relevance_vectors_ : ndarray of shape (n_centres, n_features_in_)
        Rows of X the retained functions are centred at; those of them that have a centre. Empty, with no row,
        for kernel="precomputed", as the points themselves are not known.
    coef_ : ndarray of shape (n_relevant,)
        Posterior means of the weights of the retained functions, in the order of `relevance_`.
    intercept_ : float
        The intercept; 0 with `fit_intercept=False`.
    components_ : ndarray of shape (n_parts, n_samples)
        For a concatenation of bases, what each part contributes at the training rows (those of positive
        weight): with `intercept_` they sum to the fitted values.
    alpha_ : ndarray of shape (n_relevant,)
        Prior precisions α of those weights.
    noise_variance_ : float
        σ², estimated or as given.
    noise_shape_ : float
        p, estimated or as given. 2 where the fit with Gaussian noise, which comes first, let σ² fall to its
        floor, or was stopped by the callback.
    excess_variance_ : float
        What variance="auto" adds to the variance of every prediction: the mean square error that the model
        with all functions in expects of this one at a training row, both without that row, less what this one
        expects itself. 0 where that is negative, where there is no such model, and beside `Wavelet`, `DCT` or
        `Spike` with a noise to estimate, from which that model cannot tell them.
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
    scales_ : ndarray of shape (n_scales,)
        With gamma="evidence" or "ard", the scales that were learned, part by part, input by input.
    input_relevance_ : ndarray of shape (n_features_in_,)
        With gamma="evidence" or "ard", what each input does to the prediction: the mean square by which it
        moves on training rows when the input is set to its mean, over its variance on them. An input that
        does not matter has 0, or next to nothing; with interactions the sum may be above 1.
    n_features_in_ : int
        Columns of X seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where all of them are strings.

    See Also
    --------
    SparseBayesRegressor : The columns of X themselves are the candidates.

    Notes
    -----
    X must be dense. Rows that repeat one another give one candidate, the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RelevanceVectorRegressor
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
    >>> mean, std = RelevanceVectorRegressor().fit(X, y).predict(X, return_std=True)
    """

    def __init__(
        self,
        kernel: str | Basis | Callable[[Any, Any], Any] = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        prior: Any = "uniform",
        solver: Any = "active-set",
        noise_variance: float | None = None,
        noise_prior: tuple[float, float] | None = None,
        noise_shape: float | str = 2.0,
        fit_intercept: bool = True,
        variance: str = "auto",
        max_iter: int = 10000,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.prior = prior
        self.solver = solver
        self.noise_variance = noise_variance
        self.noise_prior = noise_prior
        self.noise_shape = noise_shape
        self.fit_intercept = fit_intercept
        self.variance = variance
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    # of the dense model, between learning the scales and the end of the fit
    _dense: DensePosterior | None = None
    _left_out: LeftOut | None = None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        try:
            return super()._fit(X, y, sample_weight)
        finally:  # a callback may have interrupted the fit
            for name in ("_first_noise", "_dense", "_left_out"):
                self.__dict__.pop(name, None)

    def _rows(self, bound: BoundBasis, X: np.ndarray, y: np.ndarray, counts: np.ndarray) -> Rows:
        known, center = self.noise_variance, bool(self.fit_intercept)
        beta = None if known is None else 1 / checked_variance(known, "noise_variance")

        def evidence(rows: np.ndarray) -> GaussianEvidence:
            return GaussianEvidence(y[rows], counts[rows], center, beta)

        def through(rows: np.ndarray, centres: np.ndarray) -> CentredModel:
            return CentredModel(bound, X[rows], X[centres], y[rows], counts[rows], center, beta)

        spread = float(np.average((y - np.average(y, weights=counts)) ** 2, weights=counts))
        return Rows(X, y, spread, evidence, through)

    def _split(self, bound: BoundBasis, X: np.ndarray) -> Split:
        # a σ² that is known cannot be taken for a complete part, nor that for it
        return Split.of(bound, X) if self.noise_variance is None else Split.nowhere(bound)

    def _use(self, learned: Learned, split: Split) -> None:
        all_parts = not len(split.complete)  # else its σ² has in it what they explain
        if self.noise_variance is None and all_parts:
            self._first_noise = DENSE_NOISE * learned.noise_variance
        if self.variance == "dense":
            self._dense = DensePosterior.of(learned.model, learned.theta)
        if self.variance == "auto" and learned.all_rows and all_parts:
            self._left_out = LeftOut.of_process(learned.model, learned.theta)

    def _check_bound(self, bound: BoundBasis, X: np.ndarray) -> None:
        if not (isinstance(self.variance, str) and self.variance in VARIANCES):
            raise ValueError(f"variance must be one of {list(VARIANCES)}, got {self.variance!r}.")
        if self.variance == "augmented":
            check_centre(bound, X)
        if self.variance == "dense" and not self._learns:
            raise ValueError(f"variance='dense' needs gamma='evidence' or 'ard', got gamma={self.gamma!r}.")

    def _keep(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> None:
        super()._keep(X, y, weights)
        self._own_variance = None
        if self.variance == "augmented":
            self._own_variance = Augmentation.of(self._fitted_basis, X, y, weights, self._result)
        if self._dense is not None:
            self._own_variance = DenseVariance(self._dense, self.noise_variance_)
        self.excess_variance_ = self._beyond_the_sparse_model(X, y, weights)

    def _beyond_the_sparse_model(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
        if self._left_out is None:
            return 0.0
        sparse = LeftOut.of(self._result, self._fitted_basis(X), y, weights)
        return excess_variance(self._left_out, sparse, weights)

    @property
    def _excess(self) -> float:
        return self.excess_variance_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_pairwise(self.kernel)
        return tags
