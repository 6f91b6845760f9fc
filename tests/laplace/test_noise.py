"""Noise with lighter tails than the Gaussian: the loop against brute force, and what it is good for."""

import warnings

import array_api_strict
import numpy as np
import pytest
from brute import PRIORS, ShapedModel
from scipy.integrate import quad
from sklearn.exceptions import ConvergenceWarning

import sparsebayes
from sparsebayes import RBF, Gaussian, GeneralizedNormal, LinearSpline, NoiseCollapseWarning, Uniform
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.datasets import make_sinc
from sparsebayes.laplace.mode import Modes, linear_of
from sparsebayes.laplace.noise import NoiseSearch
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.scale_learning import LeaveOneOutPredictions

N, M = 40, 8
shapes = pytest.mark.parametrize("shape", [2.0, 3.0, 4.5, 8.0])
centred = pytest.mark.parametrize("center", [False, True])
weighted = pytest.mark.parametrize("weighted", [False, True])
seeds = pytest.mark.parametrize("seed", range(3))


def fit(Phi, y, shape=2.0, **arguments):
    """A fit under noise of a shape, that of Gaussian noise unless another is given."""
    likelihood = Gaussian() if shape == 2 else GeneralizedNormal(shape)
    return sparsebayes.fit(Phi, y, likelihood=likelihood, **arguments)


def shape_of(result):
    """The shape of the noise of a fitted model."""
    return 2.0 if isinstance(result.likelihood, GaussianNoise) else result.likelihood.shape


def _rows(seed, weighted=False, n=N):
    """Φ, y with uniform noise and counts."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, M)) * 10 ** rng.uniform(-2, 2, M)
    y = Phi[:, :3] @ (np.asarray([1.0, -2.0, 1.5]) / Phi[:, :3].std(axis=0)) + rng.uniform(-1, 1, n) + 0.7
    return Phi, y, rng.uniform(0.3, 2.5, n) if weighted else np.ones(n)


def _modes(Phi, y, noise, counts, center):
    return Modes(LaplaceRows(DenseOperator(Phi), y[:, None], noise, counts, center), Uniform())


def _case(shape, center, weighted, seed):
    """An modes, the mode of some functions with precisions, and the same model by brute force."""
    Phi, y, counts = _rows(seed, weighted)
    noise = GeneralizedNormal(shape, 1.2)
    modes = _modes(Phi, y, noise, counts, center)
    rng = np.random.default_rng(seed + 30)
    J = np.sort(rng.choice(M, 5, replace=False))
    alpha = 10 ** rng.uniform(-3, 0.5, len(J))  # on columns of unit norm
    nothing, norms = np.zeros(len(J), dtype=int), modes.rows.design.norms[J]
    brute = ShapedModel(Phi, y[:, None], J, nothing, alpha * norms**2, counts, center, noise.shape, noise.scale)
    mode = modes.find(J, alpha, np.zeros(len(J)), modes.rows.start())
    return modes, mode, brute


@shapes
@centred
@weighted
@seeds
def test_mode_and_evidence_equal_brute_force(shape, center, weighted, seed):
    modes, mode, brute = _case(shape, center, weighted, seed)
    assert mode.reached
    theta = brute.mode()
    np.testing.assert_allclose(mode.w, theta[: len(mode.J)] * modes.rows.design.norms[mode.J], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(mode.expansion.f, brute.design() @ theta, atol=1e-6)
    assert mode.state.evidence == pytest.approx(brute.log_evidence(theta), rel=1e-8, abs=1e-8)


@shapes
@centred
@seeds
def test_scores_of_every_candidate_equal_brute_force(shape, center, seed):
    modes, mode, brute = _case(shape, center, True, seed)
    state = modes.state(mode.expansion, mode.J, mode.alpha)
    factor = linear_of(state.problem).scale * modes.rows.design.norms
    S, Q = brute.scores(brute.mode(), *brute.every())
    outside = np.setdiff1d(np.arange(M), mode.J)
    np.testing.assert_allclose(state.scores.S[outside] * factor[outside] ** 2, S[outside], rtol=1e-6)
    assert (np.abs(state.scores.Q * factor - Q)[outside] < 1e-6 * np.sqrt(S[outside])).all()


@pytest.mark.parametrize(("shape", "close"), [(2.0, 1e-9), (3.0, 0.02), (4.0, 0.05), (8.0, 0.25)])
@seeds
def test_the_laplace_evidence_is_near_the_integral(shape, close, seed):
    """One function, no intercept: ∫ p(y|w) N(w|0, 1/α) dw by quadrature."""
    rng = np.random.default_rng(seed)
    phi, alpha, noise = rng.standard_normal(60), 0.5, GeneralizedNormal(shape, 1.05)
    y = 1.3 * phi + rng.uniform(-1, 1, 60)
    nothing = np.zeros(1, dtype=int)
    model = ShapedModel(
        phi[:, None], y[:, None], nothing, nothing, np.asarray([alpha]), np.ones(60), False, shape, 1.05
    )
    theta = model.mode()
    top = model.log_posterior(theta)
    width = 8 / np.sqrt(model.hessian(theta)[0, 0])
    inside = quad(lambda w: np.exp(model.log_posterior(np.asarray([w])) - top), theta[0] - width, theta[0] + width)
    exact = top + 0.5 * np.log(alpha / (2 * np.pi)) + np.log(inside[0])
    modes = _modes(phi[:, None], y, noise, np.ones(60), False)
    norms = modes.rows.design.norms
    mode = modes.find(np.asarray([0]), alpha / norms**2, np.zeros(1), np.zeros(1))
    assert mode.state.evidence == pytest.approx(exact, abs=close)


@centred
@seeds
def test_the_noise_found_has_the_highest_evidence(center, seed):
    """Brute force at other σ² and p, the precisions α as they are, is nowhere higher."""
    Phi, y, counts = _rows(seed, n=80)
    noise = GeneralizedNormal(3.0, 1.0)
    modes = _modes(Phi, y, noise, counts, center)
    J, alpha = np.arange(4), np.full(4, 0.05)
    mode = modes.find(J, alpha, np.zeros(4), modes.rows.start())

    found, at = NoiseSearch(True, True, 1e-9, 1e9).best(modes, mode)
    nothing, norms = np.zeros(4, dtype=int), modes.rows.design.norms[J]

    def brute(log_variance, shape):
        other = GeneralizedNormal.of_variance(shape, found.variance * np.exp(log_variance))
        return ShapedModel(
            Phi, y[:, None], J, nothing, alpha * norms**2, counts, center, other.shape, other.scale
        ).log_evidence()

    best = brute(0.0, found.shape)
    assert at.objective == pytest.approx(best, abs=1e-6)
    for shift in (-0.05, 0.05):
        assert brute(shift, found.shape) < best + 1e-5
        if 2.0 <= found.shape + shift <= 8.0:
            assert brute(0.0, found.shape + shift) < best + 1e-5
    held, _ = NoiseSearch(False, True, 1e-9, 1e9).best(modes, mode)
    assert held.variance == pytest.approx(noise.variance, rel=1e-12)
    held, _ = NoiseSearch(True, False, 1e-9, 1e9).best(modes, mode)
    assert held.shape == noise.shape
    within = 2 * found.variance, 3 * found.variance
    start = GeneralizedNormal.of_variance(3.0, 2.5 * found.variance)
    moved = _modes(Phi, y, start, counts, center)
    bounded, _ = NoiseSearch(True, True, *within).best(moved, mode)
    assert within[0] * (1 - 1e-9) <= bounded.variance <= within[1] * (1 + 1e-9)


def _splines(seed, noise="uniform", level=0.2):
    X, y, f = make_sinc(100, noise, level, random_state=seed)
    return LinearSpline().bind(X)(X), y, f


@centred
@pytest.mark.parametrize("name", PRIORS)
def test_a_shape_next_to_two_is_gaussian_noise(center, name):
    """Priors with units too: y is far from unit size."""
    Phi, y, _ = _splines(len(name))
    plain = fit(Phi, 7 * y, fit_intercept=center, prior=PRIORS[name])
    nearly = fit(Phi, 7 * y, fit_intercept=center, prior=PRIORS[name], shape=2 + 1e-9)
    assert nearly.objective > plain.objective - 0.02  # the rounds may find something better
    if np.array_equal(nearly.active, plain.active):
        assert nearly.objective == pytest.approx(plain.objective, abs=0.02)
        assert nearly.log_evidence == pytest.approx(plain.log_evidence, abs=0.02)
    Phi, y, _ = _splines(1)
    plain = fit(Phi, y, fit_intercept=center)
    nearly = fit(Phi, y, fit_intercept=center, shape=2 + 1e-9)
    assert nearly.log_evidence == pytest.approx(plain.log_evidence, abs=1e-3)
    np.testing.assert_allclose(nearly.predict(Phi), plain.predict(Phi), atol=2e-3)
    np.testing.assert_allclose(nearly.predict(Phi, True)[1], plain.predict(Phi, True)[1], rtol=1e-2)


@pytest.mark.parametrize("prior", ["uniform", "bic"])
@pytest.mark.parametrize("power", [-20, 20])
def test_units_of_the_target_do_not_matter(prior, power):
    """To the last digits for powers of two; where the evidence is flat in p others end a little apart."""
    Phi, y, _ = _splines(4)
    factor, options = 2.0**power, {"prior": prior, "shape": "evidence", "fit_intercept": True}
    a, b, c = (fit(Phi, t, **options) for t in (y, factor * y, 1e-6 * y + 1e-3))
    np.testing.assert_array_equal(a.active, b.active)
    np.testing.assert_allclose(b.predict(Phi) / factor, a.predict(Phi), rtol=1e-12, atol=1e-12)
    assert b.noise_variance / factor**2 == pytest.approx(a.noise_variance, rel=1e-12)
    assert shape_of(b) == pytest.approx(shape_of(a), rel=1e-12)
    assert b.log_evidence + 99 * np.log(factor) == pytest.approx(a.log_evidence, abs=1e-9)
    np.testing.assert_array_equal(a.active, c.active)
    np.testing.assert_allclose((c.predict(Phi) - 1e-3) / 1e-6, a.predict(Phi), atol=2e-4)
    assert c.log_evidence + 99 * np.log(1e-6) == pytest.approx(a.log_evidence, abs=2e-3)


def test_weights_equal_repeated_rows():
    Phi, y, _ = _splines(5)
    counts = np.random.default_rng(0).integers(1, 4, len(y))
    a = fit(Phi, y, shape=5.0, fit_intercept=True, sample_weight=counts)
    b = fit(np.repeat(Phi, counts, axis=0), np.repeat(y, counts), shape=5.0, fit_intercept=True)
    np.testing.assert_array_equal(a.active, b.active)
    assert a.log_evidence == pytest.approx(b.log_evidence, abs=1e-6)
    (mean, std), (other, other_std) = a.predict(Phi, True), b.predict(Phi, True)
    np.testing.assert_allclose(mean, other, atol=1e-6)
    np.testing.assert_allclose(std, other_std, rtol=2e-4)  # σ² is found to where the evidence is flat


def test_uniform_noise_is_recognised_and_the_error_is_smaller():
    """L_p estimates have 3/(2p − 1) of the variance of least squares: see `GeneralizedNormal`."""
    errors = {2.0: [], "evidence": []}
    for seed in range(8):
        Phi, y, f = _splines(seed)
        for shape, found in errors.items():
            result = fit(Phi, y, shape=shape, fit_intercept=True)
            found.append(np.sqrt(np.mean((result.predict(Phi) - f) ** 2)))
            assert len(result.active) <= 8
            if shape == "evidence":
                plain = fit(Phi, y, fit_intercept=True)
                assert shape_of(result) > 4
                assert result.log_evidence > plain.log_evidence + 2
                assert np.sqrt(result.noise_variance) == pytest.approx(0.2 / np.sqrt(3), rel=0.2)
    assert np.mean(errors["evidence"]) < 0.85 * np.mean(errors[2.0])


def test_gaussian_noise_is_left_as_it_is():
    """Another shape has to earn ½ log n = 2.3 nats, which happens once in fifty draws or so."""
    left = 0
    for seed in range(6):
        Phi, y, _ = _splines(seed, "gaussian", 0.1)
        plain, found = (fit(Phi, y, shape=shape, fit_intercept=True) for shape in (2.0, "evidence"))
        left += shape_of(found) == 2
        if shape_of(found) == 2:
            np.testing.assert_array_equal(found.predict(Phi, True), plain.predict(Phi, True))
        else:
            assert found.log_evidence > plain.log_evidence + 0.5 * np.log(100)
    assert left >= 5


@pytest.mark.parametrize("seed", [1003, 3, 4])
def test_the_shape_found_is_no_worse_than_shapes_that_are_given(seed):
    """Seed 1003 has a lower maximum near p = 2.4, where functions chosen for Gaussian noise lead."""
    Phi, y, _ = _splines(seed)
    found = fit(Phi, y, shape="evidence", fit_intercept=True)
    for shape in (2.0, 3.0, 5.0, 8.0):
        assert found.log_evidence > fit(Phi, y, shape=shape, fit_intercept=True).log_evidence - 0.5
    assert (np.diff(found.evidence_path) > -0.05).all()
    assert found.evidence_path[-1] == found.objective


def test_a_noise_variance_that_is_given_stays():
    Phi, y, _ = _splines(6)
    result = fit(Phi, y, noise_variance=0.04 / 3, shape="evidence", fit_intercept=True)
    assert result.noise_variance == pytest.approx(0.04 / 3, rel=1e-12)
    assert shape_of(result) > 4


@pytest.mark.parametrize("shape", [4.0, "evidence"])
def test_a_kernel_that_is_not_held_in_memory_gives_the_same_model(shape):
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, (1500, 1))
    f = np.sinc(X[:, 0] / np.pi)
    y = f + rng.uniform(-0.2, 0.2, 1500)
    bound = RBF(width=2.5).bind(X)
    a = fit(bound.operator(X), y, shape=shape, fit_intercept=True)
    b = fit(DenseOperator(bound(X)), y, shape=shape, fit_intercept=True)
    assert a.log_evidence == pytest.approx(b.log_evidence, abs=0.5)
    np.testing.assert_allclose(bound(X)[:, a.active] @ a.mean + a.intercept, b.predict(bound(X)), atol=0.02)


def test_the_noise_may_collapse_and_says_so():
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((30, 60))
    y = rng.standard_normal(30)
    with pytest.warns(NoiseCollapseWarning, match="floor"):
        result = fit(Phi, y, shape="evidence")
    assert shape_of(result) == 2


def test_three_rows_leave_nothing_for_noise_with_bounds():
    """The Gaussian fit keeps some noise, that of shape 8 does not."""
    X, y, _ = make_sinc(100, "uniform", 0.2, random_state=3)
    X, y = X[::33][:3], y[::33][:3]
    Phi = RBF("scale").bind(X)(X)
    assert not fit(Phi, y, fit_intercept=True).certificate.at_noise_floor
    with pytest.warns(NoiseCollapseWarning, match=r"or use prior='bic'"):
        result = fit(Phi, y, shape=8.0, fit_intercept=True)
    assert result.certificate.at_noise_floor
    assert shape_of(fit(Phi, y, shape="evidence", fit_intercept=True)) == 2  # too few rows to tell
    assert np.isfinite(result.predict(Phi, True)).all()


@pytest.mark.parametrize("gamma", [100.0, 1.0])
@pytest.mark.parametrize("prior", ["uniform", "bic"])
@pytest.mark.parametrize("shape", [8.0, "evidence"])
def test_no_step_lowers_the_evidence(gamma, prior, shape):
    """Narrow functions follow a few rows each; α with B held fixed would lose hundreds of nats there."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, (300, 1))
    y = np.sinc(X[:, 0] / np.pi) + rng.uniform(-0.2, 0.2, 300)
    result = fit(RBF(gamma).bind(X)(X), y, prior=prior, shape=shape, fit_intercept=True)
    assert (np.diff(result.evidence_path) > -1e-6).all()
    plain = fit(RBF(gamma).bind(X)(X), y, prior=prior, fit_intercept=True)
    assert result.objective > plain.objective - 10


def test_few_rows_do_not_let_the_noise_grow_without_end():
    """With an intercept and fewer rows than p/2 the Laplace evidence has no maximum in σ²."""
    Phi, y = np.asarray([[0.0], [1.0], [2.5]]), np.asarray([0.0, 1.0, 0.9])
    result = fit(Phi, y, shape=8.0, fit_intercept=True)
    assert result.noise_variance <= 1.01 * max(y.var(), fit(Phi, y, fit_intercept=True).noise_variance)
    assert result.predict(np.asarray([[1.0]]), True)[1][0] < 2 * y.std()


@pytest.mark.parametrize("variance", [10.0, 100.0])
def test_a_large_noise_variance_leaves_error_bars_of_its_size(variance):
    """All residuals are next to 0, where the curvature vanishes; one row alone tells b to within σ."""
    rng = np.random.default_rng(0)
    Phi, y = rng.standard_normal((30, 3)), rng.uniform(-1, 1, 30)
    result = fit(Phi, y, shape=8.0, noise_variance=variance, fit_intercept=True)
    std = result.predict(Phi, True)[1]
    assert (std > np.sqrt(variance)).all()
    assert (std < 1.5 * np.sqrt(variance)).all()


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # noise that is too small needs many functions
def test_noise_that_is_far_too_small_is_warned_of():
    Phi, y, _ = _splines(0)
    with pytest.warns(ConvergenceWarning, match="larger noise_variance or a smaller shape"):
        result = fit(Phi, y, shape=8.0, noise_variance=1e-4, fit_intercept=True)
    assert not result.converged


@pytest.mark.parametrize("variance", [1e-10, 1e-8, 1e-6, 1e-5])
def test_noise_without_a_mode_in_floating_point_is_warned_of(variance):
    """Residuals to the sixth power of a thousand times s: the Hessian has no Cholesky factor."""
    warned = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-10, 10, (20, 1))
        y = np.sinc(X[:, 0] / np.pi) + rng.uniform(-0.2, 0.2, 20)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = fit(RBF(0.1).bind(X)(X), y, noise_variance=variance, shape=8.0, fit_intercept=True)
        assert result.converged or "were not found" in str(caught[-1].message)
        assert np.isfinite(result.mean).all()
        warned += len(caught)
    assert warned


def test_other_arrays_give_the_same_model():
    Phi, y, _ = _rows(2)
    a = fit(Phi, y, shape="evidence", fit_intercept=True)
    b = fit(array_api_strict.asarray(Phi), array_api_strict.asarray(y), shape="evidence", fit_intercept=True)
    np.testing.assert_array_equal(a.active, b.active)
    assert b.log_evidence == pytest.approx(a.log_evidence, rel=1e-8)
    np.testing.assert_allclose(np.asarray(b.mean), a.mean, rtol=1e-6)


@pytest.mark.parametrize("shape", [3.0, 4.0])
def test_leave_one_out_predictions_are_near_the_mode_without_the_row(shape):
    Phi, y, _ = _splines(8)
    result = fit(Phi, y, shape=shape, fit_intercept=True)
    columns = Phi[:, result.active]
    found, exact = LeaveOneOutPredictions.of_result(result, columns, y, None), []
    nothing, every = np.zeros(len(result.active), dtype=int), np.arange(len(result.active))
    for n in range(0, len(y), 7):
        others = np.arange(len(y)) != n
        model = ShapedModel(
            columns[others],
            y[others, None],
            every,
            nothing,
            result.alpha,
            np.ones(99),
            True,
            shape,
            result.likelihood.scale,
        )
        exact.append(np.append(columns[n], 1.0) @ model.mode())
    before = (columns @ result.mean + result.intercept)[::7]
    moved, left = np.asarray(exact) - before, found.mean[::7] - before
    assert np.corrcoef(left, moved)[0, 1] > 0.95
    assert np.abs(left - moved).max() < 0.35 * np.abs(moved).max()


@pytest.mark.parametrize(
    ("likelihood", "words"),
    [
        (
            GeneralizedNormal(1.5),
            "shape of GeneralizedNormal must be 'evidence' or a number from 2 .* got 1.5",
        ),
        (GeneralizedNormal(9), "shape of GeneralizedNormal must be .* to 8"),
        (GeneralizedNormal("uniform"), "shape of GeneralizedNormal must be .* got 'uniform'"),
        (GeneralizedNormal(np.nan), "shape of GeneralizedNormal must be"),
        (GeneralizedNormal(4.0, 0.3), "scale of GeneralizedNormal must be None in a fit, got 0.3"),
    ],
)
def test_what_cannot_be_fitted_is_refused(likelihood, words):
    Phi, y, _ = _rows(0)
    with pytest.raises(ValueError, match=words):
        sparsebayes.fit(Phi, y, likelihood=likelihood)


def test_chunks_are_refused():
    Phi, y, _ = _rows(0)
    with pytest.raises(ValueError, match=r"likelihood must be Gaussian for chunks or rows on disk"):
        sparsebayes.fit([(Phi, y)], likelihood=GeneralizedNormal(4.0))


def test_shape_two_is_the_fit_with_gaussian_noise():
    Phi, y, _ = _splines(0)
    plain = fit(Phi, y, fit_intercept=True)
    shaped = sparsebayes.fit(Phi, y, likelihood=GeneralizedNormal(2), fit_intercept=True)
    assert shaped.log_evidence == plain.log_evidence
    assert isinstance(shaped.likelihood, GaussianNoise)


def test_the_trace_goes_on_from_that_of_gaussian_noise():
    Phi, y, _ = _splines(3)
    plain, shaped = (fit(Phi, y, shape, fit_intercept=True) for shape in (2.0, "evidence"))
    names = [move.name for move in shaped.trace]
    assert names[: len(plain.trace)] == [move.name for move in plain.trace]
    assert set(names[len(plain.trace) :]) <= {"noise estimated", "settled", "round"}
    assert shaped.n_iter == len(shaped.evidence_path) - 1 == names.count("settled") + names.count("round")
