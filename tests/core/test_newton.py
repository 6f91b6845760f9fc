"""Joint Newton steps: derivatives, step control, jumps between modes, deletion."""

import math
from dataclasses import replace

import array_api_strict
import numpy as np
import pytest
from brute import EVERY_PRIOR, PRIORS, problem_of, random_problem

from sparsebayes._array import NotPositiveDefinite
from sparsebayes.core.newton import (
    NEWTON,
    SILENT,
    _newton_step,
    delete_useless,
    gradient_and_hessian,
    maximise_jointly,
    noise_gradient,
    noise_is_free,
    polish,
)
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import State
from sparsebayes.core.prior import Uniform
from sparsebayes.priors import Gamma


def _state(seed, prior, noise=None, xp=np):
    Phi, t, J = random_problem(seed, 40, 15, 5)
    rng = np.random.default_rng(seed)
    problem = problem_of(Phi, t, prior, noise, xp)
    return problem.start(J, xp.asarray(10 ** rng.uniform(-2, 0, 5)), 4.0)


def _numerical(state, h=1e-4):
    """Gradient and Hessian of the objective in (log α, log β) by central differences."""
    base = np.append(np.log(state.alpha), np.log(state.beta))

    def f(x):
        return state.moved(np.exp(x[:-1]), float(np.exp(x[-1]))).objective

    size = len(base)
    E = h * np.eye(size)
    gradient = np.array([(f(base + e) - f(base - e)) / (2 * h) for e in E])
    hessian = np.array([[f(base + a + b) - f(base + a - b) - f(base - a + b) + f(base - a - b) for b in E] for a in E])
    return gradient, hessian / (4 * h * h)


@pytest.mark.parametrize("name", EVERY_PRIOR)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_hessian_equal_finite_differences(seed, name):
    state = _state(seed, EVERY_PRIOR[name], GaussianNoise(4.0, c=0.5, d=0.2))
    gradient, hessian = gradient_and_hessian(state, with_noise=True)
    expected_gradient, expected_hessian = _numerical(state)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(hessian, expected_hessian, rtol=2e-3, atol=2e-4)
    assert noise_gradient(state) == pytest.approx(gradient[-1])
    alone, curvature = gradient_and_hessian(state, with_noise=False)
    np.testing.assert_allclose(alone, gradient[:-1])
    np.testing.assert_allclose(curvature, hessian[:-1, :-1])


@pytest.mark.parametrize("name", EVERY_PRIOR)
@pytest.mark.parametrize("seed", range(3))
def test_newton_climbs_to_a_stationary_point(seed, name):
    state = _state(seed, EVERY_PRIOR[name])
    reached = maximise_jointly(state, 1e-14)
    assert reached.objective >= state.objective
    gradient, _ = gradient_and_hessian(reached, with_noise=True)
    assert np.abs(gradient).max() < 1e-5


def test_newton_follows_the_array_standard():
    plain = maximise_jointly(_state(0, PRIORS["aic"]), 1e-12)
    strict = maximise_jointly(_state(0, PRIORS["aic"], xp=array_api_strict), 1e-12)
    assert strict.objective == pytest.approx(plain.objective, rel=1e-10)


def test_noise_stops_at_its_ceiling():
    Phi, _, J = random_problem(0, 40, 15, 5)
    t = Phi[:, J] @ np.ones(5)
    t /= np.sqrt(np.mean(t**2))
    problem = problem_of(Phi, t, noise=GaussianNoise(10.0, beta_max=1e8))
    state = maximise_jointly(problem.start(J, np.full(5, 0.1), 10.0), 1e-12)
    assert state.beta == pytest.approx(1e8)
    assert np.isfinite(state.objective)


@pytest.mark.parametrize("size", [60, 220])
def test_hessian_of_large_models_equals_its_formula_and_finite_differences(size):
    # large enough for NumPy to store intermediate results by columns
    Phi, t, _ = random_problem(size, 300, size, 5)
    rng = np.random.default_rng(size)
    problem = problem_of(Phi, t)
    state = problem.start(np.arange(size), 10 ** rng.uniform(-1, 1, size), 5.0)
    _, hessian = gradient_and_hessian(state, with_noise=True)
    alpha, Sigma, mean = state.alpha, state.covariance, state.mean
    expected = np.outer(alpha, alpha) * Sigma * (0.5 * Sigma + np.outer(mean, mean))
    expected -= np.diag(0.5 * alpha * (np.diag(Sigma) + mean**2))
    np.testing.assert_allclose(hessian[:-1, :-1], expected, rtol=1e-8, atol=1e-12)
    h = 1e-5
    for k in (0, size // 2, size - 1):
        up, down = (np.where(np.arange(size) == k, alpha * np.exp(d), alpha) for d in (h, -h))
        slopes = [gradient_and_hessian(state.moved(a, state.beta), True)[0] for a in (up, down)]
        np.testing.assert_allclose(hessian[k], (slopes[0] - slopes[1]) / (2 * h), rtol=1e-4, atol=1e-6)


# step control


def _steps(before, after):
    """Changes of (log α, log β)."""
    return np.append(np.log(after.alpha / before.alpha), math.log(after.beta / before.beta))


def _damped(state, damping, longest):
    """Levenberg's step by its formula; None if its matrix is not positive definite."""
    gradient, hessian = gradient_and_hessian(state, with_noise=True)
    matrix = -hessian + damping * np.diag(np.abs(np.diag(hessian)) + 1e-3)
    if np.linalg.eigvalsh(matrix).min() <= 0:
        return None
    return np.clip(np.linalg.solve(matrix, gradient), -longest, longest)


def _climbs(state, damping, longest):
    """Whether Levenberg's step is one, and does not lower the objective."""
    step = _damped(state, damping, longest)
    if step is None:
        return False
    there = state.moved(state.alpha * np.exp(step[:-1]), state.beta * math.exp(step[-1]))
    return there.objective >= state.objective


def test_steps_are_levenbergs_and_the_damping_follows_how_well_they_were_predicted():
    seen = set()
    for seed, damping, longest in [(k, d, x) for k in range(12) for d in (0.01, 0.3, 1.0) for x in (1.5, 6.0)]:
        state = _state(seed, PRIORS["uniform"])
        settings = replace(NEWTON, longest_step=longest)
        after, following, predicted = _newton_step(state, damping, 1e-12, settings)
        step = _steps(state, after)
        gradient, hessian = gradient_and_hessian(state, with_noise=True)
        assert predicted == pytest.approx(gradient @ step, rel=1e-6)
        ratio = (after.objective - state.objective) / (gradient @ step + 0.5 * step @ hessian @ step)
        factor = 0.1 if ratio > 0.75 else 1.0 if ratio > 0.25 else 4.0
        used = following / factor
        np.testing.assert_allclose(step, _damped(state, used, longest), rtol=1e-6, atol=1e-9)
        assert after.objective >= state.objective
        if used > 1.01 * damping:  # the damping before this one did not work
            assert not (_climbs(state, used / 4, longest) and _climbs(state, used / 8, longest))
            seen.add("grown")
        else:
            assert used == pytest.approx(damping)
        seen.add(factor)
        seen.add("between" if 0.25 < ratio < 0.5 else "")
    assert seen >= {0.1, 1.0, 4.0, "grown", "between"}


def _correlated(seed):
    """Five functions in almost two dimensions, none of them useless."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 5))
    Phi += 10 ** rng.uniform(-2, 0) * rng.standard_normal((30, 5))
    Phi /= np.linalg.norm(Phi, axis=0)
    t = Phi @ rng.standard_normal(5) + 0.1 * rng.standard_normal(30)
    t /= np.sqrt(np.mean(t**2))
    state = problem_of(Phi, t).start(range(5), 10 ** rng.uniform(-3, 1, 5), 10 ** rng.uniform(0, 2))
    assert not len(state.useless)
    return state


@pytest.mark.parametrize("seed", [1079, 1557])
def test_a_step_that_clipping_turns_downhill_is_shortened_by_damping(seed):
    state = _correlated(seed)
    gradient = gradient_and_hessian(state, with_noise=True)[0]
    assert gradient @ _damped(state, 1e-3, np.inf) > 1
    assert gradient @ _damped(state, 1e-3, 1.5) < 0
    reached = maximise_jointly(state, 1e-12, max_steps=1, damping=1e-3)
    assert reached.objective > state.objective + 1


def test_no_step_is_longer_than_the_longest():
    for seed in range(4):
        state = _state(seed, PRIORS["uniform"])
        for longest in (0.05, 0.7):
            settings = replace(NEWTON, longest_step=longest)
            step = _steps(state, _newton_step(state, 0.03, 1e-12, settings)[0])
            assert np.abs(step).max() == pytest.approx(longest)


def test_rounding_may_lower_the_objective_and_nothing_else_may():
    """A step far too long lowers the objective; it is taken only if that much is taken for rounding."""
    state = _state(19, PRIORS["uniform"])
    settings, n = replace(NEWTON, longest_step=20.0), state.problem.quadratic.n
    step = _damped(state, 1e-9, 20.0)
    overshot = state.moved(state.alpha * np.exp(step[:-1]), state.beta * math.exp(step[-1])).objective
    fall = state.objective - overshot
    assert fall > 10
    lenient, strict = (replace(settings, rounding=share * fall / n) for share in (1.01, 0.99))
    accepted, _, _ = _newton_step(state, 1e-9, 1e-12, lenient)
    assert accepted.objective == pytest.approx(overshot)
    shorter, damping, _ = _newton_step(state, 1e-9, 1e-12, strict)
    assert shorter.objective > overshot + 0.01 * fall
    assert damping > 1e-6


@pytest.mark.parametrize(("damping", "following"), [(0.2, 0.02), (3e-5, 3e-6), (3e-9, 1e-9), (1e-9, 1e-9)])
def test_the_damping_of_a_good_step_falls_to_a_tenth_and_at_last_to_a_billionth(damping, following):
    state = maximise_jointly(_state(0, PRIORS["uniform"]), 1e-2)
    after, reached, _ = _newton_step(state, damping, 0.0, NEWTON)
    assert after.objective > state.objective
    assert reached == pytest.approx(following, rel=1e-12, abs=0)


def test_steps_end_when_the_next_is_predicted_to_gain_less_than_the_tolerance():
    state = _state(0, PRIORS["aic"])
    settings = replace(NEWTON, last_gain=0.0)
    reached = [maximise_jointly(state, tol, settings=settings) for tol in (1.0, 1e-2, 1e-12)]
    gains = [_newton_step(each, 1e-9, 0.0, settings)[2] for each in reached]
    assert 1e-2 < gains[0] < 1.0
    assert 1e-12 < gains[1] < 1e-2
    assert abs(gains[2]) < 1e-10
    assert reached[0].objective < reached[1].objective < reached[2].objective + 1e-12
    assert maximise_jointly(reached[2], 1e-6) is reached[2]


def test_a_step_that_leaves_nothing_for_the_next_is_the_last():
    state = _state(1, PRIORS["uniform"])
    single = maximise_jointly(state, 1e-14, max_steps=1)
    at_once = replace(NEWTON, last_gain=math.inf, last_damping=math.inf)
    assert maximise_jointly(state, 1e-14, settings=at_once).objective == single.objective
    for never in (replace(at_once, last_gain=0.0), replace(at_once, last_damping=0.0)):
        reached = maximise_jointly(state, 1e-14, settings=never)
        assert reached.objective > single.objective + 1e-3
        assert np.abs(gradient_and_hessian(reached, with_noise=True)[0]).max() < 1e-5


def test_the_first_damping_can_be_given():
    state = _state(2, PRIORS["uniform"])
    usual, given = (_newton_step(state, damping, 1e-14, NEWTON)[0] for damping in (NEWTON.first_damping, 50.0))
    assert maximise_jointly(state, 1e-14, max_steps=1).objective == usual.objective
    assert maximise_jointly(state, 1e-14, max_steps=1, damping=50.0).objective == given.objective
    assert np.abs(_steps(state, given)).max() < np.abs(_steps(state, usual)).max()


def test_functions_that_cannot_be_told_apart_do_not_stop_the_steps(monkeypatch):
    """Steps into states that cannot be factorised are damped until they can be."""
    state, moved = _state(3, PRIORS["uniform"]), State.moved

    def fragile(self, alpha, beta):
        if np.abs(np.log(alpha / self.alpha)).max() > 0.3:
            raise NotPositiveDefinite
        return moved(self, alpha, beta)

    monkeypatch.setattr(State, "moved", fragile)
    reached = maximise_jointly(state, 1e-12, max_steps=1)
    assert reached.objective > state.objective
    assert np.abs(np.log(reached.alpha / state.alpha)).max() <= 0.3


# noise


def _noiseless(beta, beta_max=1e8, **noise):
    """A target in the span of the active functions: the evidence rises with β without bound."""
    Phi, _, J = random_problem(0, 40, 15, 5)
    t = Phi[:, J] @ np.ones(5)
    t /= np.sqrt(np.mean(t**2))
    return problem_of(Phi, t, noise=GaussianNoise(10.0, beta_max=beta_max, **noise)).start(J, np.full(5, 0.1), beta)


def test_noise_is_free_unless_given_or_held_at_its_ceiling():
    assert noise_is_free(_noiseless(1e3))
    assert noise_gradient(_noiseless(1e8)) > 0
    assert not noise_is_free(_noiseless(1e8))
    assert not noise_is_free(_noiseless(1e8 * (1 - 0.5e-9)))
    assert noise_is_free(_noiseless(1e8 * (1 - 1.5e-9)))
    assert not noise_is_free(_noiseless(1e3, estimate=False))
    falling = _noiseless(1e8, d=1.0)  # its prior draws β down from the ceiling
    assert noise_gradient(falling) < 0
    assert noise_is_free(falling)


def test_given_noise_stays_while_precisions_move():
    Phi, t, J = random_problem(4, 40, 15, 5)
    state = problem_of(Phi, t, noise=GaussianNoise(7.0, estimate=False)).start(J, np.full(5, 0.02), 7.0)
    reached = maximise_jointly(state, 1e-12)
    assert reached.beta == 7.0
    assert reached.objective > state.objective
    assert np.abs(gradient_and_hessian(reached, with_noise=False)[0]).max() < 1e-5


# jumps between modes

TWO_MODES = Gamma(2.0, 0.03)  # for s = β = 1 and q² = 50: one mode near α = 0.1, another near α = 50


def _single(alpha):
    Phi, t = np.eye(8)[:, :2], np.append(math.sqrt(50.0), np.full(7, 0.4))
    return problem_of(Phi, t, TWO_MODES, GaussianNoise(1.0, estimate=False)).start([0], np.asarray([alpha]), 1.0)


def test_polish_jumps_to_the_higher_mode_of_a_single_precision():
    low, high = (maximise_jointly(_single(alpha), 1e-14) for alpha in (60.0, 0.2))
    assert 20 < low.alpha[0] < 100
    assert 0.05 < high.alpha[0] < 0.5
    assert low.reestimate_gain[0] > 5
    assert high.objective > low.objective + 5
    jumped = polish(_single(60.0))
    assert jumped.alpha[0] == pytest.approx(high.alpha[0], rel=1e-6)
    assert jumped.objective == pytest.approx(high.objective)
    assert polish(high).objective == pytest.approx(high.objective)


def test_jumps_must_gain_enough_and_are_counted():
    low = maximise_jointly(_single(60.0), 1e-14)
    reluctant = polish(_single(60.0), replace(NEWTON, jump_gain=1e3))
    assert reluctant.alpha[0] == pytest.approx(low.alpha[0], rel=1e-6)
    state = _single(60.0)
    assert polish(state, replace(NEWTON, max_jumps=0)) is state
    assert polish(state, replace(NEWTON, max_jumps=1)).objective > low.objective + 5


def test_a_jump_to_functions_that_cannot_be_told_apart_is_not_made(monkeypatch):
    low, moved = maximise_jointly(_single(60.0), 1e-14), State.moved

    def fragile(self, alpha, beta):
        if alpha[0] < 1:
            raise NotPositiveDefinite
        return moved(self, alpha, beta)

    monkeypatch.setattr(State, "moved", fragile)
    assert polish(low).alpha[0] == pytest.approx(low.alpha[0], rel=1e-6)


def test_a_jump_that_does_not_gain_what_it_was_predicted_to_is_not_made(monkeypatch):
    """s and q that have lost their digits predict gains that are none."""
    best = polish(_state(0, PRIORS["uniform"]))
    monkeypatch.setattr(State, "best_alpha", property(lambda state: 2 * state.alpha))
    monkeypatch.setattr(State, "reestimate_gain", property(lambda state: np.ones(state.size)))
    assert polish(best).objective == best.objective


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_polish_ends_where_no_single_precision_gains(name):
    for seed in range(3):
        state = _state(seed, EVERY_PRIOR[name])
        reached = polish(state)
        assert reached.objective >= state.objective
        assert reached.reestimate_gain.max() <= NEWTON.jump_gain
        free = noise_is_free(reached)
        assert np.abs(gradient_and_hessian(reached, free)[0]).max() < 1e-5


# deletion


def _pair(seed, weights=(2.0, 2.0, 0.0, 3.0), apart=0.05):
    """Four functions, of which the first two are almost parallel."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((30, 4))
    Phi[:, 1] = Phi[:, 0] + apart * rng.standard_normal(30)
    Phi /= np.linalg.norm(Phi, axis=0)
    t = Phi @ np.asarray(weights) + 0.3 * rng.standard_normal(30)
    t /= np.sqrt(np.mean(t**2))
    return problem_of(Phi, t).start(range(4), np.full(4, 0.05), 10.0)


def test_useless_functions_are_deleted_together_if_that_gains():
    state = _pair(0)
    assert list(state.useless) == [0, 2]
    together = state.keep([1, 3])
    assert together.objective > state.objective
    assert list(delete_useless(state).J) == [1, 3]
    assert delete_useless(state).objective == together.objective


def test_a_pair_that_gains_nothing_is_deleted_although_either_would_stay_alone():
    state = _pair(7, (0.3, 0.3, 2.0, 3.0), 0.6)
    assert list(state.useless) == [0, 1]
    alone = state.keep([0, 2, 3])
    assert not len(alone.useless)
    reached = delete_useless(state)
    assert list(reached.J) == [2, 3]
    assert reached.objective > alone.objective > state.objective


@pytest.mark.parametrize(("seed", "useless", "left"), [(7, [0, 1], [0, 2, 3]), (5, [0, 1, 2], [1, 3])])
def test_functions_that_are_useless_only_beside_each_other_are_not_deleted_together(seed, useless, left):
    """Each of a pair that shares its work seems useless; without both much is lost, so the worst goes first."""
    state = _pair(seed)
    assert list(state.useless) == useless
    together = state.keep(np.delete(np.arange(4), useless))
    assert together.objective < state.objective - 10
    reached = delete_useless(state)
    assert list(reached.J) == left
    assert reached.objective > state.objective


@pytest.mark.parametrize("size", [1, 2])
def test_the_last_function_is_not_deleted_but_silenced(size):
    Phi, t = np.eye(6)[:, :2], np.asarray([0.3, -0.2, 1.0, -1.0, 2.0, 0.5])
    state = problem_of(Phi, t, noise=GaussianNoise(0.7, estimate=False)).start(range(size), np.full(size, 0.5), 0.7)
    assert len(state.useless) == size
    quiet = delete_useless(state)
    assert list(quiet.J) == [0]
    assert quiet.alpha[0] == SILENT * 0.7
    empty = -0.5 * (6 * math.log(2 * math.pi / 0.7) + 0.7 * t @ t)
    assert quiet.objective == pytest.approx(empty, rel=1e-9)
    assert quiet.objective > state.objective
    assert delete_useless(quiet) is quiet
    louder = quiet.moved(1e3 * quiet.alpha, 0.7)  # even quieter: nothing is gained by coming back
    assert delete_useless(louder) is louder


def test_nothing_is_deleted_where_every_function_is_useful():
    state = maximise_jointly(_state(0, PRIORS["uniform"]), 1e-10)
    assert not len(state.useless)
    assert delete_useless(state) is state


def test_newton_steps_delete_what_becomes_useless_on_the_way():
    Phi, t, J = random_problem(2, 60, 25, 4)
    state = problem_of(Phi, t).start(range(25), np.full(25, 0.05), 5.0)
    reached = maximise_jointly(state, 1e-10)
    assert set(J) <= set(reached.J)
    assert reached.size < 25
    assert not len(reached.useless)
    assert reached.objective > state.objective


def test_a_function_is_not_deleted_if_that_loses_what_was_not_predicted(monkeypatch):
    """Factors that have lost their digits (here: all q = 0) make useful functions look useless."""
    state = maximise_jointly(_state(0, PRIORS["uniform"]), 1e-10)
    useful, s = state.moved(state.alpha, state.beta), state.factors[0]
    monkeypatch.setattr(State, "factors", property(lambda each: (s[: each.size], np.zeros(each.size))))
    assert len(useful.useless) == useful.size
    assert delete_useless(useful) is useful


@pytest.mark.parametrize(("share", "deleted"), [(-3.0, True), (0.6e-6, True), (1.6e-6, False), (1e-3, False)])
def test_a_deletion_may_miss_its_prediction_by_a_millionth_of_the_objective(share, deleted, monkeypatch):
    t = np.append([3.0, -2.0, 0.1], np.full(27, 0.3))  # only the third of the functions explains nothing
    extra = problem_of(np.eye(30)[:, :3], t).start(range(3), np.full(3, 0.5), 10.0)
    assert list(extra.useless) == [2]
    fewer = extra.keep([0, 1])
    assert 10 < abs(fewer.objective) < 1e3
    exact = extra.objective - fewer.objective
    claimed = np.append(extra.keep_gain[:2], exact - share * (1 + abs(fewer.objective)))
    monkeypatch.setattr(State, "keep_gain", property(lambda each: claimed[: each.size]))
    reached = delete_useless(extra)
    assert (reached is extra) is not deleted
    assert reached.size == (2 if deleted else 3)


@pytest.mark.parametrize("gamma", [0.5, 4.0])
def test_a_polish_ends_where_slopes_vanish_although_rounding_hides_the_objective(gamma):
    # neighbours of a wide Gaussian kernel are nearly dependent: the objective jumps by far more than a step gains
    left = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.uniform(-1, 1, 300))
        Phi = np.exp(-gamma * (x[:, None] - x[None, ::7]) ** 2)
        problem = problem_of(Phi, np.sin(9 * x) + 0.01 * rng.standard_normal(300), Uniform())
        first = problem.start(np.arange(problem.size), np.full(problem.size, 1e-3), 1e3)
        state = polish(maximise_jointly(first, 1e-3))
        gradient, hessian = gradient_and_hessian(state, noise_is_free(state))
        left.append(0.5 * gradient @ np.linalg.solve(-hessian, gradient))
    assert max(left) < 1e-9
