"""Callbacks see how far passes are, in threads of the process."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed")
import dask.array as da

from sparsebayes import RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor, fit
from sparsebayes.solvers import monitor as monitor_module

from .dask_examples import regression

X, y, _ = regression(n=300, d=8)
REMOTE = da.from_array(X, chunks=(50, 8)), da.from_array(y, chunks=50)


def passes(seen):
    return [each for each in seen if each.stage.startswith("pass ")]


@pytest.mark.parametrize(
    ("model", "target", "names"),
    [
        (SparseBayesRegressor(), y, {"pass triangle"}),
        (SparseBayesClassifier(), y > 6, {"pass classes", "pass moments", "pass newton", "pass expansion"}),
        (RelevanceVectorRegressor(gamma=0.1), y, {"pass overview", "pass gather"}),
    ],
)
def test_a_callback_sees_the_passes_and_the_iterations(model, target, names):
    seen = []
    model.set_params(callback=seen.append).fit(REMOTE[0], da.from_array(target, chunks=50))
    assert names <= {each.stage for each in seen}
    assert any(each.stage == "fit" for each in seen)
    for each in passes(seen):
        assert (each.n_active, each.total) == (0, 6)
        assert np.isnan(each.objective)
        assert f"{each.done} of 6 parts" in str(each)
    ends = [each for each in passes(seen) if each.done == each.total]
    assert [each.iteration for each in ends] == list(range(1, len(ends) + 1))


def test_every_part_can_be_seen(monkeypatch):
    monkeypatch.setattr(monitor_module, "PASS_SECONDS", -1.0)
    for follow in (
        lambda call: SparseBayesRegressor(callback=call).fit(*REMOTE),
        lambda call: fit(*REMOTE, callback=call),
    ):
        seen = []
        follow(seen.append)
        assert [each.done for each in passes(seen)] == [1, 2, 3, 4, 5, 6]


def test_a_callback_may_stop_a_fit_during_a_pass():
    calls = []

    def stop(progress):
        calls.append(progress)
        return True

    model = SparseBayesRegressor(callback=stop).fit(*REMOTE)
    assert [each.stage for each in calls] == ["pass triangle"]
    assert not model.converged_
    assert model.n_iter_ < SparseBayesRegressor().fit(*REMOTE).n_iter_


def test_an_error_in_a_callback_ends_the_pass():
    def fails(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        SparseBayesRegressor(callback=fails).fit(*REMOTE)


def test_verbose_prints_passes(capsys):
    SparseBayesRegressor(verbose=2).fit(*REMOTE)
    assert "pass triangle   6 of 6 parts" in capsys.readouterr().err
