import display_models as models
import numpy as np
import pandas as pd
import pytest
from scipy.stats import gennorm, norm
from sklearn.gaussian_process import GaussianProcessRegressor

from sparsebayes import GeneralizedNormal, RelevanceVectorRegressor, SparseBayesClassifier
from sparsebayes.datasets import make_sinc
from sparsebayes.inspection import PITDisplay, ResidualsDisplay

NEW = models.inputs(50, 9)


@pytest.mark.parametrize("kind", models.REGRESSORS)
def test_transforms_are_the_predictive_distribution_at_the_target(kind):
    model, X, y = models.regressor(kind), models.table(NEW), models.targets(NEW, 5)
    mean, std = model.predict(X, return_std=True)
    display = PITDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.pit, norm.cdf(y, mean, std), rtol=1e-9)
    np.testing.assert_array_equal(PITDisplay.from_predictions(y, mean, std).pit, display.pit)
    last = model[-1] if kind == "pipeline" else model
    inputs = model[:-1].transform(X) if kind == "pipeline" else X
    for level in (0.3, 0.9):
        low, high = last.predict_interval(inputs, level)
        share = display.coverage[np.isclose(display.levels, level)]
        assert share == pytest.approx(np.mean((low <= y) & (y <= high)))


@pytest.mark.parametrize("joint", [True, False])
def test_an_output_is_chosen(joint):
    model, X, Y = models.joint_regressor("columns", joint), models.table(NEW), models.outputs(NEW)
    mean, std = model.predict(X, return_std=True)
    for output in range(2):
        wanted = norm.cdf(Y[:, output], mean[:, output], std[:, output])
        for y in (Y, pd.DataFrame(Y), Y[:, output]):
            display = PITDisplay.from_estimator(model, X, y, output=output)
            np.testing.assert_allclose(display.pit, wanted, rtol=1e-9)
    with pytest.raises(ValueError, match="output must be a number from 0 to 1"):
        PITDisplay.from_estimator(model, X, Y)


@pytest.mark.parametrize("shape", [8.0])
def test_other_noise_is_averaged_over_the_posterior(shape):
    X, y, _ = make_sinc(40, random_state=0)
    model = RelevanceVectorRegressor(gamma=0.1, likelihood=GeneralizedNormal(shape=shape)).fit(X, y)
    pit = PITDisplay.from_estimator(model, X, y).pit
    for level in (0.5, 0.95):
        low, high = model.predict_interval(X, level)
        inside = np.abs(2 * pit - 1) <= level
        np.testing.assert_array_equal(inside, (low <= y) & (y <= high))
        ends = [PITDisplay.from_estimator(model, X, each).pit for each in (low, high)]
        np.testing.assert_allclose(ends, np.outer([0.5 - level / 2, 0.5 + level / 2], np.ones(40)), atol=1e-4)
    mean, std = model.predict(X, return_std=True)
    scale = np.sqrt(model.noise_variance_) / gennorm.std(shape)
    draws = np.random.default_rng(0).standard_normal((40, 20000))
    f = mean[:, None] + np.sqrt(std**2 - model.noise_variance_)[:, None] * draws
    np.testing.assert_allclose(pit, gennorm.cdf(y[:, None], shape, f, scale).mean(axis=1), atol=0.01)


def test_known_noise_is_added():
    X, y, _ = make_sinc(40, random_state=0)
    noise = np.random.default_rng(0).uniform(0.005, 0.02, 40)
    model = RelevanceVectorRegressor(gamma=0.1).fit(X, y, noise_variance=noise)
    mean, std = model.predict(X, return_std=True)
    display = PITDisplay.from_estimator(model, X, y, noise_variance=noise)
    np.testing.assert_allclose(display.pit, norm.cdf(y, mean, np.sqrt(std**2 + noise)))
    with pytest.raises(ValueError, match=r"noise_variance of PITDisplay must be 40 positive numbers.* got None"):
        PITDisplay.from_estimator(model, X, y)
    with pytest.raises(ValueError, match=r"noise_variance of ResidualsDisplay must be None, got shape \(60,\)"):
        ResidualsDisplay.from_estimator(
            models.regressor("columns"), models.table(models.inputs()), np.zeros(60), noise_variance=np.ones(60)
        )


def test_any_regressor_with_a_standard_deviation_can_be_judged():
    X, y, _ = make_sinc(30, random_state=0)
    model = GaussianProcessRegressor(alpha=0.01).fit(X, y)
    np.testing.assert_allclose(
        PITDisplay.from_estimator(model, X, y).pit, norm.cdf(y, *model.predict(X, return_std=True))
    )


def test_the_bands_hold_what_they_say():
    rng = np.random.default_rng(0)
    inside_bin, inside_share = [], []
    for _ in range(200):
        display = PITDisplay._of_scores(rng.standard_normal(80), 8)
        low, high = display.density_band
        inside_bin.append((display.density >= low - 1e-12) & (display.density <= high + 1e-12))
        low, high = display.coverage_band
        inside_share.append((display.coverage >= low - 1e-12) & (display.coverage <= high + 1e-12))
    assert 0.94 < np.mean(inside_bin) < 0.99
    assert 0.94 < np.mean(inside_share) < 0.99


def test_what_is_drawn_is_what_is_stored():
    y = np.random.default_rng(0).standard_normal(100)
    display = PITDisplay.from_predictions(y, np.zeros(100), np.ones(100))
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_], display.density)
    assert np.sum(display.density * np.diff(display.edges)) == pytest.approx(1)
    np.testing.assert_array_equal(display.line_.get_xydata(), np.c_[display.levels, display.coverage])
    alone = display.plot(display.ax_[0])
    assert len(alone.ax_) == 1
    assert alone.line_ is None
    with pytest.raises(ValueError, match="ax must be 1 to 2 axes to draw in, got 3"):
        display.plot([display.ax_[0]] * 3)


@pytest.mark.parametrize("Display", [PITDisplay, ResidualsDisplay])
def test_bad_input_is_named(Display):
    model, X, y = models.regressor("columns"), models.table(NEW), models.targets(NEW)
    with pytest.raises(
        ValueError, match=r"mean must be finite numbers, one per row, of shape \(49,\), got shape \(50,\)"
    ):
        Display.from_estimator(model, X, y[1:])
    with pytest.raises(ValueError, match=r"std must be positive, got 0"):
        Display.from_predictions(y, y, np.zeros(50))
    with pytest.raises(ValueError, match="y_true must be finite"):
        Display.from_predictions(np.full(3, np.nan), np.zeros(3), np.ones(3))
    classifier = SparseBayesClassifier().fit(X, y > 0)
    with pytest.raises(
        ValueError, match=r"Display needs a regressor with predict\(X, return_std=True\), got SparseBayesC"
    ):
        Display.from_estimator(classifier, X, y)


def test_residuals_and_scores():
    model, X = models.regressor("columns"), models.table(NEW)
    y = pd.Series(models.targets(NEW, 5), name="force (kN)")
    display = ResidualsDisplay.from_estimator(model, X, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(display.residuals, y - mean)
    np.testing.assert_allclose(display.scores, (y - mean) / std)
    beyond = np.abs(y - mean) > 2 * std
    np.testing.assert_allclose(display.outside_.get_offsets(), np.c_[mean, y - mean][beyond])
    np.testing.assert_allclose(display.inside_.get_offsets(), np.c_[mean, y - mean][~beyond])
    bars = np.asarray([segment[:, 1] for segment in display.bars_.get_segments()])
    np.testing.assert_allclose(bars, np.outer(std, [-2, 2]))
    np.testing.assert_array_equal(display.quantiles_.get_ydata(), np.sort(display.scores))
    assert display.ax_[0].get_xlabel() == "predicted force (kN)"
    assert f"{100 * beyond.mean():.1f} % beyond" in display.ax_[0].get_title()


def test_the_band_of_the_quantiles_holds_what_it_says():
    rng, inside = np.random.default_rng(1), []
    display = ResidualsDisplay.from_predictions(rng.standard_normal(60), np.zeros(60), np.ones(60))
    corners = display.quantile_band_.get_paths()[0].vertices
    x = display.quantiles_.get_xdata()
    low, high = (np.asarray([pick(corners[np.isclose(corners[:, 0], each), 1]) for each in x]) for pick in (min, max))
    for _ in range(300):
        z = np.sort(rng.standard_normal(60))
        inside.append((z >= low) & (z <= high))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.01)
