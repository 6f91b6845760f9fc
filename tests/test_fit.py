import warnings
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from brute import PRIORS, log_evidence, random_problem
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RBF, Gaussian, GeneralizedNormal, NoiseCollapseWarning, fit
from sparsebayes.priors import Gamma, Uniform
from sparsebayes.signals import DCTOperator
from sparsebayes.solvers import ActiveSet, FixedPoint, Sequential

SOLVERS = ["active-set", "greedy", "sequential", "mackay", "em"]
SHAPES = [(60, 20), (40, 80)]


def _problem(seed, N, M):
    """A design in odd units with four functions that matter."""
    Phi, t, J = random_problem(seed, N, M, 4)
    rng = np.random.default_rng(seed + 50)
    return Phi * 10 ** rng.uniform(-2, 2, M), 3.7 * t, J


@pytest.mark.parametrize(("N", "M"), SHAPES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(2))
def test_evidence_equals_the_brute_force_density(seed, solver, N, M):
    Phi, t, _ = _problem(seed, N, M)
    result = fit(Phi, t, solver=solver, noise_variance=0.5)
    brute = log_evidence(Phi[:, result.active], t, result.alpha, 1 / result.noise_variance)
    assert result.log_evidence == pytest.approx(brute, rel=1e-9)
    assert result.noise_variance == 0.5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["matrix", "chunks", "kernel", "orthonormal"])
def test_the_objective_counts_the_prior_of_the_noise_in_the_units_of_the_data(solver, kind):
    """L + c log β − dβ [T01, eq. 36], β that of the data and not that of scaled targets."""
    Phi, t, _ = _problem(0, 64, 20)
    c, d, options = 3.0, 40.0, {"solver": solver, "likelihood": Gaussian(prior=(3.0, 40.0))}
    if kind == "chunks":
        result = fit([(Phi[:30], t[:30]), (Phi[30:], t[30:])], **options)
    elif kind == "kernel":
        x = np.linspace(-3, 3, 64)[:, None]
        Phi = RBF(1.0).bind(x)(x)
        result = fit(Phi, t, **options)
    elif kind == "orthonormal":
        operator = DCTOperator(64)
        Phi = operator.columns(np.arange(64))
        result = fit(operator, t, **options | ({"solver": "auto"} if solver == "active-set" else {}))
    else:
        result = fit(Phi, t, **options)
    beta = 1 / result.noise_variance
    brute = log_evidence(Phi[:, result.active], t, result.alpha, beta)
    assert result.log_evidence == pytest.approx(brute, rel=1e-9)
    assert result.objective == pytest.approx(brute + c * np.log(beta) - d * beta, rel=1e-9)
    assert result.evidence_path[-1] == result.objective
    assert result.evidence_path.max() <= result.objective + 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_evidence_with_an_intercept_is_the_limit_of_a_broad_prior_on_it(seed):
    # ∫N(t|b1, C) db: give b the variance V → ∞ and multiply by √(2πV)
    Phi, t, _ = _problem(seed, 40, 15)
    result = fit(Phi, t + 5.0, fit_intercept=True)
    V = 1e8
    with_bias = np.column_stack([Phi[:, result.active], np.ones(len(t))])
    alpha = np.append(result.alpha, 1 / V)
    broad = log_evidence(with_bias, t + 5.0, alpha, 1 / result.noise_variance)
    assert result.log_evidence == pytest.approx(broad + 0.5 * np.log(2 * np.pi * V), abs=1e-3)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_functions_and_never_goes_downhill(solver, name):
    Phi, t, J = _problem(1, 80, 30)
    unit_free = {"gamma": Gamma(1e-3, 1e-6), "gamma-flat": Gamma(0, 1e-6), "laplace": "uniform"}
    result = fit(Phi, t, solver=solver, prior=unit_free.get(name, PRIORS[name]))
    assert set(J) <= set(result.active)
    assert result.converged
    path = result.evidence_path
    assert (np.diff(path) > -1e-7 * np.abs(path[1:])).all()
    assert path[-1] == pytest.approx(result.objective)
    assert path[-1] >= path.max() - 1e-7 * abs(path.max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_certificate_holds(solver, seed):
    Phi, t, _ = _problem(seed, 60, 25)
    certificate = fit(Phi, t, solver=solver).certificate
    assert certificate.is_local_maximum
    assert certificate.theta_outside <= 1e-2
    assert certificate.log_alpha_step < 1e-4
    assert certificate.hessian_eigenvalue < 0


def test_the_certificate_fails_where_it_should():
    Phi, t, _ = _problem(0, 60, 25)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        result = fit(Phi, t, solver=Sequential(polish=False), max_iter=1)
    assert not result.converged
    assert not result.certificate.is_local_maximum
    assert result.certificate.gain_outside > 0.1


@pytest.mark.parametrize("prior", ["uniform", "bic", Gamma(1e-3, 1e-3)])
@pytest.mark.parametrize("noise_prior", [None, (1.0, 0.1)])
def test_em_never_lowers_its_objective(prior, noise_prior):
    Phi, t, _ = _problem(2, 50, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = fit(
            Phi,
            t,
            solver=FixedPoint("em", polish=False),
            prior=prior,
            likelihood=Gaussian(prior=noise_prior),
            max_iter=300,
        )
    assert len(result.evidence_path) > 100
    assert np.diff(result.evidence_path).min() > -1e-9 * np.abs(result.evidence_path).max()


@pytest.mark.parametrize("selection", ["best", "random", "next"])
@pytest.mark.parametrize("seed", range(2))
def test_sequential_selections_and_update_formulae(selection, seed):
    Phi, t, J = _problem(seed, 60, 25)
    frequent = fit(Phi, t, solver=Sequential(selection, refresh=1), random_state=0)
    rare = fit(Phi, t, solver=Sequential(selection, refresh=1000), random_state=0)
    assert set(J) <= set(rare.active)
    np.testing.assert_array_equal(frequent.active, rare.active)
    assert rare.log_evidence == pytest.approx(frequent.log_evidence, rel=1e-8)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("solver", ["active-set", "mackay"])
def test_sample_weights_equal_repeated_rows(solver, center):
    Phi, t, _ = _problem(3, 50, 20)
    weights = np.random.default_rng(0).integers(0, 4, len(t))
    weighted = fit(Phi, t, sample_weight=weights, fit_intercept=center, solver=solver)
    repeated = fit(np.repeat(Phi, weights, axis=0), np.repeat(t, weights), fit_intercept=center, solver=solver)
    np.testing.assert_array_equal(weighted.active, repeated.active)
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-6)
    np.testing.assert_allclose(weighted.alpha, repeated.alpha, rtol=1e-5)
    assert weighted.log_evidence == pytest.approx(repeated.log_evidence, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_the_target_and_the_columns_do_not_matter(scale):
    Phi, t, _ = _problem(5, 60, 30)
    plain, scaled = fit(Phi, t, prior="bic"), fit(Phi, scale * t, prior="bic")
    np.testing.assert_array_equal(scaled.active, plain.active)
    np.testing.assert_allclose(scaled.mean, scale * plain.mean, rtol=1e-6)
    assert scaled.noise_variance == pytest.approx(scale**2 * plain.noise_variance, rel=1e-6)
    assert scaled.log_evidence == pytest.approx(plain.log_evidence - 60 * np.log(scale), rel=1e-8)
    factors = np.where(np.arange(30) % 2 == 0, scale, 1.0)
    columns = fit(Phi * factors, t, prior="bic")
    np.testing.assert_allclose(columns.mean * factors[columns.active], plain.mean, rtol=1e-6)
    assert columns.log_evidence == pytest.approx(plain.log_evidence, rel=1e-8)


@pytest.mark.parametrize("prior", [Gamma(0.5, 0.02), PRIORS["laplace"]])
def test_priors_with_units_speak_the_users_units(prior):
    """The objective reported is evidence + log prior of the α reported, in the units they are reported in."""
    Phi, t, _ = _problem(5, 60, 12)
    result = fit(Phi, t, prior=prior)
    density = prior.log_density(result.alpha, 1 / result.noise_variance, np.ones_like(result.alpha))
    assert result.objective == pytest.approx(result.log_evidence + density.sum(), rel=1e-8)


def test_predictions_equal_the_formulas_of_section_1():
    Phi, t, _ = _problem(6, 60, 20)
    result = fit(Phi, t)
    A = Phi[:, result.active]
    Sigma = np.linalg.inv(np.diag(result.alpha) + A.T @ A / result.noise_variance)
    np.testing.assert_allclose(result.covariance, Sigma, rtol=1e-6)
    mean, std = result.predict(Phi, return_std=True)
    np.testing.assert_allclose(mean, A @ (Sigma @ A.T @ t) / result.noise_variance, rtol=1e-6)
    np.testing.assert_allclose(std**2, result.noise_variance + np.einsum("ns,st,nt->n", A, Sigma, A))
    assert result.intercept == 0


def test_the_default_works_on_any_array_namespace():
    Phi, t, _ = _problem(7, 60, 300)
    for solver in SOLVERS[:4]:
        again = fit(Phi, t, solver=solver, prior="bic")
        strict = fit(array_api_strict.asarray(Phi), array_api_strict.asarray(t), solver=solver, prior="bic")
        np.testing.assert_array_equal(strict.active, again.active)
        assert strict.log_evidence == pytest.approx(again.log_evidence, rel=1e-8)
        assert isinstance(strict.predict(array_api_strict.asarray(Phi)), type(array_api_strict.asarray(t)))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_collapsing_noise_meets_a_floor_and_a_warning(solver):
    rng = np.random.default_rng(0)
    Phi = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    t = Phi[:, :3] @ np.array([3.0, -2.0, 1.0])  # noise free: the evidence has no maximum
    with pytest.warns(NoiseCollapseWarning, match="noise_variance"):
        result = fit(Phi, t, solver=solver)
    assert np.isfinite(result.log_evidence)
    assert np.isfinite(result.mean).all()
    assert result.noise_variance == pytest.approx(1e-10 * np.var(t), rel=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        remedied = fit(Phi, t, likelihood=Gaussian(prior=(1.0, 0.01)), solver=solver)
    assert set(remedied.active) >= {0, 1, 2}


def test_progress_is_printed_and_a_callback_stops_the_fit(capsys):
    Phi, t, _ = _problem(8, 60, 40)
    fit(Phi, t, solver="mackay", verbose=2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 3
    assert all("active" in line and ("log evidence" in line or "gained" in line) for line in lines)
    assert sum("log evidence" in line for line in lines) > 3
    seen = []

    def stop_at_three(progress):
        seen.append(progress)
        return progress.iteration == 3

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # stopping on request is no failure to converge
        result = fit(Phi, t, solver=Sequential(polish=False), callback=stop_at_three)
    assert [p.iteration for p in seen] == [1, 2, 3]
    assert not result.converged
    assert seen[-1].noise_variance > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Phi": np.array([[1.0, np.nan]] * 5)}, "Phi contains NaN"),
        ({"t": np.array([1, 2, np.inf, 4, 5])}, "y contains (NaN|infinity)"),
        ({"t": np.arange(4.0)}, "y must have one value per row of X: X has 5 rows, but y has shape"),
        ({"Phi": np.zeros((0, 3))}, "Phi must be a matrix with rows"),
        ({"sample_weight": [1, 1, 1, 1, -1]}, "sample_weight must not be negative"),
        ({"sample_weight": [1, 1]}, "sample_weight must have one value per row of X: X has 5 rows"),
        ({"sample_weight": [0.2, 0, 0, 0, 0]}, "Phi has 1 row.s. of positive weight, but at least 2 are needed"),
        ({"verbose": "loud"}, "verbose must be"),
        ({"callback": 3}, "callback must be callable"),
        ({"t": np.arange(5.0) * 1e160}, "y must have values between"),
        ({"noise_variance": 0.0}, "noise_variance must be a finite number > 0"),
        ({"noise_variance": -1}, "noise_variance must be"),
        ({"noise_variance": 10**400}, "noise_variance must be a finite number > 0 or None, got 1000"),
        ({"initial_noise_variance": 10**400}, "initial_noise_variance must be a finite number > 0"),
        ({"noise_variance": Fraction(10**400, 3)}, "noise_variance must be a finite number > 0"),
        ({"likelihood": Gaussian(prior=(1, 10**400))}, "prior of Gaussian must be a pair"),
        ({"likelihood": GeneralizedNormal(shape=10**400)}, "shape of GeneralizedNormal must be"),
        ({"tol": 10**400}, "tol must be a finite number > 0"),
        ({"sample_weight": np.ones(5) + 0j}, "sample_weight must hold real numbers, got complex ones"),
        ({"noise_variance": "big"}, "noise_variance must be"),
        ({"tol": "fine"}, "tol must be"),
        ({"max_iter": True}, "max_iter must be"),
        ({"likelihood": Gaussian(prior=(1.0,))}, "prior of Gaussian must be a pair"),
        ({"prior": "flat"}, "prior must be one of"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"solver": FixedPoint("gibbs")}, "update of FixedPoint"),
        ({"solver": Sequential("worst")}, "selection of Sequential"),
        ({"solver": Sequential(noise_every=0)}, "noise_every of Sequential must be an integer >= 1, got 0"),
        ({"solver": Sequential(refresh=2.5)}, "refresh of Sequential must be an integer >= 1, got 2.5"),
        ({"solver": Sequential(annealing=None)}, "annealing of Sequential must be an integer >= 0, got None"),
        ({"solver": ActiveSet(pool=-3)}, "pool of ActiveSet must be an integer >= 0, got -3"),
        ({"solver": ActiveSet(batch=0)}, "batch of ActiveSet must be an integer >= 1, got 0"),
        ({"solver": ActiveSet(substitutes=0)}, "substitutes of ActiveSet must be an integer >= 1, got 0"),
        (
            {"solver": ActiveSet(exchanges="many")},
            "exchanges of ActiveSet must be an integer >= 0, got 'many'",
        ),
        ({"solver": ActiveSet(effort="low")}, r"effort must be one of \['fast', 'default', 'high'\] or a number"),
        ({"solver": ActiveSet(independence=0.0)}, "independence of ActiveSet must be a number > 0"),
        ({"solver": ActiveSet(independence=1.0)}, "independence of ActiveSet must be a number > 0 and < 1"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": 0}, "tol must be"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_the_argument(change, words):
    rng = np.random.default_rng(0)
    arguments = {"Phi": rng.standard_normal((5, 2)), "t": rng.standard_normal(5)} | change
    with pytest.raises(ValueError, match=words):
        fit(arguments.pop("Phi"), arguments.pop("t"), **arguments)


class Threshold(Uniform):
    """A prior derived from another that changes nothing but which functions are kept: q² > 9s."""

    def maximise(self, s, q, beta, unit):
        return np.where(q * q > 9 * s, super().maximise(s, q, beta, unit), np.inf)


@pytest.mark.parametrize("solver", ["active-set", "sequential"])
def test_a_derived_prior_is_asked_itself_which_functions_it_keeps(solver):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.uniform(-10, 10, 80))
        Phi = np.exp(-((x[:, None] - x[None, :]) ** 2) / 9)
        t = np.sinc(x / np.pi) + 0.2 * rng.standard_normal(80)
        result = fit(Phi, t, prior=Threshold(), solver=solver)
        variance = result.covariance.diagonal()
        s, q = (1 - result.alpha * variance) / variance, result.mean / variance
        assert (q * q > 9 * s * (1 - 1e-6)).all()


def test_exchanges_only_help():
    rng = np.random.default_rng(0)
    for seed in range(3):
        x = np.sort(rng.uniform(-10, 10, 300))
        K = np.exp(-((x[:, None] - x[None, :]) ** 2) / 4)
        t = np.sinc(x / np.pi) + 0.1 * np.random.default_rng(seed).standard_normal(300)
        without = fit(K, t, solver=ActiveSet(pool=0, exchanges=0))
        assert fit(K, t).log_evidence > without.log_evidence - 0.5
        assert without.certificate.is_local_maximum


def test_a_signal_that_needs_most_functions_is_no_trouble():
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((300, 250))
    t = Phi @ rng.standard_normal(250) + rng.standard_normal(300)
    result = fit(Phi, t)
    assert len(result.active) > 150
    assert result.certificate.is_local_maximum
    assert result.n_iter < 200


@pytest.mark.parametrize("spread", [1e-6, 1e-8])
def test_columns_that_are_all_but_parallel_are_not_all_kept(spread):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 100))
    result = fit(A[:, :1] + spread * A, A[:, 0] + 0.1 * rng.standard_normal(200))
    assert len(result.active) < 10
    assert result.noise_variance == pytest.approx(0.01, rel=0.3)
    assert np.isfinite(result.mean).all()


def test_any_sparse_format_and_zero_weights_in_the_function_too():
    rng = np.random.default_rng(0)
    Phi = np.where(rng.random((60, 10)) < 0.4, rng.standard_normal((60, 10)), 0.0)
    t = Phi[:, 0] - 2 * Phi[:, 3] + 0.1 * rng.standard_normal(60)
    dense = fit(Phi, t)
    for kind in ("csr", "lil", "dok", "coo"):
        matrix = scipy.sparse.csr_array(Phi).asformat(kind)
        result = fit(matrix, t)
        np.testing.assert_allclose(result.mean, dense.mean, rtol=1e-8)
        np.testing.assert_allclose(result.predict(matrix), dense.predict(Phi), rtol=1e-8, atol=1e-12)
    weights = np.ones(60)
    weights[:5] = 0
    spoilt = t.copy()
    spoilt[:5] = 1e9
    np.testing.assert_allclose(fit(Phi, spoilt, sample_weight=weights).mean, fit(Phi[5:], t[5:]).mean, rtol=1e-6)


def test_an_offset_does_not_lift_the_noise_floor():
    rng = np.random.default_rng(0)
    Phi = np.column_stack([rng.standard_normal((200, 5)), np.ones(200)])
    t = Phi[:, 0] + 0.1 * rng.standard_normal(200)
    assert fit(Phi, t + 1e4).noise_variance == pytest.approx(0.01, rel=0.3)


def test_pure_noise_leaves_an_empty_model_in_effect():
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((100, 3))
    t = rng.standard_normal(100)
    result = fit(Phi, t, noise_variance=1e4)
    assert np.abs(result.mean).max() < 1e-3
    assert result.certificate.is_local_maximum
    assert result.log_evidence == pytest.approx(-50 * np.log(2 * np.pi * 1e4) - 0.5 * t @ t / 1e4, rel=1e-6)
