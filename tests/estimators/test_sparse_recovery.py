"""SparseRecovery: real and complex dictionaries of every form, snapshots, groups, refinement."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sparsebayes import Inclusion, SparseBayesRegressor, SparseRecovery, fit

N, M = 40, 80
SUPPORT = np.array([7, 30, 61])


def data(seed, kind="complex", T=1, sigma=0.1):
    rng = np.random.default_rng(seed)

    def normal(*shape):
        real = rng.standard_normal(shape)
        return real if kind == "real" else (real + 1j * rng.standard_normal(shape)) / np.sqrt(2)

    Phi, W = normal(N, M), np.zeros((M, T), dtype=float if kind == "real" else complex)
    amplitude = normal(3, T)
    W[SUPPORT] = amplitude / np.abs(amplitude) * rng.uniform(1, 2, (3, T))
    Y = Phi @ W + sigma * normal(N, T)
    return (Phi, Y, W) if T > 1 else (Phi, Y[:, 0], W[:, 0])


every_kind = pytest.mark.parametrize("kind", ["real", "complex"])


@every_kind
@pytest.mark.parametrize("T", [1, 5, 60])
@pytest.mark.parametrize("seed", range(3))
def test_the_atoms_are_recovered_with_error_bars(kind, T, seed):
    Phi, Y, W = data(seed, kind, T)
    model = SparseRecovery(effort="fast").fit(Phi, Y)
    assert set(SUPPORT) <= set(model.support_)
    assert len(model.support_) <= 4  # one that noise alone brings in
    assert model.coef_.shape == model.coef_std_.shape == ((M,) if T == 1 else (T, M))
    assert np.iscomplexobj(model.coef_) == (kind == "complex")
    error = np.abs(model.coef_ - W.T)[..., SUPPORT] / model.coef_std_[..., SUPPORT]
    assert np.sqrt(np.mean(error**2)) < 2.5
    assert model.noise_variance_ == pytest.approx(0.01, rel=0.5 if T == 1 else 0.3)
    assert model.converged_
    assert model.certificate_.is_local_maximum
    mean, std = model.predict(return_std=True)
    np.testing.assert_allclose(mean, Phi @ model.coef_.T, rtol=1e-9, atol=1e-9)
    assert mean.shape == std.shape == Y.shape
    assert (std > np.sqrt(model.noise_variance_)).all()
    np.testing.assert_allclose(model.predict(Phi[:5]), mean[:5])
    np.testing.assert_allclose(model.predict(Phi[:5], return_std=True)[1], std[:5])


def forms(Phi):
    return {
        "sparse": scipy.sparse.csc_array(Phi),
        "linear operator": aslinearoperator(Phi),
        "vectors": LinearOperator(
            Phi.shape, matvec=lambda x: Phi @ x, rmatvec=lambda x: Phi.conj().T @ x, dtype=Phi.dtype
        ),
        "list": Phi.tolist(),
    }


@every_kind
@pytest.mark.parametrize("T", [1, 3])
@pytest.mark.parametrize("form", forms(np.ones((1, 1))))
def test_every_form_of_a_dictionary_gives_the_same(form, T, kind):
    Phi, Y, _ = data(3, kind, T)
    one, other = (SparseRecovery(effort="fast").fit(each, Y) for each in (Phi, forms(Phi)[form]))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    assert one.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-8)
    np.testing.assert_allclose(other.predict(forms(Phi[:4])[form]), one.predict(Phi[:4]), atol=1e-6)


@every_kind
def test_pylops(kind):
    pylops = pytest.importorskip("pylops", reason="PyLops is not installed: the extra 'operators' has it")
    Phi, y, _ = data(4, kind)
    operator = pylops.MatrixMult(Phi, dtype=Phi.dtype)
    one, other = (SparseRecovery(effort="fast").fit(each, y) for each in (Phi, operator))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(other.predict(operator), one.predict(), atol=1e-6)


def test_a_fast_transform_of_pylops():
    pylops = pytest.importorskip("pylops", reason="PyLops is not installed: the extra 'operators' has it")
    rng = np.random.default_rng(0)
    transform = pylops.signalprocessing.FFT(128, dtype="complex128").H
    kept = pylops.Restriction(128, np.sort(rng.choice(128, 60, replace=False)), dtype="complex128")
    w = np.zeros(128, dtype=complex)
    w[[5, 70]] = 8.0, 6j
    y = kept @ (transform @ w)
    y = y + 0.05 * (rng.standard_normal(60) + 1j * rng.standard_normal(60))
    model = SparseRecovery(effort="fast").fit(kept @ transform, y)
    np.testing.assert_array_equal(model.support_, [5, 70])
    np.testing.assert_allclose(model.predict(transform), transform @ model.coef_, atol=1e-8)


@every_kind
def test_snapshots_with_a_model_each(kind):
    Phi, Y, _ = data(5, kind, 3)
    Y[:, 2] -= Phi[:, SUPPORT[0]] * np.linalg.lstsq(Phi[:, SUPPORT], Y[:, 2], rcond=None)[0][0]
    model = SparseRecovery(joint=False, prior="ric", effort="fast").fit(Phi, Y)
    mean, std = model.predict(return_std=True)
    for t in range(3):
        single = SparseRecovery(prior="ric", effort="fast").fit(Phi, Y[:, t])
        np.testing.assert_allclose(model.coef_[t], single.coef_)
        np.testing.assert_allclose(model.coef_std_[t], single.coef_std_)
        np.testing.assert_allclose(mean[:, t], single.predict())
        np.testing.assert_allclose(std[:, t], single.predict(return_std=True)[1])
        assert model.noise_variance_[t] == pytest.approx(single.noise_variance_)
    assert model.alpha_.shape == (3, len(model.support_))
    assert np.isinf(model.alpha_).any()
    assert len(model.certificate_) == 3
    assert "certified local maximum" in repr(model)


def test_noise_of_each_snapshot():
    Phi, Y, _ = data(6, "complex", 4)
    Y[:, 0] += 1.0 * (np.random.default_rng(0).standard_normal(N) + 1j * np.random.default_rng(1).standard_normal(N))
    model = SparseRecovery(shared_noise=False, effort="fast").fit(Phi, Y)
    assert model.noise_variance_.shape == (4,)
    assert model.noise_variance_[0] > 20 * model.noise_variance_[1:].max()
    given = SparseRecovery(effort="fast", noise_variance=[2.0, 0.01, 0.01, 0.01]).fit(Phi, Y)
    np.testing.assert_allclose(given.noise_variance_, [2.0, 0.01, 0.01, 0.01])


@every_kind
def test_options_are_those_of_fit(kind):
    Phi, Y, _ = data(7, kind, 2)
    groups = np.arange(M) // 2
    for options in (
        {"noise_variance": 0.02},
        {"max_vectors": 2},
        {"groups": groups},
        {"fit_intercept": True},
        {"prior": "bic"},
        {"solver": "greedy"},
    ):
        candidates = M // 2 if "groups" in options else M
        options = options if "solver" in options else {"effort": "fast"} | options
        result = fit(Phi, Y, **{"prior": Inclusion(np.log(candidates)), "shared_noise": True} | options)
        model = SparseRecovery(**options).fit(Phi, Y)
        np.testing.assert_array_equal(model.support_, result.active)
        np.testing.assert_allclose(model.coef_[:, model.support_], result.mean.T)
        np.testing.assert_allclose(model.predict(Phi), result.predict(Phi))
        np.testing.assert_allclose(model.intercept_, result.intercept)


def test_one_real_snapshot_is_the_model_of_sparse_bayes_regressor():
    Phi, y, _ = data(8, "real")
    model, other = SparseRecovery().fit(Phi, y), SparseBayesRegressor(fit_intercept=False).fit(Phi, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-12)


@pytest.mark.parametrize("T", [1, 10])
def test_noise_alone_selects_almost_nothing(T):
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        Phi, Y = (rng.standard_normal((N, k)) + 1j * rng.standard_normal((N, k)) for k in (M, T))
        found.append(len(SparseRecovery(effort="fast").fit(Phi, Y if T > 1 else Y[:, 0]).support_))
    assert np.mean(found) <= 2.0


def test_conventions_of_scikit_learn():
    Phi, Y, _ = data(9, "complex", 2)
    model = SparseRecovery(prior="bic", effort="fast")
    assert model.get_params()["effort"] == "fast"
    assert repr(model) == "SparseRecovery(effort='fast', prior='bic')"
    with pytest.raises(NotFittedError):
        model.predict()
    assert model.fit(Phi, Y) is model
    assert not hasattr(clone(model), "coef_")
    size, std = len(model.support_), model.noise_variance_**0.5
    line = f"fitted: {size} of {M} atoms, 2 outputs, log evidence {model.log_evidence_:.2f}, noise std {std:.3g}"
    assert repr(model).endswith(f"  # {line}, certified local maximum")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(), model.predict())
    assert repr(again) == repr(model)
    before = model.coef_
    with pytest.raises(ValueError, match=r"^y must have one row"):
        model.fit(Phi, Y[:5])
    assert model.coef_ is before


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({"prior": "gauss"}, {}, "prior must be one of"),
        ({"noise_variance": -1.0}, {}, "noise_variance must be a finite number > 0"),
        ({"groups": [0, 1]}, {}, "groups must have one label for each of 80 columns"),
        ({"max_vectors": 0}, {}, "max_vectors must be"),
        ({}, {"Phi": np.ones(3)}, "Phi must be a matrix or a linear operator"),
        ({}, {"y": np.full(N, np.nan)}, "y contains (NaN|infinity)"),
        ({}, {"y": np.ones((N, 2, 2)) * 1j}, "y must have one row per row of Phi"),
    ],
)
def test_errors_are_one_sentence(options, change, message):
    Phi, y, _ = data(10)
    given = {"Phi": Phi, "y": y} | change
    with pytest.raises(ValueError, match=f"^{message}"):
        SparseRecovery(**options).fit(**given)


def test_another_dictionary_must_have_the_same_atoms():
    Phi, y, _ = data(11)
    model = SparseRecovery().fit(Phi, y)
    with pytest.raises(ValueError, match=r"^Phi must have 80 columns, got shape"):
        model.predict(Phi[:, :5])


def waves(f):
    return np.exp(2j * np.pi * np.outer(np.arange(32), f))


FREQUENCIES = np.linspace(-0.5, 0.5, 64, endpoint=False)


@pytest.mark.parametrize("T", [1, 6])
@pytest.mark.parametrize("seed", range(4))
def test_frequencies_off_the_grid(T, seed):
    rng = np.random.default_rng(seed)
    truth = np.sort(np.array([-0.3, 0.11, 0.2]) + rng.uniform(-0.007, 0.007, 3))
    amplitude = np.exp(2j * np.pi * rng.random((3, T)))
    noise = rng.standard_normal((32, T)) + 1j * rng.standard_normal((32, T))
    Y = waves(truth) @ amplitude + 0.1 * noise
    y = Y if T > 1 else Y[:, 0]
    model = SparseRecovery(effort="fast").fit(waves(FREQUENCIES), y)
    before = model.coef_.copy()
    found = model.refine(waves, FREQUENCIES)
    assert found.converged
    assert len(found.parameters) == 3
    assert (np.abs(found.parameters - truth) < 5 * found.parameter_std).all()
    assert (found.parameter_std < 1e-3).all()
    assert found.log_evidence > model.log_evidence_
    assert found.noise_variance == pytest.approx(0.02, rel=0.6)
    assert found.coef.shape == ((3,) if T == 1 else (T, 3))
    np.testing.assert_allclose(found.coef.T.reshape(3, T), amplitude, atol=6 * found.coef_std.max())
    np.testing.assert_allclose(found.predict(), (waves(found.parameters) @ found.coef.T))
    np.testing.assert_array_equal(model.coef_, before)


def test_refinement_says_what_it_needs():
    rng = np.random.default_rng(0)
    y = waves([0.1])[:, 0] + 0.1 * rng.standard_normal(32)
    Phi = waves(FREQUENCIES)
    model = SparseRecovery(effort="fast").fit(Phi, y)
    for atoms, grid, message in (
        (waves, FREQUENCIES[::-1], "grid must have at least two finite numbers in ascending order"),
        (waves, FREQUENCIES[1:], "grid must have one value for each of 64 atoms"),
        (lambda f: 2 * waves(f), FREQUENCIES, "atoms.grid. must have the columns of Phi"),
        (None, FREQUENCIES, "atoms must be a function"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            model.refine(atoms, grid)
    with pytest.raises(ValueError, match=r"^penalty must be a number >= 0"):
        model.refine(waves, FREQUENCIES, penalty=-1)
    with pytest.raises(ValueError, match=r"^refine needs joint=True"):
        SparseRecovery(fit_intercept=True, effort="fast").fit(Phi, y).refine(waves, FREQUENCIES)
