"""What must not matter does not: units, an added constant, columns that say nothing new."""

import numpy as np
import pytest

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor

SCALES = [1e-6, 1e-3, 1e3, 1e6]
TIGHT = {"rtol": 1e-5, "atol": 1e-7}


def _curve(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (80, 1))
    return X, np.sinc(X[:, 0]) + 0.5 + 0.1 * rng.standard_normal(80)


def _table(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    return X, X[:, :3] @ [1.0, -2.0, 0.5] + 1 + 0.2 * rng.standard_normal(n)


CASES = {
    "kernels": (RelevanceVectorRegressor, _curve),
    "columns": (SparseBayesRegressor, _table),
}
both = pytest.mark.parametrize("case", CASES)


def _weights(model) -> np.ndarray:
    return model.dual_coef_ if isinstance(model, RelevanceVectorRegressor) else model.active_coef_


@both
@pytest.mark.parametrize("prior", ["uniform", "bic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_scale_of_y(case, prior, fit_intercept, scale):
    estimator, problem = CASES[case]
    X, y = problem()
    plain = estimator(prior=prior, fit_intercept=fit_intercept).fit(X, y)
    scaled = estimator(prior=prior, fit_intercept=fit_intercept).fit(X, scale * y)
    np.testing.assert_array_equal(plain.relevance_, scaled.relevance_)
    np.testing.assert_allclose(_weights(scaled) / scale, _weights(plain), **TIGHT)
    np.testing.assert_allclose(scaled.alpha_ * scale**2, plain.alpha_, rtol=1e-4)
    assert scaled.noise_variance_ / scale**2 == pytest.approx(plain.noise_variance_, rel=1e-5)
    counted = len(y) - fit_intercept
    assert scaled.log_evidence_ + counted * np.log(scale) == pytest.approx(plain.log_evidence_, rel=1e-8)
    for ours, theirs in zip(scaled.predict(X, return_std=True), plain.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(ours / scale, theirs, **TIGHT)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scale_of_columns(seed, fit_intercept):
    X, y = _table(seed)
    scales = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, 8)
    plain = SparseBayesRegressor(fit_intercept=fit_intercept).fit(X, y)
    scaled = SparseBayesRegressor(fit_intercept=fit_intercept).fit(X * scales, y)
    np.testing.assert_array_equal(plain.relevance_, scaled.relevance_)
    np.testing.assert_allclose(scaled.coef_ * scales, plain.coef_, **TIGHT)
    np.testing.assert_allclose(scaled.predict(X * scales), plain.predict(X), **TIGHT)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "sigmoid"])
@pytest.mark.parametrize("scale", SCALES)
def test_scale_of_inputs_with_gamma_scale(kernel, scale):
    X, y = _curve()
    plain = RelevanceVectorRegressor(kernel, prior="bic").fit(X, y)
    scaled = RelevanceVectorRegressor(kernel, prior="bic").fit(scale * X, y)
    np.testing.assert_array_equal(plain.relevance_, scaled.relevance_)
    np.testing.assert_allclose(scaled.predict(scale * X), plain.predict(X), **TIGHT)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)


@both
@pytest.mark.parametrize("shift", [1000.0, -3.0])
def test_constant_added_to_y_moves_the_predictions_and_nothing_else(case, shift):
    estimator, problem = CASES[case]
    X, y = problem(1)
    plain, moved = estimator().fit(X, y), estimator().fit(X, y + shift)
    np.testing.assert_array_equal(plain.relevance_, moved.relevance_)
    np.testing.assert_allclose(_weights(moved), _weights(plain), rtol=1e-6)
    assert moved.intercept_ - shift == pytest.approx(plain.intercept_, abs=1e-8)
    assert moved.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-10)
    assert moved.noise_variance_ == pytest.approx(plain.noise_variance_, rel=1e-7)
    mean, std = plain.predict(X, return_std=True)
    moved_mean, moved_std = moved.predict(X, return_std=True)
    np.testing.assert_allclose(moved_mean - shift, mean, atol=1e-8)
    np.testing.assert_allclose(moved_std, std, rtol=1e-7)


def _nothing_new(X: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "duplicates": X,
        "anti-parallel": -X,
        "zero": np.zeros_like(X),
        "constant": np.full_like(X, 7.25),
        "huge duplicates": 1e150 * X,
        "tiny duplicates": 1e-150 * X,
        "tiny anti-parallel": -1e-150 * X,
    }


@pytest.mark.parametrize("what", _nothing_new(np.zeros((1, 1))))
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("before", [True, False])
def test_columns_that_say_nothing_new(what, fit_intercept, before):
    X, y = _table(2)
    if what == "constant" and not fit_intercept:
        y = y - 1.0  # without an intercept a constant column does say something
        X = np.column_stack([X, np.ones(len(y))])
    extra = _nothing_new(X)[what]
    wide = np.concatenate([extra, X] if before else [X, extra], axis=1)
    plain = SparseBayesRegressor(fit_intercept=fit_intercept).fit(X, y)
    model = SparseBayesRegressor(fit_intercept=fit_intercept).fit(wide, y)
    assert len(model.relevance_) == len(plain.relevance_)
    assert model.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
    for ours, theirs in zip(model.predict(wide, return_std=True), plain.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(ours, theirs, **TIGHT)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_columns_of_extreme_scale(scale):
    X, y = _table(3)
    scales = np.where(np.arange(8) % 2, scale, 1 / scale)
    plain, scaled = SparseBayesRegressor().fit(X, y), SparseBayesRegressor().fit(X * scales, y)
    np.testing.assert_array_equal(plain.relevance_, scaled.relevance_)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
    ours, theirs = scaled.predict(X * scales, return_std=True), plain.predict(X, return_std=True)
    np.testing.assert_allclose(ours, theirs, **TIGHT)


def test_repeated_rows_give_one_candidate():
    X, y = _curve(3)
    noise = np.random.default_rng(4).standard_normal(80)
    model = RelevanceVectorRegressor().fit(np.concatenate([X, X]), np.concatenate([y, y + 0.05 * noise]))
    assert np.all(model.relevance_ < 80)
    assert len(np.unique(model.relevance_vectors_)) == len(model.relevance_)
