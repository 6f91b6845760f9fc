"""gamma="evidence" and gamma="ard": scales that suit the data, and which inputs matter."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from sparsebayes import (
    RBF,
    Columns,
    LinearSpline,
    Matern,
    MultiScale,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
)

LEARNED = ("evidence", "ard")


def ridge(seed, n=120, d=4, noise=0.1):
    """A function of inputs 0 and 1 alone."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    f = np.sin(4 * X[:, 0]) + X[:, 1]
    return X, f + noise * rng.standard_normal(n), f


@pytest.mark.parametrize("seed", range(3))
def test_inputs_that_do_not_matter_have_no_relevance(seed):
    X, y, f = ridge(seed)
    model = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    fixed = RelevanceVectorRegressor().fit(X, y)
    assert model.scales_.shape == model.input_relevance_.shape == (4,)
    assert model.input_relevance_[:2].min() > 30 * model.input_relevance_[2:].max()
    assert np.mean((model.predict(X) - f) ** 2) < 0.5 * np.mean((fixed.predict(X) - f) ** 2)
    assert model.log_evidence_ > fixed.log_evidence_


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # rough kernels select most rows
@pytest.mark.parametrize("kernel", ["rbf", "matern", "laplacian", "rational-quadratic", LinearSpline(), "poly"])
@pytest.mark.parametrize("gamma", LEARNED)
def test_kernels_with_scales_learn_them(kernel, gamma):
    X, y, _ = ridge(5, n=60, d=2)
    model = RelevanceVectorRegressor(kernel, gamma=gamma).fit(X, y)
    assert np.all(np.isfinite(model.scales_) & (model.scales_ > 0))
    assert np.all(np.isfinite(model.predict(X)))
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("gamma", ["evidence", "ard"])
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_modelled_by_functions_as_narrow_as_rows_are_apart(gamma, seed):
    rng = np.random.default_rng(seed)
    X, noise = rng.standard_normal((150, 5)), rng.standard_normal(150)
    model = RelevanceVectorRegressor(gamma=gamma).fit(X, noise)
    assert len(model.relevance_) <= 5
    assert model.noise_variance_ == pytest.approx(noise.var(), rel=0.1)
    assert len(RelevanceVectorClassifier(gamma=gamma).fit(X, noise > 0).relevance_) <= 5


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_modelled_on_many_rows_either(seed):
    rng = np.random.default_rng(seed)
    X, noise = rng.standard_normal((1200, 2)), rng.standard_normal(1200)
    model = RelevanceVectorRegressor(gamma="evidence").fit(X, noise)
    assert len(model.relevance_) <= 10
    assert model.noise_variance_ == pytest.approx(noise.var(), rel=0.05)


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # rough kernels select most rows
def test_one_width_is_near_the_best_of_a_grid():
    X, y, f = ridge(7, n=100, d=2)
    model = RelevanceVectorRegressor(gamma="evidence").fit(X, y)
    grid = [RelevanceVectorRegressor(gamma=g).fit(X, y) for g in np.geomspace(0.01, 100, 9)]
    errors = [np.mean((each.predict(X) - f) ** 2) for each in grid]
    assert model.scales_.shape == (2,)  # in the ratio of the spreads
    np.testing.assert_allclose(model.scales_ * X.var(axis=0), np.full(2, model.scales_[0] * X[:, 0].var()))
    assert np.mean((model.predict(X) - f) ** 2) < 1.5 * min(errors)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("gamma", LEARNED)
def test_classes_by_the_laplace_evidence(labels, gamma):
    rng = np.random.default_rng(labels)
    X = rng.standard_normal((150, 4))
    radius = np.hypot(X[:, 0], X[:, 1]) + 0.1 * rng.standard_normal(150)
    y = np.digitize(radius, [1.2] if labels == 2 else [0.9, 1.6])
    model = RelevanceVectorClassifier(gamma=gamma).fit(X, y)
    fixed = RelevanceVectorClassifier(gamma="scale").fit(X, y)
    narrow = RelevanceVectorClassifier(gamma=30.0).fit(X, y)
    X = rng.standard_normal((1000, 4))
    y = np.digitize(np.hypot(X[:, 0], X[:, 1]), [1.2] if labels == 2 else [0.9, 1.6])
    rival = fixed if gamma == "ard" else narrow
    assert np.mean(model.predict(X) != y) < 0.7 * np.mean(rival.predict(X) != y)
    if gamma == "ard":
        assert model.input_relevance_[:2].min() > 10 * model.input_relevance_[2:].max()


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # rough kernels select most rows
@pytest.mark.parametrize("gamma", LEARNED)
def test_units_of_the_target_do_not_matter(gamma):
    X, y, _ = ridge(1, n=60)
    one = RelevanceVectorRegressor(gamma=gamma).fit(X, y)
    other = RelevanceVectorRegressor(gamma=gamma).fit(X, 1e3 * y + 7)
    np.testing.assert_allclose(other.predict(X), 1e3 * one.predict(X) + 7, rtol=1e-3)


def test_units_of_the_inputs_do_not_matter():
    X, y, _ = ridge(2, n=80)
    units = np.asarray([1e-6, 1e5, 1.0, 1e3])
    one = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    other = RelevanceVectorRegressor(gamma="ard").fit(X * units + units, y)
    np.testing.assert_allclose(other.predict(X * units + units), one.predict(X), atol=0.03)
    np.testing.assert_allclose(other.scales_[:2] * units[:2] ** 2, one.scales_[:2], rtol=0.05)


@pytest.mark.parametrize("model", [RelevanceVectorRegressor, RelevanceVectorClassifier])
@pytest.mark.parametrize("gamma", LEARNED)
def test_degenerate_inputs_have_finite_answers(model, gamma):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(40)
    hard = {
        "constant": np.column_stack([x, np.full(40, 3.0)]),
        "identical": np.column_stack([x, x]),
        "all constant but one row": np.column_stack([x, np.eye(40)[3]]),
        "units": np.column_stack([1e-9 * x, 1e9 * rng.standard_normal(40)]),
        "more inputs than rows": np.column_stack([x[:12], rng.standard_normal((12, 30))[:, :]]),
        "repeated rows": np.column_stack([np.round(x), np.zeros(40)]),
    }
    for name, X in hard.items():
        y = np.sin(2 * x[: len(X)]) + 0.1 * rng.standard_normal(len(X))
        y = y if model is RelevanceVectorRegressor else y > 0
        fitted = model(gamma=gamma).fit(X, y)
        outputs = fitted.predict(X) if model is RelevanceVectorRegressor else fitted.predict_proba(X)
        assert np.all(np.isfinite(outputs)), name
        assert np.all(np.isfinite(fitted.input_relevance_)), name
        assert fitted.input_relevance_.shape == (X.shape[1],)
        if name == "constant":
            assert fitted.input_relevance_[1] == 0


def test_scales_of_a_dictionary_are_learned_where_it_has_some():
    X, y, _ = ridge(3, n=80, d=2)
    model = RelevanceVectorRegressor(RBF() + Columns(degree=2), gamma="ard").fit(X, y)
    assert model.scales_.shape == (2,)
    both = RelevanceVectorRegressor(RBF() + Matern(), gamma="ard").fit(X, y)
    assert both.scales_.shape == (4,)


@pytest.mark.parametrize("kernel", ["linear", lambda X, Z: X @ Z.T, Columns()])
def test_a_kernel_without_scales_cannot_learn_them(kernel):
    X, y, _ = ridge(3, n=20)
    with pytest.raises(ValueError, match=r"gamma='ard' needs a kernel with scales"):
        RelevanceVectorRegressor(kernel, gamma="ard").fit(X, y)


def test_a_known_noise_is_used_and_checked():
    X, y, _ = ridge(4, n=80, d=2)
    model = RelevanceVectorRegressor(gamma="ard", noise_variance=0.01).fit(X, y)
    assert model.noise_variance_ == pytest.approx(0.01)
    for wrong in (0, -1.0, "much"):
        with pytest.raises(ValueError, match="noise_variance must be"):
            RelevanceVectorRegressor(gamma="ard", noise_variance=wrong).fit(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_weights_count_rows_of_classes_whose_scales_are_learned(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.standard_normal((120, 2)), rng.integers(1, 3, 120)
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(120) > 0
    weighted = RelevanceVectorClassifier(gamma="evidence").fit(X, y, sample_weight=weights)
    repeated = RelevanceVectorClassifier(gamma="evidence").fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.scales_, repeated.scales_, rtol=1e-5)


def test_weights_count_rows():
    X, y, _ = ridge(6, n=60, d=2, noise=0.4)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    rows = np.repeat(np.arange(60), weights)
    model = RelevanceVectorRegressor(gamma="ard", noise_variance=0.16)  # copies alone would say 0
    one = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.scales_, other.scales_, rtol=0.02)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=0.02)


def test_a_model_can_be_cloned_pickled_and_fitted_again():
    X, y, _ = ridge(8, n=50, d=2)
    model = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))
    model.set_params(gamma=1.0).fit(X, y)
    assert not hasattr(model, "scales_")
    assert not hasattr(model, "input_relevance_")
    np.testing.assert_array_equal(model.predict(X), RelevanceVectorRegressor(gamma=1.0).fit(X, y).predict(X))


@pytest.mark.parametrize("model", [RelevanceVectorRegressor, RelevanceVectorClassifier])
def test_an_unknown_word_is_told_all_words(model):
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match="'scale', 'auto', 'evidence', 'ard', positive numbers or None, got 'foo'"):
        model(gamma="foo").fit(X, X[:, 0] > 0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1100])  # beyond 1000 rows through few centres
@pytest.mark.parametrize("gamma", LEARNED)
def test_a_kernel_at_several_widths_learns_the_scales_its_parts_share(gamma, n):
    X, y, _ = ridge(0, n=n, d=2)
    model = RelevanceVectorRegressor(MultiScale(RBF(), widths=(2.0, 0.5)), gamma=gamma).fit(X, y)
    assert model.scales_.shape == (2,)
    assert model.score(X, y) > 0.9
