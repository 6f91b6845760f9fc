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

from sparsebayes import RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor
from sparsebayes.datasets import make_sinc2d
from sparsebayes.distributed import DaskRows
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
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


def worker_pids(client):
    """The processes of the workers, once there are two that answer: one that was killed may not be missed yet."""
    for _ in range(300):
        with contextlib.suppress(OSError):
            pids = list(client.run(os.getpid).values())
            if len(pids) == 2:
                return pids
        time.sleep(0.1)
    raise AssertionError("the workers did not come back")


def killed_during(client, fit):
    """What a fit returns while a worker is killed by SIGKILL after the first tasks of it have begun."""
    pids = worker_pids(client)

    def kill():
        time.sleep(0.3)
        os.kill(pids[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = fit()
    thread.join()
    assert pids[0] not in worker_pids(client)
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


def test_a_killed_worker_changes_nothing_in_a_regression(client):
    X, quick = inputs(pause=0.2), inputs()
    expected = SparseBayesRegressor().fit(quick, targets(quick))
    found = killed_during(client, lambda: SparseBayesRegressor().fit(X, targets(X)))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-12)


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
