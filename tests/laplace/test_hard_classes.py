"""Data that classifiers stumble over: finite numbers from a fit that ended, or one clear sentence."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import Bernoulli, Gamma, Laplace, Multinomial, Smoothness, fit
from sparsebayes.laplace import log_probabilities

two_and_three = pytest.mark.parametrize("K", [2, 3])
centred = pytest.mark.parametrize("center", [False, True])


def _blobs(K, apart=2.0, seed=0, N=40):
    """Points around K centres, `apart` standard deviations from each other more or less."""
    labels = np.arange(N) % K
    centres = apart * np.random.default_rng(99).standard_normal((K, 2))
    return np.random.default_rng(seed).standard_normal((N, 2)) + centres[labels], labels


def _kernel(X, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


def fit_classes(Phi, labels, fit_intercept=True, **arguments):
    """A fit under the likelihood that suits the number of classes."""
    likelihood = Bernoulli() if len({*np.ravel(np.asarray(labels, dtype=object)).tolist()}) <= 2 else Multinomial()
    return fit(Phi, labels, likelihood=likelihood, fit_intercept=fit_intercept, **arguments)


def probabilities(result, columns, moderated=True):
    """Probabilities of the classes from the functions of the weights."""
    return np.exp(log_probabilities(result, columns, moderated))


def _usable(Phi, labels, certified=True, **arguments):
    """A fit that ended, with finite numbers, probabilities that are some, and a path that never fell.

    certified : whether it must have converged; None if it may, or say that it has not.
    """
    if certified is None:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = fit_classes(Phi, labels, **arguments)
        assert result.converged == (not said)
        assert all("not certified as a maximum" in str(each.message) for each in said)
    else:
        result = fit_classes(Phi, labels, **arguments)
        assert result.converged == certified
    numbers = [result.mean, result.covariance, result.alpha, result.intercept, result.centre]
    numbers += [result.intercept_covariance, result.log_evidence, result.objective, result.evidence_path]
    for each in numbers:
        assert np.isfinite(each).all()
    dense = Phi.toarray() if scipy.sparse.issparse(Phi) else np.asarray(Phi, dtype=float)
    for moderated in (False, True):
        p = probabilities(result, dense[:, result.active], moderated)
        assert p.shape == (len(labels), len(result.classes))
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    path = result.evidence_path
    assert (np.diff(path) > -1e-8 * (1 + np.abs(path).max())).all()
    return result


@pytest.mark.parametrize("solver", ["active-set", "sequential", "mackay", "em"])
@two_and_three
@centred
def test_separable_classes(solver, K, center):
    X, labels = _blobs(K, apart=30.0)
    for Phi in (X, _kernel(X)):
        result = _usable(Phi, labels, solver=solver, fit_intercept=center)
        if center:
            chosen = np.argmax(probabilities(result, Phi[:, result.active]), axis=1)
            np.testing.assert_array_equal(chosen, labels)


@centred
def test_a_column_that_is_the_label(center):
    labels = np.arange(60) % 3
    _usable(np.eye(3)[labels], labels, fit_intercept=center)
    _usable((labels[:, None] == 1) * 1.0, labels == 1, fit_intercept=center)
    line = np.linspace(-1, 1, 50)[:, None]
    _usable(line, line[:, 0] > 0, fit_intercept=center)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # a broad prior keeps most functions
@two_and_three
@centred
@pytest.mark.parametrize("prior", [Laplace(1e3), Gamma(1.0, 1e-3), Smoothness(0.3), "ric", Laplace(1e-2)], ids=repr)
def test_separable_classes_under_priors_broad_and_narrow(K, center, prior):
    X, labels = _blobs(K, apart=30.0, seed=4, N=60)
    # under the Gamma the best α with the curvature held fixed jumps with f between two modes: then it is where the
    # Laplace evidence itself is highest
    _usable(_kernel(X), labels, prior=prior, fit_intercept=center)


@two_and_three
@centred
@pytest.mark.parametrize("signal", [0.0, 3.0])
def test_many_more_functions_than_rows(K, center, signal):
    Phi, labels = np.random.default_rng(0).standard_normal((30, 300)), np.arange(30) % K
    Phi[:, 7] += signal * labels
    _usable(Phi, labels, fit_intercept=center)


@two_and_three
@centred
def test_one_row_of_a_class(K, center):
    Phi = np.random.default_rng(1).standard_normal((30, 10))
    labels = np.zeros(30, dtype=int)
    labels[: K - 1] = np.arange(1, K)
    _usable(Phi, labels, fit_intercept=center)


def test_a_thousand_to_one():
    Phi = np.random.default_rng(2).standard_normal((1001, 4))
    result = _usable(Phi, np.arange(1001) == 0)
    p = probabilities(result, Phi[:, result.active], moderated=False)
    assert p[:, 1].sum() == pytest.approx(1, rel=1e-5)  # at the mode the intercept makes the shares right


@two_and_three
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-150, 1e-20, 1e20, 1e150, 1e200, 1e300])
def test_columns_of_any_size_or_a_sentence(K, size):
    X, labels = _blobs(K)
    plain = _usable(X, labels)
    try:
        scaled = _usable(size * X, labels)
    except ValueError as error:
        assert "Phi" in str(error)  # noqa: PT017
        assert not 1e-150 <= size <= 1e150
        return
    np.testing.assert_allclose(
        probabilities(scaled, size * X[:, scaled.active]), probabilities(plain, X[:, plain.active]), atol=1e-6
    )


@two_and_three
def test_columns_of_different_sizes_and_far_from_zero(K):
    X, labels = _blobs(K)
    plain = _usable(X, labels)
    mixed = _usable(np.column_stack([X * 1e150, X[:, :1] * 1e-150, 1e6 + 1e-3 * X]), labels)
    assert mixed.log_evidence == pytest.approx(plain.log_evidence, rel=1e-5)
    for shift in (1e3, 1e6):
        moved = _usable(X + shift, labels)
        assert moved.log_evidence == pytest.approx(plain.log_evidence, rel=1e-6)


@two_and_three
@centred
def test_constant_columns(K, center):
    X, labels = _blobs(K)
    padded = np.column_stack([np.ones(40), X, np.zeros(40), np.full(40, 7.0)])
    result = _usable(padded, labels, fit_intercept=center)
    assert 3 not in result.active
    if center:
        assert set(result.active) <= {1, 2}
        with pytest.raises(ValueError, match="no usable column"):
            fit_classes(np.ones((40, 2)), labels)
    else:
        _usable(np.ones((40, 2)), labels, fit_intercept=False)


@two_and_three
@centred
@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4])
def test_collinear_columns(K, center, gap):
    X, labels = _blobs(K)
    rng = np.random.default_rng(3)
    Phi = np.column_stack([X, X + gap * rng.standard_normal(X.shape), X @ rng.standard_normal((2, 4))])
    result = _usable(Phi, labels, fit_intercept=center)
    assert np.abs(result.mean).max() < 1e4


@centred
def test_few_rows(center):
    rng = np.random.default_rng(4)
    _usable(np.array([[0.0], [1.0]]), [0, 1], fit_intercept=center)
    for K in (2, 3, 8):
        _usable(rng.standard_normal((K, 4)), np.arange(K), fit_intercept=center)
        _usable(np.eye(K), np.arange(K), fit_intercept=center)
    _usable(np.array([[1.0], [1.0], [0.0]]), [0, 1, 1], fit_intercept=center)


def test_rows_that_contradict_each_other():
    X, _ = _blobs(2, N=20)
    result = _usable(np.repeat(X, 2, axis=0), np.tile([0, 1], 20))
    np.testing.assert_allclose(probabilities(result, np.repeat(X, 2, axis=0)[:, result.active]), 0.5, atol=1e-3)


@pytest.mark.slow
@two_and_three
@pytest.mark.parametrize("kind", ["fractions", "one tiny", "zeros", "hundred", "million"])
def test_weights_of_any_size(K, kind):
    X, labels = _blobs(K, seed=3)
    weights = {
        "fractions": np.random.default_rng(5).random(40),
        "one tiny": np.where(np.arange(40) == 3, 1e-9, 1.0),
        "zeros": (np.arange(40) % 5 > 0) * 1.0,
        "hundred": np.full(40, 1e2),
        "million": np.full(40, 1e6),
    }[kind]
    _usable(X, labels, sample_weight=weights)
    if (kind, K) != ("million", 3):
        _usable(_kernel(X), labels, sample_weight=weights)
        return
    # every row a million times: where rounding hides the mode of weights this large, the fit says so
    result = _usable(_kernel(X), labels, certified=None, sample_weight=weights)
    assert result.log_evidence > -20


@two_and_three
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8, 1e-10])
def test_any_tolerance(K, tol):
    X, labels = _blobs(K)
    loose, tight = _usable(_kernel(X), labels, tol=tol), _usable(_kernel(X), labels)
    assert loose.log_evidence == pytest.approx(tight.log_evidence, abs=max(1e-3, 10 * tol))


@two_and_three
def test_running_out_of_iterations_and_being_stopped(K):
    X, labels = _blobs(K)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        short = fit_classes(_kernel(X), labels, max_iter=1)
    assert not short.converged
    assert len(short.evidence_path) - 1 == short.n_iter == 1
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # stopping on request is no failure to converge
        stopped = fit_classes(_kernel(X), labels, callback=lambda progress: seen.append(progress) or True)
    assert not stopped.converged
    assert len(seen) == 1
    for result in (short, stopped):
        assert np.isfinite(result.mean).all()
        assert np.isfinite(result.log_evidence)
    seen.clear()
    whole = fit_classes(_kernel(X), labels, callback=seen.append)
    assert whole.converged
    # models within a round are shown before the one that ends it
    numbers = [each.iteration for each in seen]
    assert numbers == sorted(numbers)
    ends = {each.iteration: each for each in seen if each.objective in whole.evidence_path}
    ends.pop(whole.n_iter + 1, None)  # an addition tried at the end, and deleted again
    assert list(ends) == list(range(1, whole.n_iter + 1))
    np.testing.assert_allclose([each.objective for each in ends.values()], whole.evidence_path[:-1])
    assert len(seen) > whole.n_iter


@two_and_three
def test_sparse_columns(K):
    rng = np.random.default_rng(6)
    dense = np.where(rng.random((40, 60)) < 0.1, rng.standard_normal((40, 60)), 0.0)
    labels = np.arange(40) % K
    a, b = _usable(dense, labels), _usable(scipy.sparse.csr_array(dense), labels)
    assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-8)
    np.testing.assert_array_equal(a.active, b.active)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Phi": np.full((6, 2), np.nan)}, "Phi contains NaN"),
        ({"Phi": np.ones(6)}, "Phi must be a matrix"),
        ({"y": [0, 1, 0]}, "y must"),
        ({"y": [1] * 6}, "y must have at least two classes, got 1 class"),
        ({"y": np.ones((6, 2))}, "y must be a vector"),
        ({"y": [0, 1, np.nan, 1, 0, 1]}, "y contains NaN|y must"),
        ({"y": np.array(["a", 1, None, "b", 2, 3], dtype=object)}, "y must"),
        ({"sample_weight": [-1, 1, 1, 1, 1, 1]}, "sample_weight must not be negative"),
        ({"sample_weight": [1, 0, 1, 0, 1, 0]}, "sample_weight leaves no row of class"),
        ({"sample_weight": [1, 1]}, "sample_weight must have one value per row"),
        ({"prior": "flat"}, "prior must be one of"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": 0}, "tol must be"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_the_argument(change, words):
    arguments = {"Phi": np.random.default_rng(0).standard_normal((6, 2)), "y": [0, 1] * 3} | change
    with pytest.raises(ValueError, match=words):
        fit_classes(arguments.pop("Phi"), arguments.pop("y"), **arguments)


@pytest.mark.parametrize("labels", [list("ababab"), [True, False] * 3, [-1, 7] * 3, [0.5, 1.5] * 3])
def test_any_labels_that_can_be_sorted(labels):
    result = _usable(np.random.default_rng(0).standard_normal((6, 2)), labels)
    np.testing.assert_array_equal(result.classes, np.unique(labels))


@pytest.mark.parametrize("gamma", [0.1, 0.02, 1e-3])
@pytest.mark.parametrize("seed", range(4))
def test_kernels_all_but_dependent_do_not_turn_rounding_into_evidence(gamma, seed):
    """Two entangled classes under a kernel wider than the data: no probability of data is above one."""
    rng = np.random.default_rng(seed)
    angle, labels = rng.uniform(0, np.pi, 200), np.arange(200) % 2
    sign = 1 - 2 * labels
    X = np.stack([np.cos(angle) * sign + labels, np.sin(angle) * sign], axis=1)
    X += 0.35 * rng.standard_normal(X.shape)
    result = _usable(_kernel(2 * X, gamma), labels, fit_intercept=False)
    assert result.log_evidence < 0
