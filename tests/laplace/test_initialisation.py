"""How a classifier begins: functions chosen around the intercepts, then from nothing around their mode."""

import numpy as np
import pytest

from sparsebayes import RBF, ActiveSet, Bernoulli, FixedPoint, Multinomial, Sequential, fit
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.core.prior import Uniform
from sparsebayes.core.solver import Effort, Solution, first_state
from sparsebayes.datasets import make_ripley
from sparsebayes.laplace import LaplacePath, LaplaceSettings
from sparsebayes.laplace.loop import LaplaceFit
from sparsebayes.laplace.mode import Modes
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.solvers.monitor import FitMonitor

seeds = pytest.mark.parametrize("seed", range(3))


class Poor(ActiveSet):
    """What it chooses after its draft is a single function."""

    def solve(self, problem, monitor, start=None, effort=Effort.FULL):
        if start is None and effort == Effort.ROUND:
            return Solution(first_state(problem), False)
        return super().solve(problem, monitor, start, effort)


class Counting(ActiveSet):
    """Counts how often it is asked to choose from nothing after its draft."""

    asked = 0

    def solve(self, problem, monitor, start=None, effort=Effort.FULL):
        Counting.asked += start is None and effort == Effort.ROUND
        return super().solve(problem, monitor, start, effort)


def _engine(seed, K, solver, center=True, **settings):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 2))
    Phi = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    outputs = np.stack([np.sin(2 * X[:, 0] + k) + X[:, 1] * np.cos(k) for k in range(K)], axis=1)
    label = np.argmax(2 * outputs + rng.gumbel(size=outputs.shape), axis=1)
    y = np.eye(K)[label]
    likelihood = Bernoulli() if K == 2 else Multinomial(K)
    rows = LaplaceRows(DenseOperator(Phi), y[:, 1:] if K == 2 else y, likelihood, None, center)
    modes = Modes(rows, Uniform(), settings=LaplaceSettings(**settings))
    return LaplaceFit(modes, solver, FitMonitor(1000, 1e-6))


@seeds
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("center", [False, True])
def test_a_fresh_start_is_never_taken_for_less(seed, K, center):
    engine = _engine(seed, K, ActiveSet(), center)
    first, complete = engine._chosen(engine._at_intercepts(), Effort.DRAFT, -np.inf)
    begun = engine._initialise()
    same = np.array_equal(begun.J, first.J)
    assert not complete
    assert begun.reached
    least = first.objective + LaplaceSettings().fresh_gain - 0.01  # α was only roughly settled
    assert same or begun.objective > least


@seeds
def test_a_poorer_choice_leaves_the_first_one_as_it_is(seed):
    begun = _engine(seed, 2, Poor())._initialise()
    alone = _engine(seed, 2, ActiveSet(), fresh_starts=0)._initialise()
    np.testing.assert_array_equal(begun.J, alone.J)
    np.testing.assert_allclose(begun.alpha, alone.alpha, rtol=1e-12)


@seeds
def test_fresh_starts_end_when_they_no_longer_gain(seed):
    Counting.asked = 0
    _engine(seed, 2, Counting(), fresh_starts=50)._initialise()
    assert 1 <= Counting.asked < 10


class Unsettled(LaplaceFit):
    """A single function is never settled to the end."""

    def _settled(self, mode, least, tol):
        single = len(mode.J) == 1 and tol == self.monitor.tol
        return None if single else super()._settled(mode, least, tol)


@seeds
def test_a_choice_that_cannot_be_settled_leaves_the_earlier_one(seed):
    engine = _engine(seed, 2, Poor(), fresh_gain=-np.inf)  # any choice is taken
    engine = Unsettled(engine.modes, engine.solver, engine.monitor)
    first, _ = engine._chosen(engine._at_intercepts(), Effort.DRAFT, -np.inf)
    np.testing.assert_array_equal(engine._initialise().J, first.J)


@pytest.mark.parametrize("solver", [Sequential(), FixedPoint("em"), FixedPoint("mackay")], ids=repr)
def test_published_algorithms_choose_once(solver):
    engine = _engine(0, 2, solver)
    only, complete = engine._chosen(engine._at_intercepts(), Effort.DRAFT, -np.inf)
    assert complete
    np.testing.assert_array_equal(engine._initialise().J, only.J)


def _ripley(n, seed, gamma):
    X, y, _ = make_ripley(n, random_state=seed)
    return RBF(gamma).bind(X)(X), y


def test_there_is_no_search_on_expansions():
    Phi, y = _ripley(150, 0, 2.0)
    plain, thorough = (
        fit(Phi, y, likelihood=Bernoulli(), solver=solver, fit_intercept=True)
        for solver in (ActiveSet(effort="fast"), ActiveSet(effort="high"))
    )
    np.testing.assert_array_equal(thorough.active, plain.active)
    assert thorough.log_evidence == plain.log_evidence


def test_fresh_starts_raise_the_evidence_on_average():
    gains = []
    for seed in range(300, 308):
        Phi, y = _ripley(1400, seed, 1.0)
        evidences = []
        for settings in (LaplaceSettings(), LaplaceSettings(fresh_starts=0)):
            path = LaplacePath(DenseOperator(Phi), y, None, False, Bernoulli(), settings)
            evidences.append(path.fit(Uniform(), ActiveSet(), FitMonitor()).log_evidence)
        gains.append(evidences[0] - evidences[1])
    assert np.mean(gains) > 0.1


def test_the_trace_tells_initialisation_and_rounds():
    Phi, y = _ripley(150, 0, 2.0)
    result = fit(Phi, y, likelihood=Bernoulli(), fit_intercept=True)
    assert result.trace[0].name == "initialised"
    assert {move.name for move in result.trace[1:]} <= {"round"}
    assert len(result.trace) == result.n_iter
    assert result.trace[-1].n_active == len(result.active)
    rises = sum(move.gain for move in result.trace)
    assert result.evidence_path[-1] - result.evidence_path[0] == pytest.approx(rises, abs=1e-9)
