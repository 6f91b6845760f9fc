"""A whole fit of a matrix in memory, against brute force in the user's units."""

import math

import numpy as np
import pytest
from brute import log_evidence, random_problem
from numpy.testing import assert_allclose, assert_array_equal

import sparsebayes
from sparsebayes.core.fit import fit_matrix
from sparsebayes.core.greedy import Greedy
from sparsebayes.core.solver import Monitor, Solution, Solver, first_state
from sparsebayes.core.units import NothingToModel
from sparsebayes.priors import Gamma, Smoothness


def _problem(seed, N=40, M=15, shift=0.0):
    """A design in odd units with four functions that matter."""
    Phi, t, J = random_problem(seed, N, M, 4)
    rng = np.random.default_rng(seed + 50)
    return (Phi + shift * rng.standard_normal(M)) * 10 ** rng.uniform(-2, 2, M), 3.7 * t + shift, J


@pytest.mark.parametrize("noise_variance", [None, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_is_the_density_of_the_targets_in_the_users_units(seed, noise_variance):
    Phi, t, J = _problem(seed)
    result = fit_matrix(Phi, t, noise_variance=noise_variance)
    assert len(np.intersect1d(J, result.active)) >= 3
    brute = log_evidence(Phi[:, result.active], t, result.alpha, 1 / result.noise_variance)
    assert result.log_evidence == pytest.approx(brute, rel=1e-9)
    assert result.objective == pytest.approx(result.log_evidence)
    if noise_variance is not None:
        assert result.noise_variance == pytest.approx(noise_variance, rel=1e-14)
    assert result.converged


def _contrasts(N):
    """An orthonormal basis (N−1, N) of the vectors without a mean."""
    return np.linalg.svd(np.ones((1, N)))[2][1:]


@pytest.mark.parametrize("seed", range(3))
def test_with_an_intercept_the_evidence_is_the_integral_over_it(seed):
    """∫ N(t | b1, C) db = N(Ht | 0, HCHᵀ)/√N, the rows of H being orthonormal contrasts."""
    Phi, t, _ = _problem(seed, shift=2.0)
    result = fit_matrix(Phi, t, fit_intercept=True)
    H, beta = _contrasts(40), 1 / result.noise_variance
    brute = log_evidence(H @ Phi[:, result.active], H @ t, result.alpha, beta) - 0.5 * math.log(40)
    assert result.log_evidence == pytest.approx(brute, rel=1e-9)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_weights_and_predictions_are_those_of_the_posterior_in_the_users_units(seed, center):
    Phi, t, _ = _problem(seed, shift=2.0 * center)
    result = fit_matrix(Phi, t, fit_intercept=center)
    assert result.has_intercept is center
    beta = 1 / result.noise_variance
    design = np.column_stack([Phi[:, result.active], np.ones(40)]) if center else Phi[:, result.active]
    penalty = np.append(result.alpha, 0.0) if center else result.alpha
    Sigma = np.linalg.inv(np.diag(penalty) + beta * design.T @ design)
    mean, S = beta * Sigma @ design.T @ t, len(result.active)
    assert_allclose(result.mean, mean[:S], rtol=1e-6)
    assert_allclose(result.covariance, Sigma[:S, :S], rtol=1e-6, atol=1e-9 * np.abs(Sigma).max())
    assert_allclose(result.intercept, mean[S:] if center else [0.0], rtol=1e-6)
    assert_allclose(result.gamma, 1 - result.alpha * np.diag(Sigma)[:S], rtol=1e-6)
    new = _problem(seed + 7, 9, shift=2.0 * center)[0]
    columns = np.column_stack([new[:, result.active], np.ones(9)]) if center else new[:, result.active]
    predicted, std = result.predict(new, return_std=True)
    assert_allclose(predicted, columns @ mean, rtol=1e-6, atol=1e-8)
    assert_allclose(std**2, 1 / beta + np.einsum("ni,ij,nj->n", columns, Sigma, columns), rtol=1e-6)


@pytest.mark.parametrize("prior", [Smoothness("bic"), Gamma(0.3, 0.02)], ids=str)
def test_the_objective_counts_the_prior_in_the_users_units(prior):
    Phi, t, _ = _problem(1)
    result = fit_matrix(Phi, t, prior=prior)
    resolved, beta = prior.resolve(40), 1 / result.noise_variance
    if isinstance(prior, Smoothness):  # it speaks of columns of unit norm
        unit_norm = result.alpha / np.sum(Phi[:, result.active] ** 2, axis=0)
        density = resolved.log_density(unit_norm, beta, np.ones_like(result.alpha))
    else:
        density = resolved.log_density(result.alpha, beta, np.ones_like(result.alpha))
    assert result.objective == pytest.approx(result.log_evidence + density.sum(), rel=1e-9)


@pytest.mark.parametrize("center", [False, True])
def test_it_is_the_public_fit_with_the_same_solver(center):
    Phi, t, _ = _problem(2, shift=2.0 * center)
    mine = fit_matrix(Phi, t, prior=Smoothness("aic"), fit_intercept=center)
    theirs = sparsebayes.fit(Phi, t, prior="aic", solver="greedy", fit_intercept=center)
    assert_array_equal(mine.active, theirs.active)
    assert_allclose(mine.mean, theirs.mean, rtol=1e-8)
    assert mine.objective == pytest.approx(theirs.objective, rel=1e-10)
    assert_allclose(mine.evidence_path, theirs.evidence_path, rtol=1e-9)


@pytest.mark.parametrize("center", [False, True])
def test_columns_without_variation_are_no_functions(center):
    Phi, t, J = _problem(0)
    wide = np.column_stack([np.zeros(40), Phi, np.full(40, 7.3)])
    result = fit_matrix(wide, t, fit_intercept=center)
    assert set(J + 1) <= set(result.active) <= set(range(1, 16 if center else 17))
    plain = fit_matrix(Phi, t, fit_intercept=center)
    if center:
        assert_array_equal(result.active, plain.active + 1)
        assert result.log_evidence == pytest.approx(plain.log_evidence)
    else:
        assert result.log_evidence >= plain.log_evidence - 1e-6


def test_a_target_without_variation_is_refused():
    with pytest.raises(NothingToModel):
        fit_matrix(np.eye(4), np.ones(4), fit_intercept=True)


@pytest.mark.parametrize(
    ("Phi", "center"), [(np.zeros((4, 2)), False), (np.ones((4, 2)), True), (np.zeros((4, 0)), False)]
)
def test_a_matrix_without_a_usable_column_is_refused(Phi, center):
    with pytest.raises(NothingToModel, match=r"^Phi has no usable column"):
        fit_matrix(Phi, np.arange(4.0), fit_intercept=center)


def test_units_of_target_and_columns_do_not_matter():
    Phi, t, _ = _problem(3)
    factors = np.where(np.arange(15) % 2 == 0, 1e6, 1e-3)
    plain, scaled = fit_matrix(Phi, t), fit_matrix(Phi * factors, 1e5 * t)
    assert_array_equal(scaled.active, plain.active)
    assert_allclose(scaled.mean * factors[plain.active], 1e5 * plain.mean, rtol=1e-6)
    assert scaled.noise_variance == pytest.approx(1e10 * plain.noise_variance, rel=1e-6)
    assert scaled.log_evidence == pytest.approx(plain.log_evidence - 40 * math.log(1e5), rel=1e-9)


def test_without_noise_the_estimate_ends_at_its_floor_with_exact_residuals():
    Phi, _, _ = _problem(4)
    t = Phi[:, [3, 8]] @ (np.asarray([2.0, -1.0]) / np.linalg.norm(Phi[:, [3, 8]], axis=0))
    result = fit_matrix(Phi, t)
    assert_array_equal(result.active, [3, 8])
    assert result.noise_variance == pytest.approx(1e-10 * t.var(), rel=1e-6)
    A, beta = Phi[:, [3, 8]], 1 / result.noise_variance
    Sigma = np.linalg.inv(np.diag(result.alpha) + beta * A.T @ A)
    residual = np.sum((t - A @ result.mean) ** 2)
    assert residual < 1e-12 * t @ t
    # log|C| by the determinant lemma, tᵀC⁻¹t as residual plus penalty: both without cancellation
    log_det = -40 * math.log(beta) - np.sum(np.log(result.alpha)) - np.linalg.slogdet(Sigma)[1]
    misfit = beta * residual + result.alpha @ result.mean**2
    assert result.log_evidence == pytest.approx(-0.5 * (40 * math.log(2 * math.pi) + log_det + misfit), rel=1e-9)


@pytest.mark.parametrize("center", [False, True])
def test_a_residual_too_small_for_the_statistics_is_taken_from_the_matrix(center):
    """A noise of 1e-4 of the target: of the residual as a difference of products few digits are left."""
    Phi, _, _ = _problem(4, shift=1.0 * center)
    columns = Phi[:, [3, 8]] / np.linalg.norm(Phi[:, [3, 8]], axis=0)
    t = columns @ np.asarray([2.0, -1.0]) + 3e-5 * np.random.default_rng(0).standard_normal(40)
    result = fit_matrix(Phi, t, fit_intercept=center)
    assert set(result.active) >= {3, 8}
    residual = np.sum((t - result.predict(Phi)) ** 2)
    assert residual < 1e-6 * np.sum((t - t.mean() * center) ** 2)
    # at the maximum over the noise: σ² = ‖t − Φμ‖²/(n − Σγ), n rows counted
    left = 40 - center - result.degrees_of_freedom
    assert result.noise_variance == pytest.approx(residual / left, rel=1e-6, abs=0)
    H = _contrasts(40) if center else np.eye(40)
    brute = log_evidence(H @ Phi[:, result.active], H @ t, result.alpha, 1 / result.noise_variance)
    assert result.log_evidence == pytest.approx(brute - 0.5 * math.log(40) * center, rel=1e-6)


class First(Solver):
    """Stays at the first function."""

    def solve(self, problem, monitor, start=None, effort=None):
        self.problem, self.monitor = problem, monitor
        return Solution(first_state(problem), False)


def test_solver_and_prior_can_be_given():
    Phi, t, _ = _problem(5)
    solver, prior = First(), Smoothness("bic")
    result = fit_matrix(Phi, t, solver=solver, prior=prior)
    assert len(result.active) == 1
    assert not result.converged
    assert result.n_iter == 0
    assert solver.problem.prior == Smoothness(0.5 * math.log(40))
    assert isinstance(solver.monitor, Monitor)
    default = fit_matrix(Phi, t)
    same = fit_matrix(Phi, t, solver=Greedy())
    assert default.objective == same.objective
    assert default.n_iter == len(default.evidence_path) - 1 >= 3
    assert (np.diff(default.evidence_path) >= 0).all()
    assert default.evidence_path[-1] == default.objective
