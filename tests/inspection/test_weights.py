from itertools import pairwise

import display_models as models
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.model_selection import GridSearchCV

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor, WaveletDenoiser
from sparsebayes.inspection import EvidenceDisplay, PITDisplay, ResidualsDisplay, WeightsDisplay


def stored(display):
    return dict(zip(display.names, np.c_[display.mean, display.std], strict=True))


def expected(names, mean, std):
    return dict(zip(names, np.c_[mean, std], strict=True))


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values)


@pytest.mark.parametrize("kind", ["columns", "kernel", "pipeline"])
def test_weights_of_a_regressor_are_those_of_the_posterior(kind):
    model = models.regressor(kind)
    last = model[-1] if kind == "pipeline" else model
    inputs = models.NAMES if kind == "pipeline" else None
    weights = last.dual_coef_ if kind == "kernel" else last.active_coef_
    display = WeightsDisplay.from_estimator(model)
    assert_same(
        stored(display), expected(last.get_feature_names_out(inputs), weights, np.diag(last.covariance_) ** 0.5)
    )
    assert (np.diff(np.abs(display.mean)) <= 0).all()
    if kind == "columns":
        assert set(display.names) <= set(models.NAMES)


@pytest.mark.parametrize("size", [1e-6, 1.0, 5e3, 5e5, 5e12])
def test_numbers_below_the_axis_do_not_touch(size):
    names = np.array([f"a column with a name that is very long {k}" for k in range(3)])
    display = WeightsDisplay(names, size * np.array([-1.0, 0.8, 0.1]), 0.1 * size * np.ones(3)).plot()
    display.figure_.canvas.draw()
    texts = [each.get_window_extent() for each in display.ax_.get_xticklabels()]
    assert all(right.x0 - left.x1 > 8 for left, right in pairwise(texts))


def test_order_by_standard_deviations():
    display = WeightsDisplay.from_estimator(models.regressor("columns"), order="ratio")
    assert (np.diff(np.abs(display.mean) / display.std) <= 0).all()


@pytest.mark.parametrize("kind", ["columns", "kernel"])
@pytest.mark.parametrize("joint", [True, False])
def test_weights_of_an_output(kind, joint):
    model = models.joint_regressor(kind, joint)
    for output in range(2):
        display = WeightsDisplay.from_estimator(model, output=output)
        own = model if joint else model.estimators_[output]
        weights = own.dual_coef_ if kind == "kernel" else own.active_coef_
        std = np.diag(own.covariance_) ** 0.5
        if joint:
            weights = weights[output]
            std = std * np.sqrt(own.noise_variance_[output] / own._fitted.result.noise_variance)
        assert_same(stored(display), expected(own.get_feature_names_out(), weights, std))
    with pytest.raises(
        ValueError, match="output must be a number from 0 to 1, one of the outputs of y, got None: pass output=0 or 1"
    ):
        WeightsDisplay.from_estimator(model)


@pytest.mark.parametrize("kind", ["columns", "kernel"])
def test_weights_of_a_class(kind):
    model = models.classifier(kind, 3)
    table = model.dual_coef_ if kind == "kernel" else model.active_coef_
    names, std = model.get_feature_names_out(), np.zeros(table.shape)
    std[model.terms_[:, 1], model.terms_[:, 0]] = np.diag(model.covariance_) ** 0.5
    for k, label in enumerate(model.classes_):
        display, mine = WeightsDisplay.from_estimator(model, class_label=label), np.isfinite(model.alpha_[k])
        assert_same(stored(display), expected(names[mine], table[k, mine], std[k, mine]))
    with pytest.raises(
        ValueError, match=r"class_label must be one of the classes \['low', 'middle', 'top'\], got None"
    ):
        WeightsDisplay.from_estimator(model)


def test_the_first_of_two_classes_has_the_other_sign():
    model = models.classifier("columns")
    second, first = (WeightsDisplay.from_estimator(model, class_label=each) for each in ("top", "low"))
    np.testing.assert_array_equal(first.mean, -second.mean)
    np.testing.assert_array_equal(WeightsDisplay.from_estimator(model).mean, second.mean)
    np.testing.assert_array_equal(sorted(np.abs(first.mean)), sorted(np.abs(model.active_coef_[0])))


@pytest.mark.parametrize(("snapshots", "joint"), [(1, True), (2, True), (2, False)])
def test_weights_of_atoms(snapshots, joint):
    model = models.recovery(snapshots, joint)
    output = None if snapshots == 1 else 1
    display = WeightsDisplay.from_estimator(model, output=output)
    coef, std = (np.atleast_2d(each)[output or 0] for each in (model.coef_, model.coef_std_))
    J = np.flatnonzero(std)
    assert_same(stored(display), expected([f"atom {j}" for j in J], coef[J], std[J]))


def test_complex_weights_are_drawn_by_their_size():
    model = models.recovery(as_complex=True)
    display = WeightsDisplay.from_estimator(model)
    J = model.support_
    wanted = expected(model.get_feature_names_out(), np.abs(model.coef_[J]), model.coef_std_[J] / np.sqrt(2))
    assert_same(stored(display), wanted)
    assert display.ax_.get_xlabel().startswith("|weight|")
    draws = model.coef_[J[0]] + model.coef_std_[J[0]] * np.random.default_rng(0).standard_normal((2, 40000)).T.dot(
        np.asarray([1, 1j]) / np.sqrt(2)
    )
    assert stored(display)[f"atom {J[0]}"][1] == pytest.approx(np.abs(draws).std(), rel=0.02)


def test_of_a_search_the_best_estimator_is_drawn():
    X = models.inputs()
    search = GridSearchCV(SparseBayesRegressor(), {"prior": ["uniform", "bic"]}, cv=2).fit(X, models.targets(X))
    best = WeightsDisplay.from_estimator(search.best_estimator_)
    np.testing.assert_array_equal(WeightsDisplay.from_estimator(search).mean, best.mean)
    y = models.targets(X)
    pit = PITDisplay.from_estimator(search, X, y).pit
    np.testing.assert_array_equal(pit, PITDisplay.from_estimator(search.best_estimator_, X, y).pit)


def test_what_is_drawn_is_cut_and_the_rest_is_counted():
    model = models.regressor("columns")
    display = WeightsDisplay.from_estimator(model, max_weights=2)
    np.testing.assert_array_equal(display.points_.get_xdata(), display.mean[:2])
    bars = np.asarray([segment[:, 0] for segment in display.bars_.get_segments()])
    np.testing.assert_allclose(bars, display.mean[:2, None] + np.outer(display.std[:2], [-2, 2]))
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == list(display.names[:2])
    assert f"; {len(display.mean) - 2} more not shown" in display.ax_.get_xlabel()
    low, high = display.ax_.get_ylim()
    assert low > high  # the largest is at the top


def test_long_names_and_signs_do_not_break_the_axis():
    names = np.asarray(["cost ($) of the long distance transport of goods", "a_b$^"], dtype=object)
    display = WeightsDisplay(names, np.ones(2), np.ones(2)).plot()
    texts = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert len(texts[0]) < 40
    assert "…" in texts[0]
    display.figure_.canvas.draw()


def test_a_model_without_weights_and_bad_arguments_are_named():
    with pytest.raises(ValueError, match="needs a model with weights of selected functions, got WaveletDenoiser"):
        WeightsDisplay.from_estimator(WaveletDenoiser().fit(np.arange(64.0)))
    model = models.regressor("columns")
    with pytest.raises(ValueError, match=r"order must be one of \['weight', 'ratio'\], got 'size'"):
        WeightsDisplay.from_estimator(model, order="size")
    with pytest.raises(ValueError, match="max_weights must be an integer >= 1, got 0"):
        WeightsDisplay.from_estimator(model, max_weights=0)
    with pytest.raises(ValueError, match="output must be None for a model of a single output, got 1"):
        WeightsDisplay.from_estimator(model, output=1)
    with pytest.raises(ValueError, match="class_label must be None for a regressor, got 'low'"):
        WeightsDisplay.from_estimator(model, class_label="low")


def test_a_model_without_functions_says_so():
    X = models.inputs()
    with pytest.warns(UserWarning, match="y is constant"):
        model = SparseBayesRegressor().fit(X, np.full(len(X), 3.0))
    (text,) = WeightsDisplay.from_estimator(model).ax_.texts
    assert text.get_text() == "no functions selected"
    (text,) = EvidenceDisplay.from_estimator(model).ax_.texts
    assert text.get_text() == "no moves: the target is constant"
    with pytest.raises(ValueError, match=r"ResidualsDisplay needs predictions with noise; the target .* is constant"):
        ResidualsDisplay.from_estimator(model, X, np.full(len(X), 3.0))


def test_a_model_without_functions_is_an_empty_axis():
    with pytest.warns(UserWarning, match="y"):
        model = RelevanceVectorRegressor(gamma=1.0).fit(models.inputs(), np.ones(60))
    display = WeightsDisplay.from_estimator(model)
    assert len(display.mean) == 0
    display.figure_.canvas.draw()
    assert pyplot.get_fignums()
