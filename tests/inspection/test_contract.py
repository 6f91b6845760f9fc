"""What holds for every display: stored values, `from_estimator`, `plot` again and where it is told to."""

import dataclasses
import re
import sys
from functools import cache

import display_models as models
import numpy as np
import pytest
from backends import backend_of
from matplotlib import pyplot
from matplotlib.axes import Axes
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from sparsebayes import (
    RBF,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparsityPath,
    Spike,
    WaveletDenoiser,
    inspection,
)
from sparsebayes.datasets import make_signal, make_sinc
from sparsebayes.inspection import (
    ClassificationDisplay,
    ComponentsDisplay,
    DenoisingDisplay,
    EvidenceDisplay,
    InputRelevanceDisplay,
    PartialDependenceDisplay,
    PITDisplay,
    RegressionDisplay,
    ReliabilityDisplay,
    ResidualsDisplay,
    ShrinkageDisplay,
    SparsityPathDisplay,
    WeightsDisplay,
)

X1, Y1, _ = make_sinc(40, random_state=0)
X4, XY = models.table(models.inputs()), models.inputs()[:, :2]
SIGNAL = make_signal("doppler", 256, random_state=0)[1]
IMAGE = np.outer(np.arange(32) > 15, np.ones(32)) + 0.3 * np.random.default_rng(0).standard_normal((32, 32))


def _sinc():
    return RelevanceVectorRegressor(gamma=0.1).fit(X1, Y1)


# class -> (fitted estimator, arguments of from_estimator, number of axes)
CASES = {
    ClassificationDisplay: (lambda: RelevanceVectorClassifier(gamma=1).fit(XY, XY[:, 0] > XY[:, 1]), (XY,), 1),
    ComponentsDisplay: (
        lambda: RelevanceVectorRegressor(RBF(gamma=0.1) + Spike(), prior="ric").fit(X1, Y1),
        (X1, Y1),
        3,
    ),
    DenoisingDisplay: (lambda: WaveletDenoiser(ndim=2, shifts=0).fit(IMAGE), (IMAGE,), 3),
    EvidenceDisplay: (_sinc, (), 1),
    InputRelevanceDisplay: (lambda: models.regressor("kernel"), (), 2),
    PartialDependenceDisplay: (lambda: models.regressor("columns"), (X4,), 4),
    PITDisplay: (_sinc, (X1, Y1), 2),
    RegressionDisplay: (_sinc, (X1, Y1), 1),
    ReliabilityDisplay: (lambda: models.classifier("columns"), (X4, models.labels(models.inputs())), 1),
    ResidualsDisplay: (_sinc, (X1, Y1), 2),
    ShrinkageDisplay: (lambda: WaveletDenoiser().fit(SIGNAL), (SIGNAL,), 1),
    SparsityPathDisplay: (_sinc, (X1, Y1), 1),
    WeightsDisplay: (lambda: models.regressor("columns"), (), 1),
}


@cache
def fitted(Display):
    return CASES[Display][0]()


@pytest.fixture(params=CASES, ids=lambda display: display.__name__)
def case(request):
    return request.param, fitted(request.param), *CASES[request.param][1:]


def artists(display):
    """The number of artists of each attribute that `plot` sets."""
    found = {name: value for name, value in vars(display).items() if name.endswith("_")}
    return {name: len(np.ravel(np.asarray(value, dtype=object))) for name, value in found.items()}


def test_every_display_has_a_case():
    assert sorted(display.__name__ for display in CASES) == sorted(inspection.__all__)


def test_it_stores_arrays_and_draws_them_again(case):
    Display, model, arguments, axes = case
    display = Display.from_estimator(model, *arguments)
    stored = dataclasses.fields(display)
    values = [getattr(display, each.name) for each in stored]
    assert any(isinstance(value, np.ndarray | SparsityPath) or isinstance(value[0], np.ndarray) for value in values)
    before, first = {each.name: getattr(display, each.name) for each in stored}, artists(display)
    old = display.figure_
    assert display.plot() is display
    assert all(getattr(display, name) is value for name, value in before.items())
    assert artists(display) == first
    assert display.figure_ is not old
    assert [type(each) for each in np.ravel(display.ax_)] == [Axes] * axes
    assert len(pyplot.get_fignums()) == 2
    assert Display(**before).plot().figure_ is not display.figure_


def test_it_is_shown_in_one_line_and_equals_only_itself(case):
    Display, model, arguments, _ = case
    display, other = (Display.from_estimator(model, *arguments) for _ in range(2))
    assert re.fullmatch(rf"<[\w.]+\.{Display.__name__} object at 0x\w+>", repr(display))
    assert display == display
    assert display != other
    assert len({display, other}) == 2


def test_it_draws_on_the_axes_that_are_given_and_nowhere_else(case):
    Display, model, arguments, axes = case
    figure, given = pyplot.subplots(1, axes)
    _, other = pyplot.subplots()
    display = Display.from_estimator(model, *arguments, ax=given)
    assert display.figure_ is figure
    assert list(np.ravel(display.ax_)) == list(np.ravel(given))
    assert len(pyplot.get_fignums()) == 2
    assert not other.has_data()
    assert pyplot.gca() is other
    figure.canvas.draw()


def test_everything_is_labelled_and_no_legend_is_empty(case):
    Display, model, arguments, _ = case
    display = Display.from_estimator(model, *arguments)
    for ax in [each for each in display.figure_.axes if each.get_label() != "<colorbar>"]:
        image = bool(ax.images) and not ax.get_xticks().size
        assert image or ax.get_xlabel() or ax.get_ylabel() or ax.get_title(loc="left")
        legend = ax.get_legend()
        assert legend is None or all(text.get_text() for text in legend.get_texts())
    assert any(ax.has_data() for ax in np.ravel(display.ax_))


def test_what_is_not_fitted_is_refused(case):
    Display, _, arguments, _ = case

    class Unfitted(BaseEstimator):
        def fit(self, X, y=None):
            return self

        def __sklearn_is_fitted__(self):
            return False

    with pytest.raises(NotFittedError):
        Display.from_estimator(Unfitted(), *arguments)
    assert pyplot.get_fignums() == []


def test_an_estimator_of_the_wrong_kind_is_named(case):
    Display, _, arguments, _ = case
    wrong = LogisticRegression() if Display not in (ClassificationDisplay, ReliabilityDisplay) else LinearRegression()
    wrong.fit(X1, Y1 > 0.2)
    with pytest.raises(ValueError, match=f"{Display.__name__} needs .* got {type(wrong).__name__}"):
        Display.from_estimator(wrong, *arguments)
    assert pyplot.get_fignums() == []


XY_LABELS = (XY[:, 0] > XY[:, 1]).astype(int)
ON_DEVICE = {
    ClassificationDisplay: (lambda: RelevanceVectorClassifier(gamma=1), (XY, XY_LABELS)),
    ComponentsDisplay: (lambda: RelevanceVectorRegressor(RBF(gamma=0.1) + Spike(), prior="ric"), (X1, Y1)),
    DenoisingDisplay: (lambda: WaveletDenoiser(shifts=0), (SIGNAL,)),
    InputRelevanceDisplay: (lambda: RelevanceVectorRegressor(gamma="ard"), (XY, XY[:, 0] ** 2)),
    PITDisplay: (lambda: RelevanceVectorRegressor(gamma=0.1), (X1, Y1)),
    PartialDependenceDisplay: (lambda: RelevanceVectorRegressor(gamma=0.1), (X1, Y1)),
    RegressionDisplay: (lambda: RelevanceVectorRegressor(gamma=0.1), (X1, Y1)),
    ReliabilityDisplay: (lambda: RelevanceVectorClassifier(gamma=1), (XY, XY_LABELS)),
    ResidualsDisplay: (lambda: RelevanceVectorRegressor(gamma=0.1), (X1, Y1)),
    ShrinkageDisplay: (lambda: WaveletDenoiser(), (SIGNAL,)),
    SparsityPathDisplay: (lambda: RelevanceVectorRegressor(gamma=0.1), (X1, Y1)),
    WeightsDisplay: (lambda: RelevanceVectorRegressor(gamma=0.1), (X1, Y1)),
}
ROWS_ALONE = (PartialDependenceDisplay, InputRelevanceDisplay)


@pytest.mark.slow
@pytest.mark.parametrize("fitted_there", [False, True])
@pytest.mark.parametrize("Display", ON_DEVICE, ids=lambda display: display.__name__)
def test_arrays_on_a_device_are_drawn(Display, fitted_there, pytestconfig):
    make, arguments = ON_DEVICE[Display]
    device = pytestconfig.getoption("--device")
    backend = backend_of("array-api-strict" if device == "cpu" else "torch", device)  # NumPy reads neither by itself
    there = tuple(map(backend.asarray, arguments))
    here, model = make().fit(*arguments), make().fit(*(there if fitted_there else arguments))
    given = 0 if Display is WeightsDisplay else 1 if Display in ROWS_ALONE else len(arguments)
    wanted = Display.from_estimator(here, *arguments[:given])
    display = Display.from_estimator(model, *there[:given])
    for each in dataclasses.fields(display):
        value = getattr(wanted, each.name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(getattr(display, each.name), value, rtol=1e-6, atol=1e-6)


def test_without_matplotlib_the_error_names_the_extra(case, monkeypatch):
    Display, model, arguments, _ = case
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'sparsebayes\[plot\]'"):
        Display.from_estimator(model, *arguments)
