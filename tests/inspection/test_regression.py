import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

from sparsebayes import Bias, LinearSpline, RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc
from sparsebayes.inspection import RegressionDisplay, ResidualsDisplay


def fitted(seed=0, **parameters):
    X, y, _ = make_sinc(60, random_state=seed)
    return RelevanceVectorRegressor(**{"gamma": 0.1, **parameters}).fit(X, y), X, y


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_is_the_prediction_and_the_band_two_standard_deviations(seed):
    model, X, y = fitted(seed)
    display = RegressionDisplay.from_estimator(model, X, y)
    mean, std = model.predict(display.grid[:, None], return_std=True)
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack([display.grid, mean]))
    corners = display.band_.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((mean + 2 * std).max())
    assert corners[:, 1].min() == pytest.approx((mean - 2 * std).min())
    assert display.grid[0] <= X.min()
    assert display.grid[-1] >= X.max()


def test_circles_lie_on_the_data_points_that_were_kept():
    model, X, y = fitted()
    display = RegressionDisplay.from_estimator(model, X, y)
    kept = model.relevance_
    np.testing.assert_array_equal(display.circles_.get_offsets(), np.column_stack([X[kept, 0], y[kept]]))
    np.testing.assert_array_equal(display.points_.get_offsets(), np.column_stack([X[:, 0], y]))


def test_without_targets_circles_lie_on_the_curve():
    model, X, _ = fitted()
    display = RegressionDisplay.from_estimator(model, X)
    assert display.points_ is None
    np.testing.assert_allclose(display.heights, model.predict(model.relevance_vectors_))


def test_a_vector_that_is_not_among_the_points_drawn_lies_on_the_curve():
    model, X, y = fitted()
    left_out = model.relevance_[0]
    rest = np.delete(np.arange(len(X)), left_out)
    display = RegressionDisplay.from_estimator(model, X[rest], y[rest])
    assert display.heights[0] == pytest.approx(model.predict(X[[left_out]])[0])
    np.testing.assert_array_equal(display.heights[1:], y[model.relevance_[1:]])


def test_functions_without_a_centre_get_no_circle():
    model, X, y = fitted(kernel=LinearSpline() + Bias(), fit_intercept=False)
    display = RegressionDisplay.from_estimator(model, X, y)
    assert len(display.vectors) == (model.relevance_ < len(X)).sum()


def test_any_regressor_with_a_standard_deviation_can_be_drawn():
    X, y, _ = make_sinc(30, random_state=0)
    display = RegressionDisplay.from_estimator(GaussianProcessRegressor(alpha=0.01).fit(X, y), X, y)
    assert display.circles_ is None


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_column_names_are_kept(table):
    X, y, _ = make_sinc(40, random_state=1)
    named = table({"depth": X[:, 0]})
    display = RegressionDisplay.from_estimator(RelevanceVectorRegressor().fit(named, y), named, y)
    plain = RegressionDisplay.from_estimator(RelevanceVectorRegressor().fit(X, y), X, y)
    np.testing.assert_allclose(display.mean, plain.mean)
    np.testing.assert_array_equal(display.heights, plain.heights)


def test_it_draws_the_range_of_the_rows_and_does_not_extrapolate():
    x = np.linspace(0, 60, 240)
    y = 10 + 0.1 * x + np.sin(3 * x)
    model = RelevanceVectorRegressor(gamma=4.0).fit(x[:, None], y)
    display = RegressionDisplay.from_estimator(model, x[:, None], y)  # an ExtrapolationWarning would be an error
    assert (display.grid[0], display.grid[-1]) == (0, 60)
    assert display.ax_.get_xlim()[0] < 0 < 60 < display.ax_.get_xlim()[1]
    low, high = y.min() - 2 * display.std.max(), y.max() + 2 * display.std.max()
    assert low - 0.2 * np.ptp(y) < display.mean.min() < display.mean.max() < high + 0.2 * np.ptp(y)


@pytest.mark.parametrize("name", ["price_$_$2", "a name that is far too long to stand beside an axis, is it not"])
def test_any_name_of_the_target_can_be_drawn(name):
    model, X, y = fitted()
    for Display in (RegressionDisplay, ResidualsDisplay):
        display = Display.from_estimator(model, X, pd.Series(y, name=name))
        display.figure_.canvas.draw()
        assert len(np.ravel(display.ax_)[0].get_ylabel()) < 60


def test_vectors_of_pipelines_and_of_one_of_several_outputs_are_circled():
    _, X, y = fitted()
    for before in (StandardScaler(), MinMaxScaler((3, 4))):
        model = make_pipeline(before, RelevanceVectorRegressor()).fit(X, y)
        display = RegressionDisplay.from_estimator(model, X, y)
        kept = model[-1].relevance_
        np.testing.assert_allclose(display.circles_.get_offsets(), np.c_[X[kept, 0], y[kept]], atol=1e-12)
    Y = np.c_[y, y**2]
    model = RelevanceVectorRegressor(gamma=0.1, joint=False).fit(X, Y)
    display = RegressionDisplay.from_estimator(model, X, Y, output=1)
    np.testing.assert_array_equal(display.vectors, model.estimators_[1].relevance_vectors_[:, 0])
    one_way = make_pipeline(FunctionTransformer(np.tanh), Normalizer(), RelevanceVectorRegressor(gamma=1.0))
    assert RegressionDisplay.from_estimator(one_way.fit(X, y), X, y).circles_ is None


def test_known_noise_is_drawn_at_each_point():
    _, X, y = fitted()
    variance = np.linspace(0.01, 0.04, len(y))
    model = RelevanceVectorRegressor(gamma=0.1).fit(X, y, noise_variance=variance)
    display = RegressionDisplay.from_estimator(model, X, y, noise_variance=variance)
    half = 2 * np.sqrt(variance)
    wanted = np.stack([np.c_[X[:, 0], y - half], np.c_[X[:, 0], y + half]], axis=1)
    np.testing.assert_allclose(display.bars_.get_segments(), wanted)
    assert RegressionDisplay.from_estimator(model, X, y).bars_ is None


def test_dates_are_drawn_as_dates():
    _, _, y = fitted()
    table = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=len(y))})
    model = RelevanceVectorRegressor().fit(table, y)
    display = RegressionDisplay.from_estimator(model, table, y)
    np.testing.assert_array_equal(display.X, table["when"].to_numpy())
    assert (display.grid[0], display.grid[-1]) == (display.X[0], display.X[-1])
    np.testing.assert_array_equal(display.vectors, display.X[model.relevance_])
    display.figure_.canvas.draw()
    assert display.ax_.xaxis.get_offset_text().get_text().startswith("2020")


def test_many_circles_are_small():
    few, many = (
        RegressionDisplay(np.arange(9.0), np.zeros(9), np.ones(9), None, None, np.zeros(n), np.zeros(n)).plot()
        for n in (5, 200)
    )
    assert many.circles_.get_sizes()[0] <= 0.25 * few.circles_.get_sizes()[0]


def test_it_draws_where_it_is_told_to_and_again():
    model, X, y = fitted()
    _, ax = pyplot.subplots()
    display = RegressionDisplay.from_estimator(model, X, y, ax=ax)
    assert display.ax_ is ax
    other = display.plot()
    assert other is display
    assert display.ax_ is not ax
    assert display.figure_ is display.ax_.figure
    assert ax.get_legend_handles_labels()[1] == display.ax_.get_legend_handles_labels()[1]


def test_bad_input_is_named():
    model, X, y = fitted()
    with pytest.raises(
        ValueError, match=r"X must have one column .* got shape \(60, 2\); use PartialDependenceDisplay or Res"
    ):
        RegressionDisplay.from_estimator(model, np.c_[X, X], y)
    with pytest.raises(ValueError, match=r"y must have 60 values, one per row of X, got shape \(59,\)"):
        RegressionDisplay.from_estimator(model, X, y[1:])
    with pytest.raises(NotFittedError):
        RegressionDisplay.from_estimator(RelevanceVectorRegressor(), X, y)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    model, X, y = fitted()
    with pytest.raises(ImportError, match=r"pip install 'sparsebayes\[plot\]'"):
        RegressionDisplay.from_estimator(model, X, y)


@pytest.mark.parametrize("joint", [True, False])
def test_an_output_is_chosen_and_named(joint):
    X, y, _ = make_sinc(40, random_state=0)
    table, Y = pd.DataFrame({"depth": X[:, 0]}), np.c_[y, 1 - 2 * y]
    model = RelevanceVectorRegressor(gamma=0.1, joint=joint).fit(table, Y)
    display = RegressionDisplay.from_estimator(model, table, Y, output=1)
    mean, std = model.predict(pd.DataFrame({"depth": display.grid}), return_std=True)
    np.testing.assert_array_equal(np.c_[display.mean, display.std], np.c_[mean[:, 1], std[:, 1]])
    np.testing.assert_array_equal(display.y, Y[:, 1])
    named = RegressionDisplay.from_estimator(model, table, pd.Series(Y[:, 0], name="load"), output=0)
    assert (named.ax_.get_xlabel(), named.ax_.get_ylabel()) == ("depth", "load")
    with pytest.raises(ValueError, match="output must be a number from 0 to 1"):
        RegressionDisplay.from_estimator(model, table, Y)
