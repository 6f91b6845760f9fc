"""What the papers' algorithms do: a stationary point that is no maximum, and the two algorithms of the chapter."""

import numpy as np
import pytest
from brute import covariance, log_evidence

from benchmarks.papers import ch4, ch4_algorithms, ft02
from benchmarks.papers.models import gaussian, matrix_fit, with_bias
from sparsebayes import Certificate
from sparsebayes.datasets import make_sinc
from sparsebayes.solvers.certificate import certify


def test_every_alpha_at_its_own_maximum_is_not_a_maximum():
    # against FT02, 3.4.2: two unit columns with inner product 0.9, t along their difference
    Phi, t = ft02.overlapping()
    assert Phi[:, 0] @ Phi[:, 1] == pytest.approx(0.9)
    state = ft02.state_at(Phi, t, np.ones(2))
    np.testing.assert_allclose(state.best_alpha, 1.0, rtol=1e-12)  # no single α moves
    certificate = certify(state)
    assert isinstance(certificate, Certificate)
    assert certificate.log_alpha_step < 1e-10
    assert certificate.hessian_eigenvalue > 0.05
    assert not certificate.is_local_maximum
    nearby = [log_evidence(Phi, t, np.exp([a, a]), 1.0) for a in (-0.5, 0.0, 0.5)]
    assert nearby[0] > nearby[1] < nearby[2]


def test_its_hessian_is_the_one_of_the_formula():
    # ½S_ij² − Q_iQ_jS_ij in 1/α has the eigenvalues S²(−½ ± (½ρ² + ρ))
    Phi, t = ft02.overlapping()
    C = covariance(Phi, np.ones(2), 1.0)
    S, Q = Phi.T @ np.linalg.solve(C, Phi), Phi.T @ np.linalg.solve(C, t)
    np.testing.assert_allclose(Q**2, S.diagonal())
    rho = S[0, 1] / S[0, 0]
    assert rho > np.sqrt(2) - 1
    eigenvalues = np.linalg.eigvalsh(0.5 * S**2 - np.outer(Q, Q) * S)
    expected = S[0, 0] ** 2 * (-0.5 + np.array([-1, 1]) * (0.5 * rho**2 + rho))
    np.testing.assert_allclose(eigenvalues, expected)


@pytest.mark.parametrize(("solver", "functions"), [("active-set", 2), ("mackay", 2), ("sequential", 1)])
def test_solvers_end_above_it_and_are_certified(solver, functions):
    Phi, t = ft02.overlapping()
    result = matrix_fit(Phi, t, solver=solver, noise_variance=1.0)
    assert result.log_evidence > log_evidence(Phi, t, np.ones(2), 1.0) + 0.1
    assert len(result.active) == functions
    assert result.certificate.is_local_maximum


@pytest.mark.parametrize(("algorithm", "solver"), ch4.SAME.items())
def test_the_algorithms_of_the_chapter_end_where_the_solvers_do(algorithm, solver):
    X, y, _ = make_sinc(100, "gaussian", 0.1, random_state=0)
    Phi = np.asarray(with_bias(gaussian(3.0)).bind(X)(X))
    active, alpha, noise = getattr(ch4_algorithms, algorithm)(Phi, y)
    result = matrix_fit(Phi, y, solver=solver)
    assert len(active) == len(result.active)
    assert log_evidence(Phi[:, active], y, alpha, 1 / noise) == pytest.approx(result.log_evidence, abs=0.1)
