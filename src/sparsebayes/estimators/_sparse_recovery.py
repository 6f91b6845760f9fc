"""Sparse recovery: a few atoms out of a dictionary, real or complex, from one or several measurements."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparsebayes._array import is_foreign, to_numpy
from sparsebayes._checks import is_number
from sparsebayes.bases.linear_map import LinearMap, is_linear_operator
from sparsebayes.bases.stacked_operator import as_operator
from sparsebayes.core.prior import Prior
from sparsebayes.estimators._dask import refuse_dask
from sparsebayes.estimators._described import Described
from sparsebayes.estimators._fitted import all_or_nothing, beside_inputs, forget, of_columns
from sparsebayes.estimators._off_grid import OffGridAtoms, off_grid_atoms
from sparsebayes.estimators._parameters import check_parameters
from sparsebayes.estimators._representation import FittedRepresentation
from sparsebayes.fit import AUTO, fit
from sparsebayes.joint.complex import ComplexMatrix, is_complex
from sparsebayes.joint.result import SeparateResults
from sparsebayes.priors import Automatic, Inclusion, as_prior
from sparsebayes.rows.devices import result_beside
from sparsebayes.rows.kinds import following, in_its_kind
from sparsebayes.rows.validation import check_design, has_outputs
from sparsebayes.solvers.monitor import Progress


@dataclass(frozen=True, eq=False)
class Recovered:
    """What a fit keeps: the result, the selected atoms (N, S), the measurements, and how many atoms there were."""

    result: Any
    columns: np.ndarray
    y: np.ndarray
    n_candidates: int


@dataclass(eq=False, repr=False, kw_only=True)
class SparseRecovery(Described, FittedRepresentation, BaseEstimator):
    """Sparse recovery: y = Φw + ε with few weights that are not zero, real or complex, one or several snapshots.

    w_m ~ N(0, 1/α_m), ε ~ N(0, σ²); for complex data both are circular, E|w_m|² = 1/α_m and E|ε|² = σ². The evidence
    selects the atoms, the columns of Φ. Snapshots, the columns of y (N, T), share their atoms: an atom has one
    precision for all of them [Wipf & Rao 2007].

    Parameters
    ----------
    prior : "auto", "uniform", "aic", "bic", "ric" or Prior, default="auto"
        Prior on the precision of each atom. "auto" is that of `SparseBayesRegressor` for one real snapshot without
        groups. Otherwise it is `Inclusion(log M)` with M atoms or groups: log M nats for each one that is selected.
    effort : {"fast", "default", "high"} or float, default="default"
        How long a higher maximum of the evidence is sought; a number gives the seconds.
    noise_variance : float or array-like of shape (T,), optional
        σ² if it is known, of several snapshots maybe one each; None estimates it.
    max_vectors : int, optional
        The largest number of atoms; None for no limit.
    groups : array-like of shape (M,), optional
        A label for each atom: those of one label have one precision, and are selected together. None for one each.
    joint : bool, default=True
        Whether snapshots share their atoms; else each has a model of its own.
    shared_noise : bool, default=True
        Whether snapshots that share their atoms also share one noise variance.
    fit_intercept : bool, default=False
        Whether an intercept with a flat prior is added, one for each snapshot.
    solver : str or Solver, default="auto"
        As that of `sparsebayes.fit`.
    max_iter : int, default=10000
        Most iterations of the solver.
    tol : float, default=1e-6
        What a move must gain, in nats, and how far a log α must move, for the solver to go on.
    max_time : float, optional
        Seconds after which the fit ends with the best model so far and a `ConvergenceWarning`. None for no limit.
    random_state : int, RandomState instance or None, default=None
        Seed of solvers that draw candidates at random; the default solver draws nothing.
    verbose : int, default=0
        1 prints every move and every tenth iteration to standard error, 2 every iteration.
    callback : callable, optional
        Called with a `Progress` each iteration; a true return value stops the fit.

    Attributes
    ----------
    support_ : ndarray of int, shape (S,)
        Numbers of the selected atoms, ascending.
    coef_ : ndarray of shape (M,) or (T, M)
        Posterior means of the weights, complex for complex data; 0 for atoms that are not selected.
    coef_std_ : ndarray of shape (M,) or (T, M)
        Posterior standard deviations of the weights, √E|w − E w|²; 0 for atoms that are not selected.
    alpha_ : ndarray of shape (S,)
        Precisions of the selected atoms; (T, S) with joint=False, infinite where a snapshot does not have an atom.
    covariance_ : ndarray of shape (S, S)
        Posterior covariance of the weights of a snapshot; not with joint=False.
    intercept_ : float, complex or ndarray of shape (T,)
        The intercepts; 0 with fit_intercept=False.
    noise_variance_ : float or ndarray of shape (T,)
        σ²; one for each snapshot if they do not share it.
    log_evidence_ : float
        Log marginal likelihood of y, the sum over the snapshots.
    n_iter_ : int
        Iterations of the solver.
    converged_ : bool
        Whether the fit ended by its own criterion.
    certificate_ : Certificate, or tuple of Certificate with joint=False
        What is known of the solution: whether it is a local maximum.
    n_features_in_ : int
        M, the number of atoms.

    See Also
    --------
    SparseBayesRegressor : The same model for regression on real columns, with predictions at new rows.
    sparsebayes.fit : The function behind it.

    Examples
    --------
    Two complex exponentials out of a hundred, from one noisy signal of fifty samples:

    >>> import numpy as np
    >>> from sparsebayes import SparseRecovery
    >>> rng = np.random.default_rng(0)
    >>> Phi = np.exp(2j * np.pi * np.outer(np.arange(50), np.arange(100) / 100))
    >>> noise = 0.3 * (rng.standard_normal(50) + 1j * rng.standard_normal(50))
    >>> y = 2 * Phi[:, 10] - 1j * Phi[:, 45] + noise
    >>> SparseRecovery().fit(Phi, y).support_
    array([10, 45])
    """

    prior: Any = AUTO
    effort: Any = "default"
    noise_variance: Any = None
    max_vectors: int | None = None
    groups: Any = None
    joint: bool = True
    shared_noise: bool = True
    fit_intercept: bool = False
    solver: Any = AUTO
    max_iter: int = 10000
    tol: float = 1e-6
    max_time: float | None = None
    random_state: Any = None
    verbose: int = 0
    callback: Callable[[Progress], Any] | None = None

    @all_or_nothing
    def fit(self, Phi: Any, y: Any) -> Self:
        """Recover the weights.

        Parameters
        ----------
        Phi : array-like, SciPy sparse matrix or linear operator of shape (N, M)
            The dictionary, one atom per column, real or complex. A linear operator has shape, dtype, matvec and rmatvec
            (or matmat and rmatmat), as those of `scipy.sparse.linalg` and PyLops; its columns are its products with
            unit vectors, and all of them are looked at once.
        y : array-like of shape (N,) or (N, T)
            The measurements, real or complex; T snapshots.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        for each in (Phi, y):
            refuse_dask(
                each,
                "Phi and y must be in memory, got a Dask collection: SparseBayesRegressor and the function fit take "
                "real rows on Dask",
            )
        Phi = in_its_kind(Phi) if hasattr(Phi, "shape") else np.asarray(Phi)
        y = following(y if hasattr(y, "shape") else np.asarray(y), Phi if is_foreign(Phi) else None, "y")
        if len(Phi.shape) != 2:
            raise ValueError(f"Phi must be a matrix or a linear operator, got shape {tuple(Phi.shape)}.")
        given = self.get_params(deep=False) | {"prior": self._prior(Phi, y)}
        result = on_host(fit(Phi, y, **given))
        columns = atoms_of(Phi, result.active, is_complex(Phi) or is_complex(y))
        kept = np.array(to_numpy(y))
        self._publish(Recovered(result, columns, kept if has_outputs(y) else kept.ravel(), int(Phi.shape[1])))
        return self

    def _prior(self, Phi: Any, y: Any) -> Prior:
        """The prior; "auto" depends on what the data are."""
        if not (isinstance(self.prior, str) and self.prior == AUTO):
            return as_prior(self.prior, (AUTO,))
        several = (has_outputs(y) and self.joint) or self.groups is not None or is_complex(Phi) or is_complex(y)
        if not several:
            return Automatic(int(Phi.shape[1]))
        candidates = Phi.shape[1] if self.groups is None else len(np.unique(np.asarray(self.groups)))
        return Inclusion(math.log(max(candidates, 1)))

    def _publish(self, fitted: Recovered) -> None:
        """Set the fitted attributes, in place of those of an earlier fit."""
        result, M, several = fitted.result, fitted.n_candidates, fitted.y.ndim == 2
        forget(self)
        self._fitted = fitted
        self.support_ = np.asarray(result.active)
        mean = to_numpy(result.mean)
        self.coef_ = scattered(mean.T if several else mean, self.support_, M)
        self.coef_std_ = scattered(weight_stds(result, several), self.support_, M)
        self.log_evidence_, self.converged_, self.n_features_in_ = result.log_evidence, result.converged, M
        each = result.results if isinstance(result, SeparateResults) else [result]
        self.n_iter_ = sum(one.n_iter for one in each)
        if isinstance(result, SeparateResults):
            self.certificate_ = tuple(one.certificate for one in each)
            self.alpha_ = np.stack([aligned(one.alpha, one.active, self.support_, np.inf) for one in each])
            self.intercept_ = np.asarray([to_numpy(one.intercept)[0] for one in each])
            self.noise_variance_ = result.noise_variances
            return
        self.certificate_, self.alpha_ = result.certificate, to_numpy(result.alpha)
        self.covariance_ = to_numpy(result.covariance)
        self.intercept_ = to_numpy(result.intercept) if several else result.intercept[0]
        equal = not several or bool((to_numpy(result.output_scales) == 1).all())
        self.noise_variance_ = result.noise_variance if equal else to_numpy(result.noise_variances)

    def predict(self, Phi: Any = None, return_std: bool = False) -> Any:
        """The measurements that the recovered weights give.

        Parameters
        ----------
        Phi : array-like, SciPy sparse matrix or linear operator of shape (n, M), optional
            Another dictionary with the same atoms, such as that of other sensors; None for that of `fit`.
        return_std : bool, default=False
            Whether to return the standard deviation of a new measurement, with its noise, as well.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, T)
            Φw, and the intercept if there is one.
        std : ndarray of shape (n,) or (n, T)
            Only with `return_std`.
        """
        check_is_fitted(self)
        fitted, results = self._fitted, self._fitted.result
        columns = fitted.columns
        if Phi is not None:
            Phi = in_its_kind(Phi) if hasattr(Phi, "shape") else np.asarray(Phi)
            if len(Phi.shape) != 2 or Phi.shape[1] != fitted.n_candidates:
                raise ValueError(f"Phi must have {fitted.n_candidates} columns, got shape {tuple(Phi.shape)}.")
            columns = atoms_of(Phi, self.support_, np.iscomplexobj(columns) or is_complex(Phi))
        if not isinstance(results, SeparateResults):
            return beside_inputs(predicted(results, columns, return_std), Phi)
        places = [np.searchsorted(self.support_, each.active) for each in results.results]
        pairs = [predicted(each, columns[:, J], True) for each, J in zip(results.results, places, strict=True)]
        mean, std = (np.stack(each, axis=1) for each in zip(*pairs, strict=True))
        return beside_inputs((mean, std) if return_std else mean, Phi)

    def refine(self, atoms: Callable[[np.ndarray], Any], grid: Any, penalty: float | None = None) -> OffGridAtoms:
        """Move the selected atoms off the grid, to where the evidence is highest.

        The evidence is maximised over the parameters θ of the atoms, their precisions and the noise, from the selected
        points of the grid. Atoms that say the same are merged, useless ones deleted, and missing ones added from the
        grid, as long as that gains more than the penalty. The estimator stays as it is.

        Parameters
        ----------
        atoms : callable
            a(θ): parameters (k,) -> atoms (N, k), real or complex, smooth in θ; `atoms(grid)` has the columns of Phi.
        grid : array-like of shape (M,)
            θ of the columns of Phi, ascending.
        penalty : float, optional
            Nats that an atom has to gain; log M if None.

        Returns
        -------
        OffGridAtoms
            The parameters with their standard deviations, the weights, the noise and the evidence.
        """
        check_is_fitted(self)
        if not self.joint or np.ndim(self.noise_variance_) or self.fit_intercept or self.groups is not None:
            raise ValueError("refine needs joint=True, one noise variance, and neither groups nor an intercept.")
        if len(np.ravel(grid)) != self._fitted.n_candidates:
            raise ValueError(f"grid must have one value for each of {self._fitted.n_candidates} atoms.")
        noise = (float(self.noise_variance_), is_number(self.noise_variance))
        selected = (self.support_, self._fitted.columns, self.alpha_)
        return off_grid_atoms(atoms, grid, self._fitted.y, selected, noise, penalty)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = tags.target_tags.multi_output = True
        return tags


def on_host(result: Any) -> Any:
    """A result of any kind with NumPy arrays."""
    if isinstance(result, SeparateResults):
        return SeparateResults([on_host(each) for each in result.results])
    return result_beside(result, np.zeros(0)) if is_foreign(result.mean) else result


def atoms_of(Phi: Any, J: np.ndarray, as_complex: bool) -> np.ndarray:
    """The columns J of a dictionary, (N, |J|)."""
    if as_complex:
        return ComplexMatrix(Phi).columns(J)
    operator = LinearMap(Phi) if is_linear_operator(Phi) else as_operator(check_design(Phi))
    return np.array(to_numpy(operator.columns(J)))


def predicted(result: Any, columns: np.ndarray, return_std: bool) -> Any:
    """The measurements (n,) or (n, T) of a result from its columns (n, S), and their standard deviations."""
    mean = result.f_mean(columns)
    mean = mean[:, 0] if mean.ndim == 2 and np.ndim(result.mean) == 1 else mean
    return (mean, result.std(columns)) if return_std else mean


def scattered(values: np.ndarray, J: np.ndarray, M: int) -> np.ndarray:
    """Values (…, S) of the selected atoms as values (…, M) of all atoms, 0 for the others."""
    if not np.iscomplexobj(values):
        return of_columns(values, J, M)
    return of_columns(values.real, J, M) + 1j * of_columns(values.imag, J, M)


def aligned(values: Any, own: np.ndarray, J: np.ndarray, other: float) -> np.ndarray:
    """Values of the atoms `own` as values of the atoms J, `other` for those that are not among them."""
    whole = np.full(len(J), other)
    whole[np.searchsorted(J, own)] = to_numpy(values)
    return whole


def weight_stds(result: Any, several: bool) -> np.ndarray:
    """Posterior standard deviations of the weights, (S,) or (T, S)."""
    if isinstance(result, SeparateResults):
        stds = [np.sqrt(to_numpy(each.covariance).diagonal().real) for each in result.results]
        pairs = zip(stds, result.results, strict=True)
        return np.stack([aligned(std, each.active, result.active, 0.0) for std, each in pairs])
    std = np.sqrt(np.maximum(to_numpy(result.covariance).diagonal().real, 0.0))
    return to_numpy(result.output_scales)[:, None] * std if several else std
