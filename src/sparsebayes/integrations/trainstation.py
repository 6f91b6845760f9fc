"""Force constants and cluster expansions with trainstation: sparse Bayesian regression as a fit method.

trainstation looks its fit methods up by name in one table. `register()` adds "sparse-bayes" to it, for `Optimizer`,
`CrossValidationEstimator` and `EnsembleOptimizer` alike; `SparseBayesOptimizer` needs no registration by hand, and
knows the standard errors of the parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from trainstation import Optimizer, fit_methods

from sparsebayes import SparseBayesRegressor
from sparsebayes.integrations._posterior import CoefficientPosterior

NAME = "sparse-bayes"


def fit_sparse_bayes(X: np.ndarray, y: np.ndarray, fit_intercept: bool = False, **options: Any) -> dict[str, Any]:
    """Fit y = Xa with a sparse Bayesian prior on a; a fit method as trainstation calls it.

    Parameters
    ----------
    X : ndarray of shape (N, M)
        The fit matrix.
    y : ndarray of shape (N,)
        The target values.
    fit_intercept : bool
        Whether the data are centred first; the intercept itself is not returned, as in trainstation.
    **options
        Parameters of `SparseBayesRegressor`, such as prior="bic".

    Returns
    -------
    dict
        "parameters" (M,); "relative_errors" (M,), posterior standard deviations divided by the absolute values of the
        parameters, zero for those not selected: they do not depend on the units, which trainstation changes if
        `standardize` is true; "relevance", the indices of the selected parameters.
    """
    model = SparseBayesRegressor(fit_intercept=fit_intercept, **options).fit(X, y)
    posterior = CoefficientPosterior.of(model)
    parameters = posterior.coefficients
    errors = np.divide(
        posterior.standard_errors, np.abs(parameters), out=np.zeros(len(parameters)), where=parameters != 0
    )
    return {"parameters": parameters, "relative_errors": errors, "relevance": posterior.active}


def register(name: str = NAME) -> str:
    """Make `fit_sparse_bayes` available as a fit method of trainstation; a second call changes nothing.

    Parameters
    ----------
    name : str
        What it is called in `fit_method=`.

    Returns
    -------
    str
        The name, so that ``Optimizer((A, y), fit_method=register())`` can be written.
    """
    known = fit_methods.fit_methods.get(name)
    if known not in (None, fit_sparse_bayes):
        raise ValueError(f"name must not be that of another fit method, got {name!r}: choose another one.")
    fit_methods.fit_methods[name] = fit_sparse_bayes
    if name not in fit_methods.available_fit_methods:
        fit_methods.available_fit_methods.append(name)
        fit_methods.available_fit_methods.sort()
    return name


class SparseBayesOptimizer(Optimizer):
    """trainstation's `Optimizer` with sparse Bayesian regression, and standard errors of the parameters.

    Parameters
    ----------
    fit_data : tuple of ndarray, shapes (N, M) and (N,)
        The fit matrix and the target values.
    **options
        Parameters of trainstation's `Optimizer` (standardize, train_size, test_size, train_set, test_set,
        check_condition, seed) and of `SparseBayesRegressor` (prior, effort, …).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.integrations.trainstation import SparseBayesOptimizer
    >>> A = np.random.default_rng(0).standard_normal((80, 30))
    >>> optimizer = SparseBayesOptimizer((A, A[:, 3] - 2 * A[:, 7]), prior="bic")
    >>> optimizer.train()
    >>> np.flatnonzero(optimizer.parameters)
    array([3, 7])
    """

    def __init__(self, fit_data: tuple[np.ndarray, np.ndarray], **options: Any) -> None:
        super().__init__(fit_data, fit_method=register(), **options)

    @property
    def standard_errors(self) -> np.ndarray | None:
        """Posterior standard deviations of the parameters, (M,); zero for those not selected, None before `train`."""
        if self.parameters is None:
            return None
        return np.abs(self.parameters) * self.model.fit_results["relative_errors"]
