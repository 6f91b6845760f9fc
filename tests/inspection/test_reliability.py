import display_models as models
import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from sparsebayes.inspection import ReliabilityDisplay

NEW = models.inputs(200, 9)


def wilson(k, n, z=1.959963984540054):
    p, centre = k / n, (k + z * z / 2) / (n + z * z)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return centre - half, centre + half


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("kind", models.CLASSIFIERS)
def test_two_classes(kind, strategy):
    model, X, y = models.classifier(kind), models.table(NEW), models.labels(NEW)
    display = ReliabilityDisplay.from_estimator(model, X, y, strategy=strategy, n_bins=7)
    p = model.predict_proba(X)[:, 1]
    frequency, probability = calibration_curve(y == "top", p, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(display.frequency, frequency)
    np.testing.assert_allclose(display.probability, probability)
    assert display.counts.sum() == 200
    wanted = wilson(display.frequency * display.counts, display.counts)
    np.testing.assert_allclose([display.low, display.high], np.clip(wanted, 0, 1), atol=1e-12)
    assert display.label == "top"
    same = ReliabilityDisplay.from_predictions(y, p, strategy=strategy, n_bins=7)
    np.testing.assert_array_equal(same.frequency, display.frequency)


def test_the_other_class_is_mirrored():
    model, X, y = models.classifier("columns"), models.table(NEW), models.labels(NEW)
    one, other = (ReliabilityDisplay.from_estimator(model, X, y, class_label=each) for each in ("top", "low"))
    np.testing.assert_allclose(other.frequency[::-1], 1 - one.frequency)
    np.testing.assert_allclose(other.probability[::-1], 1 - one.probability)


def test_more_classes():
    model, X, y = models.classifier("columns", 3), models.table(NEW), models.labels(NEW, 3)
    P = model.predict_proba(X)
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=1)
    assert display.frequency == pytest.approx(np.mean(model.predict(X) == y))
    assert display.probability == pytest.approx(P.max(axis=1).mean())
    assert display.ax_.get_xlabel() == "predicted probability of the predicted class"
    middle = ReliabilityDisplay.from_estimator(model, X, y, class_label="middle", n_bins=1)
    assert middle.frequency == pytest.approx(np.mean(y == "middle"))
    assert middle.probability == pytest.approx(P[:, 1].mean())


def test_what_is_drawn_is_what_is_stored():
    p = np.random.default_rng(0).uniform(size=300)
    display = ReliabilityDisplay.from_predictions(np.random.default_rng(1).uniform(size=300) < p, p)
    np.testing.assert_array_equal(display.line_.get_xydata(), np.c_[display.probability, display.frequency])
    bars = np.asarray([segment[:, 1] for segment in display.bars_.get_segments()])
    np.testing.assert_array_equal(bars, np.c_[display.low, display.high])
    assert ((display.low <= display.probability) & (display.probability <= display.high)).mean() > 0.75


def test_any_classifier_and_bad_input():
    X, y = NEW, models.labels(NEW)
    model = LogisticRegression().fit(X, y)
    assert ReliabilityDisplay.from_estimator(model, X, y).label == "top"
    with pytest.raises(ValueError, match="needs a classifier with predict_proba, got SparseBayesRegressor"):
        ReliabilityDisplay.from_estimator(models.regressor("columns"), X, y)
    with pytest.raises(ValueError, match=r"class_label must be one of the classes \['low', 'top'\], got 'grey'"):
        ReliabilityDisplay.from_estimator(model, X, y, class_label="grey")
    with pytest.raises(ValueError, match=r"y must have 200 values, one per row of X, got shape \(199,\)"):
        ReliabilityDisplay.from_estimator(model, X, y[1:])
    with pytest.raises(ValueError, match="probability must be numbers from 0 to 1"):
        ReliabilityDisplay.from_predictions([0, 1], [0.5, 1.5])
    with pytest.raises(ValueError, match="y_true must have 2 labels, one per probability"):
        ReliabilityDisplay.from_predictions([0, 1, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match="strategy must be one of"):
        ReliabilityDisplay.from_estimator(model, X, y, strategy="equal")
