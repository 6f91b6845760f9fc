"""Scales are learned where the rows are: covariances, evidence and gradients in the library of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes._array import transfers
from sparsebayes.bases import RBF, Columns, Matern
from sparsebayes.laplace import Bernoulli
from sparsebayes.scale_learning import GaussianEvidence, LaplaceEvidence, learn_scales
from sparsebayes.scale_learning.leave_one_out import LeaveOneOutPredictions
from sparsebayes.scale_learning.process import GaussianProcess
from sparsebayes.scale_learning.settings import ScaleSearchSettings

ROWS, CENTRES = 60, 15
# JAX compiles every operation anew for every size, which takes long on a processor
not_jax = pytest.mark.parametrize("backend", ["array-api-strict", "torch", "cupy"], indirect=True)
BASES = {
    "one kernel": RBF(0.5),
    "a width for each input": RBF([0.5, 0.2]),
    "kernel and columns": Matern(0.5) + Columns(),
}


def _data(N=ROWS, T=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (N, 2))
    f = np.sinc(np.hypot(X[:, 0], X[:, 1]))
    return X, (f if T is None else np.outer(f, np.arange(1.0, T + 1))) + 0.1 * rng.standard_normal(
        N if T is None else (N, T)
    )


def _both(basis, X, evidence, backend, centres):
    """The same process of rows on the host, and in the library of the backend."""
    Z = X[:: ROWS // CENTRES] if centres else None
    there = backend.asarray(X)
    here = GaussianProcess(basis.bind(X), X, evidence, Z)
    Z_there = None if Z is None else backend.asarray(Z)
    return here, GaussianProcess(basis.bind(there), there, evidence.beside(there), Z_there)


def _assert_same(here, there, n_noise):
    theta = np.full(here.n_scales + len(here.parts) + n_noise, -0.3)
    (value, gradient), (found, found_gradient) = here(theta), there(theta)
    assert isinstance(found, float)
    assert isinstance(found_gradient, np.ndarray)
    assert found == pytest.approx(value, rel=1e-10)
    assert_allclose(found_gradient, gradient, rtol=1e-8, atol=1e-8 * np.abs(gradient).max())
    assert there.value(theta) == pytest.approx(value, rel=1e-10)
    return theta


@not_jax
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("centres", [False, True], ids=["exact", "by centres"])
@pytest.mark.parametrize("name", BASES)
def test_evidence_and_gradient_are_the_same(name, centres, center, backend):
    X, y = _data()
    counts = 1.0 + np.arange(ROWS) % 3
    processes = _both(BASES[name], X, GaussianEvidence(y, counts, center), backend, centres)
    _assert_same(*processes, 1)


@pytest.mark.parametrize("centres", [False, True], ids=["exact", "by centres"])
def test_of_several_outputs_too(centres, backend):
    X, Y = _data(T=3)
    evidence = GaussianEvidence(Y / np.sqrt(3), np.ones(ROWS), True, noise_variance=0.01)
    _assert_same(*_both(RBF(0.5), X, evidence, backend, centres), 0)


@not_jax
def test_of_labels_too(backend):
    X, y = _data(seed=1)
    evidence = LaplaceEvidence((y > 0.2).astype(float)[:, None], np.ones(ROWS), True, Bernoulli())
    _assert_same(*_both(RBF(0.5), X, evidence, backend, False), 0)


@not_jax
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("centres", [False, True], ids=["exact", "by centres"])
def test_predictions_of_rows_without_themselves_are_the_same(centres, center, backend):
    X, y = _data(seed=2)
    evidence = GaussianEvidence(y, 1.0 + np.arange(ROWS) % 2, center)
    found = _both(BASES["kernel and columns"], X, evidence, backend, centres)
    theta = np.full(found[0].n_scales + len(found[0].parts) + 1, 0.2)
    expected, own = (LeaveOneOutPredictions.of_process(process, theta) for process in found)
    assert isinstance(own.mean, np.ndarray)
    assert_allclose(own.mean, expected.mean, rtol=1e-8, atol=1e-10)
    assert_allclose(own.variance, expected.variance, rtol=1e-7, atol=1e-10)


SMALL = ScaleSearchSettings(few_rows=30, rows=50, many_rows=200, centres=10, judge_centres=20)


@not_jax
@pytest.mark.parametrize("N", [45, 150])
def test_the_same_scales_are_learned_on_a_device(N, backend, monkeypatch):
    monkeypatch.setattr("sparsebayes.scale_learning.search.on_accelerator", lambda x: True)
    X, y = _data(N, seed=3)
    evidence = GaussianEvidence(y, np.ones(N), True)
    expected = learn_scales(RBF(1.0).bind(X), X, evidence, SMALL)
    there = backend.asarray(X)
    found = learn_scales(RBF(1.0).bind(there), there, evidence, SMALL)
    assert_allclose(found.theta, expected.theta, rtol=1e-5)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-8)
    assert isinstance(found.process.evidence.y, np.ndarray)


def test_nothing_in_proportion_to_the_covariance_leaves_the_device(monkeypatch):
    strict = pytest.importorskip("array_api_strict")
    X, y = _data(150, seed=4)
    there, fetched, sizes = strict.asarray(X, device=strict.Device("device1")), transfers.fetched, []

    def counted(x):
        sizes.append(int(np.prod(x.shape)))
        return fetched(x)

    monkeypatch.setattr(transfers, "fetched", counted)
    learn_scales(RBF(1.0).bind(there), there, GaussianEvidence(y, np.ones(150), True), SMALL)
    assert max(sizes) <= max(X.size, SMALL.judge_centres**2)
