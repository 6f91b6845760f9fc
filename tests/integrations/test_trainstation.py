"""Sparse Bayesian regression as a fit method of trainstation."""

import numpy as np
import pytest

trainstation = pytest.importorskip("trainstation", reason="trainstation is not installed", exc_type=ImportError)

from sparsebayes import SparseBayesRegressor  # noqa: E402
from sparsebayes.integrations.trainstation import SparseBayesOptimizer, fit_sparse_bayes, register  # noqa: E402

TRUE = [3, 7, 20]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((120, 40)) * np.logspace(-2, 2, 40)
    return A, A[:, TRUE] @ [50.0, -8.0, 1.0] + 0.1 * rng.standard_normal(120)


@pytest.mark.parametrize("standardize", [True, False])
def test_optimizer(data, standardize):
    optimizer = trainstation.Optimizer(data, fit_method=register(), standardize=standardize, prior="ric", seed=1)
    optimizer.train()
    assert list(np.flatnonzero(optimizer.parameters)) == TRUE
    assert optimizer.rmse_test < 0.2
    assert optimizer.summary["fit_method"] == "sparse-bayes"


def test_cross_validation(data):
    validation = trainstation.CrossValidationEstimator(data, fit_method=register(), n_splits=3)
    validation.validate()
    validation.train()
    assert validation.rmse_validation < 0.2


def test_ensemble(data):
    ensemble = trainstation.EnsembleOptimizer(data, fit_method=register(), ensemble_size=4, prior="ric")
    ensemble.train()
    assert (abs(ensemble.parameters[TRUE]) > 5 * ensemble.parameters_std[TRUE]).all()
    assert ensemble.rmse_test < 0.2


@pytest.mark.parametrize("standardize", [True, False])
def test_standard_errors_are_in_the_units_of_the_data(data, standardize):
    optimizer = SparseBayesOptimizer(data, train_size=1.0, standardize=standardize)
    assert optimizer.standard_errors is None
    optimizer.train()
    model = SparseBayesRegressor(fit_intercept=False).fit(*data)
    expected = np.zeros(40)
    expected[model.relevance_] = np.sqrt(np.diagonal(model.covariance_))
    np.testing.assert_allclose(optimizer.standard_errors, expected, rtol=1e-3)


def test_fit_of_trainstation_knows_the_name(data):
    found = trainstation.fit(*data, fit_method=register(), prior="ric")
    assert list(found["relevance"]) == TRUE
    np.testing.assert_allclose(found["parameters"], fit_sparse_bayes(*data, prior="ric")["parameters"], rtol=1e-3)


def test_registration_changes_nothing_but_its_own_entry():
    before = dict(trainstation.fit_methods.fit_methods)
    assert register() == register() == "sparse-bayes"
    assert trainstation.available_fit_methods.count("sparse-bayes") == 1
    assert {name: each for name, each in trainstation.fit_methods.fit_methods.items() if name in before} == before
    with pytest.raises(ValueError, match="name must not be that of another fit method, got 'ardr'"):
        register("ardr")
