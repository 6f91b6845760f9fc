"""Parameters of the estimators, checked before any work begins."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np

from sparsebayes.bases import as_basis
from sparsebayes.core.noise import Gaussian
from sparsebayes.estimators._training import FIXED, LEARNED, learns
from sparsebayes.fit import AUTO, MONITOR, SOLVERS, as_likelihood, check_limit, check_monitor
from sparsebayes.laplace import Multinomial
from sparsebayes.priors import as_prior
from sparsebayes.solvers import as_solver
from sparsebayes.solvers.regression import checked_variance

ANY_NUMBER = 2.0  # of observations, for the check of a prior that depends on them


def check_parameters(estimator: Any) -> None:
    """Raise ValueError or TypeError for a parameter that no data would make right."""
    given = estimator.get_params(deep=False)
    check_monitor(*(given.get(name) for name in MONITOR))  # not every estimator has all of them
    as_solver(given["solver"], SOLVERS, given.get("effort", "default"))
    prior = given["prior"]
    for each in prior if isinstance(prior, list | tuple) else [prior]:
        if not (isinstance(prior, str) and prior == AUTO):
            as_prior(each, (AUTO,)).resolve(ANY_NUMBER)
    if "likelihood" in given:
        _check_noise(given["likelihood"], given["noise_variance"])
        if isinstance(given["likelihood"], Multinomial):
            classifier = "RelevanceVectorClassifier" if "kernel" in given else "SparseBayesClassifier"
            raise ValueError(
                f"likelihood must not be Multinomial for {type(estimator).__name__}, which does not predict classes: "
                f"use {classifier}."
            )
        check_limit(given["max_vectors"], as_likelihood(given["likelihood"]))
    if "kernel" in given:
        _check_kernel(given)


def _check_noise(likelihood: Any, noise_variance: Any) -> None:
    """Raise ValueError for a likelihood or a noise variance that is none, or if they do not go together."""
    if np.ndim(noise_variance) == 0:
        checked_variance(noise_variance, "noise_variance")
    likelihood = as_likelihood(likelihood)
    if noise_variance is not None and not (isinstance(likelihood, Gaussian) or likelihood.has_noise):
        raise ValueError(f"noise_variance must be None: {likelihood!r} has no noise variance.")


def _check_kernel(given: dict[str, Any]) -> None:
    """Raise ValueError or TypeError for a kernel or a word for gamma that is none."""
    gamma = given["gamma"]
    if isinstance(gamma, str) and gamma not in (*FIXED, *LEARNED):
        words = ", ".join(map(repr, (*FIXED, *LEARNED)))
        close = get_close_matches(gamma.lower(), (*FIXED, *LEARNED), 1)
        meant = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(f"gamma must be one of {words}, positive numbers or None, got {gamma!r}{meant}")
    as_basis(given["kernel"], "scale" if gamma is None or learns(gamma) else gamma, given["degree"], given["coef0"])
