"""A fit that was interrupted and is resumed ends in the model of the fit that was not."""

import os

import numpy as np
import pytest
from checkpoints.fits import Interrupted, Interrupting, calls_of, interrupt, same_models

import sparsebayes.checkpoints.journal as journal
from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    fit,
)
from sparsebayes.bases import RBF, KernelMemory, KernelOperator, LowRankSettings
from sparsebayes.checkpoints import open_journal
from sparsebayes.core.noise import Gaussian
from sparsebayes.large_kernels import KernelPath, WorkingSetSettings
from sparsebayes.priors import as_prior
from sparsebayes.solvers import ActiveSet, FixedPoint, Search, Sequential, Sweep
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions

rng = np.random.default_rng(7)
P = rng.uniform(-5, 5, (150, 2))
RADIUS = np.hypot(*P.T)
SINC = np.sinc(RADIUS / np.pi) + 0.1 * rng.standard_normal(150)
LABELS = (RADIUS < 3) ^ (rng.random(150) < 0.05)
A = rng.standard_normal((50, 80))
LINEAR = 2 * A[:, 3] - A[:, 20] + 0.7 * A[:, 41] + 0.3 * rng.standard_normal(50)
WIDE = rng.standard_normal((120, 300))
DRAWN = WIDE[:, ::30] @ rng.standard_normal(10) + 0.5 * rng.standard_normal(120)
SEARCH = Search(starts=(1.0, 1.7), sweeps=(Sweep(0.2, 1.5, tries=4),), draws=4, annealing=2, last=(Sweep(2, tries=2),))

FITS = {
    "kernel": (lambda **own: RelevanceVectorRegressor(gamma=0.3, **own), P, SINC),
    "scales": (lambda **own: RelevanceVectorRegressor(gamma="ard", **own), P[:70], SINC[:70]),
    "rows of G fetched": (lambda **own: SparseBayesRegressor(prior="bic", **own), WIDE, DRAWN),
    "fewer rows than columns": (lambda **own: SparseBayesRegressor(prior="ric", **own), A[:30], LINEAR[:30]),
    "search": (lambda **own: SparseBayesRegressor(prior="bic", solver=ActiveSet(effort=SEARCH), **own), WIDE, DRAWN),
    "limit": (lambda **own: RelevanceVectorRegressor(gamma=0.3, max_vectors=6, effort="fast", **own), P, SINC),
    "outputs": (
        lambda **own: SparseBayesRegressor(prior="bic", **own),
        A[:, :40],
        np.column_stack([LINEAR, A[:, 3] - A[:, 7]]) + 0.2 * rng.standard_normal((50, 2)),
    ),
    "a model each": (
        lambda **own: SparseBayesRegressor(joint=False, prior="bic", **own),
        A[:, :30],
        np.column_stack([LINEAR, A[:, 3] - A[:, 7] + 0.3 * rng.standard_normal(50)]),
    ),
    "noise": (
        lambda **own: SparseBayesRegressor(likelihood="generalized-normal", effort="fast", **own),
        A[:, :8],
        2 * A[:, 3] + rng.uniform(-1, 1, 50),
    ),
    "two classes": (lambda **own: RelevanceVectorClassifier(gamma=0.3, **own), P[:80], LABELS[:80]),
    "scales of classes": (lambda **own: RelevanceVectorClassifier(max_iter=50, **own), P[:60], LABELS[:60]),
    "three classes": (
        lambda **own: SparseBayesClassifier(prior="bic", **own),
        A[:, :10],
        np.digitize(LINEAR, [-1, 1]),
    ),
    "em": (lambda **own: SparseBayesRegressor(solver=FixedPoint("em"), **own), A[:, :6], LINEAR),
    "sequential": (
        lambda **own: SparseBayesRegressor(solver=Sequential("random", refresh=4, annealing=2), random_state=1, **own),
        A[:, :30],
        LINEAR,
    ),
}


@pytest.fixture(autouse=True)
def not_waited_for(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture
def every_round(monkeypatch):
    """Files are written at every opportunity."""
    monkeypatch.setattr(journal, "INTERVAL", 0.0)
    monkeypatch.setattr(journal, "SHARE", 1e9)


def rounds(calls, most=3):
    """The first call of a callback, the last, and some in between; all if there are few."""
    return sorted({*np.linspace(1, calls, most).round().astype(int).tolist(), min(2, calls)})


def models_of(model):
    return getattr(model, "estimators_", [model])


@pytest.mark.parametrize("name", FITS)
def test_a_resumed_fit_ends_in_the_model_of_the_uninterrupted_one(name, tmp_path):
    check_resumed(name, tmp_path, False)


@pytest.mark.parametrize("name", ["kernel", "rows of G fetched", "two classes"])
def test_a_fit_that_was_killed_is_resumed_from_its_last_write(name, tmp_path, every_round):
    check_resumed(name, tmp_path, True)


def check_resumed(name, tmp_path, killed):
    make, X, y = FITS[name]
    expected, calls = calls_of(make, X, y)
    for k in rounds(calls):
        path = tmp_path / f"{name} {k}"
        interrupt(make, path, k, X, y, killed=killed)
        found = make(checkpoint=path).fit(X, y)
        for one, other in zip(models_of(found), models_of(expected), strict=True):
            same_models(one, other)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(f"{name} {k}" for k in rounds(calls))


def test_a_fit_may_be_interrupted_at_every_round_of_one_and_the_same_file(tmp_path):
    make, X, y = FITS["kernel"]
    expected, calls = calls_of(make, X, y)
    path, times = tmp_path / "file", 0
    while True:
        callback = Interrupting(path, 3)
        try:
            found = make(callback=callback, checkpoint=path).fit(X, y)
            break
        except Interrupted:
            times += 1
            assert times < 2 * calls
    same_models(found, expected)
    assert times > 5


def test_what_was_done_is_not_done_again(tmp_path):
    make, X, y = FITS["search"]
    _, calls = calls_of(make, X, y)
    path, seen = tmp_path / "file", []
    interrupt(make, path, calls - 1, X, y)
    make(callback=seen.append, checkpoint=path).fit(X, y)
    assert len(seen) < 0.2 * calls


def test_a_fit_that_is_over_is_there_at_once(tmp_path):
    make, X, y = FITS["search"]
    path, seen = tmp_path / "file", []
    expected = make(checkpoint=str(path)).fit(X, y)
    contents = path.read_bytes()
    same_models(make(checkpoint=path, callback=seen.append).fit(X, y), expected)
    assert not seen
    assert path.read_bytes() == contents


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(tmp_path):
    make, X, y = FITS["kernel"]
    path = tmp_path / "file"
    model = make(checkpoint=path, callback=Interrupting(path, 4))
    before = dict(vars(model))
    with pytest.raises(Interrupted):
        model.fit(X, y)
    assert vars(model) == before
    assert path.exists()


def test_a_fit_that_max_time_or_a_callback_ended_goes_on(tmp_path):
    make, X, y = FITS["search"]
    expected, _ = calls_of(make, X, y)
    path, seen = tmp_path / "file", []
    with pytest.warns(UserWarning, match="max_time"):
        make(checkpoint=path, max_time=1e-3).fit(X, y)
    stopped = make(checkpoint=path, callback=lambda progress: seen.append(progress) or len(seen) == 20).fit(X, y)
    assert not stopped.converged_
    same_models(make(checkpoint=path).fit(X, y), expected)


def test_resumed_scales_are_those_of_the_uninterrupted_search(tmp_path):
    """The callback of a scale search is called between evaluations: each of them may be the last."""
    make, X, y = FITS["scales"]
    expected, calls = calls_of(make, X, y)
    for k in range(1, calls, max(1, calls // 6)):
        path = tmp_path / f"{k}"
        interrupt(make, path, k, X, y)
        np.testing.assert_array_equal(make(checkpoint=path).fit(X, y).scales_, expected.scales_)


def large_fit(path=None, callback=None, low_rank=True):
    """A kernel machine whose matrix is not formed, through a factor of low rank or by columns."""
    operator = KernelOperator(RBF(0.2).resolve(P, None), P, P, KernelMemory(fits=0))
    settings = WorkingSetSettings(first=40, sample=40, block_elements=1000)
    rank = LowRankSettings(rows_per_rank=1) if low_rank else LowRankSettings(max_rank=2)
    machine = KernelPath(operator, SINC, None, True, NoiseOptions(Gaussian(), None, None), settings, rank)
    monitor = FitMonitor(callback=callback, journal=open_journal(path))
    result = machine.fit(as_prior("uniform"), ActiveSet(), monitor)
    if monitor.journal is not None:
        monitor.journal.flush()
    return result


@pytest.mark.parametrize("low_rank", [True, False])
def test_kernels_without_a_matrix(low_rank, tmp_path):
    seen = []
    expected = large_fit(callback=seen.append, low_rank=low_rank)
    for k in rounds(len(seen), 8):
        path = tmp_path / f"{k}"
        with pytest.raises(Interrupted):
            large_fit(path, Interrupting(path, k), low_rank)
        found = large_fit(path, low_rank=low_rank)
        for name in ("active", "mean", "alpha", "covariance", "evidence_path"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def chunks():
    return [(WIDE[k : k + 40], DRAWN[k : k + 40]) for k in range(0, 120, 40)]


def test_chunks_and_the_function(tmp_path):
    path, seen = tmp_path / "file", []
    expected = fit(iter(chunks()), prior="bic", fit_intercept=True, callback=seen.append)
    for k in rounds(len(seen)):
        path = tmp_path / f"{k}"
        with pytest.raises(Interrupted):
            fit(iter(chunks()), prior="bic", fit_intercept=True, checkpoint=path, callback=Interrupting(path, k))
        found = fit(iter(chunks()), prior="bic", fit_intercept=True, checkpoint=path)
        np.testing.assert_array_equal(found.mean, expected.mean)
        np.testing.assert_array_equal(found.evidence_path, expected.evidence_path)
    with pytest.raises(ValueError, match="is of another fit: the data differs"):
        fit(iter(chunks()[:2]), prior="bic", fit_intercept=True, checkpoint=path)


def test_the_estimator_of_chunks(tmp_path):
    def make(**own):
        return SparseBayesRegressor(prior="bic", **own)

    expected, calls = calls_of(make, chunks())
    path = tmp_path / "file"
    interrupt(make, path, calls // 2, chunks())
    same_models(make(checkpoint=path).fit(chunks()), expected)
    other = [(X, 2 * y + X[:, 0]) for X, y in chunks()]
    with pytest.raises(ValueError, match="is of another fit: the data differs"):
        make(checkpoint=path).fit(other)


@pytest.mark.parametrize("name", ["columns", "classes", "kernel", "kernel of classes"])
def test_rows_on_dask(name, tmp_path, monkeypatch):
    array = pytest.importorskip("dask.array", reason="Dask is not installed")
    from sparsebayes.estimators import _dask_kernels

    monkeypatch.setattr(_dask_kernels, "GATHERED", 100)
    make, X, y = {
        "columns": (lambda **own: SparseBayesRegressor(prior="bic", **own), A, LINEAR),
        "classes": (lambda **own: SparseBayesClassifier(prior="bic", **own), A[:, :8], LINEAR > 0),
        "kernel": (lambda **own: RelevanceVectorRegressor(gamma=0.02, **own), P, SINC),
        "kernel of classes": (lambda **own: RelevanceVectorClassifier(gamma=0.004, tol=0.1, **own), P, LABELS),
    }[name]
    data = (array.from_array(X, chunks=(60, X.shape[1])), array.from_array(y, chunks=60))
    expected, calls = calls_of(make, *data)
    for k in (2, calls // 2):
        path = tmp_path / f"{k}"
        interrupt(make, path, k, *data)
        same_models(make(checkpoint=path).fit(*data), expected)
    contents = path.read_bytes()
    with pytest.raises(ValueError, match="is of another fit"):
        make(checkpoint=path).fit(array.from_array(X + 0.1 * X**2, chunks=(60, X.shape[1])), data[1])
    assert path.read_bytes() == contents
