"""All parameters are checked before any work begins: before the kernel is evaluated once."""

from __future__ import annotations

import numpy as np
import pytest

from sparsebayes import (
    RBF,
    Gamma,
    GeneralizedNormal,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)

SHARED = {
    "prior": ["gauss", 3, None, Gamma(-1.0, 0.0), ["uniform", "aic"]],
    "solver": ["newton", None, RBF()],
    "max_iter": [0, 2.5, "many"],
    "tol": [0.0, -1.0, np.nan, "small"],
    "random_state": ["seed", -1],
    "verbose": ["loud", 0.5],
    "callback": [3, "print"],
}
OF_KERNELS = {"gamma": ["wide"], "centres": [np.ones((3, 5))]}
OF_REGRESSION = {
    "noise_variance": [0.0, -1.0, "low", np.inf],
    "likelihood": ["cauchy", None, GeneralizedNormal(shape=-1.0)],
    "variance": ["dense", None],
}
OF_CLASSES = {"class_weight": ["fair", {0: -1.0}]}


class Recorded(RBF):
    """A Gaussian kernel that counts its calls."""

    calls = 0

    def evaluate(self, X, Z):
        """Count, then as ever."""
        type(self).calls += 1
        return super().evaluate(X, Z)


def wrong(*tables):
    return [pytest.param(name, value, id=f"{name}={value!r}") for t in tables for name in t for value in t[name]]


def data():
    X = np.random.default_rng(0).standard_normal((40, 2))
    return X, X[:, 0] + 0.1 * np.random.default_rng(1).standard_normal(40)


@pytest.mark.parametrize("gamma", ["scale", "evidence", "ard"])
@pytest.mark.parametrize(("name", "value"), wrong(SHARED, OF_KERNELS, OF_REGRESSION))
def test_regressor(name, value, gamma):
    X, y = data()
    Recorded.calls = 0
    model = RelevanceVectorRegressor(Recorded(), gamma=gamma).set_params(**{name: value})
    with pytest.raises((ValueError, TypeError)):
        model.fit(X, y)
    if not (gamma == "scale" and isinstance(value, list)):  # the number of parts is known with the functions
        assert Recorded.calls == 0


@pytest.mark.parametrize("gamma", ["scale", "evidence", "ard"])
@pytest.mark.parametrize(("name", "value"), wrong(SHARED, OF_KERNELS, OF_CLASSES))
def test_classifier(name, value, gamma):
    X, y = data()
    Recorded.calls = 0
    model = RelevanceVectorClassifier(Recorded(), gamma=gamma).set_params(**{name: value})
    with pytest.raises((ValueError, TypeError)):
        model.fit(X, (y > 0).astype(int))
    if not (gamma == "scale" and isinstance(value, list)):
        assert Recorded.calls == 0


@pytest.mark.parametrize("gamma", ["evidence", "ard"])
@pytest.mark.parametrize(("name", "value"), [("degree", 0), ("degree", 1.5), ("coef0", np.nan), ("coef0", "one")])
def test_parameters_of_a_named_kernel(name, value, gamma):
    X, y = data()
    with pytest.raises(ValueError, match=f"^{name} must be"):
        RelevanceVectorRegressor("poly", gamma=gamma).set_params(**{name: value}).fit(X, y)


@pytest.mark.parametrize(("name", "value"), wrong(SHARED))
def test_linear_estimators_look_at_parameters_before_data(name, value):
    if isinstance(value, list):
        pytest.skip("a list of priors needs the functions")
    for make in (SparseBayesRegressor, SparseBayesClassifier):
        with pytest.raises((ValueError, TypeError), match=name if name != "random_state" else None):
            make().set_params(**{name: value}).fit("no data", None)


def test_checking_draws_no_random_numbers():
    X, y = data()
    drawn = []
    for checked in (False, True):
        state = np.random.RandomState(0)
        model = RelevanceVectorRegressor(gamma=0.5, random_state=state)
        if checked:
            from sparsebayes.estimators._parameters import check_parameters

            check_parameters(model)
        model.fit(X, y)
        drawn.append(state.randint(1000))
    assert drawn[0] == drawn[1]
