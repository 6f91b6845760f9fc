"""Kernels whose matrix is never formed, on arrays of every library: the same fit, and nothing large on the host."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes._array import kinds, to_numpy, transfers
from sparsebayes.bases import RBF, KernelMemory, KernelOperator, Laplacian, LowRankSettings
from sparsebayes.bases.low_rank import pivoted_cholesky
from sparsebayes.core.noise import Gaussian, GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.fit import fit
from sparsebayes.large_kernels import KernelPath, WorkingSetSettings
from sparsebayes.large_kernels.columns import TrueColumns
from sparsebayes.large_kernels.low_rank import LowRankStatistics
from sparsebayes.large_kernels.sampled_curvature import SampledCurvature
from sparsebayes.large_kernels.scoring import best_of, collected, score_block
from sparsebayes.large_kernels.working_set import WorkingSetSearch
from sparsebayes.solvers import ActiveSet
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions

# JAX compiles every operation anew for every size of a working set, which takes minutes on a processor
whole_fits = pytest.mark.parametrize("backend", ["numpy", "array-api-strict", "torch", "cupy"], indirect=True)
ALPHA = np.asarray([2.0, 0.5])
NEVER_FITS, FITS = KernelMemory(held=1, fits=1), KernelMemory(held=1)


def _data(N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (N, 2))
    return X, np.sin(X[:, 0]) * np.cos(0.7 * X[:, 1]) + 0.05 * rng.standard_normal(N)


def _operator(kernel, X, memory):
    return KernelOperator(kernel, X, X, memory)


@whole_fits
@pytest.mark.parametrize("memory", [FITS, NEVER_FITS], ids=["fits", "never fits"])
def test_a_fit_through_a_factor_of_low_rank_is_the_same(memory, backend):
    X, y = _data(220)
    kernel, counts = RBF(0.05).resolve(X, None), np.arange(220) % 3 + 0.0
    options = {"fit_intercept": True, "sample_weight": counts}
    expected = fit(_operator(kernel, X, memory), y, **options)
    options["sample_weight"] = backend.asarray(counts)
    result = fit(_operator(kernel, backend.asarray(X), memory), backend.asarray(y), **options)
    assert result.log_evidence == pytest.approx(expected.log_evidence, rel=1e-8)
    assert_array_equal(result.active, expected.active)
    assert backend.is_own(result.mean)
    assert backend.is_own(result.covariance)
    assert_allclose(to_numpy(result.mean), expected.mean, rtol=1e-5)


@whole_fits
def test_a_fit_by_true_columns_is_the_same(backend):
    X, y = _data(90, seed=1)
    y = np.round(3 * y)
    kernel = Laplacian(0.2).resolve(X, None)  # of no low rank
    expected = fit(_operator(kernel, X, NEVER_FITS), y)
    result = fit(_operator(kernel, backend.asarray(X), NEVER_FITS), backend.asarray(y))
    assert result.log_evidence == pytest.approx(expected.log_evidence, rel=1e-8)
    assert_array_equal(result.active, expected.active)


@whole_fits
def test_statistics_through_a_factor_are_the_same(backend):
    X, y = _data(80, seed=3)
    kernel, J, blocks = RBF(0.05).resolve(X, None), np.asarray([3, 17]), [np.arange(5, 45, 2), np.asarray([50, 9, 30])]
    found = []
    for asarray in (np.asarray, backend.asarray):
        columns = TrueColumns(_operator(kernel, asarray(X), FITS), asarray(y), None, True)
        low = LowRankStatistics(pivoted_cholesky(columns.operator, 1e-4, LowRankSettings(cheap_rank=1))[0], columns)
        small, units = low.subset(np.arange(0, 80, 9))
        scores = [
            score_block(
                Problem(quadratic, Uniform(), GaussianNoise(10.0), own.unit).start([0, 1], asarray(ALPHA), 10.0),
                own.kept,
                2,
            )
            for quadratic, own in map(low.problems(J, ALPHA, blocks, np.asarray([9])), blocks)
        ]
        batch = best_of(collected(scores), 3, one_each=False)
        found.append((small.h, small.G, units.norms, batch.additions, batch.predicted, batch.substitutes, batch.ratio))
    for expected, own in zip(*found, strict=True):
        assert_allclose(own, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("most", [10, 10**6])
def test_sampled_curvature_is_the_same(most, backend):
    X, y = _data(60, seed=2)
    kernel, J, weights = RBF(0.4).resolve(X, None), np.asarray([3, 17]), np.asarray([0.3, -0.2])
    block = np.asarray([5, 9, 30])
    found = []
    for asarray in (np.asarray, backend.asarray):
        columns = TrueColumns(_operator(kernel, asarray(X), NEVER_FITS), asarray(y), None, True)
        quadratic, units = SampledCurvature(columns, most).problems(J, weights, [block], np.asarray([9]))(block)
        every, few = (columns.adjoint(W, columns.t) for W in (np.arange(60), block))
        found.append((quadratic.h, quadratic.G, units.norms, columns.residual(J, weights), every, few))
    for expected, own in zip(*found, strict=True):
        assert backend.is_own(own)
        assert_allclose(to_numpy(own), expected, rtol=1e-9, atol=1e-11)


def test_a_scoring_pass_comes_to_the_host_at_once(monkeypatch):
    """However many blocks it has; and nothing that comes to the host grows as the number of rows times functions."""
    strict = pytest.importorskip("array_api_strict")
    X, y = _data(300)
    rows, fetched, passes = strict.asarray(X, device=strict.Device("device1")), [], []
    kept, score = transfers.fetched, WorkingSetSearch.score

    def counted(*arguments, **options):
        before = len(fetched)
        batch = score(*arguments, **options)
        passes.append(len(fetched) - before)
        return batch

    monkeypatch.setattr(transfers, "fetched", lambda x: fetched.append(int(np.prod(x.shape))) or kept(x))
    monkeypatch.setattr(kinds, "DEVICE_BLOCK", 1)
    monkeypatch.setattr(WorkingSetSearch, "score", counted)
    path = KernelPath(
        _operator(RBF(0.05).resolve(X, None), rows, NEVER_FITS),
        strict.asarray(y, device=rows.device),
        None,
        True,
        NoiseOptions(Gaussian()),
        WorkingSetSettings(block_elements=1000),
    )
    path.fit(Uniform(), ActiveSet(), FitMonitor())
    assert set(passes) == {1}
    assert max(fetched) < 300 * 300 / 4
