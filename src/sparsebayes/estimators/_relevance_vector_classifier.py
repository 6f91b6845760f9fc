"""The relevance vector machine for classification, a drop-in for scikit-learn's SVC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes.bases import Basis, BoundBasis
from sparsebayes.estimators._candidates import is_pairwise
from sparsebayes.estimators._classification import ClassificationModel
from sparsebayes.estimators._learning import LearningModel
from sparsebayes.inference.classification import number_classes
from sparsebayes.inference.dense_classes import LaplaceEvidence
from sparsebayes.inference.scales import Rows
from sparsebayes.solvers import Progress


class RelevanceVectorClassifier(LearningModel, ClassificationModel):
    """Relevance vector machine: kernel classification with few kernel functions and probabilities.

    One candidate function k(·, x_m) is centred at each training point x_m, and the evidence decides which to
    keep, for each output on its own: f(x) = Σ_m w_m k(x, x_m) + b, w_m ~ N(0, 1/α_m), p(y|x) = 1/(1+exp(−f))
    for two classes and softmax(f) with one output a class for more. The posterior is approximated by a
    Gaussian at its mode (Laplace), jointly for all outputs [T01, 3; TF03, 2.2].

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
        of the model with all functions in, on up to 1000 rows.
    degree : int, default=3
        Degree of kernel="poly".
    coef0 : float, default=0.0
        Constant in kernel="poly" and kernel="sigmoid".
    prior : {"uniform", "aic", "bic", "ric"} or Prior, default="uniform"
        Prior on the precision of each weight. "uniform" is the classical relevance vector machine; the others
        are sparser, in this order. Objects: `Uniform`, `Gamma`, `Smoothness`, `Laplace`.
    solver : {"active-set", "sequential", "mackay", "em"} or Solver, default="active-set"
        How the evidence is maximised. Objects: `ActiveSet`, `Sequential`, `FixedPoint`.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        What more than two classes are to the model: one softmax over all outputs, with the curvature that
        couples them, or "ovr", every class against the rest on its own.
    class_weight : dict or "balanced", optional
        Weights of the classes, {label: weight}, by which the sample weights are multiplied; 1 for labels that
        are not named. "balanced" is n / (n_classes · n_class), rows counted by their sample weights.
    fit_intercept : bool, default=True
        With True every output has an intercept with a flat prior, which is integrated out.
    moderated : bool, default=True
        Whether probabilities are averaged over the posterior of the weights, which makes them less certain
        where the model knows little. The posterior is Laplace's Gaussian. For two classes (and each class of
        "ovr") the integral of 1/(1+exp(−f)) over it is taken by the trapezium rule, exact to 1e-4 up to a
        variance of 256; for more, softmax(f) is averaged over 128 fixed points spread like the posterior.
        With False they are those of the most probable weights. Read when predicting: `set_params` changes it
        without another fit.
    max_iter : int, default=10000
        Most iterations; a `ConvergenceWarning` says when they did not suffice.
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
    classes_ : ndarray of shape (n_classes,)
        The labels, ascending. Two classes have one output, positive for the second; more have one each.
    relevance_ : ndarray of int, shape (n_relevant,)
        Numbers of the retained candidates, ascending: the rows of X in `fit` they are centred at. For a
        concatenation of bases, their numbers in the list of all candidates, part after part.
    relevance_vectors_ : ndarray of shape (n_centres, n_features_in_)
        Rows of X the retained functions are centred at; those of them that have a centre. Empty, with no row,
        for kernel="precomputed", as the points themselves are not known.
    coef_ : ndarray of shape (n_outputs, n_relevant)
        Most probable weights of the retained functions, in the order of `relevance_`; 0 where a function is
        not part of an output.
    intercept_ : ndarray of shape (n_outputs,)
        The intercepts; those of several outputs sum to 0 with multi_class="multinomial". 0 with
        `fit_intercept=False`.
    alpha_ : ndarray of shape (n_outputs, n_relevant)
        Prior precisions α of the weights; infinite where a function is not part of an output.
    terms_ : ndarray of int, shape (n_terms, 2)
        The weights that are not 0: position in `relevance_`, and output.
    covariance_ : ndarray of shape (n_terms, n_terms)
        Posterior covariance Σ of these weights, in the order of `terms_`.
    log_evidence_ : float
        Laplace approximation to the log marginal likelihood of y; the flat prior of the intercepts has no
        constant of its own, so that it may be above 0.
    evidence_path_ : ndarray
        Evidence plus log priors, one value an iteration.
    n_iter_ : int
        Iterations: rounds that scored all candidates anew; the most of any class with "ovr".
    converged_ : bool
        Whether the fit ended by its own criterion; with "ovr", that of every class.
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
    SparseBayesClassifier : The columns of X themselves are the candidates.
    RelevanceVectorRegressor : The same for targets that are numbers.

    Notes
    -----
    X must be dense. Rows that repeat one another give one candidate, the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RelevanceVectorClassifier
    >>> X = np.random.default_rng(0).uniform(-2, 2, (200, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 2, "inside", "outside")
    >>> model = RelevanceVectorClassifier().fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array(['inside', 'outside'], dtype='<U7')
    >>> len(model.relevance_) < 10
    True
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
        multi_class: str = "multinomial",
        class_weight: Any = None,
        fit_intercept: bool = True,
        moderated: bool = True,
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
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.moderated = moderated
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _rows(self, bound: BoundBasis, X: np.ndarray, y: np.ndarray, counts: np.ndarray) -> Rows:
        classes, numbers = number_classes(y)
        codes = np.eye(len(classes))[numbers][:, 1 if len(classes) == 2 else 0 :]

        def evidence(rows: np.ndarray) -> LaplaceEvidence:
            return LaplaceEvidence(codes[rows], counts[rows], bool(self.fit_intercept))

        return Rows(X, numbers, 1.0, evidence)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_pairwise(self.kernel)
        return tags
