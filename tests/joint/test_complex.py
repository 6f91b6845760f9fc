"""Complex data through `fit`: the same as their real embedding, and as the complex Gaussian density."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from sparsebayes import Bernoulli, Gaussian, Inclusion, fit
from sparsebayes.bases.linear_map import LinearMap
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Uniform
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.core.units import NothingToModel
from sparsebayes.groups.prior import share
from sparsebayes.joint.complex import ComplexMatrix, Embedding, is_complex
from sparsebayes.joint.complex_result import ComplexResult
from sparsebayes.solvers.active_set.exchange import independent

N, M = 25, 12
GROUPS = np.array([0, 0, 1, 2, 2, 2, 3, 4, 5, 5, 6, 7])


def normal(rng, *shape):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / np.sqrt(2)


def data(seed, T=3, sigma=0.3):
    rng = np.random.default_rng(seed)
    Phi = normal(rng, N, M) * 10 ** rng.uniform(-1, 1, M)
    W = np.zeros((M, T), dtype=complex)
    W[[3, 4, 5, 10]] = normal(rng, 4, T) / np.linalg.norm(Phi[:, [3, 4, 5, 10]], axis=0)[:, None] * np.sqrt(N)
    Y = Phi @ W + 1.5 - 0.5j + sigma * normal(rng, N, T)
    return Phi, Y if T > 1 else Y[:, 0], rng.integers(1, 4, N).astype(float)


def embedded(Phi):
    return np.block([[Phi.real, -Phi.imag], [Phi.imag, Phi.real]])


def brute(Phi, Y, alpha, variances, scales, flat):
    """Σ_t log ∫ p(y_t | Φw + Zv) p(w) dw dv of the complex density, v flat."""
    P = scipy.linalg.null_space(flat.conj().T) if flat.shape[1] else np.eye(len(Y))
    total = 0.0
    for t in range(Y.shape[1]):
        C = variances[t] * np.eye(len(Y)) + scales[t] ** 2 * (Phi / alpha) @ Phi.conj().T
        K, z = P.conj().T @ C @ P, P.conj().T @ Y[:, t]
        total -= len(z) * np.log(np.pi) + np.linalg.slogdet(K)[1] + np.vdot(z, np.linalg.solve(K, z)).real
        total -= np.linalg.slogdet(flat.conj().T @ flat)[1] if flat.shape[1] else 0.0
    return total


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("unpenalised", [None, [0, 7]])
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize(("T", "shared"), [(1, True), (3, True), (3, False)])
def test_the_evidence_and_the_posterior_equal_brute_force(T, shared, groups, unpenalised, intercept):
    Phi, Y, counts = data(T + 10 * intercept, T)
    options = {"groups": groups, "unpenalised": unpenalised, "shared_noise": shared, "fit_intercept": intercept}
    result = fit(Phi, Y, sample_weight=counts, prior="bic", **options)
    assert isinstance(result, ComplexResult)
    assert result.certificate.is_local_maximum
    repeat, Y = np.repeat(np.arange(N), counts.astype(int)), Y.reshape(N, T)
    inside = result.alpha > 0
    flat = Phi[:, [] if unpenalised is None else unpenalised]
    assert set(result.active[~inside]) == set(unpenalised or [])
    flat = np.column_stack([flat, np.ones(N)]) if intercept else flat
    active, sigma2 = Phi[:, result.active[inside]], result.noise_variance
    scales = result.output_scales
    expected = brute(active[repeat], Y[repeat], result.alpha[inside], sigma2 * scales**2, scales, flat[repeat])
    assert result.log_evidence == pytest.approx(expected, rel=1e-9)
    A = np.column_stack([active, flat])
    penalty = np.append(result.alpha[inside], np.zeros(flat.shape[1]))
    Sigma = np.linalg.inv((A.conj().T * counts) @ A / sigma2 + np.diag(penalty))
    W = Sigma @ (A.conj().T * counts) @ Y / sigma2
    mean, std = result.predict(Phi, return_std=True)
    assert mean.shape == std.shape == ((N,) if T == 1 else (N, T))
    np.testing.assert_allclose(mean.reshape(N, T), A @ W, rtol=1e-8, atol=1e-8)
    expected = np.sqrt(np.einsum("ni,ij,nj->n", A, Sigma, A.conj()).real + sigma2)
    np.testing.assert_allclose(std.reshape(N, T), expected[:, None] * scales, rtol=1e-8)
    S = int(inside.sum())
    np.testing.assert_allclose(result.covariance[np.ix_(inside, inside)], Sigma[:S, :S], atol=1e-9 * abs(Sigma).max())
    np.testing.assert_allclose(result.covariance, result.covariance.conj().T)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("T", [1, 4])
@pytest.mark.parametrize("variance", [None, 0.1])
def test_complex_equals_its_real_embedding(seed, T, variance):
    Phi, Y, _ = data(seed, T)
    Y, half = Y - Y.mean(axis=0), None if variance is None else variance / 2
    options = {"prior": "bic", "shared_noise": True, "tol": 1e-12}
    result = fit(Phi, Y, noise_variance=variance, groups=GROUPS, **options)
    stacked = np.concatenate([Y.real, Y.imag])
    real = fit(embedded(Phi), stacked, noise_variance=half, groups=np.tile(GROUPS, 2), **options)
    S = len(result.active)
    np.testing.assert_array_equal(real.active, np.append(result.active, result.active + M))
    assert result.log_evidence == pytest.approx(real.log_evidence, rel=1e-9)
    assert result.noise_variance == pytest.approx(2 * real.noise_variance, rel=1e-9)
    np.testing.assert_allclose(result.alpha, real.alpha[:S] / 2, rtol=1e-9)
    np.testing.assert_allclose(result.mean, real.mean[:S] + 1j * real.mean[S:], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(result.gamma, real.gamma[:S], rtol=1e-9)
    assert result.degrees_of_freedom == pytest.approx(real.degrees_of_freedom / 2)


@pytest.mark.parametrize("seed", range(3))
def test_a_phase_of_data_or_columns_turns_the_weights_alone(seed):
    Phi, y, _ = data(seed, 1)
    rng = np.random.default_rng(seed)
    turn, by = np.exp(2j * np.pi * rng.random(M)), np.exp(2j * np.pi * rng.random())
    one, other = (fit(*each, prior="bic") for each in ((Phi, y), (Phi * turn, y * by)))
    np.testing.assert_array_equal(one.active, other.active)
    np.testing.assert_allclose(other.mean * turn[one.active] / by, one.mean, rtol=1e-6)
    assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-9)


def forms(Phi):
    return {
        "sparse": scipy.sparse.csr_array(Phi),
        "linear operator": aslinearoperator(Phi),
        "vectors": LinearOperator(
            Phi.shape, matvec=lambda x: Phi @ x, rmatvec=lambda x: Phi.conj().T @ x, dtype=Phi.dtype
        ),
        "list": Phi.tolist(),
    }


@pytest.mark.parametrize("form", forms(np.ones((2, 2))))
@pytest.mark.parametrize("real_design", [False, True])
def test_every_form_of_the_design_gives_the_same(form, real_design):
    Phi, Y, _ = data(5)
    Phi = Phi.real if real_design else Phi
    one, other = fit(Phi, Y, shared_noise=True, prior="bic"), fit(forms(Phi)[form], Y, shared_noise=True, prior="bic")
    np.testing.assert_array_equal(one.active, other.active)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-7)
    query = Phi[:4] if form != "linear operator" else aslinearoperator(Phi[:4])
    np.testing.assert_allclose(one.predict(Phi[:4]), other.predict(query), rtol=1e-7)


@pytest.mark.parametrize("T", [1, 3])
def test_a_real_linear_operator_equals_the_array(T):
    Phi, Y, _ = data(6, T)
    Phi, Y = Phi.real, Y.real
    for intercept in (False, True):
        one, other = (fit(each, Y, prior="bic", fit_intercept=intercept) for each in (Phi, aslinearoperator(Phi)))
        np.testing.assert_array_equal(one.active, other.active)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-7)
        assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", ["array", "operator", "real", *forms(np.ones((2, 2)))])
def test_the_embedding(form, intercept):
    Phi, _, _ = data(7)
    Phi = Phi.real.astype(complex) if form in ("real", "operator") else Phi
    given = {"array": Phi, "real": Phi.real, "operator": DenseOperator(Phi.real), **forms(Phi)}[form]
    operator = Embedding(ComplexMatrix(given), intercept)
    full = embedded(np.column_stack([Phi, np.ones(N)]) if intercept else Phi)
    assert operator.shape == full.shape
    J = np.random.default_rng(0).permutation(full.shape[1])[:9]
    np.testing.assert_allclose(operator.columns(J), full[:, J])
    V = np.random.default_rng(1).standard_normal((2 * N, 3))
    np.testing.assert_allclose(operator.adjoint(V), full.T @ V, atol=1e-12 * abs(full).max())
    weights = np.random.default_rng(2).random(2 * N)
    means, norms = operator.means_and_norms(weights, center=True)
    np.testing.assert_allclose(means, weights @ full / weights.sum(), atol=1e-12)
    deviation = full - means
    np.testing.assert_allclose(norms, np.sqrt(weights @ deviation**2), atol=1e-12)


def test_known_noise_of_each_row():
    Phi, y, _ = data(8, 1)
    variances = 0.05 + np.random.default_rng(8).random(N)
    for intercept in (False, True):
        result = fit(Phi, y, likelihood=Gaussian(variance=variances), prior="bic", fit_intercept=intercept)
        flat = np.ones((N, int(intercept)))
        P = scipy.linalg.null_space(flat.T) if intercept else np.eye(N)
        A = Phi[:, result.active]
        C = np.diag(variances) + (A / result.alpha) @ A.conj().T
        K, z = P.T @ C @ P, P.T @ y
        expected = -len(z) * np.log(np.pi) - np.linalg.slogdet(K)[1] - np.vdot(z, np.linalg.solve(K, z)).real
        assert result.log_evidence == pytest.approx(expected - intercept * np.log(N), rel=1e-9)
        whole = np.column_stack([A, flat])
        penalty = np.append(result.alpha, np.zeros(int(intercept)))
        Sigma = np.linalg.inv((whole.conj().T / variances) @ whole + np.diag(penalty))
        expected = np.sqrt(np.einsum("ni,ij,nj->n", whole, Sigma, whole.conj()).real)
        np.testing.assert_allclose(result.predict(Phi, return_std=True)[1], expected, rtol=1e-7)


def test_outputs_with_a_model_each():
    Phi, Y, _ = data(9)
    results = fit(Phi, Y, joint=False, prior="bic", noise_variance=[0.1, 0.2, 0.3])
    assert results.mean.dtype == np.complex128
    for t, each in enumerate(results.results):
        single = fit(Phi, Y[:, t], prior="bic", noise_variance=0.1 * (t + 1))
        np.testing.assert_allclose(each.mean, single.mean)
        np.testing.assert_allclose(results.predict(Phi)[:, t], single.predict(Phi))


def test_known_noise_of_each_output():
    Phi, Y, _ = data(10)
    result = fit(Phi, Y, prior="bic", noise_variance=[0.1, 0.2, 0.3])
    np.testing.assert_allclose(result.noise_variances, [0.1, 0.2, 0.3])


def test_a_real_target_with_complex_columns_is_complex_data():
    x = np.arange(40)
    Phi = np.exp(2j * np.pi * np.outer(x, np.arange(40)) / 40)
    y = np.cos(2 * np.pi * 3 * x / 40) + 0.1 * np.random.default_rng(0).standard_normal(40)
    result = fit(Phi, y, prior="ric")
    np.testing.assert_array_equal(result.active, [3, 37])
    np.testing.assert_allclose(result.mean, [0.5, 0.5], atol=0.05)


BAD = np.ones((4, 2)) * 1j
NO_ADJOINT = LinearOperator((4, 2), matvec=lambda x: BAD @ x, dtype=complex)
WRONG_ADJOINT = LinearOperator((4, 2), matvec=lambda x: BAD @ x, rmatvec=lambda x: BAD.T @ x, dtype=complex)


@pytest.mark.parametrize(
    ("Phi", "y", "options", "message"),
    [
        (BAD, np.ones(3), {}, "y must have one row per row of Phi"),
        (BAD, np.array([1, np.nan, 1, 2j]), {}, "y contains (NaN|infinity) in row 1"),
        (np.full((4, 2), np.inf, dtype=complex), np.arange(4), {}, "Phi contains (NaN|infinity)"),
        (BAD[:, 0], np.arange(4), {}, "Phi must be a matrix"),
        (BAD, np.arange(4) % 2, {"likelihood": Bernoulli()}, "Complex data need Gaussian noise"),
        (BAD, np.arange(4), {"unpenalised": [0, 1]}, "unpenalised names all 2 columns"),
        (BAD, np.arange(4), {"groups": [0, 0, 1]}, "groups must have one label for each of 2 columns"),
        (NO_ADJOINT, np.arange(4), {}, "Phi must be a linear operator with an adjoint"),
        (WRONG_ADJOINT, np.arange(4), {}, "Phi must be a linear operator whose rmatvec is the adjoint"),
    ],
)
def test_errors(Phi, y, options, message):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=f"^{message}"):
        fit(Phi, y, **options)


def test_nothing_to_model():
    Phi, y, _ = data(11, 1)
    for targets, intercept in ((0 * y, False), (0 * y + 2j, True)):
        with pytest.raises(NothingToModel):
            fit(Phi, targets, fit_intercept=intercept)


@pytest.mark.parametrize("T", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_inclusion_counts_once_for_an_atom(T, seed):
    Phi, Y, _ = data(seed, T)
    result = fit(Phi, Y, prior=Inclusion(2.5), shared_noise=True)
    assert result.objective == pytest.approx(result.log_evidence - 2.5 * len(result.active), rel=1e-9)
    groups = fit(Phi, Y, prior=Inclusion(2.5), shared_noise=True, groups=GROUPS)
    count = len(np.unique(GROUPS[groups.active]))
    assert groups.objective == pytest.approx(groups.log_evidence - 2.5 * count, rel=1e-9)


def test_two_swaps_into_the_same_group_are_compared():
    rng = np.random.default_rng(0)
    Phi, t = rng.standard_normal((30, 8)), rng.standard_normal(30)
    Phi /= np.linalg.norm(Phi, axis=0)
    quadratic = DenseQuadratic(30.0, float(t @ t), Phi.T @ t, Phi.T @ Phi)
    problem = share(Problem(quadratic, Uniform(), GaussianNoise(1.0), np.ones(8)), 1, np.arange(8) // 2)
    state = problem.start([0], np.ones(1), 1.0)
    np.testing.assert_array_equal(independent(state, np.array([1, 1]), 4, 0.6), [0])
    np.testing.assert_array_equal(independent(state, np.array([1, 1, 2, 3]), 4, 1.0)[:1], [0])


def test_what_is_complex():
    yes = (np.ones(2) + 0j, [1, 1j], scipy.sparse.eye_array(2, dtype=complex), aslinearoperator(np.eye(2) * 1j))
    assert all(map(is_complex, yes))
    assert not any(
        map(is_complex, (None, "abc", [1.0], np.ones(2), [[1], [1, 2]], iter([1j]), aslinearoperator(np.eye(2))))
    )


@pytest.mark.parametrize("kind", ["mat", "vec"])
def test_the_products_of_a_linear_operator(kind):
    Phi = np.random.default_rng(0).standard_normal((6, 4))
    whole = {"mat": ("matmat", "rmatmat"), "vec": ("matvec", "rmatvec")}[kind]

    class Source:
        shape, dtype = Phi.shape, Phi.dtype

    for name, A in zip(whole, (Phi, Phi.T), strict=True):
        setattr(Source, name, staticmethod(lambda x, A=A: A @ x))
    operator = LinearMap(Source())
    np.testing.assert_allclose(operator.columns([2, 0, 2]), Phi[:, [2, 0, 2]])
    np.testing.assert_allclose(operator.adjoint(Phi), Phi.T @ Phi)
    np.testing.assert_allclose(operator.combination([1, 3], np.array([2.0, -1.0])), 2 * Phi[:, 1] - Phi[:, 3])
    assert operator.columns([]).shape == (6, 0)
