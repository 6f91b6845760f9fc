"""The closed form is what the other solvers find, by one pass for each value of the noise."""

import warnings

import numpy as np
import pytest
from brute import log_evidence
from numpy.testing import assert_allclose, assert_array_equal

import sparsebayes
from sparsebayes import (
    Gamma,
    Laplace,
    NoiseCollapseWarning,
    RelevanceVectorRegressor,
    Smoothness,
    Uniform,
    Wavelet,
)
from sparsebayes.core.noise import Gaussian, GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.core.solver import Monitor
from sparsebayes.datasets import make_signal
from sparsebayes.signals.closed_form import Orthonormal
from sparsebayes.signals.diagonal import DiagonalState, IdentityQuadratic
from sparsebayes.signals.transforms import DCTOperator
from sparsebayes.signals.wavelet_transform import WaveletOperator
from sparsebayes.solvers.sequential import Sequential

# a complete orthonormal basis given as a matrix may keep most of its functions
pytestmark = pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")

PRIORS = [
    Smoothness("aic"),
    Smoothness("bic"),
    Smoothness("ric"),
    Smoothness(2.0),
    Laplace(2.0),
    Gamma(0.0, 0.1),
]


@pytest.mark.parametrize("c", [0.0, 0.1, 1.0, 3.5, 10.0])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 250.0])
def test_closed_form_equals_the_cubic(c, beta):
    h = np.concatenate([np.linspace(-9.003, 9, 801), [30.0, 1e3]]) / np.sqrt(beta)
    prior, one = Smoothness(c), np.ones(803)
    closed = prior.maximise_orthonormal(h, beta, one)
    cubic = prior.maximise(beta * one, beta * h, beta, one)
    u = beta * h * h
    clear = np.abs(u - 1 - 2 * c) > 1e-6  # at the threshold α is infinite and either answer is right
    assert_allclose(1 / closed[clear], 1 / cubic[clear], rtol=1e-10)
    inside = np.isfinite(closed) & clear
    mean = beta * h / (closed + beta)
    assert_allclose(mean[inside], (h * (1 - 1 / (u - 2 * c)))[inside], rtol=1e-10)


def test_without_c_it_is_the_uniform_prior():
    h = np.linspace(-5, 5, 400)
    one = np.ones(400)
    assert_allclose(Smoothness(0.0).maximise_orthonormal(h, 1.3, one), Uniform().maximise_orthonormal(h, 1.3, one))


def unit_signal(seed):
    n, wavelet = ((128, "sym8"), (90, "haar"), (101, "db3"))[seed % 3]
    name = ("bumps", "heavisine", "doppler", "blocks", "sinc", "bumps")[seed]
    _, t, _ = make_signal(name, n, snr=5.0, random_state=seed)
    return WaveletOperator(n, wavelet), (t - t.mean()) / t.std()


def assert_same(ours, theirs):
    assert_array_equal(ours.active, theirs.active)
    assert_allclose(ours.mean, theirs.mean, atol=1e-8)
    assert_allclose(ours.alpha, theirs.alpha, rtol=1e-6)
    assert_allclose(ours.covariance.toarray(), theirs.covariance, atol=1e-8)
    assert_allclose(ours.log_evidence, theirs.log_evidence, atol=1e-8)
    assert_allclose(ours.objective, theirs.objective, atol=1e-8)


@pytest.mark.parametrize("prior", [Uniform(), *PRIORS], ids=str)
@pytest.mark.parametrize("noise_variance", [0.004, 0.05])
@pytest.mark.parametrize("seed", range(6))
def test_answers_at_given_noise_equal_the_sequential_solvers(prior, noise_variance, seed):
    operator, t = unit_signal(seed)
    options = {"prior": prior, "noise_variance": noise_variance}
    Phi = operator.columns(range(operator.shape[0]))
    assert_same(sparsebayes.fit(operator, t, **options), sparsebayes.fit(Phi, t, solver=Sequential(), **options))


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_answers_at_estimated_noise(prior, seed):
    """The same as the sequential solver's, or another local maximum: the objective may have several in σ²."""
    operator, t = unit_signal(seed)
    Phi = operator.columns(range(operator.shape[0]))
    ours = sparsebayes.fit(operator, t, prior=prior)
    theirs = sparsebayes.fit(Phi, t, prior=prior, solver=Sequential())
    assert ours.converged
    assert ours.certificate.is_local_maximum
    if abs(np.log(ours.noise_variance / theirs.noise_variance)) < 1e-3:
        assert_allclose(ours.noise_variance, theirs.noise_variance, rtol=1e-7)
        assert_array_equal(ours.active, theirs.active)
        assert_allclose(ours.mean, theirs.mean, atol=1e-6)  # the rule is steep: σ² to 1e-7 is this
        assert_allclose(ours.objective, theirs.objective, atol=1e-8)
    else:
        there = sparsebayes.fit(operator, t, prior=prior, noise_variance=theirs.noise_variance)
        assert_allclose(there.objective, theirs.objective, atol=1e-6)


def test_estimated_noise_agrees_under_the_named_priors():
    """Under AIC, BIC and RIC the two end at the same maximum on every signal here."""
    for seed in range(6):
        operator, t = unit_signal(seed)
        for prior in ("aic", "bic", "ric"):
            ours, theirs = (sparsebayes.fit(operator, t, prior=prior, solver=s) for s in ("auto", "sequential"))
            assert_allclose(ours.noise_variance, theirs.noise_variance, rtol=1e-7)


@pytest.mark.parametrize("prior", PRIORS[:4], ids=str)
def test_evidence_is_the_density_of_the_data_and_the_certificate_holds(prior):
    _, t, _ = make_signal("bumps", 64, snr=4.0, random_state=2)
    operator = WaveletOperator(64, "db2")
    result = sparsebayes.fit(operator, t, prior=prior)
    Phi = operator.columns(result.active)
    assert_allclose(result.log_evidence, log_evidence(Phi, t, result.alpha, 1 / result.noise_variance), rtol=1e-10)
    certificate = result.certificate
    assert certificate.is_local_maximum
    general = sparsebayes.fit(operator, t, prior=prior, solver="sequential").certificate
    assert_allclose(certificate.hessian_eigenvalue, general.hessian_eigenvalue, atol=1e-6)
    assert_allclose(certificate.theta_outside, general.theta_outside, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_no_noise_variance_nearby_is_better(prior):
    _, t, _ = make_signal("doppler", 256, snr=3.0, random_state=4)
    operator = WaveletOperator(256)
    best = sparsebayes.fit(operator, t, prior=prior)
    for factor in (0.9, 0.99, 1.01, 1.1):
        given = sparsebayes.fit(operator, t, prior=prior, noise_variance=factor * best.noise_variance)
        assert given.objective < best.objective


def test_noise_prior_counts():
    _, t, _ = make_signal("doppler", 256, snr=3.0, random_state=4)
    operator = WaveletOperator(256)
    options = {"prior": "bic", "likelihood": Gaussian(prior=(50.0, 5.0))}
    ours = sparsebayes.fit(operator, t, **options)
    theirs = sparsebayes.fit(operator, t, solver="sequential", **options)
    assert_allclose(ours.noise_variance, theirs.noise_variance, rtol=1e-8)


def test_uniform_prior_collapses_and_says_so():
    """As many functions as rows: every one is kept and σ² → 0, the 127 of SE07's table 1."""
    _, t, _ = make_signal("bumps", 128, snr=2.0, random_state=0)
    with pytest.warns(NoiseCollapseWarning, match="fell to its floor"):
        result = sparsebayes.fit(WaveletOperator(128), t - t.mean())
    assert len(result.active) >= 126
    assert result.certificate.at_noise_floor


def test_nothing_but_noise_leaves_an_empty_model():
    t = np.random.default_rng(5).standard_normal(512)
    result = sparsebayes.fit(WaveletOperator(512), t, prior="ric")
    assert len(result.active) <= 1
    assert_allclose(result.noise_variance, 1.0, rtol=0.2)
    mean, std = result.predict(WaveletOperator(512), return_std=True)
    assert mean.shape == std.shape == (512,)


def test_a_callback_stops_it_and_max_iter_warns():
    _, t, _ = make_signal("doppler", 256, snr=3.0, random_state=4)
    operator = WaveletOperator(256)
    seen = []
    result = sparsebayes.fit(operator, t, prior="bic", callback=lambda p: seen.append(p) or len(seen) == 3)
    assert len(seen) == result.n_iter == 3
    assert not result.converged
    with pytest.warns(UserWarning, match="max_iter=2"):
        sparsebayes.fit(operator, t, prior="bic", max_iter=2)


def test_it_is_refused_where_functions_are_not_orthonormal():
    _, t, _ = make_signal("doppler", 64, random_state=4)
    operator = WaveletOperator(64)
    for options in ({"fit_intercept": True}, {"sample_weight": np.arange(1.0, 65)}):
        with pytest.raises(ValueError, match="solver 'orthonormal' needs functions"):
            sparsebayes.fit(operator, t, solver="orthonormal", prior="bic", **options)
    with pytest.raises(ValueError, match="solver 'orthonormal' needs functions"):
        sparsebayes.fit(operator.columns(range(64)), t, solver="orthonormal")


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_estimator_on_wavelets(fit_intercept):
    X, y, f = make_signal("heavisine", 256, snr=5.0, random_state=6)
    model = RelevanceVectorRegressor(Wavelet("sym4"), prior="bic", fit_intercept=fit_intercept).fit(X, y)
    assert np.mean((model.predict(X) - f) ** 2) < 0.5 * np.mean((y - f) ** 2)
    assert len(model.relevance_) < 60
    assert model.covariance_.shape == (len(model.relevance_),) * 2
    mean, std = model.predict(X[10:20] + 1e-4, return_std=True)
    assert_allclose(mean, model.predict(X)[10:20])
    assert (std > 0).all()


def test_time_and_memory_are_linear():
    import tracemalloc

    peaks = []
    for n in (2**14, 2**17):
        _, t, _ = make_signal("doppler", n, snr=3.0, random_state=0)
        operator = WaveletOperator(n)
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sparsebayes.fit(operator, t, prior=Smoothness(1.0))
        peaks.append(tracemalloc.get_traced_memory()[1] / n)
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 8 * 24


@pytest.mark.parametrize("unseen", [0.0, 2.5])
def test_statistics_of_orthonormal_functions_are_those_of_the_identity(unseen):
    h = np.random.default_rng(7).standard_normal(12)
    quadratic = IdentityQuadratic(20.0, h, unseen, offset=-0.5)
    dense = DenseQuadratic(20.0, float(h @ h) + unseen, h, np.eye(12))
    J = np.asarray([7, 2, 11])
    assert_array_equal(quadratic.rows(J), dense.rows(J))
    assert_array_equal(quadratic.restrict(J).G, dense.restrict(J).G)
    assert_array_equal(quadratic.restrict(J).h, h[J])
    assert quadratic.tt == dense.tt
    for some in (J, np.arange(11), np.zeros(0, dtype=int)):
        part = quadratic.restricted(some)
        assert part.size == len(some)
        assert part.offset == quadratic.offset
        assert part.tt == pytest.approx(quadratic.tt)
        assert part.unseen == pytest.approx(unseen + np.delete(h, some) @ np.delete(h, some))


@pytest.mark.parametrize("prior", [Uniform(), Smoothness(1.0), Gamma(0.5, 0.2)], ids=str)
def test_state_is_the_general_state_with_the_same_precisions(prior):
    h = 2 * np.random.default_rng(8).standard_normal(30)
    problem = Problem(IdentityQuadratic(40.0, h, 3.0), prior, GaussianNoise(2.0, True, 1.0, 0.3), np.full(30, 0.7))
    mine = DiagonalState(problem, 2.0)
    state = problem.start(mine.J, mine.alpha, 2.0)
    for name in ("mean", "gamma", "evidence", "objective", "residual", "variance"):
        assert_allclose(getattr(mine, name), getattr(state, name), rtol=1e-12)
    assert_allclose(mine.covariance.toarray(), state.covariance, rtol=1e-12)
    assert_allclose(state.best_alpha, mine.alpha, rtol=1e-6)


def test_scores_of_all_candidates_are_those_of_the_general_solvers():
    operator, t = DCTOperator(80), 30 * make_signal("heavisine", 80, snr=3.0, random_state=9)[1]
    ours, theirs = (
        sparsebayes.fit(operator, t, prior="bic", solver=solver) for solver in ("orthonormal", "sequential")
    )
    assert_array_equal(ours.active, theirs.active)
    assert 0 < len(ours.active) < 80
    for name in ("function", "output", "S", "Q", "s", "q", "theta"):
        assert_allclose(getattr(ours.candidates, name), getattr(theirs.candidates, name), rtol=1e-6, atol=1e-9)
    C = np.eye(80) * ours.noise_variance
    Phi = operator.columns(ours.active)
    C += Phi @ np.diag(1 / ours.alpha) @ Phi.T
    assert_allclose(ours.candidates.S, np.diag(operator.adjoint(np.linalg.solve(C, operator.columns(range(80))))))
    assert_allclose(ours.candidates.Q, operator.adjoint(np.linalg.solve(C, t)[:, None])[:, 0])


def test_it_is_one_move_and_needs_the_identity():
    h = np.random.default_rng(10).standard_normal(6)
    dense = Problem(DenseQuadratic(6.0, float(h @ h), h, np.eye(6)), Uniform(), GaussianNoise(1.0, False), np.ones(6))
    with pytest.raises(ValueError, match="solver 'orthonormal' needs functions"):
        Orthonormal().solve(dense, Monitor())
    _, t, _ = make_signal("bumps", 64, snr=4.0, random_state=2)
    result = sparsebayes.fit(WaveletOperator(64), t, prior="bic")
    (move,) = result.trace
    assert move.n_active == len(result.active)
