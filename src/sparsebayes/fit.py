"""The public `fit`: it checks its arguments, and follows the path that `paths` chooses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from array_api_compat import is_array_api_obj
from sklearn.utils import check_random_state

from sparsebayes._array import diagonal, to_numpy
from sparsebayes._checks import is_number, require_whole
from sparsebayes.bases.linear_map import LinearMap, is_linear_operator
from sparsebayes.bases.operators import Operator
from sparsebayes.checkpoints import Journal, check_path, open_journal
from sparsebayes.core.noise import Gaussian
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.joint.path import JointRequest, fit_each
from sparsebayes.laplace import Bernoulli, GeneralizedNormal, Multinomial
from sparsebayes.paths import Path, path_for, statistics_of
from sparsebayes.priors import as_prior
from sparsebayes.rows.sources import is_dask
from sparsebayes.rows.triangle import RowsRead
from sparsebayes.rows.validation import has_outputs
from sparsebayes.signals.closed_form import Orthonormal
from sparsebayes.solvers import NAMED, ActiveSet, as_solver
from sparsebayes.solvers.monitor import FitMonitor, Progress
from sparsebayes.solvers.regression import checked_variance, warn_about
from sparsebayes.solvers.sized import Sized

AUTO = "auto"
# what a monitor is made of
MONITOR = ("max_iter", "tol", "max_time", "random_state", "verbose", "callback", "checkpoint")
# parameters that may be others when a fit is resumed from a checkpoint
FREE = ("callback", "checkpoint", "max_iter", "max_time", "moderated", "verbose")
SOLVERS: dict[str, Solver] = {AUTO: ActiveSet(), **NAMED, "orthonormal": Orthonormal()}
LIKELIHOODS = {
    "gaussian": Gaussian(),
    "generalized-normal": GeneralizedNormal(),
    "bernoulli": Bernoulli(),
    "multinomial": Multinomial(),
}


def fit(
    Phi: Any,
    y: Any = None,
    *,
    likelihood: Any = "gaussian",
    prior: Any = "uniform",
    solver: Any = AUTO,
    effort: Any = "default",
    noise_variance: float | None = None,
    initial_noise_variance: float | None = None,
    fit_intercept: bool = False,
    polish: bool = False,
    sample_weight: Any = None,
    max_vectors: int | None = None,
    groups: Any = None,
    unpenalised: Any = None,
    joint: bool = True,
    shared_noise: bool = False,
    max_iter: int = 10000,
    tol: float = 1e-6,
    max_time: float | None = None,
    random_state: Any = None,
    verbose: int = 0,
    callback: Callable[[Progress], Any] | None = None,
    checkpoint: Any = None,
) -> Any:
    """Fit y ~ p(y | Φw + b) with a sparse Bayesian prior on w; any N×M design, M larger than N included.

    Parameters
    ----------
    Phi : array of shape (N, M), SciPy-sparse matrix, linear operator, Operator, chunks, Triangle, or Dask collection
        The design, one column per basis function, of any array-API namespace; or a linear operator with matvec and
        rmatvec, as those of `scipy.sparse.linalg` and PyLops. It may be complex (NumPy, SciPy or a linear operator),
        and so may y. An array on disk (a memory map, or
        an object with shape, dtype and rows by slicing) beyond a fourth of scikit-learn's `working_memory` is
        read in blocks of rows, and so is an iterable of chunks (Phi, y) or (Phi, y, sample_weight). A
        `rows.triangle.Triangle`, the statistics of chunks that were read, is accepted as well. The rows of a Dask
        array or dataframe stay where they are: see docs/scaling.md.
    y : array of shape (N,) or (N, T)
        Targets, or labels for a likelihood of classes; None if Phi gives chunks or is a Triangle. With T columns
        there are T outputs, for Gaussian noise. For complex data weights and noise are circular: E|w|² = 1/α and
        E|ε|² = σ².
    likelihood : {"gaussian", "generalized-normal", "bernoulli", "multinomial"} or likelihood object
        p(y | f): `Gaussian(prior=(c, d))`, `Gaussian(variance=σ_n²)` for noise whose variance is known at each row
        (the standard deviation of a prediction is then that of f; not for chunks),
        `GeneralizedNormal(shape="evidence")`, `Bernoulli()`, `Multinomial()`, or a subclass of
        `laplace.LaplaceLikelihood`. All but the Gaussian one use Laplace's approximation, and need all
        rows in memory.
    prior : {"uniform", "aic", "bic", "ric"} or Prior
        Prior on the precision of each weight.
    solver : {"auto", "active-set", "greedy", "sequential", "mackay", "em", "orthonormal"} or Solver
        "auto" is the closed form, "orthonormal", if the functions are known to be orthonormal (a
        `TransformOperator`, no intercept, no weights), else "active-set".
    effort : {"fast", "default", "high"} or float
        How long "active-set" looks for a higher maximum of the evidence: "fast" ends at the first; "default" takes
        two to ten times as long; "high" goes on until nothing is gained, for dictionaries whose parts can do each
        other's work and for the best model of a kernel; a number gives the seconds. See `ActiveSet`.
    noise_variance : float, optional
        σ² > 0 if it is known, None to estimate it; for likelihoods that have a noise variance.
    initial_noise_variance : float, optional
        A guess at σ² if it is estimated: functions are first selected with σ² held there. Better too small than
        too large: a superfluous function is soon pruned, but a missing one keeps σ² large, and a large σ² keeps
        it out. If a kernel matrix cannot be held in memory, σ² starts there but is not held. None lets σ² move
        at once, from a tenth of the variance of y. Not used for outputs with a noise variance each.
    fit_intercept : bool
        Whether an intercept with a flat prior is added and integrated out, one for each output. The evidence of
        a regression is then that of the N−1 contrasts of y, less ½ log N.
    polish : bool
        For likelihoods of classes, whether α ends where Laplace's evidence itself is highest, the curvature of the
        likelihood moving with α; else it is where the derivative with the curvature held fixed vanishes, as
        published.
    sample_weight : array of shape (N,), optional
        How often each row counts, ≥ 0; not 1/variance, which is `likelihood=Gaussian(variance=…)`. Weights that
        sum to less than 2 cannot be counts, and are rescaled to a mean of 1.
    max_vectors : int, optional
        The largest number of functions, for Gaussian noise: if the evidence selects more, the best model of that
        size is sought, by its evidence. None for no limit.
    groups : array of shape (M,), or (K,) for K classes, optional
        With Gaussian noise a label for each column: all columns of one label have one precision, and are selected or
        left out together, such as the dummies of a factor. With labels of more than two classes a label for each
        class, ascending: classes of one label share one precision for each function, which is selected for all of
        them or for none. None for one precision each.
    unpenalised : array of int or bool, optional
        Columns, by their numbers or a mask, whose weights have a flat prior and are integrated out as the intercept
        is, for Gaussian noise: they are always in the model, with α = 0. None for no such columns.
    joint : bool
        With T outputs, whether they share one choice of functions, one precision governing a function's weights in
        all outputs; else every output has a model of its own.
    shared_noise : bool
        With T outputs that share their functions, whether they also share one noise variance. Else every output has
        its own, and its weights are measured by it: w_mt ~ N(0, s_t²/α_m) with noise variance s_t²σ² [Brown,
        Vannucci & Fearn 1998], so that the units of an output do not matter.
    max_iter, tol : int, float
        Iterations allowed; what a move must gain, in nats, and how far a log α must move, to go on.
    max_time : float, optional
        Seconds after which the fit ends with the best model so far and a `ConvergenceWarning`; it is looked at
        between iterations. None for no limit.
    random_state : int, RandomState instance or None
        Seed of solvers that draw candidates at random.
    verbose : int
        1 prints every move and every tenth iteration to standard error, 2 every iteration.
    callback : callable, optional
        Called with a `Progress` each iteration; a true return value stops the fit.
    checkpoint : str or os.PathLike, optional
        A file that keeps how far the fit has come. If it is there, from the same call, the fit is resumed from it and
        ends in the model that it would have ended in without an interruption; else it is written, every second or
        less often. See docs/checkpoints.md.

    Returns
    -------
    Result, JointResult, SeparateResults or ComplexResult
        The fitted model in the units of the data: a `JointResult` for outputs that share their functions,
        `SeparateResults` for outputs with a model each, a `ComplexResult` for complex data.
    """
    options = {name: value for name, value in locals().items() if name not in ("Phi", "y")}
    checkpoint = options["checkpoint"] = _journal(Phi, y, options)
    likelihood = as_likelihood(likelihood)
    monitor = make_monitor(max_iter, tol, max_time, random_state, verbose, callback, checkpoint)
    if not options.pop("joint") and has_outputs(y):
        if is_dask(Phi):  # one pass for all outputs
            Phi, y = statistics_of(Phi, y, sample_weight, likelihood, monitor), None
            options["sample_weight"] = None
        return fit_each(Phi, y, fit, options)
    several = Phi.outputs > 1 if isinstance(Phi, RowsRead) else has_outputs(y)
    variance = noise_variance if several else checked_variance(noise_variance, "noise_variance")
    guess = checked_variance(initial_noise_variance, "initial_noise_variance")
    prior = as_prior(prior)
    chosen = as_solver(solver, SOLVERS, effort)
    request = JointRequest(groups, unpenalised, bool(shared_noise), bool(joint))
    path = path_for(
        Phi, y, sample_weight, bool(fit_intercept), likelihood, variance, guess, bool(polish), request, monitor
    )
    if isinstance(solver, str) and solver == AUTO and not isinstance(path.default_solver, ActiveSet):
        chosen = path.default_solver
    if max_vectors is not None:
        check_limit(max_vectors, likelihood)
        chosen = _limited(chosen, int(max_vectors))
    result = _within_floating_point(path, prior, chosen, monitor)
    if monitor.journal is not None:
        monitor.journal.flush()
    complete = isinstance(Phi, Operator) and Phi.orthonormal  # such functions need not be few
    warn_about(result, monitor, math.inf if complete else getattr(Phi, "shape", (math.inf,))[0])
    return result


def _limited(solver: Solver, most: int) -> Solver:
    """The solver with a limit on the number of functions; ValueError for a closed form, which has none."""
    if isinstance(solver, Orthonormal):
        raise ValueError(
            "max_vectors must be None for the closed form of orthonormal functions: use solver='active-set'."
        )
    return Sized(solver, most)


def check_limit(max_vectors: Any, likelihood: Any) -> None:
    """Raise ValueError unless a limit on the number of functions is None, or an integer >= 1 with Gaussian noise."""
    if max_vectors is None:
        return
    require_whole(max_vectors, "max_vectors", 1)
    if not isinstance(likelihood, Gaussian):
        raise ValueError(f"max_vectors must be None unless the noise is Gaussian, got likelihood={likelihood!r}.")


def _within_floating_point(path: Path, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
    """The result of a path, all finite; ValueError if numbers left the range of floating point on the way.

    Overflow within a step is no error: a solver takes a step only if the objective there is a number, and higher.
    """
    message = (
        "The fit left the range of floating point: check that y, the columns of X and noise_variance have sizes that "
        "can be compared, and rescale them."
    )
    try:
        with np.errstate(all="ignore"):
            result = path.fit(prior, solver, monitor)
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise ValueError(message) from error
    finite = np.isfinite(to_numpy(result.mean)).all() and np.isfinite(to_numpy(result.intercept)).all()
    if not finite or math.isnan(result.log_evidence) or _underflown(result):  # constant targets have infinite evidence
        raise ValueError(message)
    return result


def _underflown(result: Result) -> bool:
    """Whether a weight has a variance so small that its digits are lost, so that error bars would leave it out."""
    covariance = result.covariance
    variances = to_numpy(covariance.diagonal() if hasattr(covariance, "tocoo") else diagonal(covariance)).real
    return bool(np.any(to_numpy(result.mean)[variances < np.finfo(float).tiny]))


def _journal(Phi: Any, y: Any, options: dict[str, Any]) -> Journal | None:
    """The journal of a call of `fit`, which knows what the fit is of; None for none, and one that is given as it is."""
    journal = open_journal(options["checkpoint"])
    if journal is None or journal is options["checkpoint"]:
        return journal
    identify_parameters(journal, "fit", options)
    if isinstance(Phi, Operator) or is_linear_operator(Phi):
        operator = Phi if isinstance(Phi, Operator) else LinearMap(Phi)
        probe = np.random.default_rng(0).standard_normal((operator.shape[0], 1))
        journal.identify("Phi", operator.adjoint(probe))
    else:  # what is read in chunks is known by its statistics
        journal.identify("Phi", Phi if is_array_api_obj(Phi) or scipy.sparse.issparse(Phi) else None)
    for name, value in {"y": y, "sample_weight": options["sample_weight"]}.items():
        journal.identify(name, None if is_dask(value) else value)
    return journal


def identify_parameters(journal: Journal, name: str, parameters: dict[str, Any]) -> None:
    """Say what a fit is of, besides its data: who fits, and the parameters that the model depends on."""
    journal.identify("what is fitted", name)
    for parameter, value in sorted(parameters.items()):
        if parameter not in FREE and parameter != "sample_weight":
            journal.identify(parameter, value)


def make_monitor(
    max_iter: Any, tol: Any, max_time: Any, seed: Any, verbose: Any, callback: Any, checkpoint: Any = None
) -> FitMonitor:
    """The monitor of a fit, its arguments checked."""
    check_monitor(max_iter, tol, max_time, seed, verbose, callback)
    journal = open_journal(checkpoint)
    seed = None if seed is None else int(check_random_state(seed).randint(2**31))
    seconds = math.inf if max_time is None else float(max_time)
    shown = {"verbose": int(verbose), "callback": callback}
    return FitMonitor(int(max_iter), float(tol), seed=seed, max_time=seconds, journal=journal, **shown)


def check_monitor(
    max_iter: Any, tol: Any, max_time: Any, seed: Any, verbose: Any, callback: Any, checkpoint: Any = None
) -> None:
    """Raise ValueError for an argument of `make_monitor` that is not usable; nothing is drawn."""
    require_whole(max_iter, "max_iter", 1)
    if not is_number(tol) or tol <= 0:
        raise ValueError(f"tol must be a finite number > 0, got {tol!r}.")
    if max_time is not None and (not is_number(max_time) or max_time <= 0):
        raise ValueError(f"max_time must be a finite number > 0 or None, got {max_time!r}.")
    if not isinstance(verbose, int | np.integer):
        raise ValueError(f"verbose must be an integer >= 0, got {verbose!r}.")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable or None, got {callback!r}.")
    check_path(checkpoint)
    check_random_state(seed)


def as_likelihood(likelihood: Any) -> Any:
    """A likelihood object, its parameters checked, or the one that a name stands for."""
    if isinstance(likelihood, str) and likelihood in LIKELIHOODS:
        return LIKELIHOODS[likelihood]
    if not hasattr(likelihood, "check") or isinstance(likelihood, type):
        raise ValueError(f"likelihood must be one of {list(LIKELIHOODS)} or a likelihood object, got {likelihood!r}.")
    likelihood.check()
    return likelihood
