"""Atoms off the grid: the evidence, its gradient, and where refinement ends."""

import numpy as np
import pytest

from sparsebayes.joint.off_grid import OffGridProblem, OffGridState, climb, parameter_std, refine

N = 16
GRID = np.linspace(-0.5, 0.5, 41)


def waves(f):
    return np.exp(2j * np.pi * np.outer(np.arange(N), f))


def bumps(x):
    return np.exp(-(((np.linspace(-0.6, 0.6, N)[:, None] - x) / 0.1) ** 2))


FAMILIES = {"complex": waves, "real": bumps}
every_family = pytest.mark.parametrize("kind", FAMILIES)


def measurements(kind, seed, theta, T=3, sigma=0.1):
    rng = np.random.default_rng(seed)

    def normal(*shape):
        real = rng.standard_normal(shape)
        return real if kind == "real" else (real + 1j * rng.standard_normal(shape)) / np.sqrt(2)

    return FAMILIES[kind](theta) @ normal(len(theta), T) + sigma * normal(N, T)


def problem(kind, seed, T=3, variance=None, theta=(-0.21, 0.134, 0.33)):
    Y = measurements(kind, seed, np.asarray(theta), T)
    return OffGridProblem.of(FAMILIES[kind], Y, GRID, variance, np.log(len(GRID)))


def state(kind, seed, **options):
    rng = np.random.default_rng(100 + seed)
    theta = np.sort(rng.uniform(-0.45, 0.45, 4))
    return OffGridState(problem(kind, seed, **options), theta, rng.uniform(0.2, 5, 4), rng.uniform(1, 100))


@every_family
@pytest.mark.parametrize("T", [1, 3, 40])
@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_is_the_gaussian_density(kind, T, seed):
    at = state(kind, seed, T=T)
    Y = measurements(kind, seed, np.array([-0.21, 0.134, 0.33]), T)
    C = np.eye(N) / at.beta + (at.A / at.alpha) @ at.A.conj().T
    fits = np.sum((Y.conj() * np.linalg.solve(C, Y)).real)
    constant, half = (np.log(np.pi), 1.0) if kind == "complex" else (np.log(2 * np.pi), 0.5)
    expected = -half * (T * (N * constant + np.linalg.slogdet(C)[1]) + fits)
    assert at.log_evidence == pytest.approx(expected, rel=1e-9)


@every_family
@pytest.mark.parametrize("T", [1, 3, 40])
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_equals_finite_differences(kind, T, seed):
    at, h = state(kind, seed, T=T), 1e-5
    x = np.concatenate([at.theta, np.log(at.alpha), [np.log(at.beta)]])

    def value(x):
        return OffGridState(at.problem, x[:4], np.exp(x[4:8]), np.exp(x[8])).log_evidence

    gradient = np.concatenate([*at.gradient()[:2], [at.gradient()[2]]])
    differences = [(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(9)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


@every_family
@pytest.mark.parametrize("seed", range(3))
def test_gains_are_those_of_the_evidence(kind, seed):
    at = state(kind, seed)
    for m in range(4):
        kept = np.delete(np.arange(4), m)
        without = OffGridState(at.problem, at.theta[kept], at.alpha[kept], at.beta)
        assert at.gains()[m] == pytest.approx(at.log_evidence - without.log_evidence, rel=1e-7, abs=1e-7)
    alpha, gain = at.gains_of_grid()
    useful = np.flatnonzero(np.isfinite(alpha))
    for m in useful[:: max(1, len(useful) // 5)]:
        more = OffGridState(at.problem, np.append(at.theta, GRID[m]), np.append(at.alpha, alpha[m]), at.beta)
        assert gain[m] == pytest.approx(more.log_evidence - at.log_evidence, rel=1e-5, abs=1e-6)


@every_family
@pytest.mark.parametrize("seed", range(3))
def test_a_climb_ends_at_a_maximum(kind, seed):
    start = state(kind, seed)
    end = climb(start)
    assert end.converged
    assert end.log_evidence > start.log_evidence
    by_theta, by_alpha, by_beta = end.gradient()
    inside = (end.theta > GRID[0]) & (end.theta < GRID[-1]) & (end.gains() > 1e-3)
    assert np.abs(by_theta[inside] * end.problem.spacing(end.theta)[inside]).max(initial=0) < 1e-2
    assert np.abs(by_alpha[inside]).max(initial=0) < 1e-2
    assert abs(by_beta) < 1e-2


@every_family
@pytest.mark.parametrize("T", [1, 8, 40])
@pytest.mark.parametrize("seed", range(4))
def test_refinement_finds_the_atoms_from_any_start(kind, T, seed):
    theta = np.array([-0.21, 0.134, 0.33])
    of = problem(kind, seed, T, theta=theta)
    ends = []
    for start in ([], [-0.4], [0.1, 0.125, 0.15], [-0.225, 0.125, 0.35, 0.0]):
        first = OffGridState(of, np.asarray(start), np.ones(len(start)), 10.0)
        ends.append(refine(first))
    best = max(ends, key=lambda end: end.objective)
    assert all(end.converged for end in ends)
    assert (best.gains() > of.penalty).all()
    if T == 1:  # a single draw of amplitudes may be small, and there are more local maxima
        return
    assert sum(end.objective > best.objective - 1.0 for end in ends) >= 3
    strongest = np.sort(np.argsort(-best.gains())[:3])
    assert len(best.theta) <= 5  # with those that noise alone brings in
    order = strongest[np.argsort(best.theta[strongest])]
    std = parameter_std(best)[order]
    assert (np.abs(best.theta[order] - theta) < 5 * std).all()
    assert (std < 0.01).all()


def test_a_known_noise_variance_stays():
    end = refine(state("complex", 0, variance=0.01))
    end = refine(OffGridState(end.problem, end.theta, end.alpha, 100.0))
    assert end.beta == pytest.approx(100.0, rel=1e-12)
    assert len(end.theta) == 3
    assert np.isfinite(parameter_std(end)).all()


def test_the_errors_are_those_that_the_curvature_predicts():
    theta, z = np.array([-0.21, 0.134]), []
    for seed in range(40):
        of = problem("complex", seed, T=10, theta=theta)
        end = climb(OffGridState(of, theta + 0.01, np.ones(2), 50.0))
        z.extend((np.sort(end.theta) - theta) / parameter_std(end)[np.argsort(end.theta)])
    assert 0.75 < np.sqrt(np.mean(np.square(z))) < 1.3
