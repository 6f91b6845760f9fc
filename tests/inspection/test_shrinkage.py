import display_models as models
import numpy as np
import pytest

from sparsebayes import WaveletDenoiser
from sparsebayes.datasets import make_signal
from sparsebayes.inspection import ShrinkageDisplay
from sparsebayes.signals.wavelet_transform import WaveletOperator


def test_observed_coefficients_are_those_of_the_transform():
    y = make_signal("doppler", 256, random_state=0)[1]
    model = WaveletDenoiser(boundary="periodic", prior="bic").fit(y)
    display = ShrinkageDisplay.from_estimator(model, y)
    operator = WaveletOperator((256,), "sym8")
    np.testing.assert_allclose(display.observed, operator.analyze(y - y.mean()))
    np.testing.assert_array_equal(display.mean, model.coef_)
    assert display.noise_std**2 == pytest.approx(model.noise_variance_)
    for band in model.bands_:
        assert (display.level[band.where] == (band.level if band.kind else 0)).all()
    assert (np.abs(display.mean) <= np.abs(display.observed) + 1e-12).all()


@pytest.mark.parametrize("shape", [(200,), (40, 50), (16, 16, 16)])
def test_signals_images_and_volumes(shape):
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.standard_normal(shape), axis=0) + rng.standard_normal(shape)
    display = ShrinkageDisplay.from_signal(x, shifts=0)
    drawn = {level: points.get_offsets() for level, points in display.points_.items()}
    assert drawn.keys() == set(np.unique(display.level).tolist())
    for level, points in drawn.items():
        mine = display.level == level
        if mine.sum() <= 3000:
            wanted = np.c_[display.observed, display.mean][mine] / display.noise_std
            np.testing.assert_allclose(points, wanted)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[0] == "level 1 (finest)"
    assert texts[-1] == "averages"


def test_missing_samples_and_no_noise():
    y = make_signal("heavisine", 128, random_state=0)[1]
    y[20:30] = np.nan
    assert len(ShrinkageDisplay.from_signal(y).observed) >= 128
    steps = np.repeat([0.0, 1.0, 3.0, 2.0], 32)
    display = ShrinkageDisplay.from_signal(steps, wavelet="haar", boundary="periodic")
    np.testing.assert_allclose(display.mean, display.observed)
    assert "noise" not in display.ax_.get_xlabel() or display.noise_std > 0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="needs a WaveletDenoiser, got SparseBayesRegressor"):
        ShrinkageDisplay.from_estimator(models.regressor("columns"), np.zeros(8))
    model = WaveletDenoiser().fit(np.random.default_rng(0).standard_normal(64))
    with pytest.raises(ValueError, match=r"X must be one signal with 1 axes to be drawn, got shape \(2, 64\)"):
        ShrinkageDisplay.from_estimator(model, np.random.default_rng(0).standard_normal((2, 64)))


def test_under_a_flat_prior_and_known_noise_the_curve_is_known():
    x = make_signal("doppler", 256, random_state=0)[1]
    display = ShrinkageDisplay.from_signal(x, prior="uniform", noise_variance=0.05**2, shifts=0)
    assert display.noise_std == pytest.approx(0.05)
    mine = display.level > 0
    t = display.observed[mine] / 0.05
    # the evidence of t ~ N(0, 1 + v) is largest at v = t² − 1 if that is positive, where the mean is t·v/(1 + v)
    v = np.maximum(t**2 - 1, 0)
    np.testing.assert_allclose(display.mean[mine], 0.05 * t * v / (1 + v), atol=1e-12)
    assert 0 < (v > 0).sum() < len(v)
