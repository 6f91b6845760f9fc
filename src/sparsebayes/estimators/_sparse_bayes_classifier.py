"""Sparse Bayesian linear classification, a sparse LogisticRegression with nothing to tune."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparsebayes.bases import Basis, Columns
from sparsebayes.estimators._classification import ClassificationModel
from sparsebayes.solvers import Progress


class SparseBayesClassifier(ClassificationModel):
    """Sparse Bayesian logistic regression: the columns of X are the candidates, the evidence picks a few.

    f(x) = Σ_m w_m x_m + b, w_m ~ N(0, 1/α_m), with columns of its own for each output; p(y|x) = 1/(1+exp(−f))
    for two classes and softmax(f) with one output a class for more. The posterior is approximated by a
    Gaussian at its mode (Laplace), jointly for all outputs [T01, 3; TF03, 2.2].

    Parameters
    ----------
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
        Numbers of the retained columns of X, ascending.
    relevance_vectors_ : ndarray of shape (0, n_features_in_)
        Always without a row: columns are not centred at a training point.
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
    n_features_in_ : int
        Columns of X seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where all of them are strings.

    See Also
    --------
    RelevanceVectorClassifier : Kernel functions centred at the training points are the candidates.
    SparseBayesRegressor : The same for targets that are numbers.

    Notes
    -----
    X may be dense or SciPy-sparse; a sparse X is not made dense, with an intercept neither. The scale of a
    column does not matter. Columns that repeat an earlier one or its negative, and zero or (with an
    intercept) constant ones, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import SparseBayesClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + rng.standard_normal(200) > 0
    >>> SparseBayesClassifier(prior="bic").fit(X, y).relevance_
    array([4, 7])
    """

    def __init__(
        self,
        *,
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

    def _basis(self) -> Basis:
        return Columns()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
