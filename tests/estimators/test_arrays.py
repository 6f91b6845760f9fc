"""Estimators of columns with arrays of every library: the same model, in the kind and on the device of X."""

import numpy as np
import pytest
from sklearn.base import clone

import sparsebayes
from sparsebayes import (
    GeneralizedNormal,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
    denoise,
)
from sparsebayes._array import to_numpy, transfers

N, D = 90, 8


def _data(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    f = 2 * X[:, 2] - 1.5 * X[:, 5]
    return X, f + 0.3 * rng.standard_normal(n), f + rng.logistic(size=n)


def _targets(kind, seed=0):
    X, numbers, latent = _data(seed)
    outputs = np.stack([numbers, latent, numbers - latent], axis=1)
    return X, {
        "numbers": numbers,
        "two": (latent > 0).astype(np.int64),
        "three": np.digitize(latent, [-1.0, 1.0]),
        "outputs": outputs,
    }[kind]


CASES = {
    "regressor": (SparseBayesRegressor(), "numbers"),
    "no intercept": (SparseBayesRegressor(prior="bic", fit_intercept=False), "numbers"),
    "groups": (SparseBayesRegressor(groups=[0, 0, 1, 1, 2, 2, 3, 3]), "numbers"),
    "unpenalised": (SparseBayesRegressor(unpenalised=[0]), "numbers"),
    "outputs": (SparseBayesRegressor(), "outputs"),
    "separate outputs": (SparseBayesRegressor(joint=False), "outputs"),
    "shape of the noise": (SparseBayesRegressor(likelihood=GeneralizedNormal(4.0)), "numbers"),
    "two classes": (SparseBayesClassifier(), "two"),
    "three classes": (SparseBayesClassifier(class_weight="balanced", prior="bic"), "three"),
    "polished": (SparseBayesClassifier(polish=True), "two"),
}


@pytest.fixture
def counted(monkeypatch):
    """The numbers of elements of all arrays that are fetched from a device."""
    sizes, fetched = [], transfers.fetched

    def counting(x):
        found = fetched(x)
        sizes.append(found.size)
        return found

    monkeypatch.setattr(transfers, "fetched", counting)
    return sizes


def _arrays(model):
    """The attributes that are arrays, of any library."""
    return {name: value for name, value in vars(model).items() if name.endswith("_") and hasattr(value, "shape")}


def _skip_jax(backend):
    if backend.name == "jax":
        pytest.skip("JAX compiles every shape, and takes the way of the others")


def _predictions(model, X):
    names = ["predict", "predict_proba", "predict_log_proba", "decision_function"]
    found = {name: getattr(model, name)(X) for name in names if hasattr(model, name)}
    if isinstance(model, SparseBayesRegressor):
        found["std"] = model.predict(X, return_std=True)[1]
        found["cov"] = model.predict(X, return_cov=True)[1]
        found["lower"], found["upper"] = model.predict_interval(X, 0.9)
        found["samples"] = model.sample_y(X, 3, random_state=0)
    return found


def _assert_same(mine, other, tolerance=1e-5):
    np.testing.assert_allclose(to_numpy(mine), other, rtol=tolerance, atol=tolerance)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", CASES)
def test_the_same_model_in_the_kind_of_x(backend, name):
    if backend.name == "jax" and backend.device == "cpu" and name != "regressor":
        pytest.skip("JAX compiles every shape: one case is enough")
    model, kind = CASES[name]
    X, y = _targets(kind)
    plain = clone(model).fit(X, y)
    mine = clone(model).fit(backend.asarray(X), backend.asarray(y))
    assert mine.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
    assert _arrays(mine).keys() == _arrays(plain).keys()
    for attribute, value in _arrays(plain).items():
        assert backend.is_own(getattr(mine, attribute)), attribute
        if value.dtype.kind in "biuf" and attribute != "evidence_path_":
            _assert_same(getattr(mine, attribute), value)
    if hasattr(plain, "covariance_"):
        assert backend.is_own(mine.covariance_)
    queries = _data(1, 25)[0]
    theirs = _predictions(plain, queries)
    for method, value in _predictions(mine, backend.asarray(queries)).items():
        assert backend.is_own(value), method
        _assert_same(value, theirs[method])
    score = mine.score(backend.asarray(X), backend.asarray(y))
    assert isinstance(score, float)
    assert score == pytest.approx(plain.score(X, y), rel=1e-6)


@pytest.mark.parametrize("kind", ["numbers", "two"])
def test_nothing_in_proportion_to_the_rows_leaves_the_device(backend, counted, dispatch, kind):
    if backend.name in ("numpy", "jax"):
        pytest.skip("NumPy is the host; the transfers of JAX are those of the others")
    n = 4000
    X, numbers, latent = _data(3, n)
    y = numbers if kind == "numbers" else (latent > 0).astype(np.int64)
    model = SparseBayesRegressor() if kind == "numbers" else SparseBayesClassifier()
    X, y = backend.asarray(X.astype(np.float32)), backend.asarray(y)
    counted.clear()
    model.fit(X, y)
    assert max(counted) < n / 4
    counted.clear()
    model.predict(X)
    assert max(counted, default=0) < n / 4


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("kind", ["numbers", "two"])
def test_float32_stays_float32_and_gives_the_model_of_its_float64_copy(backend, kind, monkeypatch):
    _skip_jax(backend)
    from sparsebayes.bases import single_operator

    monkeypatch.setattr(single_operator, "SMALLEST_BLOCK", 64)  # many blocks of rows
    X, y = _targets(kind)
    X = X.astype(np.float32)
    model = SparseBayesRegressor() if kind == "numbers" else SparseBayesClassifier()
    plain = clone(model).fit(X.astype(np.float64), y)
    mine = clone(model).fit(backend.asarray(X), backend.asarray(y))
    assert mine.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
    _assert_same(mine.coef_, plain.coef_)
    predicted = to_numpy(mine.predict(backend.asarray(X)))
    np.testing.assert_allclose(predicted, plain.predict(X), rtol=1e-5)


def test_without_dispatch_what_numpy_can_read_becomes_numpy(backend):
    X, y = _targets("numbers")
    model = SparseBayesRegressor().fit(backend.asarray(X), backend.asarray(y))
    silent = backend.is_read_by_numpy
    for value in (model.coef_, model.predict(backend.asarray(X))):
        assert isinstance(value, np.ndarray) if silent else backend.is_own(value)
    assert model.score(backend.asarray(X), backend.asarray(y)) > 0.9


class TestMixtures:
    @pytest.mark.usefixtures("dispatch")
    def test_everything_follows_x(self, backend):
        _skip_jax(backend)
        X, y = _targets("numbers")
        weights, noise = np.arange(N) % 3 + 0.0, np.full(N, 0.09)
        plain = SparseBayesRegressor().fit(X, y, weights, noise)
        for model in (
            SparseBayesRegressor().fit(backend.asarray(X), y, weights, noise),
            SparseBayesRegressor().fit(X, *map(backend.asarray, (y, weights, noise))),
            SparseBayesRegressor().fit(*map(backend.asarray, (X, y, weights, noise))),
        ):
            assert model.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)

    @pytest.mark.usefixtures("dispatch")
    def test_labels_may_be_text(self, backend):
        _skip_jax(backend)
        X, y = _targets("three")
        y = np.asarray(["low", "middle", "top"])[y]
        model = SparseBayesClassifier(prior="bic").fit(backend.asarray(X), y)
        plain = SparseBayesClassifier(prior="bic").fit(X, y)
        assert model.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
        np.testing.assert_array_equal(model.predict(backend.asarray(X)), plain.predict(X))

    @pytest.mark.parametrize("model", [SparseBayesRegressor(), SparseBayesClassifier()])
    def test_targets_on_another_device_need_dispatch(self, backend, model):
        X, y = _targets("two")
        if backend.is_read_by_numpy:
            pytest.skip("NumPy reads these")
        with pytest.raises(TypeError, match=r"^y is an array of .* but X is on the host: give both"):
            model.fit(X, backend.asarray(y))

    @pytest.mark.usefixtures("dispatch")
    def test_queries_of_another_kind_need_another_fit(self, backend):
        if backend.name == "numpy":
            pytest.skip("one kind")
        X, y = _targets("numbers")
        for one, other in ((np.asarray, backend.asarray), (backend.asarray, np.asarray)):
            model = SparseBayesRegressor().fit(one(X), one(y))
            with pytest.raises(ValueError, match=r"SparseBayesRegressor.predict\(\) must use the same namespace"):
                model.predict(other(X))

    def test_a_stored_model_is_on_the_host(self, backend, dispatch, tmp_path):
        X, y = _targets("numbers")
        model = SparseBayesRegressor().fit(backend.asarray(X), backend.asarray(y))
        sparsebayes.save(model, tmp_path / "model")
        np.testing.assert_allclose(
            sparsebayes.load(tmp_path / "model").predict(X), to_numpy(model.predict(backend.asarray(X)))
        )


class TestErrors:
    pytestmark = pytest.mark.usefixtures("dispatch")

    def test_values_that_are_not_finite(self, backend):
        X, y = _targets("numbers")
        X[7, 2] = np.nan
        with pytest.raises(ValueError, match=r"X contains (NaN|infinity) in row 7"):
            SparseBayesRegressor().fit(backend.asarray(X), backend.asarray(y))

    def test_lengths_and_labels(self, backend):
        X, y = _targets("numbers")
        with pytest.raises(ValueError, match="one value per row"):
            SparseBayesRegressor().fit(backend.asarray(X), backend.asarray(y[:-1]))
        with pytest.raises(ValueError, match="Unknown label type"):
            SparseBayesClassifier().fit(backend.asarray(X), backend.asarray(y))


@pytest.mark.usefixtures("dispatch")
def test_recovery_and_denoising_give_back_the_kind_of_their_input(backend):
    X, y = _targets("numbers")
    plain, mine = SparseRecovery().fit(X, y), SparseRecovery().fit(backend.asarray(X), backend.asarray(y))
    assert mine.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
    predicted = mine.predict(backend.asarray(X))
    assert backend.is_own(predicted)
    _assert_same(predicted, plain.predict(X))
    signal = np.sin(np.arange(128) / 5) + 0.1 * np.random.default_rng(0).standard_normal(128)
    found, expected = denoise(backend.asarray(signal), return_std=True), denoise(signal, return_std=True)
    for mine, theirs in zip(found, expected, strict=True):
        assert backend.is_own(mine)
        np.testing.assert_array_equal(to_numpy(mine), theirs)
