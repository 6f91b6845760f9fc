"""What a fit to labels ends at, against brute force."""

import warnings
from functools import cache

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from brute import PRIORS, LaplaceModel, codes, random_classes
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import RBF, ActiveSet, Bernoulli, Gamma, Multinomial, SlowFitWarning, SparsityWarning, Uniform, fit
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.laplace import f_covariance, log_probabilities
from sparsebayes.laplace.loop import LaplaceFit
from sparsebayes.laplace.mode import Modes
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.solvers.monitor import FitMonitor

SOLVERS = ["active-set", "sequential", "mackay", "em"]
M = 8
classes = pytest.mark.parametrize("K", [2, 3, 5])
centred = pytest.mark.parametrize("center", [False, True])
weighted = pytest.mark.parametrize("weighted", [False, True])
seeds = pytest.mark.parametrize("seed", range(3))


def fit_classes(Phi, labels, fit_intercept=True, **arguments):
    """A fit under the likelihood that suits the number of classes."""
    likelihood = Bernoulli() if len(np.unique(np.asarray(labels))) == 2 else Multinomial()
    return fit(Phi, labels, likelihood=likelihood, fit_intercept=fit_intercept, **arguments)


def probabilities(result, columns, moderated=True):
    """Probabilities of the classes from the functions of the weights."""
    return np.exp(np.asarray(log_probabilities(result, columns, moderated)))


def _counts(seed, weighted, n):
    return np.random.default_rng(seed + 20).uniform(0.3, 2.5, n) if weighted else np.ones(n)


def _contrasts(covariance):
    """Without the part that a constant on all outputs has: the likelihood is blind to it."""
    K = covariance.shape[-1]
    P = np.eye(K) - 1 / K if K > 1 else np.eye(1)
    return P @ covariance @ P


def _brute_of(result, Phi, labels, counts=None, center=True):
    """The model a fit ended at, by brute force, with its mode."""
    K = len(result.classes)
    counts = np.ones(len(labels)) if counts is None else counts
    y = codes(np.searchsorted(result.classes, labels), K)
    model = LaplaceModel(Phi, y, result.active, result.output, result.alpha, counts, center)
    return model, model.mode()


def _seen_by_solver(result, brute, theta, prior):
    """With B held fixed: slopes of the active log α, what moving one of them gains, what adding one does."""
    S, Q = brute.scores(theta, *brute.every())
    w, unit = theta[: len(result.mean)], brute.metric(theta)
    variance = np.linalg.inv(brute.hessian(theta)).diagonal()[: len(w)]
    here = result.active + result.output * brute.Phi.shape[1]
    outside = np.setdiff1d(np.arange(len(S)), here)
    alpha, own, gamma = result.alpha / unit[here], unit[here], 1 - result.alpha * variance
    slope = 0.5 * (gamma - result.alpha * w**2) + prior.derivatives(alpha, 1.0, own)[0]
    s, q = gamma / variance / own, w / variance / np.sqrt(own)
    best = prior.gain(prior.maximise(s, q, 1.0, own), s, q, 1.0, own)
    rise = best - prior.gain(alpha, s, q, 1.0, own)
    s, q = S[outside] / unit[outside], Q[outside] / np.sqrt(unit[outside])
    gain = prior.gain(prior.maximise(s, q, 1.0, unit[outside]), s, q, 1.0, unit[outside])
    return slope, rise.max(), gain.max(initial=0.0)


PROBLEMS = [(K, center, seed) for K in (2, 3, 5) for center in (False, True) for seed in range(2)]


@cache
def _fit(solver, K, center, seed):
    Phi, labels = random_classes(seed, 80, 10, K)
    return Phi, labels, fit_classes(Phi, labels, solver=solver, fit_intercept=center)


def _engine_at(result, Phi, labels, center, prior=None, counts=None):
    """The loop over the same data, and the mode at the precisions of a result."""
    y = codes(labels, len(np.unique(labels)))
    likelihood = Bernoulli() if y.shape[1] == 1 else Multinomial(y.shape[1])
    rows = LaplaceRows(DenseOperator(Phi), y, likelihood, counts, center)
    engine = LaplaceFit(Modes(rows, prior or Uniform()), ActiveSet(), FitMonitor(1000, 1e-6))
    function = np.searchsorted(rows.design.kept, result.active)
    norms = rows.design.norms[function]
    J = result.output * rows.design.size + function
    return engine, engine.modes.find(J, result.alpha / norms**2, result.mean * norms, rows.start())


def _with_the_best_candidate(result, Phi, labels, center, prior=None, counts=None):
    """The objective once the candidate that promises most is in and α has settled."""
    engine, mode = _engine_at(result, Phi, labels, center, prior, counts)
    state = engine.modes.state(mode.expansion, mode.J, mode.alpha)
    best = state.scores.best
    larger = state.extended([best], state.scores.alpha[best : best + 1])
    return engine.settle(engine.modes.of_state(larger, mode), 1e-6).objective


every_fit = pytest.mark.parametrize(("K", "center", "seed"), PROBLEMS)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


@every_solver
@every_fit
def test_fits_end_where_every_alpha_is_stationary(solver, K, center, seed):
    Phi, labels, result = _fit(solver, K, center, seed)
    brute, theta = _brute_of(result, Phi, labels, None, center)
    assert result.converged
    assert result.log_evidence == pytest.approx(brute.log_evidence(theta), abs=1e-7)
    slope, rise, _ = _seen_by_solver(result, brute, theta, Uniform())
    assert rise < 1e-6
    assert np.abs(slope).max() < 1e-6
    gamma = 1 - result.alpha * result.covariance.diagonal()
    heard = gamma > 1e-6  # an empty model is left with a function that is silent
    np.testing.assert_allclose(result.alpha[heard], gamma[heard] / result.mean[heard] ** 2, rtol=1e-4)


@every_solver
@every_fit
def test_fits_end_where_no_candidate_is_worth_adding(solver, K, center, seed):
    Phi, labels, result = _fit(solver, K, center, seed)
    *_, gain = _seen_by_solver(result, *_brute_of(result, Phi, labels, None, center), Uniform())
    assert result.certificate.is_local_maximum
    assert result.certificate.gain_outside == pytest.approx(0.0 if gain > 1e-5 else gain, abs=1e-5)
    if gain > 1e-5:  # the expansion promises it, but the Laplace evidence does not rise once α has settled
        assert _with_the_best_candidate(result, Phi, labels, center) < result.objective + 1e-5


@every_solver
@every_fit
def test_the_path_never_falls_and_ends_at_the_objective(solver, K, center, seed):
    _, _, result = _fit(solver, K, center, seed)
    path = result.evidence_path
    assert (np.diff(path) > -1e-9 * np.abs(path).max()).all()
    assert result.objective > path.max() - 1e-9 * np.abs(path).max()
    assert path[-1] == pytest.approx(result.objective, rel=1e-10)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("K", [2, 3])
@weighted
def test_fits_under_every_prior_end_at_stationary_points(name, K, weighted):
    Phi, labels = random_classes(3, 80, 10, K)
    counts = _counts(3, weighted, 80)
    prior = PRIORS[name].resolve(counts.sum())
    result = fit_classes(Phi, labels, prior=PRIORS[name], sample_weight=counts)
    assert result.converged
    path = result.evidence_path
    assert (np.diff(path) > -1e-9 * np.abs(path).max()).all()
    brute, theta = _brute_of(result, Phi, labels, counts)
    assert result.log_evidence == pytest.approx(brute.log_evidence(theta), abs=1e-6)
    slope, rise, gain = _seen_by_solver(result, brute, theta, prior)
    assert np.abs(slope).max() < 1e-5
    assert rise < 1e-5
    if gain > 1e-5:
        grown = _with_the_best_candidate(result, Phi, labels, True, prior, counts)
        assert grown < result.objective + 1e-5
    unit = brute.metric(theta)[result.active + result.output * 10]
    density = prior.log_density(result.alpha / unit, 1.0, unit)
    assert result.objective == pytest.approx(result.log_evidence + density.sum(), rel=1e-7)


def _kernel_problem(seed, K, width):
    rng = np.random.default_rng(seed)
    labels = np.arange(90) % K
    X = rng.standard_normal((90, 2)) + 1.5 * np.stack([np.cos(2.1 * labels), np.sin(2.1 * labels)], axis=1)
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / width**2), labels


@pytest.mark.parametrize("width", [0.3, 1.0])
@pytest.mark.parametrize("K", [2, 3])
@seeds
def test_kernel_fits_end_where_no_candidate_is_worth_adding(width, K, seed):
    Phi, labels = _kernel_problem(seed, K, width)
    result = fit_classes(Phi, labels)
    assert result.converged
    slope, rise, gain = _seen_by_solver(result, *_brute_of(result, Phi, labels), Uniform())
    assert np.abs(slope).max() < 1e-6
    assert rise < 1e-6
    if gain > 1e-5:
        assert _with_the_best_candidate(result, Phi, labels, True) < result.objective + 1e-5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # a broad prior keeps most functions
@pytest.mark.parametrize("prior", [Gamma(1.0, 1e-3), Gamma(0.2, 0.1)], ids=repr)
@seeds
def test_no_alpha_is_left_in_the_lower_of_two_modes(prior, seed):
    """Under a Gamma the objective can have two maxima in one α; Newton steps do not cross between them."""
    Phi, labels = _kernel_problem(seed, 2, 1.0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = fit_classes(Phi, labels, prior=prior)
    kinds = [each.category for each in said if not issubclass(each.category, SlowFitWarning | SparsityWarning)]
    assert kinds == [ConvergenceWarning] * (not result.converged)
    _, rise, _ = _seen_by_solver(result, *_brute_of(result, Phi, labels), prior)
    if rise > 1e-5:  # the expansion promises it, but the Laplace evidence does not rise once α has settled
        engine, mode = _engine_at(result, Phi, labels, True, prior)
        assert engine.settle(mode, 1e-6).objective < result.objective + 1e-5


@classes
@centred
@seeds
def test_decisions_and_their_covariance_at_new_points(K, center, seed):
    Phi, labels = random_classes(seed, 60, M, K)
    counts = _counts(seed, True, 60)
    result = fit_classes(Phi + 100.0 * center, labels, fit_intercept=center, sample_weight=counts)
    brute, theta = _brute_of(result, Phi + 100.0 * center, labels, counts, center)
    new = np.random.default_rng(seed).standard_normal((9, M)) + 100.0 * center
    f = brute.design(new) @ theta
    decision = result.f_mean(new[:, result.active])
    if K > 2 and center:
        f, decision = (x - x.mean(axis=1, keepdims=True) for x in (f, decision))
    np.testing.assert_allclose(decision, f, atol=1e-5)
    expected = _contrasts(brute.output_covariance(theta, new))
    found = _contrasts(f_covariance(result, new[:, result.active]))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    inner = np.linalg.inv(brute.hessian(theta))[: len(result.mean), : len(result.mean)]
    np.testing.assert_allclose(result.covariance, inner, rtol=1e-5, atol=1e-7)
    if center:  # the slope by the intercepts vanishes: probabilities add up to the classes
        p = probabilities(result, (Phi + 100.0)[:, result.active], moderated=False)
        np.testing.assert_allclose(counts @ p, np.bincount(labels, counts), rtol=1e-5)
    for moderated in (False, True):
        p = probabilities(result, new[:, result.active], moderated=moderated)
        assert p.shape == (9, K)
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    plain = brute.mean(f)
    plain = np.concatenate([1 - plain, plain], axis=1) if K == 2 else plain
    np.testing.assert_allclose(probabilities(result, new[:, result.active], moderated=False), plain, atol=1e-5)


@pytest.mark.parametrize("K", [3, 4])
@centred
@seeds
def test_the_names_of_the_classes_do_not_matter(K, center, seed):
    Phi, labels = random_classes(seed, 80, 6, K)
    order = np.random.default_rng(seed).permutation(K)
    plain = fit_classes(Phi, labels, fit_intercept=center)
    renamed = fit_classes(Phi, order[labels], fit_intercept=center)
    assert renamed.log_evidence == pytest.approx(plain.log_evidence, rel=1e-7)
    terms = {(int(m), int(order[k])): a for m, k, a in zip(plain.active, plain.output, plain.alpha, strict=True)}
    again = {(int(m), int(k)): a for m, k, a in zip(renamed.active, renamed.output, renamed.alpha, strict=True)}
    assert terms == pytest.approx(again, rel=1e-3)


@centred
@seeds
def test_swapping_two_classes_changes_the_sign(center, seed):
    Phi, labels = random_classes(seed, 60, 8, 2)
    plain, swapped = (fit_classes(Phi, each, fit_intercept=center) for each in (labels, 1 - labels))
    assert swapped.log_evidence == pytest.approx(plain.log_evidence, rel=1e-9)
    np.testing.assert_array_equal(swapped.active, plain.active)
    np.testing.assert_allclose(swapped.mean, -plain.mean, rtol=1e-5)
    np.testing.assert_allclose(swapped.intercept, -plain.intercept, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
@centred
@pytest.mark.parametrize("solver", ["active-set", "mackay"])
def test_sample_weights_equal_repeated_rows(K, center, solver):
    Phi, labels = random_classes(5, 60, 8, K)
    counts = np.random.default_rng(0).integers(0, 4, 60)
    counts[: 2 * K] = 1
    a = fit_classes(Phi, labels, sample_weight=counts, fit_intercept=center, solver=solver)
    repeated = np.repeat(Phi, counts, axis=0), np.repeat(labels, counts)
    b = fit_classes(*repeated, fit_intercept=center, solver=solver)
    assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-9)
    np.testing.assert_array_equal(a.active, b.active)
    np.testing.assert_array_equal(a.output, b.output)
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-5)
    np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_units_of_the_columns_do_not_matter(K, scale):
    Phi, labels = random_classes(6, 60, 8, K)
    factor = np.where(np.arange(8) % 2, scale, 1.0)
    a, b = fit_classes(Phi, labels), fit_classes(Phi * factor, labels)
    assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-9)
    np.testing.assert_array_equal(a.active, b.active)
    np.testing.assert_allclose(a.mean, b.mean * factor[b.active], rtol=1e-5)
    for moderated in (False, True):
        np.testing.assert_allclose(
            probabilities(a, Phi[:, a.active], moderated),
            probabilities(b, (Phi * factor)[:, b.active], moderated),
            atol=1e-6,
        )


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", SOLVERS[:3])
def test_any_namespace_sparse_and_single_precision(K, solver):
    Phi, labels = random_classes(8, 60, 12, K)
    Phi = np.where(np.random.default_rng(0).random(Phi.shape) < 0.5, Phi, 0.0).astype(np.float32)
    plain = fit_classes(Phi.astype(float), labels, solver=solver)
    strict = array_api_strict.asarray(Phi.astype(float))
    for other in (Phi, scipy.sparse.csr_array(Phi), scipy.sparse.coo_matrix(Phi), DenseOperator(Phi)):
        result = fit_classes(other, labels, solver=solver)
        np.testing.assert_array_equal(result.active, plain.active)
        assert result.log_evidence == pytest.approx(plain.log_evidence, rel=1e-8)
    strict = fit_classes(strict, array_api_strict.asarray(labels), solver=solver)
    np.testing.assert_array_equal(strict.active, plain.active)
    assert strict.log_evidence == pytest.approx(plain.log_evidence, rel=1e-8)
    columns = Phi[:, plain.active].astype(float)
    p = probabilities(strict, array_api_strict.asarray(columns))
    np.testing.assert_allclose(p, probabilities(plain, columns), rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@centred
@weighted
def test_the_scores_of_all_candidates_are_those_of_brute_force(K, center, weighted):
    Phi, labels = random_classes(9, 60, M, K)
    counts = _counts(9, weighted, 60)
    result = fit_classes(Phi, labels, fit_intercept=center, sample_weight=counts)
    brute, theta = _brute_of(result, Phi, labels, counts, center)
    S, Q = brute.scores(theta, *brute.every())
    found = result.candidates
    np.testing.assert_array_equal((found.function, found.output), brute.every())
    np.testing.assert_allclose(found.S, S, rtol=1e-5)
    np.testing.assert_allclose(found.Q, Q, atol=1e-4 * np.sqrt(S.max()))
    active = result.active + result.output * M
    outside = np.setdiff1d(np.arange(len(S)), active)
    np.testing.assert_array_equal(found.s[outside], found.S[outside])
    s = result.alpha * S[active] / (result.alpha - S[active])
    np.testing.assert_allclose(found.s[active], s, rtol=1e-3)
    gamma = 1 - result.alpha * result.covariance.diagonal()
    np.testing.assert_allclose(result.gamma, gamma, rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@centred
def test_kernels_of_low_rank_end_on_true_columns(K, center):
    """1,600 points, whose kernel is never formed: the model is one of the true kernel."""
    rng = np.random.default_rng(K)
    X = rng.standard_normal((1600, 2))
    f = np.stack([np.sin(2 * X[:, 0] + 2 * k) + X[:, 1] * np.cos(k) for k in range(K)], axis=1)
    labels = np.argmax(2 * f + rng.gumbel(size=f.shape), axis=1)
    bound = RBF(gamma=0.5).bind(X)
    low, whole = (
        fit_classes(Phi, labels, fit_intercept=center) for Phi in (bound.operator(X), DenseOperator(bound(X)))
    )
    assert low.converged
    assert low.log_evidence == pytest.approx(whole.log_evidence, abs=0.5)
    y = codes(labels, K)
    columns = bound(X)[:, np.unique(low.active)]
    position = np.searchsorted(np.unique(low.active), low.active)
    model = LaplaceModel(columns, y, position, low.output, low.alpha, np.ones(1600), center)
    theta = np.append(low.mean, _pinned(low.intercept, center))
    assert np.abs(model.gradient(theta)).max() < 1e-4
    assert np.isin(low.active, low.candidates.function).all()
    assert len(low.candidates.function) < 1600


def _pinned(intercept, center):
    """The intercepts as brute force has them: the first of several is 0, and there may be none."""
    if not center:
        return []
    return intercept if len(intercept) == 1 else intercept[1:] - intercept[0]
