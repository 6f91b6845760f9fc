"""Classification: labels to outputs, one Laplace approximation over all of them, and probabilities back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from sparsebayes._array import Array, asfloat64, namespace, to_numpy
from sparsebayes.bases.operators import Operator
from sparsebayes.inference.arguments import check_data, make_monitor, warn_unless_converged
from sparsebayes.inference.candidates import AllCandidates, Exact
from sparsebayes.inference.laplace import LaplaceFit
from sparsebayes.inference.terms import check_sizes, unscaled
from sparsebayes.likelihoods import Bernoulli, ClassLikelihood, Multinomial
from sparsebayes.priors import as_prior
from sparsebayes.rows import LaplaceRows
from sparsebayes.solvers import Certificate, Monitor, Progress, as_solver

MULTI_CLASS = ("multinomial", "ovr")


@dataclass(frozen=True, eq=False)
class ClassificationResult:
    """A fitted sparse Bayesian classifier, in the units of the data.

    A term is a function in an output; there are S of them, in the order of their outputs. Two classes have
    one output (positive for the second class), K classes have K.

    classes : the labels, ascending.                 likelihood : Bernoulli or Multinomial.
    active, output : function and output of each term (S,).
    mean, covariance, alpha : w_MP (S,), Σ (S, S), α (S,).      intercept : (outputs,).
    centre, intercept_covariance : (outputs, S) and (outputs, outputs), the intercepts' share of the variance.
    log_evidence : Laplace approximation to log p(y | α).       objective : that plus log priors.
    evidence_path : the objective, one value an iteration.      certificate : see `Certificate`.
    """

    classes: np.ndarray
    likelihood: ClassLikelihood
    active: np.ndarray
    output: np.ndarray
    mean: Array
    covariance: Array
    alpha: Array
    intercept: Array
    centre: Array
    intercept_covariance: Array
    log_evidence: float
    objective: float
    evidence_path: np.ndarray
    n_iter: int
    converged: bool
    certificate: Certificate

    def decision(self, columns: Array) -> Array:
        """The outputs f = Φw + b (n, outputs) from the columns of the terms (n, S)."""
        xp = namespace(columns)
        terms = columns * self.mean[None, :]
        sums = [xp.sum(terms[:, self._terms_of(k)], axis=1) for k in range(self.intercept.shape[0])]
        return xp.stack(sums, axis=1) + self.intercept[None, :]

    def decision_covariance(self, columns: Array) -> Array:
        """Posterior covariance of the outputs at each row, (n, outputs, outputs)."""
        xp = namespace(columns)
        root = asfloat64(np.linalg.cholesky(to_numpy(self.covariance)), like=columns)
        spread = []
        for k in range(self.intercept.shape[0]):
            mine = self._terms_of(k)
            own = columns[:, mine] @ root[mine, :]
            spread.append(own - (self.centre[k, :] @ root)[None, :])
        stacked = xp.stack(spread, axis=1)
        return stacked @ xp.matrix_transpose(stacked) + self.intercept_covariance[None, :, :]

    def probabilities(self, columns: Array, moderated: bool = True) -> Array:
        """p(class | x), (n, number of classes); integrated over the posterior unless `moderated` is False.

        One against the rest gives a probability for each class alone; they are divided by their sum.
        """
        return namespace(columns).exp(self.log_probabilities(columns, moderated))

    def log_probabilities(self, columns: Array, moderated: bool = True) -> Array:
        """Logarithms of `probabilities`, finite however small those are."""
        xp = namespace(columns)
        f = self.outputs(columns, moderated)
        if f.shape[1] == 1:
            f = xp.concat([-f, f], axis=1)
            return self.likelihood.log_mean(f)
        log_p = self.likelihood.log_mean(f)
        return Multinomial(f.shape[1]).log_mean(log_p)

    def outputs(self, columns: Array, moderated: bool = True) -> Array:
        """What the link turns into probabilities, (n, outputs)."""
        f = self.decision(columns)
        if not moderated:
            return f
        return self.likelihood.moderated_output(f, self.decision_covariance(columns))

    def _terms_of(self, k: int) -> slice:
        return slice(*np.searchsorted(self.output, [k, k + 1]).tolist())


def fit_classes(
    Phi: Any,
    y: Any,
    *,
    multi_class: str = "multinomial",
    prior: Any = "uniform",
    solver: Any = "active-set",
    fit_intercept: bool = True,
    sample_weight: Any = None,
    max_iter: int = 10000,
    tol: float = 1e-6,
    random_state: Any = None,
    verbose: int = 0,
    callback: Callable[[Progress], Any] | None = None,
) -> ClassificationResult:
    """Fit p(y | x) = link(Φw + b) with a sparse Bayesian prior on w, for two classes or more.

    Phi : (N, M) array of any array-API namespace, a SciPy-sparse matrix, or an `Operator`.
    y : (N,) labels of any type that can be sorted.
    multi_class : for more than two classes: "multinomial", one softmax model with the coupled Hessian, or
        "ovr", every class against the rest.
    fit_intercept : with True every output has an intercept with a flat prior, integrated out.
    sample_weight : (N,) non-negative counts of each row.
    Everything else as in `fit`. The evidence is Laplace's approximation, α where its derivative with the
    curvature held fixed vanishes [T01, 3].
    """
    if multi_class not in MULTI_CLASS:
        raise ValueError(f"multi_class must be one of {list(MULTI_CLASS)}, got {multi_class!r}.")
    classes, numbers = _classes(y)
    operator, like, weights = check_data(Phi, numbers, sample_weight, "y")
    _check_counts(classes, numbers, weights)
    candidates = AllCandidates(operator)

    def single(codes: np.ndarray, likelihood: ClassLikelihood) -> ClassificationResult:
        monitor = make_monitor(max_iter, tol, random_state, verbose, callback)
        y = asfloat64(codes, like=like)

        def fit_of(operator: Operator) -> LaplaceFit:
            rows = LaplaceRows(operator, y, likelihood, weights, bool(fit_intercept))
            check_sizes(rows.design.norms)
            return LaplaceFit(rows, as_prior(prior).resolve(rows.n), as_solver(solver), monitor)

        result = _in_user_units(candidates.run(fit_of), likelihood, monitor, classes)
        warn_unless_converged(result.converged, monitor)
        return result

    one_hot = np.eye(len(classes))[numbers]
    if len(classes) == 2:
        return single(one_hot[:, 1:], Bernoulli())
    if multi_class == "multinomial":
        return single(one_hot, Multinomial(len(classes)))
    return _joined([single(one_hot[:, k : k + 1], Bernoulli()) for k in range(len(classes))])


def _classes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The labels in ascending order, and the number of each row's label among them."""
    labels = to_numpy(y) if hasattr(y, "__array_namespace__") else np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be a vector of labels, one a row of Phi, got shape {labels.shape}.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; every label must be a class.")
    classes, numbers = number_classes(labels)
    if len(classes) < 2:
        raise ValueError(
            f"y must have at least two classes, got {len(classes)} class(es): {classes.tolist()}."
        )
    return classes, numbers


def number_classes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes in ascending order, and the number of each label among them."""
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"y must hold labels that can be sorted, got {' and '.join(kinds)} together."
        ) from error


def _check_counts(classes: np.ndarray, numbers: np.ndarray, weights: Array | None) -> None:
    """Every class needs a row that counts: its intercept would go to −∞."""
    if weights is None:
        return
    counts = np.bincount(numbers, to_numpy(weights), minlength=len(classes))
    if not counts.min() > 0:
        missing = classes[counts <= 0].tolist()
        raise ValueError(f"sample_weight leaves no row of class {missing} in y; leave those rows out.")


def _in_user_units(
    end: Exact, likelihood: ClassLikelihood, monitor: Monitor, classes: np.ndarray
) -> ClassificationResult:
    mode = end.solution.mode
    return ClassificationResult(
        classes=classes,
        likelihood=likelihood,
        output=end.fit.rows.split(mode.J)[1],
        log_evidence=mode.state.evidence,
        objective=mode.objective,
        evidence_path=np.asarray(monitor.path),
        n_iter=len(monitor.path),
        converged=end.solution.converged,
        certificate=end.certificate,
        **unscaled(mode, end.rows),
    )


def _joined(each: list[ClassificationResult]) -> ClassificationResult:
    """Independent two-class models side by side, one output each; their evidences add."""
    xp = namespace(each[0].mean)

    def blocks(name: str) -> Array:
        parts = [to_numpy(getattr(one, name)) for one in each]
        return asfloat64(scipy.linalg.block_diag(*parts), like=each[0].mean)

    longest = max(one.n_iter for one in each)
    paths = [np.pad(one.evidence_path, (0, longest - one.n_iter), mode="edge") for one in each]
    return ClassificationResult(
        classes=each[0].classes,
        likelihood=each[0].likelihood,
        active=np.concatenate([one.active for one in each]),
        output=np.repeat(np.arange(len(each)), [len(one.active) for one in each]),
        mean=xp.concat([one.mean for one in each]),
        covariance=blocks("covariance"),
        alpha=xp.concat([one.alpha for one in each]),
        intercept=xp.concat([one.intercept for one in each]),
        centre=blocks("centre"),
        intercept_covariance=blocks("intercept_covariance"),
        log_evidence=sum(one.log_evidence for one in each),
        objective=sum(one.objective for one in each),
        evidence_path=np.sum(paths, axis=0),
        n_iter=longest,
        converged=all(one.converged for one in each),
        certificate=_weakest([one.certificate for one in each]),
    )


def _weakest(certificates: list[Certificate]) -> Certificate:
    """What holds for all of them."""
    names = ("theta_outside", "gain_outside", "log_alpha_step", "noise_gradient", "hessian_eigenvalue")
    return Certificate(
        **{name: max(getattr(one, name) for one in certificates) for name in names},
        is_local_maximum=all(one.is_local_maximum for one in certificates),
        at_noise_floor=False,
    )


__all__ = ["ClassificationResult", "fit_classes", "number_classes"]
