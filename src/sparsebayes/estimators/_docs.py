"""One text for each parameter and fitted attribute that several estimators share.

An estimator writes `{parameters}` and the names of its attributes in its docstring; `documented` fills them in.
"""

from __future__ import annotations

import re
from dataclasses import fields
from inspect import cleandoc
from textwrap import indent
from typing import Any


class Parameters:
    """Parameters of the estimators.

    kernel : str, callable, Basis or BoundBasis, default="rbf"
        "rbf", "laplacian", "matern", "rational-quadratic", "poly", "linear", "cosine", "sigmoid",
        "histogram-intersection", "linear-spline", "cubic-spline", "thin-plate-spline" or "precomputed" (X is
        the kernel matrix, the training points in its columns); a callable k(X, Z) that returns an array
        (n, m); a basis object, such as `RBF(gamma=[1.0, 0.1]) + Columns(degree=2)`; or a basis that is bound
        already, such as `RBF(gamma=1.0).bind(Z)`, whose functions are used as they are.
    gamma : {"evidence", "ard", "scale", "auto"}, float, sequence of float or None, default=None
        Scale of the named kernels "rbf", "laplacian", "matern", "rational-quadratic", "poly" and "sigmoid",
        one for all inputs or one each. None is "evidence" for the first four of them; any other kernel, and a basis
        object, is taken as it is. "scale" is 1 / (n_features · Var(x_k)) for input k, "auto" is 1 / n_features. A
        Gaussian of width r has gamma = 1/r². "evidence" learns one width for all inputs, each measured in units of
        its own spread where no scales are given, "ard" a scale for each input, of
        any kernel or basis that has scales, whatever scales a basis object was given unless its bounds hold
        them fixed: they maximise the log marginal likelihood of the Gaussian process with the same functions
        (except wavelets, cosines and spikes, which are not part of it), on up to 1000 rows and, in
        regression, by a subset of regressors beyond that. On up to 1000 rows of a regression, columns beside
        a kernel that are irrelevant to the Gaussian process are screened out.
    degree : int, default=3
        Degree of kernel="poly".
    coef0 : float, default=0.0
        Constant in kernel="poly" and kernel="sigmoid".
    centres : array-like of shape (n_centres, n_features), optional
        Points that the kernel functions are centred at; None for the training points.
    prior : {"auto", "uniform", "aic", "bic", "ric"} or Prior, or a list of them
        Prior on the precision of each weight. "uniform" is the classical relevance vector machine; the others
        are sparser, in this order. "auto", the default of `SparseBayesRegressor`, fits with "uniform" and with
        "bic", and keeps the model that the evidence speaks for, the choice of its columns counted (see `Automatic`);
        with fewer than 1.5 rows per column it is "ric", and for kernels, in `path` and under noise that is not Gaussian
        "uniform".
        Objects: `Uniform`, `Gamma`, `Smoothness`, `Laplace`, `Automatic`. A list has one prior for each part of a
        concatenation of bases.
    solver : {"auto", "active-set", "greedy", "sequential", "mackay", "em"} or Solver, default="auto"
        How the evidence is maximised. "auto" is a closed form for orthonormal functions without intercept and
        weights, else "active-set". Objects: `ActiveSet`, `Greedy`, `Sequential`, `FixedPoint`.
    effort : {"fast", "default", "high"} or float, default="default"
        How long "active-set" looks for a higher maximum of the evidence, which has many: "fast" ends at the first;
        "default" takes two to ten times as long; "high" goes on until nothing is gained, seconds to a minute on a
        thousand rows; a number gives the seconds.
    likelihood : {"gaussian", "generalized-normal"} or likelihood object, default="gaussian"
        The noise. `Gaussian(prior=(c, d))` has a Gamma(c, d) prior on 1/σ². `GeneralizedNormal(shape=p)` has
        the density ∝ exp(−|ε/s|^p) with p from 2 (Gaussian) to 8 (sharp bounds, such as those of rounding);
        shape="evidence" estimates p, which stays 2 unless another value gains ½ log n in evidence plus log
        priors, and if there are fewer than ten rows for each weight. With p > 2 posterior and evidence are
        Laplace's approximation, a fit takes longer, and all rows have to be in memory.
    noise_variance : float or array-like of shape (n_outputs,), optional
        σ² > 0 if it is known and the same for all rows, or that of each output. None estimates it. A known variance
        of each row is an argument of `fit`.
    max_vectors : int, optional
        The largest number of selected functions, for Gaussian noise. If the evidence selects more, the best model of
        that size is sought by its evidence, which is not a part of the larger model: the functions that remain have
        to do all the work. If it selects no more, the fit is that without a limit. `path` says what a smaller model
        costs. None for no limit.
    groups : array-like, optional
        Labels of what shares a precision and is selected together. Regression, for Gaussian noise:
        `SparseBayesRegressor` has a label for each column of X, and the dummies of a factor, with one label, are kept
        or dropped as a whole; a kernel machine has a label for each output, and outputs of one label share their
        functions. Classifiers of more than two classes have a label for each of `classes_`: a function has one
        precision for all classes of one label, and is selected for all of them or for none; `groups=[0] * n_classes`
        makes all classes share their functions. None for one precision each.
    unpenalised : array-like of int or bool, optional
        Columns of X, by their numbers or a mask, whose weights have a flat prior and are integrated out as the
        intercept is: they are always in the model, with `alpha_` 0. For Gaussian noise.
    joint : bool, default=True
        With several outputs, whether they share one choice of functions, one precision governing a function's
        weights in all of them. With False every output has a model of its own, `estimators_`.
    shared_noise : bool, default=False
        With outputs that share their functions, whether they also share one noise variance, in one unit. Else every
        output has its own, and its weights are measured by it, so that the units of an output do not matter.
    class_weight : dict or "balanced", optional
        Weights of the classes, {label: weight}, by which the sample weights are multiplied; 1 for labels that
        are not named. "balanced" is n / (n_classes · n_class), rows counted by their sample weights.
    fit_intercept : bool, default=True
        Whether every output has an intercept with a flat prior, which is integrated out. In a regression the
        evidence ∫ p(y | b) db is then the density of the n − 1 orthonormal contrasts of y, divided by √n;
        without an intercept it is the density of y under N(0, σ²I + ΦA⁻¹Φᵀ).
    moderated : bool, default=True
        Whether probabilities allow for what is not known of the weights. For two classes they are averaged over the
        Gaussian nearest to the posterior of the weights, by the trapezium rule, exact to 1e-4 up to a variance
        of 256; for more over 128 fixed points spread like Laplace's Gaussian. Far from all training rows
        kernels of bounded range then give the shares of the classes. With False the probabilities are those of
        the most probable weights. Read when predicting: `set_params` changes it without another fit.
    calibrated : bool, default=True
        Whether, with gamma="evidence" or "ard", two classes and up to 3000 rows, moderated probabilities are
        those of the Gaussian process with the same kernel, calibrated by leave-one-out and then brought back to the
        selected functions and a few more (`probability_vectors_`). `decision_function` and `predict` follow them;
        `dual_coef_` and all other attributes are those of the sparse model.
    polish : bool, default=False
        Whether α ends where Laplace's evidence itself is highest, the curvature of the likelihood moving with α;
        else it is where the derivative with the curvature held fixed vanishes, as published [T01, 3]. It raises the
        evidence a little, and makes a fit take longer.
    variance : {"auto", "posterior", "augmented", "gp"}, default="auto"
        What the standard deviation of a prediction rests on. "posterior" is that of the sparse model, which
        with a local kernel shrinks to the noise far from the relevance vectors. "auto" is the same and, with
        gamma="evidence" or "ard" on up to 1000 rows, a constant is added, `excess_variance_`, for what the
        sparse model does not know of the functions that were not selected; a covariance has it on its diagonal.
        "augmented" adds one more function, centred at the query point, with the prior variance of the
        training targets: the standard deviation then grows with the distance from the data [Rasmussen &
        Quiñonero-Candela 2005, RVM*]. Fitting then keeps the training rows, and a prediction costs a pass
        over them. "gp", with gamma="evidence" or "ard", is that of the Gaussian process that the scales were
        learned from, given up to 1000 rows. The mean is always that of the sparse model.
    max_iter : int, default=10000
        Most iterations of the solver; a `ConvergenceWarning` says when they did not suffice.
    tol : float, default=1e-6
        What a move must gain, in nats, and how far a log α must move, for the solver to go on. With 1e-2 the
        default solver ends sooner, mostly a fraction of a nat lower.
    max_time : float, optional
        Seconds after which the fit ends with the best model so far and a `ConvergenceWarning`; it is looked at
        between iterations. None for no limit.
    random_state : int, RandomState instance or None, default=None
        Seed of solvers that draw candidates at random; the default solver draws nothing. None starts from the
        state of NumPy's global generator, and leaves that as it is.
    verbose : int, default=0
        1 prints every move and every tenth iteration to standard error, 2 every iteration.
    callback : callable, optional
        Called with a `Progress` each iteration; a true return value stops the fit.
    checkpoint : str or os.PathLike, optional
        A file that keeps how far `fit` has come. If it is there, of a fit of the same data and parameters, `fit` is
        resumed from it and ends in the model that it would have ended in without an interruption; else `fit` writes
        it, every second or less often. A fit that is over leaves the file complete, and the same fit again returns
        at once. One file belongs to one fit: leave it None in a cross-validation. See docs/checkpoints.md.
    """


class Attributes:
    """Fitted attributes of the estimators.

    classes_ : ndarray of shape (n_classes,)
        The labels, ascending. Two classes have one output, positive for the second; more have one each.
    relevance_ : ndarray of int, shape (n_relevant,)
        Numbers of the selected candidates, ascending: the rows of X in `fit` (or of `centres`) that they are
        centred at. For a concatenation of bases, their numbers in the list of all candidates, part by part.
    relevance_vectors_ : ndarray of shape (n_centres, n_features_in_)
        The points that the selected functions are centred at, for those that have a centre. Empty for
        kernel="precomputed", as the points themselves are unknown, and for columns.
    dual_coef_ : ndarray of shape (n_relevant,) or (n_outputs, n_relevant)
        Posterior means of the weights of the selected functions, in the order of `relevance_`.
    coef_ : ndarray of shape (n_features_in_,) or (n_outputs, n_features_in_)
        Posterior means of the weights of all columns of X; 0 for columns that are not selected.
    coef_of_outputs_ : ndarray of shape (n_outputs, n_features_in_)
        Most probable weights of all columns of X; 0 if a column is not part of an output. Two classes have one
        output.
    active_coef_ : ndarray of shape (n_relevant,) or (n_outputs, n_relevant)
        Posterior means of the weights of the selected columns alone, `coef_[..., relevance_]`; `covariance_` is
        their covariance, and `alpha_` and `gamma_` are in the same order.
    active_coef_of_outputs_ : ndarray of shape (n_outputs, n_relevant)
        Most probable weights of the selected columns alone, `coef_[:, relevance_]`; `alpha_` and `gamma_` are in
        the same order, and `covariance_` is the covariance of those that `terms_` lists.
    dual_coef_of_outputs_ : ndarray of shape (n_outputs, n_relevant)
        Most probable weights of the selected functions, in the order of `relevance_`; 0 if a function is not
        part of an output.
    intercept_ : float or ndarray of shape (n_outputs,)
        The intercept; 0 with `fit_intercept=False`.
    intercepts_ : ndarray of shape (n_outputs,)
        The intercepts, which sum to 0 for more than two classes; 0 with `fit_intercept=False`.
    components_ : ndarray of shape (n_parts, n_samples)
        For a concatenation of bases, what each part contributes at the training rows of positive weight: with
        `intercept_` they sum to the fitted values.
    alpha_ : ndarray, as the weights
        Prior precisions α of the weights; infinite if a function is not part of an output.
    gamma_ : ndarray, as the weights
        How well the data determine each weight, γ = 1 − αΣ_mm, from 0 to 1; 0 if a function is not part of an
        output.
    degrees_of_freedom_ : float
        Effective degrees of freedom, the sum of `gamma_`.
    terms_ : ndarray of int, shape (n_terms, 2)
        The weights that are not 0: position in `relevance_`, and output.
    noise_variance_ : float or ndarray
        σ², estimated or as given, one for each output if there are several; 0 if y is constant, and for a likelihood
        without noise. If `fit` was given the noise variance of each row, those of the rows of positive weight; on
        Dask the collection that was given.
    noise_shape_ : float
        The shape p of the noise; 2 is Gaussian. NaN for a likelihood that is no noise, such as one of counts.
    excess_variance_ : float
        What variance="auto" adds to the variance of every prediction: the mean square error that the Gaussian
        process expects of this model at a training row, both without that row, less what this model expects
        itself. 0 if that is negative, if no scales were learned, beyond 1000 rows, beside `Wavelet`, `DCT` or
        `Spike`, which are not in the Gaussian process, for likelihoods without a noise variance, and if `fit`
        was given the noise variance of each row.
    covariance_ : ndarray of shape (n_terms, n_terms)
        Posterior covariance Σ of the weights that are not 0. Of outputs that share their functions, that of an
        output of average noise: it is proportional to the noise variance of the output.
    log_evidence_ : float
        Log marginal likelihood of y (Laplace's approximation for labels); `fit_intercept` says how an
        intercept is counted. Infinite if y is constant and the noise is estimated.
    evidence_path_ : ndarray
        Evidence plus log priors at each iteration, and at the end.
    trace_ : tuple of Move
        What the solver did, move by move: how many functions it concerned, what it gained, how long it took.
    candidates_ : CandidateScores
        S, Q, s, q and θ of every candidate at the solution [TF03]; not there if there are too many, or with groups.
    n_iter_ : int
        Iterations of the solver, or rounds that scored all candidates for labels.
    converged_ : bool
        Whether the fit ended by its own criterion.
    certificate_ : Certificate
        What is known of the solution: whether it is a local maximum, and by how much not.
    statistics_ : Triangle
        After `partial_fit`, what is kept of the rows seen so far; triangles of several workers add, and
        `sparsebayes.fit` takes them.
    scales_ : ndarray of shape (n_scales,)
        With gamma="evidence" or "ard", the scales that were learned, part by part, input by input.
    input_relevance_ : ndarray of shape (n_features_in_,)
        With gamma="evidence" or "ard", the effect of each input: the mean square by which the prediction moves
        on training rows when the input is set to its mean, over its variance on them.
    probability_vectors_ : ndarray of int
        Numbers of the training rows whose functions calibrated probabilities are made of: those of `relevance_`
        and a few more. Only if `calibrated` has an effect.
    n_features_in_ : int
        Columns of X seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, if all of them are strings.
    """


def documented(cls: Any) -> Any:
    """A class decorator that fills in the docstring of an estimator.

    `{parameters}` becomes the texts of all parameters in `Parameters`, a line `{name}` the text of that fitted
    attribute in `Attributes`, and a line `{name=key}` the text under `key`.
    """
    in_order = sorted(
        fields(cls), key=lambda field: bool(field.kw_only)
    )  # as in the signature: inherited ones are keywords
    doc = "\n".join(f"    {{{field.name}}}" for field in in_order).join(cls.__doc__.split("    {parameters}"))
    texts = _entries(Attributes) | _entries(Parameters)
    cls.__doc__ = re.sub(r"^    \{(\w+?)(?:=(\w+))?\}$", lambda found: _text(texts, *found.groups()), doc, flags=re.M)
    return cls


def _entries(texts: type) -> dict[str, str]:
    """The entries "name : type and text" of a docstring."""
    entry = r"^(\w+) : (.*?)(?=^\w|\Z)"
    return dict(re.findall(entry, cleandoc(texts.__doc__ or ""), re.M | re.S))


def _text(texts: dict[str, str], name: str, key: str | None) -> str:
    return indent(f"{name} : {texts[key or name].rstrip()}", "    ")
