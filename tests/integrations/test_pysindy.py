"""The optimizer for PySINDy."""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from sklearn.base import clone

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pysindy = pytest.importorskip("pysindy", reason="PySINDy is not installed", exc_type=ImportError)

from sparsebayes import SparseBayesRegressor
from sparsebayes.integrations.pysindy import SparseBayesOptimizer

STEP = 0.01
TERMS = {0: {"x": -10, "y": 10}, 1: {"x": 28, "y": -1, "x z": -1}, 2: {"z": -8 / 3, "x y": 1}}
NAMES = ["x", "y", "z"]


def lorenz(t, u):
    x, y, z = u
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


@pytest.fixture(scope="module")
def states():
    t = np.arange(0, 10, STEP)
    clean = solve_ivp(lorenz, (0, 10), [-8, 8, 27], t_eval=t, rtol=1e-10, atol=1e-10).y.T
    return clean + 0.05 * np.random.default_rng(0).standard_normal(clean.shape)


def identify(states, optimizer):
    library = pysindy.PolynomialLibrary(degree=3)
    model = pysindy.SINDy(optimizer=optimizer, feature_library=library)
    return model.fit(states, t=STEP, feature_names=NAMES)


def matrix(model, terms=TERMS):
    names = model.get_feature_names()
    values = np.zeros((3, len(names)))
    for row, equation in terms.items():
        for name, value in equation.items():
            values[row, names.index(name)] = value
    return values


def test_lorenz_is_identified_without_a_threshold(states):
    model = identify(states, SparseBayesOptimizer())
    truth = matrix(model)
    np.testing.assert_array_equal(model.coefficients() != 0, truth != 0)
    assert (abs(model.coefficients() - truth)[truth != 0] < 0.05 * abs(truth[truth != 0]) + 0.1).all()
    assert model.score(states, t=STEP) > 0.98
    assert model.complexity == 7


def test_each_equation_is_a_sparse_bayes_regressor():
    rng = np.random.default_rng(0)
    theta, y = rng.standard_normal((100, 12)), rng.standard_normal((100, 2))
    y += theta[:, [2, 5]] * 3
    optimizer = SparseBayesOptimizer(prior="aic").fit(theta, y)
    for row in range(2):
        model = SparseBayesRegressor(prior="aic", fit_intercept=False).fit(theta, y[:, row])
        np.testing.assert_allclose(optimizer.coef_[row], model.coef_)
        np.testing.assert_allclose(
            optimizer.standard_errors_[row, model.relevance_], np.sqrt(np.diagonal(model.covariance_))
        )
        assert optimizer.noise_variance_[row] == pytest.approx(model.noise_variance_)


@pytest.mark.parametrize("unbias", [True, False])
def test_the_scale_of_the_terms_does_not_matter(unbias):
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((100, 12)) * np.logspace(-3, 3, 12)
    y = theta[:, [2, 5]] * 3 / theta[:, [2, 5]].std(axis=0) + 0.1 * rng.standard_normal((100, 2))
    plain, normed = (
        SparseBayesOptimizer(normalize_columns=each, unbias=unbias).fit(theta, y) for each in (False, True)
    )
    np.testing.assert_allclose(plain.coef_, normed.coef_, rtol=1e-4)
    np.testing.assert_allclose(plain.standard_errors_, normed.standard_errors_, rtol=1e-3)


def test_unbias_is_least_squares_on_the_selected_terms():
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((60, 10))
    y = 3 * theta[:, 2] + theta[:, 5] + rng.standard_normal(60)
    optimizer = SparseBayesOptimizer(unbias=True).fit(theta, y)
    chosen = optimizer.ind_[0]
    expected, squares = np.linalg.lstsq(theta[:, chosen], y, rcond=None)[:2]
    np.testing.assert_allclose(optimizer.coef_[0, chosen], expected)
    covariance = squares[0] / (60 - chosen.sum()) * np.linalg.inv(theta[:, chosen].T @ theta[:, chosen])
    np.testing.assert_allclose(optimizer.standard_errors_[0, chosen], np.sqrt(np.diagonal(covariance)))


def test_sample_weights_are_those_of_pysindy():
    rng = np.random.default_rng(0)
    theta, weights = rng.standard_normal((50, 8)), rng.integers(1, 4, 50)
    y = 3 * theta[:, [2]] + 0.1 * rng.standard_normal((50, 1))
    weighted = SparseBayesOptimizer().fit(theta, y, sample_weight=weights)
    root = np.sqrt(weights)[:, None]
    np.testing.assert_allclose(weighted.coef_, SparseBayesOptimizer().fit(theta * root, y * root).coef_)


def test_ensembles(states):
    np.random.seed(0)  # PySINDy draws its subsets from the global generator
    ensemble = pysindy.EnsembleOptimizer(SparseBayesOptimizer(), bagging=True, n_models=5, n_subset=500)
    model = identify(states, ensemble)
    assert np.shape(ensemble.coef_list) == (5, 3, 20)
    assert (model.coefficients() != 0)[matrix(model) != 0].all()


def test_parameters_survive_clone_and_set_params():
    optimizer = clone(SparseBayesOptimizer(prior="ric", unbias=True))
    assert (optimizer.prior, optimizer.unbias, optimizer.joint) == ("ric", True, False)
    optimizer.set_params(prior="aic")
    assert optimizer.get_params()["prior"] == "aic"


def test_joint_selection_gives_all_equations_the_same_terms(states):
    optimizer = SparseBayesOptimizer(joint=True)
    model = identify(states, optimizer)
    selected = model.coefficients() != 0
    assert (selected == selected[0]).all()
    assert selected[0][(matrix(model) != 0).any(axis=0)].all()
    assert (optimizer.standard_errors_ > 0)[selected].all()
