"""Every difference between the two public interfaces that the reference fits are run on.

The earlier interface (`fit_classes`, `noise_prior`, `noise_shape`, `variance="dense"`, `multi_class="ovr"`,
`coef_` of kernel functions, `ActiveSet(stages=, rebuilds=)`) is the one the stored results were made with.
The cases are written in its words, and the functions here translate them.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from sklearn.multiclass import OneVsRestClassifier

import sparsebayes
from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)

EARLIER = hasattr(sparsebayes, "fit_classes")


def regressor(*args: Any, **options: Any) -> Any:
    """A `RelevanceVectorRegressor`."""
    return RelevanceVectorRegressor(*args, **_regression_options({"gamma": "scale"} | options))


def linear_regressor(**options: Any) -> Any:
    """A `SparseBayesRegressor`."""
    return SparseBayesRegressor(**_regression_options({"prior": "uniform"} | options))


def classifier(*args: Any, **options: Any) -> Any:
    """A `RelevanceVectorClassifier`, one softmax model where there are more than two classes."""
    return RelevanceVectorClassifier(*args, **_class_options({"gamma": "scale"} | options))


def linear_classifier(**options: Any) -> Any:
    """A `SparseBayesClassifier`, one softmax model where there are more than two classes."""
    return SparseBayesClassifier(**_class_options(options))


def one_vs_rest(*args: Any, linear: bool = False, **options: Any) -> Any:
    """Every class against the rest: a classifier of which only the probabilities are compared."""
    make = SparseBayesClassifier if linear else RelevanceVectorClassifier
    if EARLIER:
        return make(*args, multi_class="ovr", **options)
    return OneVsRestClassifier(make(*args, **_class_options(options)))


def fit(Phi: Any, t: Any = None, **options: Any) -> Any:
    """The functional `fit` with Gaussian noise, or noise of another shape."""
    return sparsebayes.fit(Phi, t, **_regression_options(options))


def fit_classes(Phi: Any, y: Any, *, n_classes: int, fit_intercept: bool, **options: Any) -> Any:
    """The functional fit to labels 0 … n_classes − 1."""
    if EARLIER:
        return sparsebayes.fit_classes(Phi, y, fit_intercept=fit_intercept, **options)
    likelihood = sparsebayes.Bernoulli() if n_classes == 2 else sparsebayes.Multinomial()
    return sparsebayes.fit(Phi, y, likelihood=likelihood, fit_intercept=fit_intercept, **_class_options(options))


def select(X: Any, y: Any, candidates: Any, by: str) -> tuple[Any, list[int], dict[str, list[float]]]:
    """The first model that `select` finds, the order of the candidates, and the scores in their own order."""
    found = sparsebayes.select(X, y, candidates, by=by)
    rows = sorted(found.table, key=lambda row: row["index"])
    scores = {key: [row[key] for row in rows] for key in ("log_evidence", "loo_error", "loo_log_loss")}
    return found.best_estimator_, [row["index"] for row in found.table], scores


def solver(name: str, *args: Any, **options: Any) -> Any:
    """A solver object of this class with these options."""
    make = getattr(sparsebayes, name)
    if EARLIER:
        return make(*args, **options)
    stages, rebuilds = options.pop("stages", 0), options.pop("rebuilds", 0)
    if name == "ActiveSet":
        groups = tuple(sparsebayes.Sweep(2**power) for power in range(rebuilds, 0, -1))
        options["effort"] = sparsebayes.Search(annealing=stages, last=groups)
    elif stages:
        options["annealing"] = stages
    return make(*args, **options)


def operator(basis: Any, X: Any) -> Any:
    """The functions of a basis at the rows of X, as `fit` takes them."""
    return basis.bind(X).operator(X)


def weights_of(model: Any) -> np.ndarray:
    """Posterior means of the weights, of an estimator."""
    return np.asarray(model.dual_coef_ if hasattr(model, "dual_coef_") else model.active_coef_)


def objective_of(model: Any) -> float | None:
    """Evidence plus log priors, of an estimator; None if unknown."""
    fitted = getattr(model, "_fitted", None)
    return None if fitted is None else fitted.result.objective


def noise_shape_of(model: Any) -> float | None:
    """The p of a noise density ∝ exp(−|ε/s|^p), of an estimator or a result; None if unknown."""
    for name in ("noise_shape_", "noise_shape"):
        if isinstance(getattr(model, name, None), float):
            return float(getattr(model, name))
    for name in ("likelihood_", "likelihood"):
        shape = getattr(getattr(model, name, None), "shape", None)
        if isinstance(shape, int | float):
            return float(shape)
    return None


def active_pairs(result: Any) -> tuple[np.ndarray, np.ndarray]:
    """Function and output of every weight of a result of `fit_classes`."""
    return np.asarray(result.active), np.asarray(result.output)


def class_probabilities(result: Any, Phi: Any) -> np.ndarray:
    """p(class | x) at rows of a design Φ, of a result of `fit_classes`."""
    if hasattr(result, "predict_proba"):
        return np.asarray(result.predict_proba(Phi))
    columns = array_api_compat.array_namespace(Phi).take(Phi, _like(active_pairs(result)[0], Phi), axis=1)
    return np.asarray(result.probabilities(columns))


def _like(values: np.ndarray, array: Any) -> Any:
    """The values in the array library of `array`."""
    return array_api_compat.array_namespace(array).asarray(values)


def _class_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a classifier in the words of the interface that is there."""
    if not EARLIER and isinstance(options.get("solver"), str) and options["solver"] == "thorough":
        return options | {"solver": sparsebayes.ActiveSet(effort="high")}
    return options


def _regression_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options in the words of the interface that is there."""
    if EARLIER:
        return options
    options = dict(options)
    if options.get("solver", "auto") in ("auto", "active-set"):
        options["effort"] = sparsebayes.Search()  # the earlier interface had no search
    elif options["solver"] == "thorough":
        options |= {"solver": "auto", "effort": "high"}
    prior, shape = options.pop("noise_prior", None), options.pop("noise_shape", None)
    if prior is not None:
        options["likelihood"] = sparsebayes.Gaussian(prior=prior)
    if shape is not None:
        options["likelihood"] = sparsebayes.GeneralizedNormal(shape=shape)
    if options.get("variance") == "dense":
        options["variance"] = "gp"
    return options
