import display_models as models
import numpy as np
import pandas as pd
import pytest

from sparsebayes import DCT, RBF, Columns, RelevanceVectorRegressor, Spike, Wavelet
from sparsebayes.inspection import ComponentsDisplay


def signal(n=64, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0) + np.cos(np.pi * 9 * (np.arange(n) + 0.5) / n)
    y[n // 3] += 4
    return np.arange(float(n))[:, None], y + 0.1 * rng.standard_normal(n)


def test_the_parts_are_those_of_the_model_and_sum_to_the_prediction():
    X, y = signal()
    model = RelevanceVectorRegressor(Wavelet("haar") + DCT() + Spike(), prior="ric").fit(X, y)
    display = ComponentsDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.components, model.components_, atol=1e-10)
    np.testing.assert_allclose(display.components.sum(axis=0) + model.intercept_, model.predict(X))
    assert display.names == ["part0: Wavelet", "part1: DCT", "part2: Spike"]
    for k, line in enumerate(display.lines_[1:]):
        np.testing.assert_array_equal(line.get_xydata(), np.c_[X[:, 0], display.components[k]])
    np.testing.assert_array_equal(display.points_.get_ydata(), y)


def test_the_bands_are_those_of_the_parts_alone():
    X = models.inputs(50)
    model = RelevanceVectorRegressor(RBF(gamma=0.2) + Columns(), fit_intercept=False).fit(X, models.targets(X))
    display = ComponentsDisplay.from_estimator(model, X)
    for k in range(2):
        std = model.predict(X, return_std=True, parts=[k])[1]
        np.testing.assert_allclose(display.std[k] ** 2, std**2 - model.noise_variance_, atol=1e-9)
    corners = display.bands_[0].get_paths()[0].vertices[:, 1]
    assert corners.max() == pytest.approx((display.components[0] + 2 * display.std[0]).max())


def test_a_part_without_functions_is_exactly_zero():
    X = models.inputs(50)
    y = 2 * X[:, 0] - X[:, 1] + 0.3 * np.random.default_rng(0).standard_normal(50) + 5
    model = RelevanceVectorRegressor(Columns() + Spike(), prior="ric").fit(X, y)
    display = ComponentsDisplay.from_estimator(model, X)
    assert display.components[0].any()
    np.testing.assert_array_equal(display.components[1], 0.0)
    np.testing.assert_array_equal(display.std[1], 0.0)  # the intercept is in no part


@pytest.mark.parametrize("joint", [True, False])
def test_outputs_names_and_order(joint):
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 50)
    table = pd.DataFrame({"year": x})
    Y = np.c_[np.sin(2 * x) + x, 2 * np.sin(2 * x) - x] + 0.1 * rng.standard_normal((50, 2))
    model = RelevanceVectorRegressor(RBF(gamma=2.0) + Columns(), joint=joint).fit(table, Y)
    for output in range(2):
        display = ComponentsDisplay.from_estimator(model, table, Y, output=output, names=["wave", "trend"])
        order = np.argsort(x)
        total = display.components.sum(axis=0) + model.intercept_[output]
        np.testing.assert_allclose(total, model.predict(table)[order, output])
        np.testing.assert_array_equal(display.y, Y[order, output])
        assert display.names == ["wave", "trend"]
        assert display.ax_[-1].get_xlabel() == "year"
    if joint:
        s = np.sqrt(model.noise_variance_)
        one = ComponentsDisplay.from_estimator(model, table, output=0)
        np.testing.assert_allclose(display.std / s[1], one.std / s[0])


def test_rows_with_a_spike_are_circled_as_outliers():
    X = np.arange(64.0)[:, None]
    y = np.sin(X[:, 0] / 8) + 0.1 * np.random.default_rng(1).standard_normal(64)
    y[[20, 41]] += [5, -5]
    shuffled = np.random.default_rng(0).permutation(len(y))
    model = RelevanceVectorRegressor(RBF(gamma=0.01) + Spike(), prior="ric").fit(X[shuffled], y[shuffled])
    display = ComponentsDisplay.from_estimator(model, X[shuffled], y[shuffled])
    spiked = X[model.relevance_[model.relevance_ >= len(y)] - len(y), 0]  # samples are counted along x
    assert {X[20, 0], X[41, 0]} <= set(spiked)
    np.testing.assert_array_equal(display.x[display.outliers], spiked)
    at = np.searchsorted(X[:, 0], spiked)
    np.testing.assert_allclose(display.circles_.get_offsets(), np.c_[spiked, y[at]])
    assert display.ax_[0].get_title(loc="left") == f"y, all parts; {len(spiked)} outliers circled"
    assert [line.get_drawstyle() for line in display.lines_] == ["default", "default", "steps-mid"]
    without = RelevanceVectorRegressor(RBF(gamma=0.01) + Columns()).fit(X, y)
    assert ComponentsDisplay.from_estimator(without, X, y).circles_ is None


def test_names_are_no_formulas_and_dates_are_dates():
    _, y = signal()
    table = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=len(y), freq="h")})
    model = RelevanceVectorRegressor(RBF(width=1e12) + Spike(), prior="ric").fit(table, y)
    display = ComponentsDisplay.from_estimator(model, table, pd.Series(y, name="price_$_$"), names=["$_$", "b"])
    display.figure_.canvas.draw()
    np.testing.assert_array_equal(display.x, table["when"].to_numpy())


def test_bad_input_is_named():
    X, y = signal()
    model = RelevanceVectorRegressor(gamma=0.1).fit(X, y)
    with pytest.raises(ValueError, match="parts needs a kernel of several parts"):
        ComponentsDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="needs a regressor with a kernel of several parts, got SparseBayesClassifier"):
        ComponentsDisplay.from_estimator(models.classifier("columns"), X)
    model = RelevanceVectorRegressor(RBF(gamma=0.1) + Spike(), prior="ric").fit(X, y)
    with pytest.raises(ValueError, match="names must be 2, one for each part of the kernel, got 1"):
        ComponentsDisplay.from_estimator(model, X, names=["one"])
    with pytest.raises(ValueError, match=r"y must have 64 values, one per row of X, got shape \(63,\)"):
        ComponentsDisplay.from_estimator(model, X, y[1:])
    with pytest.raises(ValueError, match="ax must be 3 axes to draw the prediction and its parts in, got 1"):
        ComponentsDisplay.from_estimator(model, X, ax=ComponentsDisplay.from_estimator(model, X).ax_[0])


def test_arrays_of_other_libraries():
    torch = pytest.importorskip("torch")
    X, y = signal()
    kernel = RBF(gamma=0.01) + Spike()
    model = RelevanceVectorRegressor(kernel, prior="ric").fit(X, y)
    other = RelevanceVectorRegressor(kernel, prior="ric").fit(torch.tensor(X), torch.tensor(y))
    display = ComponentsDisplay.from_estimator(other, torch.tensor(X), torch.tensor(y))
    np.testing.assert_allclose(display.components, ComponentsDisplay.from_estimator(model, X).components, atol=1e-6)
    assert isinstance(display.prediction, np.ndarray)
