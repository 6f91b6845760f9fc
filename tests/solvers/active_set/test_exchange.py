"""The gain of replacing one function by another, and what is made of it."""

import array_api_strict
import numpy as np
import pytest
from brute import PRIORS, problem_of, random_problem

from sparsebayes.core.posterior import Scores
from sparsebayes.solvers.active_set.exchange import (
    Removals,
    best_swaps,
    independent,
    substitutes,
    swapped,
    swapped_together,
)


def _state(seed, prior=None, xp=np, M=40):
    Phi, t, _ = random_problem(seed, 30, M, 4)
    rng = np.random.default_rng(seed + 100)
    J = rng.choice(M, 6, replace=False)
    return problem_of(Phi, t, prior, xp=xp).start(J, xp.asarray(10 ** rng.uniform(-2, 1, 6)), 30.0)


@pytest.mark.parametrize("seed", range(3))
def test_scores_without_each_function_are_those_of_the_state_without_it(seed):
    state = _state(seed)
    without = Removals(state)
    S, Q = without.S, without.q
    outside = np.setdiff1d(np.arange(40), state.J)
    for j in range(state.size):
        scores = Scores(state.keep(np.delete(np.arange(state.size), j)))
        np.testing.assert_allclose(S[j, outside], scores.S[outside], rtol=1e-7)
        np.testing.assert_allclose(Q[j, outside], scores.Q[outside], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_the_gain_of_every_swap_equals_the_change_of_the_objective(seed, name):
    state = _state(seed, PRIORS[name])
    swaps = best_swaps(state)
    possible = np.flatnonzero(np.isfinite(swaps.alpha))
    for j in possible:
        change = swapped(state, np.asarray([j]), swaps).objective - state.objective
        assert change == pytest.approx(swaps.gain[j], abs=1e-7)
    assert (swaps.gain[~np.isfinite(swaps.alpha)] == 0).all()


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("seed", range(6))
def test_swaps_made_together_gain_half_of_what_the_best_is_predicted_to_or_are_not_made(seed, name):
    state = _state(seed, PRIORS[name])
    swaps = best_swaps(state)
    best = swaps.gain.max()
    made = swapped_together(state, swaps, 0.01 * best, 10, 0.6)
    if best <= 0:
        assert made is None
        return
    following, count = made
    assert 1 <= count == len(np.setdiff1d(state.J, following.J))
    assert following.objective >= state.objective + 0.5 * best
    assert following.size == state.size
    assert set(following.J) <= set(state.J) | set(swaps.into)
    alone, count = swapped_together(state, swaps, 0.0, 1, 0.6)
    assert count == 1
    assert alone.objective == pytest.approx(state.objective + best)
    assert swapped_together(state, swaps, best, 10, 0.6) is None


def test_substitutes_begin_with_the_best_swap_and_are_not_active():
    state = _state(0)
    assert set(substitutes(state, 1)) == set(best_swaps(state).into)
    more = substitutes(state, 3)
    assert set(substitutes(state, 1)) <= set(more)
    assert not set(more) & set(state.J)


def test_there_are_no_more_substitutes_than_candidates():
    state = _state(0, M=8)
    assert set(substitutes(state, 5)) == set(range(8)) - set(state.J)


def test_functions_chosen_together_are_nearly_orthogonal():
    state = _state(1)
    outside = np.setdiff1d(np.arange(40), state.J)
    chosen = outside[independent(state, outside, 10, 0.3)]
    assert 1 < len(chosen) <= 10
    C_inverse = np.asarray(state.problem.quadratic.gram(chosen)) * state.beta
    whitened = np.asarray(state.scores.whitened)[:, chosen] * state.beta
    products = C_inverse - whitened.T @ whitened
    cosines = products / np.sqrt(np.outer(products.diagonal(), products.diagonal()))
    assert np.abs(cosines - np.eye(len(chosen))).max() < 0.3
    assert list(independent(state, outside, 1, 0.3)) == [0]


def test_exchanges_follow_the_array_standard():
    plain, strict = _state(2), _state(2, xp=array_api_strict)
    expected, found = best_swaps(plain), best_swaps(strict)
    np.testing.assert_array_equal(found.into, expected.into)
    np.testing.assert_allclose(found.gain, expected.gain, atol=1e-9)
    np.testing.assert_array_equal(substitutes(strict, 3), substitutes(plain, 3))
    every = np.flatnonzero(np.isfinite(found.alpha))[:1]
    together = [swapped_together(x, best_swaps(x), 0.0, 4, 0.6)[0] for x in (plain, strict)]
    assert together[1].objective == pytest.approx(together[0].objective)
    assert swapped(strict, every, found).objective == pytest.approx(swapped(plain, every, expected).objective)
