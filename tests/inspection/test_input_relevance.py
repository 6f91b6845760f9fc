import display_models as models
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RBF, Columns, Matern, RelevanceVectorRegressor
from sparsebayes.inspection import InputRelevanceDisplay


@pytest.mark.parametrize("make", [models.regressor, models.classifier])
def test_relevance_and_length_scales_by_name(make):
    model = make("kernel")
    display = InputRelevanceDisplay.from_estimator(model)
    relevance = dict(zip(models.NAMES, model.input_relevance_, strict=True))
    assert dict(zip(display.names, display.relevance, strict=True)) == relevance
    assert (np.diff(display.relevance) <= 0).all()
    widths = dict(zip(models.NAMES, model.scales_**-0.5, strict=True))  # gamma = 1/width²
    np.testing.assert_allclose(display.length_scales[0], [widths[name] for name in display.names])
    np.testing.assert_array_equal([bar.get_width() for bar in display.bars_], display.relevance)
    np.testing.assert_array_equal(display.points_[0].get_xdata(), display.length_scales[0])
    assert [text.get_text() for text in display.ax_[0].get_yticklabels()] == list(display.names)


def test_length_scales_in_standard_deviations():
    model, X = models.regressor("kernel"), models.table(models.inputs())
    own, relative = InputRelevanceDisplay.from_estimator(model), InputRelevanceDisplay.from_estimator(model, X)
    np.testing.assert_allclose(own.length_scales[0], relative.length_scales[0] * X.std(ddof=0)[own.names])
    assert "std of the input" in relative.ax_[1].get_xlabel()
    with pytest.raises(ValueError, match=r"X must have the columns of the fit, got shape \(60, 2\)"):
        InputRelevanceDisplay.from_estimator(model, X[["depth", "age"]])


def test_every_kernel_has_its_own_length_scales():
    X = models.inputs(50)
    model = RelevanceVectorRegressor(RBF(gamma=1.0) + Matern(gamma=1.0) + Columns(), gamma="ard")
    display = InputRelevanceDisplay.from_estimator(model.fit(X, models.targets(X)))
    assert display.kernels == ["part0", "part1"]
    assert display.length_scales.shape == (2, 4)
    assert [text.get_text() for text in display.ax_[1].get_legend().get_texts()] == ["part0", "part1"]


def test_one_width_has_no_second_panel_and_inputs_are_cut():
    X = models.inputs(50)
    model = RelevanceVectorRegressor(RBF(gamma=1.0), gamma="evidence").fit(X, models.targets(X))
    display = InputRelevanceDisplay.from_estimator(model, max_inputs=2)
    assert len(display.ax_) == 1 + len(display.length_scales)
    assert len(display.bars_) == 2
    assert "2 more not shown" in display.ax_[0].get_xlabel()
    alone = display.plot(display.ax_[0])
    assert alone.points_ == []


def test_labels_lie_within_the_figure_beside_long_names():
    names = np.array([f"an input with a name that is very long {k}" for k in range(30)], dtype=object)
    scales = np.logspace(0, 3, 30)[None]
    display = InputRelevanceDisplay(names, np.linspace(1, 0, 30), scales, ["kernel"]).plot()
    for panel in display.ax_:  # as in a report, in which every panel is a picture of its own
        panel.tick_params(labelleft=True)
    display.figure_.canvas.draw()
    for panel in display.ax_:
        label = panel.xaxis.label.get_window_extent()
        assert panel.get_tightbbox().x0 <= label.x0
        assert 0 <= label.x0 < label.x1 <= display.figure_.bbox.x1


def test_a_pipeline_names_its_inputs():
    X = models.table(models.inputs(50))
    model = make_pipeline(StandardScaler(), RelevanceVectorRegressor(gamma="ard"))
    display = InputRelevanceDisplay.from_estimator(model.fit(X, models.targets(X.to_numpy())), X)
    assert sorted(display.names) == sorted(models.NAMES)
    np.testing.assert_allclose(sorted(display.length_scales[0]), sorted(model[-1].scales_ ** -0.5))


def test_a_model_without_relevance_is_named():
    X = models.inputs()
    model = RelevanceVectorRegressor(gamma=0.2).fit(X, models.targets(X))
    for each in (model, models.regressor("columns")):
        with pytest.raises(ValueError, match=r'scales were learned, by gamma="evidence" or "ard", got'):
            InputRelevanceDisplay.from_estimator(each)
