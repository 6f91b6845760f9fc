"""How a classifier begins: functions chosen around the intercepts, then afresh around the mode of those."""

import numpy as np
import pytest

from sparsebayes import ActiveSet, FixedPoint, RelevanceVectorClassifier, Sequential
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.datasets import make_ripley
from sparsebayes.inference import laplace
from sparsebayes.inference.arguments import make_monitor
from sparsebayes.inference.laplace import LaplaceFit
from sparsebayes.likelihoods import Bernoulli, Multinomial
from sparsebayes.priors import Uniform
from sparsebayes.rows import LaplaceRows
from sparsebayes.solvers.base import first_state

seeds = pytest.mark.parametrize("seed", range(3))


class Poor(ActiveSet):
    """What it chooses afresh is a single function."""

    def reopen(self, problem, monitor):
        return first_state(problem)


class Counting(ActiveSet):
    """Counts how often it is asked to choose afresh."""

    asked = 0

    def reopen(self, problem, monitor):
        Counting.asked += 1
        return super().reopen(problem, monitor)


def _engine(seed, K, solver, center=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 2))
    Phi = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    outputs = np.stack([np.sin(2 * X[:, 0] + k) + X[:, 1] * np.cos(k) for k in range(K)], axis=1)
    label = np.argmax(2 * outputs + rng.gumbel(size=outputs.shape), axis=1)
    y = np.eye(K)[label]
    likelihood = Bernoulli() if K == 2 else Multinomial(K)
    rows = LaplaceRows(DenseOperator(Phi), y[:, 1:] if K == 2 else y, likelihood, None, center)
    return LaplaceFit(rows, Uniform().resolve(rows.n), solver, make_monitor(1000, 1e-6, 0, 0, None))


@seeds
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("center", [False, True])
def test_choosing_afresh_is_never_taken_for_less(seed, K, center):
    engine = _engine(seed, K, ActiveSet(), center)
    first = engine._opened(engine._at_intercepts(), engine.solver.begin, -np.inf)
    begun = engine._begin()
    same = np.array_equal(begun.J, first.J)
    assert begun.reached
    assert same or begun.objective > first.objective + laplace.AFRESH - 0.01  # α was only nearly settled


@seeds
def test_a_poorer_choice_leaves_the_first_one_standing(seed, monkeypatch):
    begun = _engine(seed, 2, Poor())._begin()
    monkeypatch.setattr(laplace, "REOPENED", 0)
    alone = _engine(seed, 2, ActiveSet())._begin()
    np.testing.assert_array_equal(begun.J, alone.J)
    np.testing.assert_allclose(begun.alpha, alone.alpha, rtol=1e-12)


@seeds
def test_choices_end_where_they_no_longer_gain(seed, monkeypatch):
    monkeypatch.setattr(laplace, "REOPENED", 50)
    Counting.asked = 0
    _engine(seed, 2, Counting())._begin()
    assert 1 <= Counting.asked < 10


@seeds
def test_a_choice_that_cannot_be_settled_leaves_the_earlier_one_standing(seed, monkeypatch):
    monkeypatch.setattr(laplace, "AFRESH", -np.inf)  # any choice is taken
    engine = _engine(seed, 2, Poor())
    first = engine._opened(engine._at_intercepts(), engine.solver.begin, -np.inf)
    settled = engine._settled

    def unless_single(mode, worth, tol):
        return None if len(mode.J) == 1 and tol == engine.monitor.tol else settled(mode, worth, tol)

    monkeypatch.setattr(engine, "_settled", unless_single)
    np.testing.assert_array_equal(engine._begin().J, first.J)


@pytest.mark.parametrize("solver", [Sequential(), FixedPoint("em"), FixedPoint("mackay")])
def test_published_algorithms_choose_once(solver):
    assert not solver.reopens
    assert ActiveSet().reopens


def test_neither_stages_nor_rebuilds_are_used_on_expansions():
    X, y, _ = make_ripley(150, random_state=0)
    plain = RelevanceVectorClassifier(gamma=2.0, solver=ActiveSet()).fit(X, y)
    asked = RelevanceVectorClassifier(gamma=2.0, solver=ActiveSet(stages=4, rebuilds=2)).fit(X, y)
    np.testing.assert_array_equal(asked.relevance_, plain.relevance_)
    assert asked.log_evidence_ == plain.log_evidence_


def test_choosing_afresh_raises_the_evidence_on_average(monkeypatch):
    def evidences():
        found = []
        for seed in range(300, 308):
            X, y, _ = make_ripley(1400, random_state=seed)
            model = RelevanceVectorClassifier(gamma=1.0, fit_intercept=False).fit(X, y)
            found.append(model.log_evidence_)
        return np.asarray(found)

    afresh = evidences()
    monkeypatch.setattr(laplace, "REOPENED", 0)
    assert np.mean(afresh - evidences()) > 0.1
