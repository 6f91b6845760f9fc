import display_models as models
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sparsebayes import RBF, Columns, RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor
from sparsebayes.inspection import PartialDependenceDisplay
from sparsebayes.tables import TableEncoder

X = models.inputs(30, 4)
TABLE = models.table(X)


def by_covariance(model, X, j, value, noise):
    """Mean and standard deviation of the average of f, from the covariance of all rows."""
    moved = X.copy()
    moved[models.NAMES[j]] = value
    mean, covariance = model.predict(moved, return_cov=True)
    n = len(moved)
    f = np.moveaxis(covariance, -1, 0) if covariance.ndim == 3 else covariance
    f = f - np.asarray(noise)[..., None, None] * np.eye(n)
    return mean.mean(axis=0), np.sqrt(f.sum(axis=(-2, -1))) / n


@pytest.mark.parametrize(
    "make",
    [
        SparseBayesRegressor,
        lambda: RelevanceVectorRegressor(gamma=0.2),
        lambda: RelevanceVectorRegressor(gamma="ard"),
        lambda: RelevanceVectorRegressor(gamma="ard", variance="gp"),
        lambda: RelevanceVectorRegressor(RBF(gamma=0.2) + Columns()),
    ],
)
def test_the_band_is_that_of_the_average_jointly(make):
    data = models.inputs(50)
    model = make().fit(models.table(data), models.targets(data))
    display = PartialDependenceDisplay.from_estimator(model, TABLE, [0, "age"], grid_resolution=4)
    assert display.names == ["depth", "age"]
    for j, grid, mean, std in zip([0, 2], display.grids, display.mean, display.std, strict=True):
        np.testing.assert_allclose(grid, np.linspace(*np.quantile(X[:, j], [0.05, 0.95]), 4))
        wanted = [by_covariance(model, TABLE, j, value, model.noise_variance_) for value in grid]
        np.testing.assert_allclose(np.c_[mean, std], wanted, rtol=1e-6)


def test_it_is_not_the_average_of_the_standard_deviations():
    model = models.regressor("columns")
    display = PartialDependenceDisplay.from_estimator(model, TABLE, [0], grid_resolution=3)
    moved = TABLE.assign(depth=display.grids[0][0])
    std = np.sqrt(model.predict(moved, return_std=True)[1] ** 2 - model.noise_variance_)
    assert display.std[0][0] < 0.9 * std.mean()


@pytest.mark.parametrize("kind", ["columns", "kernel"])
@pytest.mark.parametrize("joint", [True, False])
def test_an_output_is_chosen(kind, joint):
    model = models.joint_regressor(kind, joint)
    for output in range(2):
        display = PartialDependenceDisplay.from_estimator(model, TABLE, [1], output=output, grid_resolution=3)
        for value, mean, std in zip(display.grids[0], display.mean[0], display.std[0], strict=True):
            if joint:
                wanted = [each[output] for each in by_covariance(model, TABLE, 1, value, model.noise_variance_)]
            else:
                own = model.estimators_[output]
                wanted = by_covariance(own, TABLE, 1, value, own.noise_variance_)
            np.testing.assert_allclose([mean, std], wanted, rtol=1e-6)


def test_a_pipeline_moves_the_inputs_that_it_was_given():
    model = models.regressor("pipeline")
    display = PartialDependenceDisplay.from_estimator(model, TABLE, ["width"], grid_resolution=3)
    for value, mean, std in zip(display.grids[0], display.mean[0], display.std[0], strict=True):
        wanted = by_covariance(model, TABLE, 1, value, model[-1].noise_variance_)
        np.testing.assert_allclose([mean, std], wanted, rtol=1e-6)


@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame, lambda X: pl.DataFrame(X, schema=list("abcd"))])
def test_any_table(table):
    data = models.inputs(50)
    model = SparseBayesRegressor().fit(table(data), models.targets(data))
    display = PartialDependenceDisplay.from_estimator(model, table(X), grid_resolution=3)
    own = SparseBayesRegressor().fit(data, models.targets(data))
    plain = PartialDependenceDisplay.from_estimator(own, X, grid_resolution=3)
    np.testing.assert_allclose([each[0] for each in display.mean], [each[0] for each in plain.mean])
    assert len(display.names) == 4


def test_columns_that_are_no_numbers_stay_as_they_are():
    data = models.table(models.inputs(60)).assign(kind=np.resize(["a", "b", "c"], 60))
    y = models.targets(data[models.NAMES].to_numpy()) + 2 * (data["kind"] == "b")
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encode, SparseBayesRegressor()).fit(data, y)
    display = PartialDependenceDisplay.from_estimator(model, data)
    assert display.names == models.NAMES
    assert display.mean[0][0] == pytest.approx(model.predict(data.assign(depth=display.grids[0][0])).mean())
    with pytest.raises(ValueError, match="features must be inputs that are numbers, got 'kind'"):
        PartialDependenceDisplay.from_estimator(model, data, ["kind"])


def one_weight():
    """A classifier of one weight, and quadrature over it."""
    data = models.inputs(60)[:, :1]
    y = data[:, 0] + np.random.default_rng(0).standard_normal(60) > 0
    model = SparseBayesClassifier(fit_intercept=False).fit(data, y)
    result = model._fitted.result.averaged or model._fitted.result
    u = np.linspace(-8, 8, 2001)
    share = np.exp(-0.5 * u**2) / np.exp(-0.5 * u**2).sum()
    return model, result.mean[0] + np.sqrt(result.covariance[0, 0]) * u, share


def test_the_probability_of_a_class_is_averaged_over_the_weights():
    model, weights, share = one_weight()
    display = PartialDependenceDisplay.from_estimator(model, X[:, :1], grid_resolution=5)
    for value, mean, std in zip(display.grids[0], display.mean[0], display.std[0], strict=True):
        p = 1 / (1 + np.exp(-value * weights))
        assert mean == pytest.approx(share @ p, abs=2e-3)
        assert std == pytest.approx(np.sqrt(share @ (p - share @ p) ** 2), abs=4e-3)


@pytest.mark.parametrize("kind", ["columns", "kernel", "pipeline"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_classes_are_averages_of_the_predictions(kind, classes):
    model = models.classifier(kind, classes)
    last = model[-1] if kind == "pipeline" else model
    calibrated, last.calibrated = getattr(last, "calibrated", False), False
    try:
        total = 0.0
        for label in last.classes_:
            display = PartialDependenceDisplay.from_estimator(model, TABLE, [0], class_label=label, grid_resolution=3)
            k, total = list(last.classes_).index(label), total + display.mean[0]
            wanted = [model.predict_proba(TABLE.assign(depth=value))[:, k].mean() for value in display.grids[0]]
            np.testing.assert_allclose(display.mean[0], wanted, atol=0.02)
            assert (display.std[0] > 0).all()
            assert display.label == f"average probability of {label}"
        np.testing.assert_allclose(total, 1.0)
    finally:
        last.calibrated = calibrated


def test_the_inputs_along_which_most_moves_are_chosen():
    data = np.random.default_rng(0).standard_normal((80, 14))
    y = data @ np.r_[np.arange(1.0, 14.0), 0.05] + 0.1 * np.random.default_rng(1).standard_normal(80)
    model = RelevanceVectorRegressor(gamma=0.01).fit(data, y)
    display = PartialDependenceDisplay.from_estimator(model, data, grid_resolution=3)
    assert display.names == [f"x{k}" for k in range(4, 13)]
    assert display.omitted == ("x0", "x1", "x2", "x3", "x13")
    title = display.figure_.get_suptitle()
    assert title == "9 of 14 inputs; the average moves less along x0, x1, x2 and 2 more"
    few = PartialDependenceDisplay.from_estimator(model, data[:, :14], features=[1, 13], grid_resolution=3)
    assert (few.names, few.omitted, few.figure_.get_suptitle()) == (["x1", "x13"], (), "")
    assert [text.get_text() for text in few.ax_[0].get_legend().get_texts()] == ["± 2 std"]


@pytest.mark.parametrize(("small", "drawn"), [(0.5, ["x3", "x12"]), (1e-3, ["x12"])])
def test_inputs_along_which_hardly_anything_moves_are_not_drawn(small, drawn):
    data = np.random.default_rng(0).standard_normal((80, 14))
    model = SparseBayesRegressor(noise_variance=1e-8).fit(data, data[:, 12] + small * data[:, 3])
    assert PartialDependenceDisplay.from_estimator(model, data, grid_resolution=3).names == drawn


@pytest.mark.parametrize("form", [str, "datetime64[us]"])
def test_dates_of_a_table_are_drawn_as_dates(form):
    data = models.inputs(60)
    table = models.table(data).assign(day=pd.date_range("2024-01-01", periods=60).astype(form))
    y = models.targets(data) + np.arange(60) / 10
    model = make_pipeline(TableEncoder(), SparseBayesRegressor()).fit(table, y)
    display = PartialDependenceDisplay.from_estimator(model, table, ["day"], grid_resolution=3)
    assert display.grids[0].dtype.kind == "M"
    moved = [model.predict(table.assign(day=value)).mean() for value in pd.DatetimeIndex(display.grids[0]).astype(form)]
    np.testing.assert_allclose(display.mean[0], moved)
    assert "day" in PartialDependenceDisplay.from_estimator(model, table, grid_resolution=3).names


@pytest.mark.parametrize("relevant", [[], [3], [3, 12]])
def test_of_many_inputs_those_along_which_nothing_moves_are_not_drawn(relevant):
    data = np.random.default_rng(0).standard_normal((80, 40))
    y = 3 * data[:, relevant].sum(axis=1) + 0.1 * np.random.default_rng(1).standard_normal(80)
    model = SparseBayesRegressor(prior="ric").fit(data, y)
    display = PartialDependenceDisplay.from_estimator(model, data, grid_resolution=3)
    assert display.names == ([f"x{j}" for j in sorted(model.relevance_)] or ["x0"])


@pytest.mark.parametrize("label", ["low", "top"])
def test_bands_of_probabilities_end_at_zero_and_one(label):
    model = models.classifier("columns")
    display = PartialDependenceDisplay.from_estimator(model, TABLE, class_label=label)
    half = 2 * np.concatenate(display.std)
    assert (np.concatenate(display.mean) < half).any() or (np.concatenate(display.mean) + half > 1).any()
    corners = np.concatenate([band.get_paths()[0].vertices[:, 1] for band in display.bands_])
    assert corners.min() >= 0
    assert corners.max() <= 1


def test_few_values_and_few_rows():
    data = np.c_[models.inputs(60)[:, 0], np.resize([0.0, 1.0, 5.0], 60)]
    model = SparseBayesRegressor().fit(data, data @ [1.0, 2.0] + 0.1 * np.random.default_rng(0).standard_normal(60))
    display = PartialDependenceDisplay.from_estimator(model, data, subsample=20)
    np.testing.assert_array_equal(display.grids[1], [0, 1, 5])
    again = PartialDependenceDisplay.from_estimator(model, data, subsample=20)
    np.testing.assert_array_equal(display.mean[0], again.mean[0])
    other = PartialDependenceDisplay.from_estimator(model, data, subsample=20, random_state=1)
    assert not np.array_equal(display.mean[0], other.mean[0])


def test_what_is_drawn_is_what_is_stored():
    display = PartialDependenceDisplay.from_estimator(models.regressor("columns"), TABLE)
    for k, (line, band) in enumerate(zip(display.lines_, display.bands_, strict=True)):
        np.testing.assert_array_equal(line.get_xydata(), np.c_[display.grids[k], display.mean[k]])
        corners = band.get_paths()[0].vertices[:, 1]
        assert corners.max() == pytest.approx((display.mean[k] + 2 * display.std[k]).max())
        assert display.ax_[k].get_xlabel() == models.NAMES[k]
    np.testing.assert_allclose(display.deciles[0], np.quantile(X[:, 0], np.arange(0.1, 0.95, 0.1)))


def test_bad_input_is_named():
    model = models.regressor("columns")
    with pytest.raises(ValueError, match="features must be numbers from 0 to 3 or names, got 'weight'"):
        PartialDependenceDisplay.from_estimator(model, TABLE, ["weight"])
    with pytest.raises(ValueError, match="ax must be 4 axes to draw the inputs in, got 1"):
        PartialDependenceDisplay.from_estimator(
            model, TABLE, ax=PartialDependenceDisplay.from_estimator(model, TABLE, [0]).ax_
        )
    with pytest.raises(ValueError, match="needs a regressor or classifier of this package, got BayesianRidge"):
        PartialDependenceDisplay.from_estimator(BayesianRidge().fit(X, X[:, 0]), X)
    with pytest.raises(ValueError, match=r"X must be rows to average over, got shape \(4,\)"):
        PartialDependenceDisplay.from_estimator(model, X[0])
    with pytest.raises(ValueError, match="X must be dense, since an input is set to values that are not 0"):
        PartialDependenceDisplay.from_estimator(model, csr_array(X))
    augmented = RelevanceVectorRegressor(gamma=0.2, variance="augmented").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="joint distribution of predictions, which variance='augmented' does not have"):
        PartialDependenceDisplay.from_estimator(augmented, X)
    with pytest.raises(ValueError, match="class_label must be None for a regressor"):
        PartialDependenceDisplay.from_estimator(model, TABLE, class_label="low")
