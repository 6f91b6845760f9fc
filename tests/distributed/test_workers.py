"""Worker processes: their number changes nothing, nor does one that is killed in the middle."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
import dask.array as da
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from sparsebayes.datasets import make_sinc2d
from sparsebayes.distributed import DaskRows, remote_fit
from sparsebayes.distributed.fusion import Recipe
from sparsebayes.estimators import _dask_kernels

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Dask itself

PARTS, ROWS, COLUMNS = 4, 300, 10


def block(k, pause):
    """A part of the data, made where it is needed."""
    time.sleep(pause)
    return np.random.default_rng(k).standard_normal((ROWS, COLUMNS))


def inputs(pause=0.0):
    parts = [da.from_delayed(dask.delayed(block)(k, pause), (ROWS, COLUMNS), dtype=float) for k in range(PARTS)]
    return da.concatenate(parts)


def targets(X):
    return 2 * X[:, 3] - X[:, 7] + X[:, 1] * X[:, 2]


@pytest.fixture(scope="module")
def client():
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})  # a nanny restarts who was killed
    with patient, distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


def worker_pids(client):
    """Address and process of each worker, once there are two that answer: one that was killed may not be missed yet."""
    for _ in range(300):
        with contextlib.suppress(OSError):
            pids = client.run(os.getpid)
            if len(pids) == 2:
                return pids
        time.sleep(0.1)
    raise AssertionError("the workers did not come back")


def is_working(client, address):
    """Whether a worker has a task of a fit; the scheduler is in this process, and may change while it is asked."""
    with contextlib.suppress(RuntimeError, KeyError):
        return any("sparsebayes" in str(task.key) for task in client.cluster.scheduler.workers[address].processing)
    return False


def killed_during(client, fit):
    """What a fit returns while a worker is killed by SIGKILL in the middle of a task of it."""
    pids, done, killed = worker_pids(client), threading.Event(), []

    def kill():
        while not done.is_set():
            for address in pids:
                if is_working(client, address):
                    os.kill(pids[address], signal.SIGKILL)
                    killed.append(pids[address])
                    return
            time.sleep(0.001)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        found = fit()
    finally:
        done.set()
        thread.join()
    assert killed
    assert killed[0] not in worker_pids(client).values()
    return found


def test_the_number_of_workers_changes_nothing(client):
    X = inputs()
    two = SparseBayesRegressor().fit(X, targets(X))
    client.cluster.scale(1)
    while len(client.scheduler_info()["workers"]) > 1:
        time.sleep(0.05)
    one = SparseBayesRegressor().fit(X, targets(X))
    client.cluster.scale(2)
    client.wait_for_workers(2, timeout=30)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.log_evidence_ == two.log_evidence_


def test_rows_that_are_in_the_memory_of_the_workers(client):
    X = inputs()
    expected = SparseBayesRegressor().fit(X, targets(X))
    held = X.persist()
    y = targets(held).persist()
    distributed.wait([held, y])
    rows = DaskRows.of(held, y)
    assert not any(isinstance(part, Recipe) for part in rows.parts)
    found = SparseBayesRegressor().fit(held, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.predict(held).compute(), found.predict(held.compute()), rtol=1e-12)


def test_a_callback_sees_the_passes_of_a_cluster(client):
    X, seen = inputs(), []
    SparseBayesRegressor(callback=seen.append).fit(X, targets(X))
    assert [(each.done, each.total) for each in seen if each.stage == "pass triangle"][-1] == (PARTS, PARTS)
    assert seen[-1].stage == "fit"


def test_few_rows_of_a_kernel_machine_are_fitted_by_a_worker(client, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("the client has rows")

    monkeypatch.setattr(remote_fit, "put_together", refuse)  # here, not in the workers
    X, y, _ = make_sinc2d(200, noise=0.1, random_state=0)
    remote, seen = (da.from_array(X, chunks=(60, 2)), da.from_array(y, chunks=60)), []
    found = RelevanceVectorRegressor(gamma=0.16, callback=seen.append).fit(*remote)
    expected = RelevanceVectorRegressor(gamma=0.16).fit(X, y)
    np.testing.assert_array_equal(found.dual_coef_, expected.dual_coef_)
    assert {"pass gather", "fit"} <= {each.stage for each in seen}
    labels = RelevanceVectorClassifier(gamma=0.16).fit(remote[0], y > 0.1)
    np.testing.assert_array_equal(labels.dual_coef_, RelevanceVectorClassifier(gamma=0.16).fit(X, y > 0.1).dual_coef_)


def test_warnings_of_a_fit_on_a_worker_reach_the_client(client):
    X, y, _ = make_sinc2d(200, noise=0.1, random_state=0)
    remote = da.from_array(X, chunks=(60, 2)), da.from_array(y, chunks=60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = RelevanceVectorRegressor(gamma=0.16, max_iter=1).fit(*remote)
    assert not model.converged_
    with pytest.raises(ValueError, match="centres"):
        RelevanceVectorRegressor(gamma=0.16, centres=np.zeros((2, 5))).fit(*remote)


def test_a_callback_stops_a_fit_on_a_worker(client):
    X, y, _ = make_sinc2d(200, noise=0.1, random_state=0)
    remote = da.from_array(X, chunks=(60, 2)), da.from_array(y, chunks=60)
    model = RelevanceVectorRegressor(gamma=0.16, callback=lambda progress: True).fit(*remote)
    assert model.n_iter_ == 1
    assert not model.converged_


def test_a_killed_worker_changes_nothing_in_a_regression(client):
    X, quick = inputs(pause=0.2), inputs()
    expected = SparseBayesRegressor().fit(quick, targets(quick))
    found = killed_during(client, lambda: SparseBayesRegressor().fit(X, targets(X)))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-12)


def test_a_killed_worker_changes_nothing_in_several_outputs_of_known_noise(client):
    X, quick, variances = inputs(pause=0.2), inputs(), np.linspace(0.1, 2.0, PARTS * ROWS)
    Y = da.stack([targets(quick), targets(quick) + quick[:, 2]], axis=1)
    expected = SparseBayesRegressor().fit(quick, Y, noise_variance=variances)
    found = killed_during(client, lambda: SparseBayesRegressor().fit(X, Y, noise_variance=variances))
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_a_worker_killed_in_the_middle_of_a_fit_that_it_makes(client):
    X, y, _ = make_sinc2d(300, noise=0.1, random_state=0)
    remote = da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=300)
    found = killed_during(client, lambda: RelevanceVectorRegressor().fit(*remote))
    np.testing.assert_array_equal(found.dual_coef_, RelevanceVectorRegressor().fit(X, y).dual_coef_)


def test_a_killed_worker_changes_nothing_in_a_classification(client):
    X = inputs(pause=0.001)
    expected = SparseBayesClassifier(prior="bic").fit(X, targets(X) > 0)
    found = killed_during(client, lambda: SparseBayesClassifier(prior="bic").fit(X, targets(X) > 0))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-12)


def test_a_killed_worker_changes_nothing_in_a_kernel_machine(client, monkeypatch):
    monkeypatch.setattr(_dask_kernels, "GATHERED", 100)
    X, y, _ = make_sinc2d(1200, noise=0.1, random_state=0)
    remote = da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=300)
    expected = RelevanceVectorRegressor(gamma=0.16).fit(*remote)
    found = killed_during(client, lambda: RelevanceVectorRegressor(gamma=0.16).fit(*remote))
    np.testing.assert_array_equal(found.relevance_, expected.relevance_)
    np.testing.assert_allclose(found.log_evidence_, expected.log_evidence_, rtol=1e-10)
