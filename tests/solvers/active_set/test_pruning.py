"""The pool that the first model is pruned from: functions far apart if that is known, whatever their order."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from sparsebayes import RBF, RelevanceVectorRegressor
from sparsebayes.bases import CentredBasis
from sparsebayes.bases.operators import KernelMatrix
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.datasets import make_sinc2d
from sparsebayes.rows.memory import summarise
from sparsebayes.solvers import ActiveSetSettings
from sparsebayes.solvers.active_set.pruning import candidate_pool

SETTINGS = ActiveSetSettings()


def _data(seed, N=90, d=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(-5, 5, (N, d)), rng.standard_normal(N)


def _operator(X, gamma=0.2):
    return RBF(gamma).bind(X).operator(X)


def _quadratic(X, t):
    return summarise(_operator(X), t)[0]


def _pool(quadratic, most):
    problem = Problem(quadratic, Uniform(), GaussianNoise(10.0), np.ones(quadratic.size))
    return candidate_pool(problem, most, SETTINGS)


def _farthest(X, first, size):
    chosen = [first]
    for _ in range(size - 1):
        gaps = np.linalg.norm(X[:, None, :] - X[chosen], axis=2).min(axis=1)
        chosen.append(int(gaps.argmax()))
    return chosen


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [1, 2, 5])
def test_functions_of_a_radial_kernel_far_apart_have_centres_far_apart(seed, d):
    X, _ = _data(seed, d=d)
    order = np.random.default_rng(seed).permutation(90)
    chosen = _operator(X, gamma=0.2 / d).far_apart(order, 30)
    assert chosen[0] == order[0]
    assert_array_equal(chosen, _farthest(X, order[0], 30))


def test_only_the_given_functions_are_chosen_and_none_twice():
    X, _ = _data(0)
    order = np.arange(10, 50)
    chosen = _operator(X).far_apart(order, 40)
    assert_array_equal(np.sort(chosen), order)
    assert _operator(X).far_apart(order, 41) is None


class _Product(CentredBasis):
    """x·z, which says of two points on a line through 0 that they are alike."""

    def resolve(self, X, sample_weight):
        return self

    def evaluate(self, X, Z):
        return X @ Z.T

    def positive_semidefinite_at(self, Z):
        return True


def test_similarity_does_not_depend_on_size_or_sign():
    X = np.array([[1.0, 0.0], [-3.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
    operator = _Product().bind(X).operator(X)
    assert isinstance(operator, KernelMatrix)
    assert_array_equal(operator.far_apart(np.arange(5), 3), [0, 2, 3])
    assert operator.far_apart(np.arange(5), 4) is None  # (-3, 0) is (1, 0) again, and the last is nothing
    assert operator.far_apart(np.array([4]), 1) is None


@pytest.mark.parametrize("seed", range(4))
def test_pools_follow_their_functions_and_not_the_sign_of_the_target(seed):
    X, t = _data(seed)
    shuffled = np.random.default_rng(seed).permutation(90)
    pool = _pool(_quadratic(X, t), 30)
    assert len(set(pool)) == round(SETTINGS.spread_share * 30)
    assert_array_equal(shuffled[_pool(_quadratic(X[shuffled], t[shuffled]), 30)], pool)
    assert_array_equal(_pool(_quadratic(X, -t), 30), pool)


def test_functions_equally_far_apart_are_chosen_by_the_target_whatever_their_order():
    X = np.linspace(-5, 5, 60)[:, None]
    t = np.random.default_rng(0).standard_normal(60)
    shuffled = np.random.default_rng(1).permutation(60)
    pool = _pool(_quadratic(X, t), 30)
    assert_array_equal(shuffled[_pool(_quadratic(X[shuffled], t[shuffled]), 30)], pool)


def test_pools_have_no_repeated_points():
    X, t = _data(0)
    X[40:60] = X[:20]
    quadratic, units = summarise(_operator(X), t)
    chosen = units.kept[_pool(quadratic, 40)]
    assert len(np.unique(X[chosen], axis=0)) == len(chosen)


def test_pools_are_spread_over_the_products_with_the_target_if_similarity_is_unknown():
    h = np.random.default_rng(0).standard_normal(50)
    pool = _pool(DenseQuadratic(200.0, 200.0, h, np.eye(50)), 10)
    assert len(set(pool)) == 10
    assert {int(h.argmin()), int(h.argmax())} <= set(pool.tolist())
    assert len(_pool(DenseQuadratic(8.0, 8.0, h, np.eye(50)), 10)) == 4
    assert len(_pool(_quadratic(*_data(0)), 0)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_kernels_far_apart_or_not_end_at_certified_models(seed):
    X, y, _ = make_sinc2d(300, 0.1, random_state=seed)
    model = RelevanceVectorRegressor(gamma=0.16).fit(X, y)
    same = RelevanceVectorRegressor("precomputed").fit(RBF(0.16).bind(X)(X), y)
    other = RelevanceVectorRegressor(lambda X, Z: RBF(0.16).bind(Z)(X)).fit(X, y)  # nothing is known of it
    for each in (model, same, other):
        assert each.converged_
        assert each.certificate_.is_local_maximum
    assert_array_equal(model.relevance_, same.relevance_)
    rounded = RelevanceVectorRegressor("precomputed").fit(rbf_kernel(X, gamma=0.16), y)  # unsymmetric by 1e-16
    assert_array_equal(model.relevance_, rounded.relevance_)
    assert abs(model.log_evidence_ - other.log_evidence_) < 10
