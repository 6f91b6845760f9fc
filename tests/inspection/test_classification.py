import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RBF, Bias, RelevanceVectorClassifier
from sparsebayes.datasets import make_ripley
from sparsebayes.inspection import ClassificationDisplay
from sparsebayes.inspection._matplotlib import shortened


def rows(classes, inputs, seed=0, n=90):
    """Inputs whose first column tells the classes apart, but for some noise; labels are words."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, inputs))
    number = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(n), np.linspace(-2, 2, classes + 1)[1:-1])
    return X, np.asarray(["blue", "green", "red", "white"])[number]


def fitted(classes, inputs, seed=0, **parameters):
    X, y = rows(classes, inputs, seed)
    return RelevanceVectorClassifier(**{"gamma": 0.5, **parameters}).fit(X, y), X, y


def places(display):
    """The points of the grid in the order of the stored probabilities, (G·G, 2)."""
    first, second = display.grid
    return np.stack(np.broadcast_arrays(first[None, :], second[:, None]), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_the_field_holds_the_probabilities_and_covers_the_data(classes, seed):
    model, X, y = fitted(classes, 2, seed)
    display = ClassificationDisplay.from_estimator(model, X, y)
    shown = display.probabilities.reshape(classes, -1).T
    np.testing.assert_allclose(shown, model.predict_proba(places(display)), rtol=1e-12)
    assert (display.grid[:, 0] <= X.min(axis=0)).all()
    assert (display.grid[:, -1] >= X.max(axis=0)).all()
    left, right, bottom, top = display.field_.get_extent()
    assert (left, right) == display.ax_.get_xlim()
    assert (bottom, top) == display.ax_.get_ylim()


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_a_place_has_the_colour_of_the_class_predicted_there_and_more_of_it_where_it_is_sure(classes):
    model, X, y = fitted(classes, 2)
    display = ClassificationDisplay.from_estimator(model, X, y)
    full = {str(points.get_label()): points.get_facecolor()[0, :3] for points in display.points_}
    departs_most = 1 - np.stack([full[label] for label in model.predict(places(display))])
    departure = 1 - np.asarray(display.field_.get_array()).reshape(-1, 3)  # from white
    strength = departure.max(axis=1) / departs_most.max(axis=1)
    np.testing.assert_allclose(departure, strength[:, None] * departs_most, atol=1e-12)
    certain = display.probabilities.max(axis=0).ravel()
    assert (np.diff(strength[np.argsort(certain)]) >= -1e-12).all()
    assert strength.max() <= 0.5


def test_two_classes_have_the_contours_of_the_probability_of_the_second():
    model, X, y = fitted(2, 2)
    display = ClassificationDisplay.from_estimator(model, X, y)
    for contour, level in zip(display.contours_, (0.25, 0.5, 0.75), strict=True):
        on_it = contour.get_paths()[0].vertices
        np.testing.assert_allclose(model.predict_proba(on_it)[:, 1], level, atol=0.01)


def test_more_classes_have_the_borders_between_the_predictions():
    model, X, y = fitted(3, 2)
    display = ClassificationDisplay.from_estimator(model, X, y)
    assert len(display.contours_) == 3
    for contour in display.contours_:
        p = np.sort(model.predict_proba(contour.get_paths()[0].vertices), axis=1)
        np.testing.assert_allclose(p[:, -1], p[:, -2], atol=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_contour_that_is_nowhere_reached_is_left_out(classes):
    model, X, y = fitted(classes, 2)
    near = X[y == "blue"][:1] + 0.01 * np.random.default_rng(0).standard_normal((10, 2))
    near[:, 0] -= near[:, 0].max() + 2
    assert ClassificationDisplay.from_estimator(model, near).contours_ == []


@pytest.mark.parametrize("inputs", [1, 2])
def test_points_lie_with_their_class_and_circles_on_the_points_that_were_kept(inputs):
    model, X, y = fitted(3, inputs)
    display = ClassificationDisplay.from_estimator(model, X, y)
    offsets = np.concatenate([points.get_offsets() for points in display.points_])
    in_order = np.concatenate([np.flatnonzero(y == label) for label in model.classes_])
    np.testing.assert_array_equal(offsets[:, :inputs], X[in_order])
    kept = np.argsort(in_order)[model.relevance_]
    np.testing.assert_array_equal(display.circles_.get_offsets(), offsets[kept])
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels[-4:] == [*model.classes_, f"relevance vectors ({len(kept)})"]


def test_two_classes_on_one_input_are_a_curve_between_zero_and_one():
    model, X, y = fitted(2, 1)
    display = ClassificationDisplay.from_estimator(model, X, y)
    (line,) = display.lines_
    p = model.predict_proba(display.grid.T)[:, 1]
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([display.grid[0], p]))
    for height, points in enumerate(display.points_):
        assert set(points.get_offsets()[:, 1]) == {height}
    assert display.field_ is None


def test_more_classes_on_one_input_are_a_curve_each_with_the_points_below():
    model, X, y = fitted(3, 1)
    display = ClassificationDisplay.from_estimator(model, X, y)
    drawn = np.stack([line.get_ydata() for line in display.lines_], axis=1)
    np.testing.assert_array_equal(drawn, model.predict_proba(display.grid.T))
    heights = [set(points.get_offsets()[:, 1]) for points in display.points_]
    assert all(len(each) == 1 and max(each) < 0 for each in heights)
    assert len(set.union(*heights)) == 3


@pytest.mark.parametrize("classes", [2, 3])
def test_without_labels_circles_lie_on_the_curve(classes):
    model, X, _ = fitted(classes, 1)
    display = ClassificationDisplay.from_estimator(model, X)
    assert display.points_ == []
    p = model.predict_proba(model.relevance_vectors_)
    expected = p[:, 1] if classes == 2 else p.max(axis=1)
    np.testing.assert_allclose(display.circles_.get_offsets()[:, 1], expected, atol=1e-3)


def test_a_vector_that_is_not_among_the_points_drawn_lies_on_the_curve():
    model, X, y = fitted(2, 1)
    left_out = model.relevance_[0]
    rest = np.delete(np.arange(len(X)), left_out)
    display = ClassificationDisplay.from_estimator(model, X[rest], y[rest])
    heights = display.circles_.get_offsets()[:, 1]
    assert heights[0] == pytest.approx(model.predict_proba(X[[left_out]])[0, 1], abs=1e-3)
    np.testing.assert_array_equal(heights[1:], y[model.relevance_[1:]] == model.classes_[1])


def test_functions_without_a_centre_get_no_circle():
    model, X, y = fitted(2, 2, kernel=RBF(gamma=0.5) + Bias(), fit_intercept=False)
    display = ClassificationDisplay.from_estimator(model, X, y)
    assert len(display.vectors) == (model.relevance_ < len(X)).sum()


def test_any_classifier_with_probabilities_can_be_drawn():
    X, y = rows(3, 2)
    assert ClassificationDisplay.from_estimator(LogisticRegression().fit(X, y), X, y).circles_ is None


def test_inputs_that_are_all_alike_can_be_drawn():
    model, X, y = fitted(2, 2)
    same = np.repeat(X[:1], 5, axis=0)
    display = ClassificationDisplay.from_estimator(model, same, np.repeat(y[:1], 5))
    assert (display.grid[:, 0] < same[0]).all()
    assert (display.grid[:, -1] > same[0]).all()


def test_every_one_of_56_classes_has_a_look_of_its_own():
    classes = np.arange(56)
    X = np.stack([classes % 8, classes // 8], axis=1).astype(float)
    p = np.full((56, 2, 2), 1 / 56)
    display = ClassificationDisplay(classes, np.asarray([[0.0, 7.0], [0.0, 6.0]]), p, X, classes).plot()
    looks = {(tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes()) for points in display.points_}
    assert len(looks) == 56
    assert display.contours_ == []


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_column_names_are_kept(table):
    X, y, _ = make_ripley(60, random_state=1)
    named = table({"depth": X[:, 0], "age": X[:, 1]})
    display = ClassificationDisplay.from_estimator(RelevanceVectorClassifier().fit(named, y), named, y)
    plain = ClassificationDisplay.from_estimator(RelevanceVectorClassifier().fit(X, y), X, y)
    np.testing.assert_allclose(display.probabilities, plain.probabilities)


@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_legend_names_classes_and_lies_below_the_label_of_the_axis(inputs, classes):
    X, y = rows(classes, inputs)
    y = np.asarray(["price_$_$", "$1", "a class whose name is much too long for a legend"])[
        np.unique(y, return_inverse=True)[1]
    ]
    model = RelevanceVectorClassifier(gamma=0.5).fit(X, y)
    display = ClassificationDisplay.from_estimator(model, X, y)
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend()
    words = [text.get_text() for text in legend.get_texts()]
    assert [word for word in words if not word.startswith(("p(", "rel"))] == [
        shortened(each) for each in model.classes_
    ]
    box = legend.get_window_extent()
    assert not box.overlaps(display.ax_.xaxis.label.get_window_extent())
    assert display.figure_.bbox.containsx(box.x1)
    assert display.figure_.bbox.containsy(box.y0)


def test_vectors_of_a_pipeline_are_circled_where_the_rows_are():
    X, y = rows(3, 2)
    model = make_pipeline(StandardScaler(), RelevanceVectorClassifier(gamma=0.5)).fit(X, y)
    display = ClassificationDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.circles_.get_offsets(), X[model[-1].relevance_], atol=1e-12)


@pytest.mark.parametrize("inputs", [1, 2])
def test_it_draws_where_it_is_told_to_and_again(inputs):
    model, X, y = fitted(2, inputs)
    _, ax = pyplot.subplots()
    display = ClassificationDisplay.from_estimator(model, X, y, ax=ax)
    assert display.ax_ is ax
    other = display.plot()
    assert other is display
    assert display.ax_ is not ax
    assert display.figure_ is display.ax_.figure
    assert ax.get_legend_handles_labels()[1] == display.ax_.get_legend_handles_labels()[1]
    assert len(display.points_) == 2


def test_bad_input_is_named():
    model, X, y = fitted(2, 2)
    with pytest.raises(ValueError, match=r"X must have one or two columns to be drawn, got shape \(90, 3\)"):
        ClassificationDisplay.from_estimator(model, np.c_[X, X[:, 0]], y)
    with pytest.raises(ValueError, match=r"y must have 90 values, one per row of X, got shape \(89,\)"):
        ClassificationDisplay.from_estimator(model, X, y[1:])
    with pytest.raises(ValueError, match=r"y must hold classes of the estimator, .* got \['grey'\]"):
        ClassificationDisplay.from_estimator(model, X, np.where(y == "blue", "grey", y))
    with pytest.raises(NotFittedError):
        ClassificationDisplay.from_estimator(RelevanceVectorClassifier(), X, y)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    model, X, y = fitted(2, 2)
    with pytest.raises(ImportError, match=r"pip install 'sparsebayes\[plot\]'"):
        ClassificationDisplay.from_estimator(model, X, y)
