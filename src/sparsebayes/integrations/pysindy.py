"""Sparse identification of dynamical systems: an optimizer for `pysindy.SINDy` that needs no threshold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from pysindy.optimizers import BaseOptimizer

from sparsebayes import SparseBayesRegressor, fit
from sparsebayes.integrations._posterior import CoefficientPosterior


class SparseBayesOptimizer(BaseOptimizer):
    """Sparse Bayesian regression of ẋ = Θ(x)Ξ: the evidence selects the terms of each equation.

    Parameters
    ----------
    prior : {"bic", "auto", "uniform", "aic", "ric"} or Prior
        Prior on the precision of each coefficient. The default, stricter than that of `SparseBayesRegressor`, favours
        models without superfluous terms.
    joint : bool
        Whether a term is selected for all equations together; else every equation has terms of its own.
    effort : {"fast", "default", "high"} or float
        How long a higher maximum of the evidence is looked for.
    noise_variance : float, optional
        The noise variance of the derivatives if it is known; None to estimate it, for each equation.
    max_iter : int
        Iterations allowed.
    normalize_columns : bool
        Whether the terms are scaled to unit norm first. The selection does not depend on it.
    initial_guess : ndarray, optional
        Accepted as in every optimizer of PySINDy; the solution does not depend on it.
    copy_X : bool
        Whether the library matrix is copied.
    unbias : bool
        Whether the coefficients of the selected terms are estimated again by least squares. False gives posterior
        means, which are shrunk very little.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        The coefficients Ξ.
    standard_errors_ : ndarray of shape (n_targets, n_features)
        Their posterior standard deviations, or with `unbias` the standard errors of least squares; zero for terms that
        were not selected.
    noise_variance_ : ndarray of shape (n_targets,)
        The noise variance of each equation.
    ind_ : ndarray of bool, shape (n_targets, n_features)
        Which terms were selected.

    Examples
    --------
    >>> import numpy as np
    >>> import pysindy
    >>> from sparsebayes.integrations.pysindy import SparseBayesOptimizer
    >>> t = np.linspace(0, 5, 500)
    >>> x = np.column_stack([np.cos(2 * t), np.sin(2 * t)])
    >>> model = pysindy.SINDy(optimizer=SparseBayesOptimizer()).fit(x, t=t)
    >>> model.coefficients().round(1)[:, :3]
    array([[ 0.,  0., -2.],
           [ 0.,  2.,  0.]])
    """

    def __init__(
        self,
        prior: Any = "bic",
        joint: bool = False,
        effort: Any = "default",
        noise_variance: float | None = None,
        max_iter: int = 10000,
        normalize_columns: bool = False,
        initial_guess: np.ndarray | None = None,
        copy_X: bool = True,
        unbias: bool = False,
    ) -> None:
        super().__init__(
            max_iter=max_iter,
            normalize_columns=normalize_columns,
            initial_guess=initial_guess,
            copy_X=copy_X,
            unbias=unbias,
        )
        self.prior = prior
        self.joint = joint
        self.effort = effort
        self.noise_variance = noise_variance

    def fit(self, x_: Any, y: Any, sample_weight: Any = None, **reduce_kws: Any) -> Self:
        """Fit the coefficients, and give their standard errors in the units of the library.

        Parameters
        ----------
        x_ : array-like of shape (n_samples, n_features)
            The library matrix Θ(x).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The derivatives ẋ.
        sample_weight : float or array-like of shape (n_samples,), optional
            Weight of each sample.
        **reduce_kws
            None are known.

        Returns
        -------
        self
            The fitted optimizer.
        """
        super().fit(x_, y, sample_weight, **reduce_kws)
        if self.normalize_columns:
            self.standard_errors_ /= np.linalg.norm(np.asarray(self.Theta_), axis=0)
        return self

    def _reduce(self, x: np.ndarray, y: np.ndarray) -> None:
        """Set `coef_`, `standard_errors_` and `noise_variance_` from the library matrix and the derivatives."""
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        solve = self._all_equations if self.joint else self._each_equation
        self.coef_, self.standard_errors_, self.noise_variance_ = solve(x, y)
        self.history_.append(self.coef_)

    def _each_equation(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients and standard errors (n_targets, n_features) and noise variances, equation by equation."""
        model = SparseBayesRegressor(
            prior=self.prior,
            effort=self.effort,
            noise_variance=self.noise_variance,
            max_iter=self.max_iter,
            fit_intercept=False,
        )
        posteriors, variances = [], []
        for target in y.T:
            posteriors.append(CoefficientPosterior.of(model.fit(x, target)))
            variances.append(model.noise_variance_)
        coefficients = np.stack([each.coefficients for each in posteriors])
        return coefficients, np.stack([each.standard_errors for each in posteriors]), np.array(variances)

    def _all_equations(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same with one set of terms for all equations, each with a noise variance of its own."""
        result = fit(
            x,
            y,
            prior=self.prior,
            effort=self.effort,
            noise_variance=self.noise_variance,
            max_iter=self.max_iter,
            joint=True,
        )
        coefficients, errors = np.zeros((2, y.shape[1], x.shape[1]))
        coefficients[:, result.active] = result.mean.T
        errors[:, result.active] = np.outer(result.output_scales, np.sqrt(np.diagonal(result.covariance)))
        return coefficients, errors, result.noise_variances

    def _unbias(self, x: np.ndarray, y: np.ndarray) -> None:
        """Replace posterior means by least squares on the selected terms, and their standard errors likewise."""
        super()._unbias(x, y)
        self.standard_errors_ = np.zeros_like(self.coef_)
        for k, selected in enumerate(self.ind_):
            columns = x[:, selected]
            freedom = max(len(x) - columns.shape[1], 1)
            self.noise_variance_[k] = np.sum((y[:, k] - x @ self.coef_[k]) ** 2) / freedom
            covariance = self.noise_variance_[k] * np.linalg.pinv(columns.T @ columns)
            self.standard_errors_[k, selected] = np.sqrt(np.diagonal(covariance))
