"""Every prior against its definition: a fine grid, finite differences, the papers' closed forms."""

import inspect
import math

import array_api_strict
import numpy as np
import pytest
from brute import EVERY_PRIOR
from sklearn.base import clone

from sparsebayes.priors import (
    Automatic,
    Gamma,
    Inclusion,
    Laplace,
    NumericPrior,
    PerPart,
    Prior,
    Smoothness,
    Uniform,
    as_prior,
)


def _cases(seed, size=400):
    """(s, q, β) as a solver meets them: s ≤ β on unit columns, q² around and far above s."""
    rng = np.random.default_rng(seed)
    beta = 10 ** rng.uniform(-2, 4)
    s = beta * 10 ** rng.uniform(-4, 0, size)
    q = np.sqrt(s * 10 ** rng.uniform(-1, 3, size)) * rng.choice([-1, 1], size)
    return s, q, beta


def _units(prior, unit):
    """What the prior is given as `unit` for functions 0, 1, …"""
    return prior.units(unit, np.arange(len(unit)))


def _subclasses(cls):
    return {cls}.union(*(_subclasses(each) for each in cls.__subclasses__()))


def test_every_prior_is_tested():
    # priors of several weights are in tests/joint
    ours = {cls for cls in _subclasses(Prior) if cls.__module__.startswith(("sparsebayes.core", "sparsebayes.priors"))}
    assert ours == {Prior, NumericPrior, Uniform, Gamma, Inclusion, Laplace, Smoothness, PerPart, Automatic}
    tested = {type(prior) for prior in EVERY_PRIOR.values()}
    assert {cls for cls in ours if not inspect.isabstract(cls)} <= tested
    assert all(any(issubclass(each, cls) for each in tested) for cls in ours)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_maximiser_beats_a_fine_grid(name, seed):
    prior = EVERY_PRIOR[name].resolve(200)
    s, q, beta = _cases(seed)
    unit = _units(prior, 10 ** np.random.default_rng(seed).uniform(-1, 1, s.size))
    best = prior.maximise(s, q, beta, unit)
    reached = prior.gain(best, s, q, beta, unit)
    assert (best > 0).all()
    grid = np.geomspace(1e-12, 1e14, 8001)
    values = np.stack([prior.gain(np.full_like(s, a), s, q, beta, unit) for a in grid])
    assert (reached >= np.maximum(values.max(axis=0), 0) - 1e-5 * (1 + np.abs(reached))).all()
    assert (reached[np.isinf(best)] == 0).all()


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_maximiser_is_a_stationary_point(name):
    prior = EVERY_PRIOR[name].resolve(200)
    s, q, beta = _cases(11)
    unit = _units(prior, np.ones_like(s))
    best = prior.maximise(s, q, beta, unit)
    inside = np.isfinite(best)
    assert inside.sum() > 50
    best, s, q, unit = best[inside], s[inside], q[inside], unit[inside]
    h = 1e-4
    slope = prior.gain(best * np.exp(h), s, q, beta, unit) - prior.gain(best * np.exp(-h), s, q, beta, unit)
    assert np.abs(slope / (2 * h)).max() < 1e-5


def test_uniform_is_the_closed_form_of_tf03():
    s, q, beta = _cases(3)
    best = Uniform().maximise(s, q, beta, np.ones_like(s))
    expected = np.full_like(s, math.inf)
    inside = q**2 > s
    expected[inside] = s[inside] ** 2 / (q[inside] ** 2 - s[inside])
    np.testing.assert_allclose(best, expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("c", [0.3, 1.0, 3.0, 7.0])
def test_smoothness_cubic_is_se07s_and_its_closed_form_on_orthonormal_columns(seed, c):
    prior = Smoothness(c).resolve(100)
    s, q, beta = _cases(seed)
    best = prior.maximise(s, q, beta, np.ones_like(s))
    for s_m, q_m, alpha in zip(s, q, best, strict=True):
        # SE07 eqs. 46-49, roots by the companion matrix
        B = [
            s_m - q_m**2 + 2 * c * beta,
            s_m**2 + 2 * beta * (s_m - q_m**2) + 4 * c * beta * s_m,
            beta**2 * (s_m - q_m**2) + 2 * beta * s_m**2 + 2 * c * beta * s_m**2,
            s_m**2 * beta**2,
        ]
        roots = np.roots(B)
        positive = roots[(np.abs(roots.imag) < 1e-7 * np.abs(roots)) & (roots.real > 0)].real
        if np.isfinite(alpha):
            assert np.isclose(alpha, positive.min(), rtol=1e-5)
    # orthonormal: s = β, u = βw²; keep ⇔ u > 1 + 2c, α̂ = β/(u − 1 − 2c)  [docs/derivations.md, 7]
    u = np.linspace(0.01, 40, 500)
    alpha = prior.maximise(np.full_like(u, beta), np.sqrt(u * beta), beta, np.ones_like(u))
    keep = u > 1 + 2 * c
    assert (np.isfinite(alpha) == keep).all()
    np.testing.assert_allclose(alpha[keep], beta / (u[keep] - 1 - 2 * c), rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("c", [0.3, 1.0, 7.0])
def test_smoothness_turns_where_it_turns_whether_or_not_the_function_is_worth_it(seed, c):
    prior, (s, q, beta) = Smoothness(c), _cases(seed)
    unit = np.ones_like(s)
    alpha = prior.turning_point(s, q, beta)
    turns = np.isfinite(alpha)

    def gain(log_step):
        return prior.gain(alpha[turns] * math.exp(log_step), s[turns], q[turns], beta, unit[turns])

    here, step = gain(0.0), 1e-3
    assert np.all(here >= np.maximum(gain(step), gain(-step)) - 1e-12 * (1 + np.abs(here)))
    assert (here < 0).any()  # those that only SE07's algorithm 1 keeps
    np.testing.assert_array_equal(prior.maximise(s, q, beta, unit)[turns], np.where(here > 0, alpha[turns], math.inf))
    assert np.isinf(prior.maximise(s, q, beta, unit)[~turns]).all()


@pytest.mark.parametrize("c", ["aic", "bic", "ric", 0.7])
def test_smoothness_is_never_less_sparse_than_uniform(c):
    s, q, beta = _cases(5, 2000)
    plain = Uniform().maximise(s, q, beta, np.ones_like(s))
    smooth = Smoothness(c).resolve(300).maximise(s, q, beta, np.ones_like(s))
    assert (smooth >= plain * (1 - 1e-9)).all()


def test_smoothness_names_stand_for_their_numbers():
    assert Smoothness("aic").resolve(50).c == 1
    assert Smoothness("bic").resolve(50).c == pytest.approx(math.log(50) / 2)
    assert Smoothness("ric").resolve(50).c == pytest.approx(math.log(50))
    s, q, beta = _cases(1)
    np.testing.assert_allclose(
        Smoothness(0.0).resolve(9).maximise(s, q, beta, np.ones_like(s)),
        Uniform().maximise(s, q, beta, np.ones_like(s)),
        rtol=1e-6,
    )


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_derivatives_equal_finite_differences_of_another_step(name):
    prior = EVERY_PRIOR[name].resolve(200)
    rng = np.random.default_rng(0)
    alpha, unit, beta = 10 ** rng.uniform(-2, 2, 30), _units(prior, 10 ** rng.uniform(-1, 1, 30)), 3.0
    first, second, by_beta, by_beta2, mixed = prior.derivatives(alpha, beta, unit)

    def f(da=0.0, db=0.0):
        return prior.log_density(alpha * np.exp(da), beta * np.exp(db), unit)

    h = 1e-3
    np.testing.assert_allclose(first, (f(h) - f(-h)) / (2 * h), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(second, (f(h) - 2 * f() + f(-h)) / h**2, rtol=1e-4, atol=1e-5)
    assert by_beta == pytest.approx(np.sum(f(0, h) - f(0, -h)) / (2 * h), rel=1e-5, abs=1e-7)
    assert by_beta2 == pytest.approx(np.sum(f(0, h) - 2 * f() + f(0, -h)) / h**2, rel=1e-4, abs=1e-4)
    cross = (f(h, h) - f(h, -h) - f(-h, h) + f(-h, -h)) / (4 * h * h)
    np.testing.assert_allclose(mixed, cross, rtol=1e-3, atol=1e-4)
    up, down = prior.slopes(alpha, beta, unit)
    assert (up >= 0).all()
    assert (down >= 0).all()
    np.testing.assert_allclose(up - down, first, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_a_function_not_selected_counts_zero_and_the_density_never_helps(name):
    prior = EVERY_PRIOR[name].resolve(200)
    alpha = np.geomspace(1e-6, 1e6, 50)
    density = prior.log_density(alpha, 2.0, _units(prior, np.ones_like(alpha)))
    assert (density <= 1e-12).all()
    one = np.asarray([1.0])
    out = prior.gain(np.asarray([math.inf]), one, one, 2.0, _units(prior, np.ones(1)))
    assert out[0] == 0


@pytest.mark.parametrize("name", EVERY_PRIOR)
def test_priors_follow_the_array_standard(name):
    prior = EVERY_PRIOR[name].resolve(200)
    s, q, beta = _cases(2, 50)
    unit = _units(prior, np.ones_like(s))
    strict = [array_api_strict.asarray(x) for x in (s, q, unit)]
    np.testing.assert_allclose(
        np.asarray(prior.maximise(strict[0], strict[1], beta, strict[2])), prior.maximise(s, q, beta, unit)
    )
    alpha = array_api_strict.asarray(np.abs(q))
    mine, theirs = prior.derivatives(alpha, beta, strict[2]), prior.derivatives(np.abs(q), beta, unit)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (Smoothness("bik"), "c of prior Smoothness"),
        (Smoothness(-1.0), "c of prior Smoothness"),
        (Gamma(-1.0, 0.0), "a of prior Gamma"),
        (Gamma(1.0, 0.0), "b of prior Gamma"),
        (Laplace(0.0), "scale of prior Laplace"),
    ],
)
def test_unusable_parameters_are_named(prior, words):
    with pytest.raises(ValueError, match=words):
        prior.resolve(10)


def test_names_and_objects():
    assert isinstance(as_prior("bic"), Smoothness)
    assert isinstance(as_prior("uniform"), Uniform)
    mine = Gamma(1.0, 2.0)
    assert as_prior(mine) is mine
    assert clone(mine).get_params() == {"a": 1.0, "b": 2.0}
    for unknown in ("bicc", None):
        with pytest.raises(ValueError, match="prior must be one of"):
            as_prior(unknown)
