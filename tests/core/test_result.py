"""What a fit returns: its derived quantities and its predictions, against brute force."""

from types import SimpleNamespace

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.bases import as_operator
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.result import BLOCK, Result

RNG = np.random.default_rng(0)
SIGMA = np.asarray([[0.4, 0.1], [0.1, 0.3]])


def _result(xp=np, **changes):
    """A regression with the functions 4 and 1 of five and an intercept."""
    fields = {
        "active": np.asarray([1, 4]),
        "output": np.asarray([0, 0]),
        "mean": xp.asarray([1.5, -2.0]),
        "alpha": xp.asarray([0.5, 0.2]),
        "gamma": xp.asarray([0.8, 0.7]),
        "covariance": xp.asarray(SIGMA),
        "intercept": xp.asarray([0.25]),
        "centre": xp.asarray([[0.6, -0.9]]),
        "intercept_covariance": xp.asarray([[0.05]]),
        "likelihood": GaussianNoise(4.0),
        "log_evidence": -10.0,
        "objective": -11.0,
        "evidence_path": np.asarray([-20.0, -12.0, -11.0]),
        "converged": True,
    }
    return Result(**{**fields, **changes})


def _two_outputs():
    return _result(
        output=np.asarray([1, 0]),
        intercept=np.asarray([0.25, -3.0]),
        centre=np.zeros((2, 2)),
        intercept_covariance=np.zeros((2, 2)),
    )


def test_derived_quantities():
    result = _result()
    assert result.outputs == 1
    assert result.n_iter == 2
    assert result.has_intercept
    assert result.noise_variance == 0.25
    assert result.degrees_of_freedom == pytest.approx(1.5)
    plain = _result(intercept=np.zeros(1), intercept_covariance=np.zeros((1, 1)))
    assert not plain.has_intercept
    assert _two_outputs().outputs == 2
    assert (result.certificate, result.trace, result.candidates, result.classes) == (None, (), None, None)


def test_f_is_the_sum_of_its_functions_and_the_intercept():
    Phi = RNG.standard_normal((6, 5))
    columns = Phi[:, [1, 4]]
    expected = 1.5 * Phi[:, 1] - 2.0 * Phi[:, 4] + 0.25
    result = _result()
    assert_allclose(result.f_mean(columns), expected[:, None])
    several = _two_outputs().f_mean(columns)
    assert_allclose(several, np.stack([-2.0 * Phi[:, 4] + 0.25, 1.5 * Phi[:, 1] - 3.0], axis=1))


@pytest.mark.parametrize("sparse", [False, True])
def test_variances_count_weights_intercept_and_noise(sparse):
    columns = RNG.standard_normal((6, 2))
    Sigma = np.diag([0.4, 0.3]) if sparse else SIGMA
    result = _result(covariance=scipy.sparse.csr_array(Sigma) if sparse else Sigma)
    draws = np.random.default_rng(1).multivariate_normal(result.mean, Sigma, 200_000)
    # b = t̄ − φ̄ᵀw + noise of variance 0.05: f moves with w by φ − φ̄
    f = draws @ (columns - [0.6, -0.9]).T + np.sqrt(0.05) * np.random.default_rng(2).standard_normal((200_000, 1))
    assert_allclose(result.f_variance(columns), f.var(axis=0), rtol=0.02)
    centred = columns - np.asarray([0.6, -0.9])
    assert_allclose(result.f_variance(columns), np.einsum("ni,ij,nj->n", centred, Sigma, centred) + 0.05)
    assert_allclose(result.variance(columns), result.f_variance(columns) + 0.25)


DESIGNS = {
    "array": np.asarray,
    "list": np.ndarray.tolist,
    "frame": pd.DataFrame,
    "csr": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_array,
    "operator": as_operator,
}


@pytest.mark.parametrize("kind", DESIGNS)
def test_predictions_of_every_kind_of_design(kind):
    Phi = np.random.default_rng(3).standard_normal((7, 5))
    result, design = _result(), DESIGNS[kind](Phi)
    expected = 1.5 * Phi[:, 1] - 2.0 * Phi[:, 4] + 0.25
    assert_allclose(result.predict(design), expected)
    mean, std = result.predict(design, return_std=True)
    assert_allclose(mean, expected)
    assert_allclose(std**2, result.variance(Phi[:, [1, 4]]))
    assert_allclose(_two_outputs().predict(design), _two_outputs().f_mean(Phi[:, [1, 4]]))


def test_predictions_follow_the_array_standard():
    Phi = RNG.standard_normal((7, 5))
    mean, std = _result(array_api_strict).predict(array_api_strict.asarray(Phi), return_std=True)
    expected = _result().predict(Phi, return_std=True)
    assert_allclose(np.asarray(mean), expected[0])
    assert_allclose(np.asarray(std), expected[1])


class OnDisk:
    """A design of which rows are read by slicing; `read` notes the sizes of the blocks."""

    dtype = np.dtype(float)

    def __init__(self, N, M):
        self.shape, self.read = (N, M), []

    def __getitem__(self, key):
        rows, columns = key
        assert columns == slice(None)
        numbers = np.arange(self.shape[0], dtype=float)[rows]
        self.read.append(len(numbers))
        return np.broadcast_to(numbers[:, None], (len(numbers), self.shape[1]))


@pytest.mark.parametrize(("N", "M", "blocks"), [(7, BLOCK // 3, [3, 3, 1]), (2, 2 * BLOCK, [1, 1]), (0, 9, [0])])
def test_wide_designs_are_read_a_few_rows_at_a_time(N, M, blocks):
    design = OnDisk(N, M)
    mean = _result().predict(design)
    assert design.read == blocks
    assert_allclose(mean, -0.5 * np.arange(N) + 0.25)


def test_probabilities_are_the_likelihoods():
    calls = []

    def probabilities(result, columns, moderated):
        calls.append((result, columns, moderated))
        return "p"

    result = _result(likelihood=SimpleNamespace(probabilities=probabilities))
    assert result.probabilities("columns") == "p"
    assert result.probabilities("columns", moderated=False) == "p"
    assert calls == [(result, "columns", True), (result, "columns", False)]


def test_a_model_without_functions_predicts_its_intercept():
    none = np.zeros(0)
    empty = _result(
        active=np.zeros(0, dtype=int),
        output=np.zeros(0, dtype=int),
        mean=none,
        alpha=none,
        gamma=none,
        covariance=np.zeros((0, 0)),
        centre=np.zeros((1, 0)),
    )
    mean, std = empty.predict(np.ones((3, 5)), return_std=True)
    assert_array_equal(mean, np.full(3, 0.25))
    assert_allclose(std**2, np.full(3, 0.3))
    assert empty.degrees_of_freedom == 0.0
