"""variance="augmented": the variance with one more function, by actually adding its column."""

import numpy as np
import pytest

from sparsebayes import RBF, Columns, LinearSpline, Matern, RationalQuadratic, RelevanceVectorRegressor, ThinPlateSpline

KERNELS = {
    "rbf": RBF(0.5),
    "with linear terms": Columns() + RBF(0.5),
    "spline": LinearSpline(),
    "callable": lambda A, B: 1 / (1 + ((A[:, None] - B[None]) ** 2).sum(axis=2)),
    "linear": "linear",
}


def _problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 5, (30, 1))
    y = 3 + np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(30)
    return X, y, rng.integers(0, 4, 30), np.concatenate([rng.uniform(-2, 8, (8, 1)), X[:2]])


def _by_adding_the_column(model, X, y, query) -> float:
    """The predictive variance at `query` of the model with k(·, query) added, by inverting (A + βΦᵀΦ)."""
    extra = model._fitted.basis.centred_at(query[None])
    own = extra(query[None])[0, 0]
    alpha = np.append(model.alpha_, own**2 / np.var(y))
    design = np.column_stack([model._fitted.basis(X), extra(X)])
    at_query = np.append(model._fitted.basis(query[None])[0], own)
    if model.fit_intercept:
        alpha, at_query = np.append(alpha, 0.0), np.append(at_query, 1.0)
        design = np.column_stack([design, np.ones(len(y))])
    precision = np.diag(alpha) + design.T @ design / model.noise_variance_
    return model.noise_variance_ + at_query @ np.linalg.solve(precision, at_query)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_adding_the_column(kernel, fit_intercept, weighted):
    X, y, weights, queries = _problem(0)
    weights = weights if weighted else np.ones(30, dtype=int)
    model = RelevanceVectorRegressor(
        KERNELS[kernel], variance="augmented", fit_intercept=fit_intercept, noise_variance=0.01
    )
    model.fit(X, y, sample_weight=weights)
    std = model.predict(queries, return_std=True)[1]
    repeated = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    expected = [_by_adding_the_column(model, *repeated, query) for query in queries]
    np.testing.assert_allclose(std**2, expected, rtol=1e-6)


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of a positive definite system in the numbers of the matrix, by elimination."""
    A = np.column_stack([matrix, right])
    for k in range(len(A)):
        A[k + 1 :] -= (A[k + 1 :, k] / A[k, k])[:, None] * A[k]
    x = np.zeros_like(right)
    for k in reversed(range(len(A))):
        x[k] = (A[k, -1] - A[k, k + 1 : -1] @ x[k + 1 :]) / A[k, k]
    return x


@pytest.mark.filterwarnings("ignore:The model is not sparse")
@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="there are no numbers of more than double precision")
@pytest.mark.parametrize(
    "kernel", [ThinPlateSpline(width=[0.5, 1.3, 2.0]), RationalQuadratic([0.2, 0.6, 1.0], alpha=0.05), Matern(nu=1.5)]
)
def test_where_the_selected_functions_nearly_make_up_the_one_at_the_query(kernel):
    """Models that go almost through their targets: what the new function adds is a small difference."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = np.sin(1.7 * X[:, 0]) + 0.4 * X[:, 2] ** 2
    model = RelevanceVectorRegressor(kernel, variance="augmented", noise_variance=1e-9, fit_intercept=False).fit(X, y)
    queries = np.concatenate([X[:3], rng.normal(size=(5, 3))])
    std = model.predict(queries, return_std=True)[1]
    for query, found in zip(queries, std, strict=True):
        extra = model._fitted.basis.centred_at(query[None])
        own, exact = extra(query[None])[0, 0], np.longdouble
        alpha = np.append(model.alpha_, own**2 / np.var(y)).astype(exact)
        design = np.column_stack([model._fitted.basis(X), extra(X)]).astype(exact)
        at_query = np.append(model._fitted.basis(query[None])[0], own).astype(exact)
        precision = np.diag(alpha) + design.T @ design / exact(model.noise_variance_)
        expected = model.noise_variance_ + at_query @ _solved(precision, at_query)
        assert found**2 == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_far_from_the_data_it_returns_to_the_spread_of_the_targets(seed):
    X, y, _, _ = _problem(seed)
    far = np.array([[-200.0], [1e6]])
    model = RelevanceVectorRegressor(RBF(0.5), fit_intercept=False)
    plain = model.fit(X, y).predict(far, return_std=True)
    augmented = model.set_params(variance="augmented").fit(X, y).predict(far, return_std=True)
    np.testing.assert_allclose(plain[1], np.sqrt(model.noise_variance_), rtol=1e-9)
    np.testing.assert_allclose(augmented[1] ** 2, np.var(y) + model.noise_variance_, rtol=1e-9)
    np.testing.assert_array_equal(plain[0], augmented[0])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_never_less_than_the_posterior_and_close_to_it_among_the_data(fit_intercept):
    X, y, _, _ = _problem(1)
    model = RelevanceVectorRegressor(RBF(0.2), fit_intercept=fit_intercept)
    grid = np.linspace(-6, 11, 60)[:, None]
    mean, plain = model.fit(X, y).predict(grid, return_std=True)
    same, augmented = model.set_params(variance="augmented").fit(X, y).predict(grid, return_std=True)
    np.testing.assert_array_equal(mean, same)
    assert np.all(augmented >= plain)
    among = (grid[:, 0] > 1) & (grid[:, 0] < 4)
    assert np.all(augmented[among] < 1.25 * plain[among])
    assert augmented[0] > 1.5 * plain[0]


def test_a_function_that_is_zero_everywhere_adds_nothing():
    X, y, _, _ = _problem(2)
    model = RelevanceVectorRegressor("linear", fit_intercept=False, variance="augmented", noise_variance=1.0)
    _, std = model.fit(X, y).predict([[0.0]], return_std=True)
    assert std[0] == pytest.approx(1.0)


def test_training_rows_are_kept_only_where_needed():
    X, y, _, queries = _problem(3)
    model = RelevanceVectorRegressor(RBF(0.5)).fit(X, y)
    assert not hasattr(model._error_bars, "X")
    model.set_params(variance="augmented").fit(X, y)
    assert model._error_bars.X.shape == X.shape
    with pytest.raises(ValueError, match="return_cov has no meaning with variance='augmented'"):
        model.predict(queries, return_cov=True)
    assert not hasattr(model.set_params(variance="posterior").fit(X, y)._error_bars, "X")


def test_kept_rows_are_the_models_own():
    X, y, _, queries = _problem(4)
    model = RelevanceVectorRegressor(RBF(0.5), variance="augmented").fit(X, y)
    before = model.predict(queries, return_std=True)
    X += 1.0
    y += 1.0
    np.testing.assert_array_equal(model.predict(queries, return_std=True), before)


def test_many_queries_do_not_make_a_large_matrix_of_their_own():
    X, y, _, _ = _problem(5)
    sizes = []

    def watched(A, B):
        sizes.append((len(A), len(B)))
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    model = RelevanceVectorRegressor(watched, variance="augmented", noise_variance=0.01).fit(X, y)
    sizes.clear()
    model.predict(np.linspace(-9, 9, 2000)[:, None], return_std=True)
    assert max(rows * columns for rows, columns in sizes) <= 256**2
