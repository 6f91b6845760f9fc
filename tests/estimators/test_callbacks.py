"""Callbacks of scikit-learn, from version 1.9 on: the tasks of a fit are its iterations."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)

callbacks = pytest.importorskip("sklearn.callback")

MODELS = [RelevanceVectorRegressor(), SparseBayesRegressor(), RelevanceVectorClassifier(), SparseBayesClassifier()]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


class Recorder:
    """Notes what it is told; stops a fit after some iterations."""

    def __init__(self, stop_after=None):
        self.events = []
        self.stop_after = stop_after

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id, context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.events.append(("end", context.task_name, context.task_id, context.max_subtasks))
        if context.task_name == "fit":
            self.seen = X, y, metadata, fitted_estimator
        return self.stop_after is not None and context.task_id + 1 >= self.stop_after


def _data(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = 2 * X[:, 0] + 0.3 * rng.standard_normal(60)
    return X, y > 0 if hasattr(model, "class_weight") else y


@every_model
def test_the_tasks_are_the_iterations(model):
    X, y = _data(model)
    recorder, told = Recorder(), []
    followed = clone(model).set_params(callback=told.append).set_callbacks(recorder).fit(X, y)
    events = recorder.events
    assert events[:2] == ["setup", ("begin", "fit", 0, None)]
    assert events[-2:] == [("end", "fit", 0, None), "teardown"]
    expected = [(event, "iteration", k, 0) for k in range(len(told)) for event in ("begin", "end")]
    assert events[2:-2] == expected
    assert len(told) >= 1
    plain = clone(model).fit(X, y)
    assert followed.log_evidence_ == plain.log_evidence_
    assert not hasattr(followed, "_callback_fit_ctx")


@every_model
def test_data_and_the_fitted_model_at_the_end(model):
    X, y = _data(model)
    recorder, weights = Recorder(), np.ones(60)
    fitted = clone(model).set_callbacks(recorder).fit(X, y, sample_weight=weights)
    seen_X, seen_y, metadata, estimator = recorder.seen
    assert seen_X is X
    assert seen_y is y
    assert metadata["sample_weight"] is weights
    np.testing.assert_array_equal(estimator.predict(X), fitted.predict(X))


@every_model
def test_a_callback_stops_a_fit(model):
    X, y = _data(model)
    recorder = Recorder(stop_after=1)
    clone(model).set_callbacks(recorder).fit(X, y)
    assert sum(event[:2] == ("end", "iteration") for event in recorder.events) == 1


def test_an_error_tears_down():
    recorder = Recorder()
    model = SparseBayesRegressor().set_callbacks(recorder)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((5, 1), np.nan), np.arange(5.0))
    assert recorder.events == ["setup", ("begin", "fit", 0, None), "teardown"]
    X, y = _data(model)
    assert model.fit(X, y).converged_


def test_chunks():
    X, y = _data(SparseBayesRegressor())
    recorder = Recorder()
    SparseBayesRegressor().set_callbacks(recorder).fit([(X, y)])
    assert ("end", "iteration", 0, 0) in recorder.events


def test_within_a_pipeline():
    X, y = _data(SparseBayesRegressor())

    class Propagated(Recorder):
        max_propagation_depth = None

    recorder = Propagated()
    make_pipeline(StandardScaler(), SparseBayesRegressor()).set_callbacks(recorder).fit(X, y)
    assert recorder.events.count("setup") == 1
    assert ("end", "iteration", 0, 0) in recorder.events


@every_model
def test_progress_bar(model, capsys):
    pytest.importorskip("rich")
    X, y = _data(model)
    clone(model).set_callbacks(callbacks.ProgressBar()).fit(X, y)
    shown = capsys.readouterr().out
    assert f"{type(model).__name__} - fit" in shown
    assert "100%" in shown


def test_scores():
    X, y = _data(SparseBayesRegressor())
    monitor = callbacks.ScoringMonitor(scoring="r2")
    model = SparseBayesRegressor().set_callbacks(monitor).fit(X, y)
    (row,) = monitor.get_logs().data
    assert row["r2"] == pytest.approx(model.score(X, y))


def test_copies_without_callbacks():
    X, y = _data(SparseBayesRegressor())
    recorder = Recorder()
    model = SparseBayesRegressor().set_callbacks(recorder).fit(X, y)
    assert clone(model)._skl_callbacks == [recorder]
    model.set_callbacks()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
