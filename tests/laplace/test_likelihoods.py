"""Every likelihood against finite differences and integrals; labels and numbers as it reads them."""

import inspect
import math

import array_api_strict
import numpy as np
import pytest
from scipy.special import expit, logsumexp, softmax
from scipy.stats import gennorm, norm
from sklearn.base import clone

from sparsebayes.core.noise import GaussianNoise
from sparsebayes.laplace import Bernoulli, GeneralizedNormal, LaplaceLikelihood, Multinomial, number_classes

CLASSES = [Bernoulli(), Multinomial(2), Multinomial(3), Multinomial(7)]
NOISES = [GeneralizedNormal(p, s) for p, s in ((2.0, 1.4), (2.5, 0.9), (4.0, 2.0), (8.0, 3.0))]
LAPLACE = [*CLASSES, *NOISES]
laplace = pytest.mark.parametrize("likelihood", LAPLACE, ids=repr)
classes = pytest.mark.parametrize("likelihood", CLASSES, ids=repr)
noises = pytest.mark.parametrize("likelihood", NOISES, ids=repr)


def _moderated(likelihood, mean, covariance):
    """E[y] over f ~ N(mean, covariance)."""
    return likelihood.mean(likelihood.moderated_output(mean, covariance))


def _concrete(root):
    found = set()
    for child in root.__subclasses__():
        found |= _concrete(child)
        if child.__module__.startswith("sparsebayes.") and not inspect.isabstract(child):
            found.add(child)
    return found


def _rows(likelihood, seed, N=20, spread=2.0):
    """Targets, of 0s and 1s for classes, and outputs f."""
    rng = np.random.default_rng(seed)
    K = likelihood.outputs
    if isinstance(likelihood, GeneralizedNormal):  # no residual near 0, where the curvature has a corner
        f = spread * rng.standard_normal((N, K))
        return f + rng.choice([-1.0, 1.0], (N, K)) * rng.uniform(0.3, 3.0, (N, K)), f
    y = rng.integers(0, 2, (N, 1)).astype(float) if K == 1 else np.eye(K)[rng.integers(0, K, N)]
    return y, spread * rng.standard_normal((N, K))


def test_every_laplace_likelihood_is_tested():
    assert _concrete(LaplaceLikelihood) == {type(each) for each in LAPLACE}


@laplace
@pytest.mark.parametrize("seed", range(3))
def test_laplace_gradient_and_curvature_equal_finite_differences(likelihood, seed):
    y, f = _rows(likelihood, seed)
    K, h = likelihood.outputs, 1e-3

    def slope(function):  # five points: the error is of order h⁴
        moved = [[function(f + j * h * np.eye(K)[k]) for j in (-2, -1, 1, 2)] for k in range(K)]
        return np.stack([(8 * (c - b) - (d - a)) / (12 * h) for a, b, c, d in moved], axis=-1)

    gradient = slope(lambda at: likelihood.log_prob(y, at))
    np.testing.assert_allclose(likelihood.gradient(y, f), gradient, rtol=1e-9, atol=1e-10)
    curvature = -slope(lambda at: likelihood.gradient(y, at))
    assert likelihood.curvature(y, f).shape == (len(f), K, K)
    np.testing.assert_allclose(likelihood.curvature(y, f), curvature, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(likelihood.curvature(y, f), np.swapaxes(likelihood.curvature(y, f), 1, 2), atol=0)


@laplace
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_the_factors_of_the_curvature_give_the_curvature(likelihood, spread):
    y, f = _rows(likelihood, 0, spread=spread)
    d, u = likelihood.curvature_factors(y, f)
    B = np.stack([np.diag(row) for row in d])
    if u is not None:
        B -= np.einsum("nk,nl->nkl", u, u)
    np.testing.assert_allclose(likelihood.curvature(y, f), B, rtol=1e-14, atol=1e-300)
    assert (np.linalg.eigvalsh(B) > -1e-14).all()


SIZES = [30.0, 800.0, 1e6, 1e300]


def _far_out(f, size):
    f = size * np.sign(f)
    f[0], f[1] = size, -size
    return f


@laplace
@pytest.mark.parametrize("size", SIZES)
def test_extreme_outputs_stay_finite(likelihood, size):
    y, f = _rows(likelihood, 1)
    f = _far_out(f, size)
    for piece in (likelihood.log_prob(y, f), likelihood.gradient(y, f), likelihood.curvature(y, f)):
        assert np.isfinite(piece).all()
    assert (likelihood.log_prob(y, f) <= 0).all()


@classes
@pytest.mark.parametrize("size", SIZES)
def test_probabilities_of_extreme_outputs_stay_finite(likelihood, size):
    f = _far_out(_rows(likelihood, 1)[1], size)
    variances = np.stack([v * np.eye(likelihood.outputs) for v in np.resize([0.0, 1.0, 1e8], len(f))])
    for piece in (likelihood.mean(f), _moderated(likelihood, f, variances)):
        assert np.isfinite(piece).all()


@classes
@pytest.mark.parametrize("spread", [0.1, 3.0, 800.0])
def test_probabilities_are_probabilities_and_what_log_prob_says(likelihood, spread):
    y, f = _rows(likelihood, 2, spread=spread)
    K = likelihood.outputs
    p = likelihood.mean(f)
    assert ((p >= 0) & (p <= 1)).all()
    if K == 1:
        both = [np.exp(likelihood.log_prob(np.full_like(y, label), f)) for label in (0, 1)]
        np.testing.assert_allclose(both[1], p[:, 0], rtol=1e-12)
    else:
        both = [np.exp(likelihood.log_prob(np.broadcast_to(e, y.shape), f)) for e in np.eye(K)]
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
        np.testing.assert_allclose(np.stack(both, axis=1), p, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(np.sum(both, axis=0), 1, rtol=1e-12)


def _covariances(rng, N, K, largest):
    """Covariances (N, K, K) whose largest variance of a difference of outputs is at most `largest`."""
    L = rng.standard_normal((N, K, K))
    C = L @ np.swapaxes(L, 1, 2)
    own = np.einsum("nkk->nk", C)
    spread = own[:, :, None] + own[:, None, :] - 2 * C if K > 1 else C
    return C * (largest * rng.random(N) / spread.max(axis=(1, 2)))[:, None, None]


def test_two_moderated_classes_are_within_the_stated_distance_of_the_integral():
    nodes = np.linspace(-12, 12, 8001)
    density = np.exp(-0.5 * nodes**2) / np.exp(-0.5 * nodes**2).sum()
    mean = np.linspace(-20, 20, 161)
    for variance in 10 ** np.linspace(-3, 3, 25):
        exact = expit(mean[:, None] + math.sqrt(variance) * nodes) @ density
        moderated = _moderated(Bernoulli(), mean[:, None], np.full((len(mean), 1, 1), variance))
        np.testing.assert_allclose(moderated[:, 0], exact, atol=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_two_moderated_outputs_are_one_moderated_difference(seed):
    rng = np.random.default_rng(seed)
    mean, C = 3 * rng.standard_normal((50, 2)), _covariances(rng, 50, 2, 4.0)
    variance = C[:, 0, 0] + C[:, 1, 1] - 2 * C[:, 0, 1]
    one = _moderated(Bernoulli(), mean[:, 1:] - mean[:, :1], variance[:, None, None])
    two = _moderated(Multinomial(2), mean, C)
    np.testing.assert_allclose(two[:, 1:], one, atol=0.02)  # what Bernoulli's is off by


@pytest.mark.parametrize("largest", [1.0, 4.0, 30.0])
@pytest.mark.parametrize("K", [2, 3, 5, 10])
def test_moderated_classes_are_nearer_to_the_integral_than_the_mean_is(K, largest):
    """Nearer as a log loss would see it: Kullback-Leibler, averaged over rows."""
    rng = np.random.default_rng(K)
    mean, C = 1.5 * rng.standard_normal((60, K)), _covariances(rng, 60, K, largest)
    draws = rng.standard_normal((5_000, K))
    f = mean[:, None, :] + np.concatenate([draws, -draws]) @ np.swapaxes(np.linalg.cholesky(C), 1, 2)
    exact = softmax(f, axis=2).mean(axis=1)

    def distance(p):
        return np.sum(exact * np.log(exact / p), axis=1).mean()

    moderated = _moderated(Multinomial(K), mean, C)
    assert distance(moderated) < distance(Multinomial(K).mean(mean))
    assert largest > 4 or np.abs(moderated - exact).max() < 0.02


@classes
def test_moderating_without_variance_changes_nothing(likelihood):
    _, f = _rows(likelihood, 3, spread=5.0)
    zero = np.zeros((len(f), likelihood.outputs, likelihood.outputs))
    np.testing.assert_allclose(_moderated(likelihood, f, zero), likelihood.mean(f), rtol=1e-13)


@classes
@pytest.mark.parametrize("seed", range(2))
def test_moderation_is_blind_to_what_the_likelihood_is_blind_to(likelihood, seed):
    """A constant on all outputs, however uncertain, and the order of the classes do not matter."""
    rng = np.random.default_rng(seed)
    K = likelihood.outputs
    if K == 1:
        f, v = rng.standard_normal((20, 1)), rng.random((20, 1, 1))
        np.testing.assert_allclose(_moderated(likelihood, -f, v), 1 - _moderated(likelihood, f, v), rtol=1e-13)
        return
    f, C = rng.standard_normal((20, K)), _covariances(rng, 20, K, 4.0)
    p = _moderated(likelihood, f, C)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(_moderated(likelihood, f + 7.0, C), p, rtol=1e-11)
    np.testing.assert_allclose(_moderated(likelihood, f, C + 50.0), p, rtol=1e-9)
    order = rng.permutation(K)
    shuffled = _moderated(likelihood, f[:, order], C[:, order][:, :, order])
    np.testing.assert_allclose(shuffled, p[:, order], atol=0.02)


@laplace
def test_laplace_likelihoods_follow_the_array_standard(likelihood):
    y, f = _rows(likelihood, 4)
    counts = np.random.default_rng(1).uniform(0.5, 2.0, len(f))
    strict_y, strict_f, strict_counts = (array_api_strict.asarray(x) for x in (y, f, counts))
    pairs = [
        (likelihood.log_prob(strict_y, strict_f), likelihood.log_prob(y, f)),
        (likelihood.gradient(strict_y, strict_f), likelihood.gradient(y, f)),
        (likelihood.curvature(strict_y, strict_f), likelihood.curvature(y, f)),
        (likelihood.start(strict_y, strict_counts), likelihood.start(y, counts)),
    ]
    for strict, plain in pairs:
        np.testing.assert_allclose(np.asarray(strict), plain, rtol=1e-13, atol=1e-15)


@classes
def test_moderation_follows_the_array_standard(likelihood):
    f = _rows(likelihood, 4)[1]
    C = _covariances(np.random.default_rng(0), len(f), likelihood.outputs, 2.0)
    strict = _moderated(likelihood, *(array_api_strict.asarray(x) for x in (f, C)))
    np.testing.assert_allclose(np.asarray(strict), _moderated(likelihood, f, C), rtol=1e-13, atol=1e-15)


@noises
def test_the_generalized_normal_density_and_its_variance(likelihood):
    y, f = _rows(likelihood, 5)
    reference = gennorm(likelihood.shape, scale=likelihood.scale)
    np.testing.assert_allclose(likelihood.log_prob(y, f), reference.logpdf(y - f)[:, 0], rtol=1e-12)
    assert likelihood.variance == pytest.approx(reference.var(), rel=1e-12)
    again = GeneralizedNormal.of_variance(likelihood.shape, likelihood.variance)
    assert again.scale == pytest.approx(likelihood.scale, rel=1e-14)


def test_shape_two_is_the_gaussian_likelihood():
    rng = np.random.default_rng(0)
    y, f, gaussian = rng.standard_normal((20, 1)), rng.standard_normal((20, 1)), GaussianNoise(4.0)
    shaped = GeneralizedNormal.of_variance(2.0, 0.25)
    np.testing.assert_allclose(shaped.log_prob(y, f), gaussian.log_prob(y, f))
    np.testing.assert_allclose(shaped.gradient(y, f), gaussian.gradient(y, f))
    np.testing.assert_allclose(shaped.curvature_factors(y, f)[0], gaussian.curvature_factors(y, f)[0])


@noises
@pytest.mark.parametrize("spread", [0.0, 0.01, 0.3, 3.0, 30.0])
def test_the_predictive_density_is_the_integral_over_f(likelihood, spread):
    """Far out as well, where neither factor alone says where the integrand is."""
    y, mean = 0.3 + np.asarray([-9.0, -4.0, -1.5, 0.0, 0.7, 2.5, 6.0]) * likelihood.scale, np.full(7, 0.3)
    found = likelihood.log_predictive(y, mean, np.full(7, spread**2))
    for at, value in zip(y, found, strict=True):
        if spread == 0:
            exact = float(likelihood.log_prob(np.asarray([[at]]), np.asarray([[0.3]]))[0])
        else:
            f = np.linspace(min(0.3, at) - 9 * spread, max(0.3, at) + 9 * spread, 200_001)
            log_p = likelihood.log_prob(np.full((len(f), 1), at), f[:, None]) + norm.logpdf(f, 0.3, spread)
            exact = logsumexp(log_p) + math.log(f[1] - f[0])
        assert value == pytest.approx(exact, abs=1e-6, rel=1e-8)
    far = likelihood.log_predictive(np.asarray([1e6]), np.zeros(1), np.full(1, spread**2))
    assert np.isfinite(far).all()


@classes
@pytest.mark.parametrize("spread", [0.1, 3.0, 800.0])
def test_log_probabilities_are_logarithms_of_probabilities(likelihood, spread):
    f = _rows(likelihood, 6, spread=spread)[1]
    found = likelihood.log_probabilities(f)
    p = likelihood.mean(f)
    p = np.concatenate([1 - p, p], axis=1) if likelihood.outputs == 1 else p
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found), p, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(logsumexp(found, axis=1), 0, atol=1e-13)
    strict = likelihood.log_probabilities(array_api_strict.asarray(f))
    np.testing.assert_allclose(np.asarray(strict), found, rtol=1e-13)


def test_the_slope_of_the_log_curvature_equals_finite_differences():
    f, h = np.linspace(-6, 6, 25)[:, None], 1e-5
    y = np.zeros_like(f)
    up, down = (np.log(Bernoulli().curvature_factors(y, f + step)[0]) for step in (h, -h))
    np.testing.assert_allclose(Bernoulli().log_curvature_slope(y, f), (up - down) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("likelihood", [Multinomial(3), GeneralizedNormal(4.0, 1.0)], ids=repr)
def test_other_likelihoods_say_that_scales_cannot_be_learned(likelihood):
    y, f = _rows(likelihood, 0)
    with pytest.raises(NotImplementedError, match="give the scales as numbers"):
        likelihood.log_curvature_slope(y, f)


@laplace
def test_likelihoods_are_specifications(likelihood):
    again = clone(likelihood)
    assert again == likelihood
    assert again is not likelihood
    assert eval(repr(likelihood)) == likelihood
    assert likelihood.has_noise == (likelihood.variance > 0)


@pytest.mark.parametrize(
    "labels", [list("abab"), [True, False] * 2, [-1, 7] * 2, np.asarray([0.5, 1.5] * 2), np.arange(4) % 2]
)
def test_two_classes_are_one_column(labels):
    likelihood, codes, found = Bernoulli().encode(labels)
    np.testing.assert_array_equal(found, np.unique(labels))
    np.testing.assert_array_equal(codes, np.asarray(labels)[:, None] == found[1])
    assert codes.dtype == np.float64
    assert likelihood == Bernoulli()


def test_more_classes_are_a_column_each():
    labels = np.asarray(["b", "a", "c", "b"])
    likelihood, codes, found = Multinomial().encode(labels, np.ones(4))
    assert likelihood == Multinomial(3)
    np.testing.assert_array_equal(found, ["a", "b", "c"])
    np.testing.assert_array_equal(codes, [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    strict = Multinomial(3).encode(array_api_strict.asarray(np.arange(6) % 3))
    np.testing.assert_array_equal(strict.codes, np.eye(3)[np.arange(6) % 3])
    classes, numbers = number_classes(labels)
    np.testing.assert_array_equal(classes[numbers], labels)


def test_numbers_are_one_column():
    likelihood = GeneralizedNormal(4.0)
    found = likelihood.encode([1, 2, 4])
    np.testing.assert_array_equal(found.codes, [[1.0], [2.0], [4.0]])
    assert found.codes.dtype == np.float64
    assert found.likelihood is likelihood
    assert found.classes is None


@pytest.mark.parametrize(
    ("likelihood", "y", "words"),
    [
        (Bernoulli(), [0, 1, 2], r"y must have two classes with likelihood=Bernoulli\(\), got 3"),
        (Bernoulli(), [1, 1, 1], "y must have at least two classes, got 1 class"),
        (Bernoulli(), np.ones((3, 2)), "y must be a vector of labels"),
        (Bernoulli(), [0, 1, np.nan], "y contains NaN"),
        (Multinomial(), np.array(["a", 1, None], dtype=object), "y must hold labels that can be sorted"),
        (Multinomial(4), [0, 1, 2], r"y must have 4 classes with likelihood=Multinomial\(outputs=4\), got 3"),
        (GeneralizedNormal(4.0), [0.0, np.inf, 1.0], "y contains (NaN|infinity)"),
        (GeneralizedNormal(4.0), [0.0, 1j, 1.0], "y must hold real numbers"),
        (GeneralizedNormal(4.0), ["a", "b", "c"], "y must hold real numbers"),
    ],
)
def test_targets_that_cannot_be_read_get_one_sentence(likelihood, y, words):
    with pytest.raises(ValueError, match=words):
        likelihood.encode(y)


def test_every_class_needs_a_row_that_counts():
    with pytest.raises(ValueError, match=r"sample_weight leaves no row of class \['b'\] in y"):
        Bernoulli().encode(list("abab"), np.asarray([1.0, 0.0, 1.0, 0.0]))
