"""Several outputs, groups and columns without a prior through `fit`, against brute force."""

import array_api_strict
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from sparsebayes import Gaussian, fit
from sparsebayes.joint.result import JointResult, SeparateResults

GROUPS = np.array([0, 0, 1, 2, 2, 2, 3, 4, 5, 5, 6, 7, 7, 8, 9])


def data(seed, N=40, T=3, M=15):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M)) * 10 ** rng.uniform(-1, 1, M) + rng.uniform(-1, 1, M)
    W = np.zeros((M, T))
    W[[3, 4, 5, 10]] = rng.standard_normal((4, T))
    clean = Phi @ W
    sigma = np.array([0.1, 0.3, 1.0, 0.2, 0.2, 0.4])[:T] * clean.std(axis=0)
    return Phi, clean + 1.5 + sigma * rng.standard_normal((N, T)), rng.integers(1, 4, N).astype(float)


def brute(Phi, Y, alpha, variances, scales, flat, counts):
    """Σ_t log ∫ p(y_t | Φw + Zv) p(w) dw dv, w ~ N(0, s_t²/α), v flat, by the contrasts that Z does not reach."""
    repeat = np.repeat(np.arange(len(Y)), counts.astype(int))
    Phi, Y, flat = Phi[repeat], Y[repeat], flat[repeat]
    P = scipy.linalg.null_space(flat.T) if flat.shape[1] else np.eye(len(Y))
    total = 0.0
    for t in range(Y.shape[1]):
        C = variances[t] * np.eye(len(Y)) + scales[t] ** 2 * (Phi / alpha) @ Phi.T
        K, z = P.T @ C @ P, P.T @ Y[:, t]
        total -= 0.5 * (len(z) * np.log(2 * np.pi) + np.linalg.slogdet(K)[1] + z @ np.linalg.solve(K, z))
        total -= 0.5 * np.linalg.slogdet(flat.T @ flat)[1] if flat.shape[1] else 0.0
    return total


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("unpenalised", [None, [0, 7]])
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize(("T", "shared"), [(1, True), (3, True), (3, False), (6, False)])
def test_the_evidence_and_the_means_equal_brute_force(T, shared, groups, unpenalised, intercept):
    Phi, Y, counts = data(T + 10 * intercept, T=T)
    options = {"groups": groups, "unpenalised": unpenalised, "shared_noise": shared, "fit_intercept": intercept}
    result = fit(Phi, Y if T > 1 else Y[:, 0], sample_weight=counts, prior="bic", **options)
    assert result.certificate.is_local_maximum
    flat = Phi[:, [] if unpenalised is None else unpenalised]
    flat = np.column_stack([flat, np.ones(len(Y))]) if intercept else flat
    inside = result.alpha > 0
    active = result.active[inside]
    scales = result.output_scales if T > 1 else np.ones(1)
    variances = result.noise_variance * scales**2
    expected = brute(Phi[:, active], Y, result.alpha[inside], variances, scales, flat, counts)
    assert result.log_evidence == pytest.approx(expected, rel=1e-9)
    # ridge with the given penalties, the flat columns unpenalised
    A = np.column_stack([Phi[:, active], flat])
    penalty = np.append(result.alpha[inside], np.zeros(flat.shape[1])) * result.noise_variance
    W = np.linalg.solve(A.T @ (counts[:, None] * A) + np.diag(penalty), A.T @ (counts[:, None] * Y))
    mean, std = result.predict(Phi, return_std=True)
    np.testing.assert_allclose(mean.reshape(Y.shape), A @ W, rtol=1e-6, atol=1e-7)
    Sigma = np.linalg.inv(
        (A.T @ (counts[:, None] * A)) / result.noise_variance + np.diag(penalty) / result.noise_variance
    )
    expected = np.sqrt(np.einsum("ni,ij,nj->n", A, Sigma, A) + result.noise_variance)
    np.testing.assert_allclose(std.reshape(Y.shape), expected[:, None] * scales, rtol=1e-6)
    if unpenalised is not None:
        np.testing.assert_allclose(result.gamma[~inside], 1.0)
        assert set(result.active[~inside]) == set(unpenalised)


@pytest.mark.parametrize("seed", range(3))
def test_noise_of_each_output_is_where_the_evidence_is_highest(seed):
    Phi, Y, counts = data(seed)
    result = fit(Phi, Y, fit_intercept=True, sample_weight=counts)
    flat = np.ones((len(Y), 1))

    def at(step):
        scales = result.output_scales * np.exp(step)
        return brute(Phi[:, result.active], Y, result.alpha, result.noise_variance * scales**2, scales, flat, counts)

    best = at(np.zeros(3))
    for t in range(3):
        for h in (-0.05, 0.05):
            assert at(h * (np.arange(3) == t)) < best + 1e-6


@pytest.mark.parametrize("shared", [True, False])
def test_identical_outputs_give_the_model_of_one_and_its_evidence_as_often(shared):
    Phi, Y, _ = data(4)
    one = fit(Phi, Y[:, 0], fit_intercept=True, prior="bic")
    many = fit(Phi, np.repeat(Y[:, :1], 5, axis=1), fit_intercept=True, prior="bic", shared_noise=shared)
    np.testing.assert_array_equal(many.active, one.active)
    np.testing.assert_allclose(many.alpha, one.alpha, rtol=1e-7)
    np.testing.assert_allclose(many.mean, np.repeat(one.mean[:, None], 5, axis=1), rtol=1e-9)
    np.testing.assert_allclose(many.covariance, one.covariance, rtol=1e-7)
    assert many.log_evidence == pytest.approx(5 * one.log_evidence, rel=1e-9)
    assert many.evidence_path[-1] == pytest.approx(5 * one.objective, rel=1e-9)


def test_the_units_of_an_output_do_not_matter_if_each_has_its_own_noise():
    Phi, Y, _ = data(5)
    factor = np.array([1.0, 1e-6, 1e5])
    first, second = fit(Phi, Y, fit_intercept=True), fit(Phi, Y * factor, fit_intercept=True)
    np.testing.assert_array_equal(first.active, second.active)
    np.testing.assert_allclose(second.mean, first.mean * factor, rtol=1e-6)
    np.testing.assert_allclose(second.noise_variances, first.noise_variances * factor**2, rtol=1e-6)


def test_more_outputs_than_rows_are_reduced_and_nothing_changes():
    rng = np.random.default_rng(6)
    Phi, Y, _ = data(6)
    mixed = Y @ rng.standard_normal((3, 70)) + 0.3 * rng.standard_normal((40, 70))
    many = fit(Phi, mixed, shared_noise=True, fit_intercept=True)
    assert many.mean.shape == (len(many.active), 70)
    scales = np.ones(70)
    expected = brute(
        Phi[:, many.active], mixed, many.alpha, many.noise_variance * scales, scales, np.ones((40, 1)), np.ones(40)
    )
    assert many.log_evidence == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("shared", [True, False])
def test_chunks_sparse_rows_and_memory_give_the_same_model(shared, groups):
    Phi, Y, counts = data(7)
    options = {"groups": groups, "unpenalised": [2], "shared_noise": shared, "fit_intercept": True}
    whole = fit(Phi, Y, sample_weight=counts, **options)
    cuts = [slice(0, 11), slice(11, 30), slice(30, 40)]
    for other in (
        fit([(Phi[c], Y[c], counts[c]) for c in cuts], **options),
        fit(scipy.sparse.csr_array(Phi), Y, sample_weight=counts, **options),
    ):
        np.testing.assert_array_equal(other.active, whole.active)
        np.testing.assert_allclose(other.mean, whole.mean, rtol=1e-6, atol=1e-9)
        assert other.log_evidence == pytest.approx(whole.log_evidence, rel=1e-9)


def test_known_noise_of_each_output_or_row():
    Phi, Y, _ = data(8)
    known = np.array([0.5, 0.2, 2.0])
    result = fit(Phi, Y, noise_variance=known, fit_intercept=True)
    np.testing.assert_allclose(result.noise_variances, known)
    rows = np.linspace(0.5, 2.0, 40)
    by_row = fit(Phi, Y, likelihood=Gaussian(variance=rows), shared_noise=True, fit_intercept=True)
    P = scipy.linalg.null_space(np.ones((1, 40)))
    total = 0.0
    for y in Y.T:
        C = np.diag(rows) + (Phi[:, by_row.active] / by_row.alpha) @ Phi[:, by_row.active].T
        K, z = P.T @ C @ P, P.T @ y
        total -= 0.5 * (39 * np.log(2 * np.pi) + np.linalg.slogdet(K)[1] + z @ np.linalg.solve(K, z) + np.log(40))
    assert by_row.log_evidence == pytest.approx(total, rel=1e-9)


def test_separate_models_are_those_of_single_outputs():
    Phi, Y, _ = data(9)
    separate = fit(Phi, Y, joint=False, fit_intercept=True)
    assert isinstance(separate, SeparateResults)
    for t in range(3):
        one = fit(Phi, Y[:, t], fit_intercept=True)
        np.testing.assert_array_equal(separate.results[t].active, one.active)
        np.testing.assert_allclose(separate.predict(Phi)[:, t], one.predict(Phi), rtol=1e-12)
    assert separate.log_evidence == pytest.approx(sum(each.log_evidence for each in separate.results))
    assert separate.mean.shape == (len(separate.active), 3)


def test_a_group_of_one_column_is_no_group():
    Phi, Y, _ = data(10)
    plain, grouped = fit(Phi, Y[:, 0]), fit(Phi, Y[:, 0], groups=[f"column {k}" for k in range(15)])
    np.testing.assert_array_equal(plain.active, grouped.active)
    np.testing.assert_allclose(plain.alpha, grouped.alpha, rtol=1e-9)


def test_a_group_is_kept_or_left_out_as_a_whole():
    Phi, Y, _ = data(11)
    active = set(fit(Phi, Y[:, 0], groups=GROUPS, prior="bic").active.tolist())
    for label in np.unique(GROUPS):
        members = set(np.flatnonzero(GROUPS == label).tolist())
        assert members <= active or not members & active
    assert {3, 4, 5} <= active


@pytest.mark.parametrize("options", [{}, {"shared_noise": True}, {"groups": GROUPS}, {"unpenalised": [0, 7]}])
def test_the_array_standard_suffices(options):
    Phi, Y, counts = data(15)
    plain = fit(Phi, Y, sample_weight=counts, fit_intercept=True, prior="bic", **options)
    arrays = (array_api_strict.asarray(each) for each in (Phi, Y))
    strict = fit(*arrays, sample_weight=counts, fit_intercept=True, prior="bic", **options)
    np.testing.assert_array_equal(strict.active, plain.active)
    assert strict.log_evidence == pytest.approx(plain.log_evidence, rel=1e-9)


@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_one_output_among_constants_has_its_own_model(prior):
    Phi, Y, _ = data(16)
    alone = fit(Phi, Y[:, 1], fit_intercept=True, prior=prior)
    Y[:, [0, 2]] = [1.0, -3.0]
    with pytest.warns(UserWarning, match="constant in output"):
        result = fit(Phi, Y, fit_intercept=True, prior=prior)
    np.testing.assert_array_equal(result.active, alone.active)
    np.testing.assert_allclose(result.mean[:, 1], alone.mean, rtol=1e-9)
    assert result.noise_variances[1] == pytest.approx(alone.noise_variance, rel=1e-9)


def test_constant_outputs_are_their_constants():
    Phi, Y, _ = data(12)
    Y[:, 1] = 4.0
    with pytest.warns(UserWarning, match="constant in output"):
        result = fit(Phi, Y, fit_intercept=True)
    assert isinstance(result, JointResult)
    np.testing.assert_allclose(result.predict(Phi)[:, 1], 4.0)
    assert result.noise_variances[1] == 0
    with pytest.warns(UserWarning, match="constant in output"):
        none = fit(Phi, np.ones((40, 2)) * [1.0, 2.0], fit_intercept=True)
    np.testing.assert_allclose(none.predict(Phi), np.ones((40, 2)) * [1.0, 2.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [0, 1]}, "groups must have one label for each of 15 columns"),
        ({"unpenalised": [15]}, "unpenalised has column numbers outside"),
        ({"unpenalised": np.arange(15)}, "unpenalised names all 15 columns"),
        ({"unpenalised": [0.5]}, "unpenalised must be a list of column numbers"),
        ({"noise_variance": [1.0, 2.0]}, "one for each of 3 outputs"),
        ({"likelihood": "generalized-normal"}, "needs Gaussian noise"),
    ],
)
def test_bad_arguments_get_one_sentence(options, message):
    Phi, Y, _ = data(13)
    with pytest.raises(ValueError, match=message):
        fit(Phi, Y, **options)


def test_unpenalised_columns_that_depend_on_each_other_are_refused():
    Phi, Y, _ = data(14)
    Phi[:, 1] = Phi[:, 0] + Phi[:, 2]
    with pytest.raises(ValueError, match="depend on each other"):
        fit(Phi, Y[:, 0], unpenalised=[0, 1, 2])
