import array_api_strict
import numpy as np
import pytest
from brute import PRIORS, problem_of, random_problem

from sparsebayes.likelihoods import Gaussian
from sparsebayes.solvers.newton import gradient_and_hessian, maximise_jointly, noise_gradient


def _state(seed, prior, noise=None, xp=np):
    Phi, t, J = random_problem(seed, 40, 15, 5)
    rng = np.random.default_rng(seed)
    problem = problem_of(Phi, t, prior, noise, xp)
    return problem.start(J, xp.asarray(10 ** rng.uniform(-2, 0, 5)), 4.0)


def _numerical(state, h=1e-4):
    """Gradient and Hessian of the objective in (log α, log β) by central differences."""
    base = np.append(np.log(state.alpha), np.log(state.beta))

    def f(x):
        return state.problem.state(state.active, np.exp(x[:-1]), float(np.exp(x[-1]))).objective

    size = len(base)
    E = h * np.eye(size)
    gradient = np.array([(f(base + e) - f(base - e)) / (2 * h) for e in E])
    hessian = np.array(
        [[f(base + a + b) - f(base + a - b) - f(base - a + b) + f(base - a - b) for b in E] for a in E]
    )
    return gradient, hessian / (4 * h * h)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_hessian_equal_finite_differences(seed, name):
    state = _state(seed, PRIORS[name], Gaussian(4.0, c=0.5, d=0.2))
    gradient, hessian = gradient_and_hessian(state, with_noise=True)
    expected_gradient, expected_hessian = _numerical(state)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(hessian, expected_hessian, rtol=2e-3, atol=2e-4)
    assert noise_gradient(state) == pytest.approx(gradient[-1])
    alone, curvature = gradient_and_hessian(state, with_noise=False)
    np.testing.assert_allclose(alone, gradient[:-1])
    np.testing.assert_allclose(curvature, hessian[:-1, :-1])


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("seed", range(3))
def test_newton_climbs_to_a_stationary_point(seed, name):
    state = _state(seed, PRIORS[name])
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
    problem = problem_of(Phi, t, noise=Gaussian(10.0, beta_max=1e8))
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
        slopes = [
            gradient_and_hessian(problem.state(state.active, a, state.beta), True)[0] for a in (up, down)
        ]
        np.testing.assert_allclose(hessian[k], (slopes[0] - slopes[1]) / (2 * h), rtol=1e-4, atol=1e-6)
