"""Rows in chunks, on disk and by `partial_fit` give the model of rows in memory."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sliced_rows import Dataset

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)

ATTRIBUTES = ("coef_", "active_coef_", "intercept_", "alpha_", "noise_variance_", "covariance_", "log_evidence_")


def _data(seed, n=240, d=25):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d))) + rng.normal(size=d)
    y = X[:, :4] @ [2.0, -1.0, 0.5, 1.0] + 0.3 * rng.standard_normal(n) + 3.0
    return X, y, rng.integers(0, 3, n).astype(float)


def _parts(n, size):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _chunks(X, y, weights, size):
    for part in _parts(len(y), size):
        yield (X[part], y[part]) if weights is None else (X[part], y[part], weights[part])


def _assert_same(a, b):
    np.testing.assert_array_equal(a.relevance_, b.relevance_)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-8, atol=1e-10, err_msg=name)
    assert a.n_features_in_ == b.n_features_in_
    X = np.random.default_rng(0).standard_normal((50, a.n_features_in_))
    for ours, theirs in zip(a.predict(X, return_std=True), b.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
    assert vars(a).keys() - {"statistics_"} == vars(b).keys() - {"statistics_"}


MODELS = {
    "plain": SparseBayesRegressor(),
    "no intercept": SparseBayesRegressor(fit_intercept=False, prior="bic"),
    "sequential": SparseBayesRegressor(solver="sequential", random_state=0, prior="ric"),
    "known noise": SparseBayesRegressor(noise_variance=0.1),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@each_model
@pytest.mark.parametrize("size", [1, 37, 240])
def test_fit_on_chunks(model, size):
    for seed, weighted in ((0, False), (1, True)):
        X, y, weights = _data(seed)
        weights = weights if weighted else None
        whole = clone(model).fit(X, y, sample_weight=weights)
        _assert_same(clone(model).fit(_chunks(X, y, weights, size)), whole)
        _assert_same(clone(model).fit(list(_chunks(X, y, weights, size))), whole)


@each_model
@pytest.mark.parametrize("size", [37, 119, 240])
def test_partial_fit(model, size):
    for seed, weighted in ((2, False), (3, True)):
        X, y, weights = _data(seed)
        streamed = clone(model)
        for part in _parts(240, size):
            streamed.partial_fit(X[part], y[part], sample_weight=weights[part] if weighted else None)
            so_far = slice(0, part.stop)  # current after every call
            whole = clone(model).fit(X[so_far], y[so_far], weights[so_far] if weighted else None)
            _assert_same(streamed, whole)


@pytest.mark.parametrize("memory", [0.02, 0.1])  # MiB: passes over the rows, statistics
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_fit_on_arrays_on_disk(tmp_path, dtype, memory):
    X, y, weights = _data(4)
    X = (10 * X).astype(dtype)
    whole = SparseBayesRegressor().fit(X, y, sample_weight=weights)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "X_by_columns.npy", np.asfortranarray(X))
    np.save(tmp_path / "y.npy", y)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("X", "X_by_columns", "y")]
    with sklearn.config_context(working_memory=memory):
        for design in (*mapped[:2], Dataset(X, most=150)):
            for target, counts in (
                (y, weights),
                (mapped[2], Dataset(weights)),
                (y.tolist(), weights.tolist()),
            ):
                model = SparseBayesRegressor().fit(design, target, sample_weight=counts)
                _assert_same(model, whole)
            for ours, theirs in zip(
                model.predict(design, return_std=True), whole.predict(X, return_std=True), strict=True
            ):
                np.testing.assert_allclose(ours, theirs, rtol=1e-8)
        _assert_same(SparseBayesRegressor().fit(mapped[0], y, sample_weight=2.0), SparseBayesRegressor().fit(X, y, 2.0))


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    X, y, weights = _data(18)
    whole = SparseBayesRegressor().fit(X, y, sample_weight=weights)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        for name, values in (("X", X), ("y", y), ("weights", weights)):
            file.create_dataset(name, data=values, chunks=True)
        for memory in (0.02, 0.1, 1024):
            with sklearn.config_context(working_memory=memory):
                model = SparseBayesRegressor().fit(file["X"], file["y"], sample_weight=file["weights"])
                np.testing.assert_allclose(model.predict(file["X"]), whole.predict(X), rtol=1e-8)
            _assert_same(model, whole)


def test_small_arrays_on_disk_give_the_very_same_model(tmp_path):
    X, y, _ = _data(5)
    whole = SparseBayesRegressor().fit(X, y)
    model = SparseBayesRegressor().fit(Dataset(X), Dataset(y), sample_weight=Dataset(np.ones(240)))
    assert model.log_evidence_ == whole.log_evidence_
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    np.testing.assert_array_equal(
        SparseBayesClassifier().fit(Dataset(X), Dataset(y > 3)).coef_,
        SparseBayesClassifier().fit(X, y > 3).coef_,
    )
    kernel = RelevanceVectorRegressor(gamma=0.01, prior="bic").fit(Dataset(X), y)
    np.testing.assert_array_equal(
        kernel.predict(Dataset(X)), RelevanceVectorRegressor(gamma=0.01, prior="bic").fit(X, y).predict(X)
    )


def test_partial_fit_on_an_array_on_disk():
    X, y, weights = _data(6)
    whole = SparseBayesRegressor().fit(X, y, sample_weight=weights)
    model = SparseBayesRegressor().partial_fit(X[:40], y[:40], sample_weight=weights[:40])
    with sklearn.config_context(working_memory=0.1):
        model.partial_fit(Dataset(X[40:], most=150), y[40:], sample_weight=weights[40:])
    _assert_same(model, whole)


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_array, pd.DataFrame])
def test_chunks_that_are_sparse_or_frames(container):
    X, y, weights = _data(7)
    X = np.where(np.abs(X) > 1, X, 0.0)
    whole = SparseBayesRegressor(noise_variance=0.1).fit(X, y, sample_weight=weights)
    chunks = [(container(X[part]), y[part], weights[part]) for part in _parts(240, 37)]
    _assert_same(clone(whole).fit(iter(chunks)), whole)
    model = clone(whole)
    for chunk in chunks:
        model.partial_fit(*chunk)
    _assert_same(model, whole)


def test_names_of_columns_come_from_the_first_chunk():
    X, y, _ = _data(8, d=4)
    names = ["a", "b", "c", "d"]
    frames = [(pd.DataFrame(X[part], columns=names), y[part]) for part in _parts(240, 60)]
    assert SparseBayesRegressor().fit(iter(frames)).feature_names_in_.tolist() == names
    model = SparseBayesRegressor().partial_fit(*frames[0])
    assert model.feature_names_in_.tolist() == names
    wrong = frames[1][0][["b", "a", "c", "d"]], frames[1][1]
    for fit in (
        lambda: SparseBayesRegressor().fit(iter([frames[0], wrong])),
        lambda: model.partial_fit(*wrong),
    ):
        with pytest.raises(ValueError, match="feature names"):
            fit()


def test_a_model_as_soon_as_rows_differ():
    X, y, _ = _data(9)
    model = SparseBayesRegressor(noise_variance=0.1)
    for rows, target in (
        (X[:1], y[:1]),  # a single row
        (X[:2], y[[0, 0]]),  # y does not vary
        (X[[0, 0]], y[:2]),  # X does not vary
    ):
        with pytest.raises(NotFittedError):
            clone(model).partial_fit(rows, target).predict(X)
    for n in range(4):
        model.partial_fit(X[n : n + 1], y[n : n + 1])
    _assert_same(model, clone(model).fit(X[:4], y[:4]))
    light = clone(model).partial_fit(X[:3], y[:3], sample_weight=[0.5, 0.5, 0.5])
    assert np.isfinite(light.predict(X)).all()  # weights that sum to less than 2 are relative
    weights = np.r_[0.5, 0.5, 0.5, np.ones(237)]
    _assert_same(light.partial_fit(X[3:], y[3:]), clone(model).fit(X, y, weights))


def test_fit_forgets_and_a_new_start_is_said():
    X, y, _ = _data(10)
    model = SparseBayesRegressor().partial_fit(X[:100], y[:100])
    _assert_same(model.fit(X[100:], y[100:]), SparseBayesRegressor().fit(X[100:], y[100:]))
    with pytest.warns(UserWarning, match=r"^partial_fit starts anew: fit keeps no statistics"):
        model.partial_fit(X[:150], y[:150])
    _assert_same(model.partial_fit(X[150:], y[150:]), SparseBayesRegressor().fit(X, y))
    model.fit(_chunks(X, y, None, 50))
    with pytest.warns(UserWarning, match=r"^partial_fit starts anew"):
        model.partial_fit(X[:1], y[:1])
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_parameters_may_change_between_calls():
    X, y, _ = _data(11)
    model = SparseBayesRegressor().partial_fit(X[:100], y[:100])
    model.set_params(prior="bic", fit_intercept=False).partial_fit(X[100:], y[100:])
    _assert_same(model, SparseBayesRegressor(prior="bic", fit_intercept=False).fit(X, y))


def test_rows_that_could_not_be_fitted_were_not_seen():
    X, y, _ = _data(12)
    model = SparseBayesRegressor().partial_fit(X[:100], y[:100])
    for bad in ({"prior": "bayes"}, {"max_iter": 0}):
        with pytest.raises(ValueError, match="must be"):
            model.set_params(**bad).partial_fit(X[100:], y[100:])
        model.set_params(prior="auto", max_iter=10000)
    with pytest.raises(ValueError, match="contains NaN"):
        model.partial_fit(np.full((3, 25), np.nan), y[:3])
    with pytest.raises(ValueError, match="X has 24 features, but SparseBayesRegressor is expecting 25"):
        model.partial_fit(X[:, 1:], y)
    _assert_same(model.partial_fit(X[100:], y[100:]), SparseBayesRegressor().fit(X, y))


def test_pickles_go_on_where_they_were():
    X, y, _ = _data(13)
    model = SparseBayesRegressor().partial_fit(X[:100], y[:100])
    restored = pickle.loads(pickle.dumps(model))
    _assert_same(restored.partial_fit(X[100:], y[100:]), SparseBayesRegressor().fit(X, y))
    assert len(pickle.dumps(model.fit(X, y))) < 60_000  # fit keeps no statistics
    assert not hasattr(clone(restored), "n_features_in_")


X12, Y12, _ = _data(14, n=12, d=4)
BAD_CHUNKS = {
    "features": (
        [(X12, Y12), (X12[:, 1:], Y12)],
        r"^X has 3 features, but SparseBayesRegressor is expecting 4",
    ),
    "NaN": (
        [(X12, Y12), (np.r_[X12[:5], X12[5:] * np.nan], Y12)],
        r"^X contains (NaN|infinity) in row 5, column 0; every value must .* \(in chunk 1, which starts at row 12\)\.$",
    ),
    "NaN in y": ([(X12, Y12), (X12, Y12 * np.nan)], r"^y contains (NaN|infinity) in row 0; .* \(in chunk 1, "),
    "length": (
        [(X12, Y12), (X12, Y12[:4])],
        r"^y must have one value per row of X: X has 12 rows, but y has shape \(4,\) \(in chunk 1, which starts",
    ),
    "no y": ([(X12, None)], r"requires y to be passed, but the target y is None \(in chunk 0, "),
    "weights": ([(X12, Y12, -np.ones(12))], r"^sample_weight must not be negative, got -1 \(in chunk 0, "),
    "zero weights": ([(X12, Y12, np.zeros(12))], r"^X has 0 sample\(s\) of positive weight, but at least 2"),
    "nothing": (
        [],
        r"^X has 0 sample\(s\) of positive weight.* An iterator that was read before is empty\.$",
    ),
    "one row": ([(X12[:1], Y12[:1])], r"^X has 1 sample\(s\) of positive weight"),
    "no rows": ([(X12[:0], Y12[:0])], r"^X has 0 sample\(s\) of positive weight"),
    "y without rows": ([(X12[:0], Y12)], r"^X has 0 sample\(s\) and 4 feature\(s\)"),
    "no chunks": ([X12], r"^a chunk must be \(X, y\) or \(X, y, sample_weight\), got ndarray \(in chunk 0, "),
    "constant X": ([(np.ones((12, 4)), Y12)], r"^X has no usable column"),
}


@pytest.mark.parametrize("case", BAD_CHUNKS)
def test_bad_chunks(case):
    chunks, message = BAD_CHUNKS[case]
    with pytest.raises(ValueError, match=message):
        SparseBayesRegressor().fit(iter(chunks))


def test_chunks_without_rows_are_skipped():
    X, y, weights = _data(15)
    nothing, lists = (X[:0], y[:0], weights[:0]), ([], [], [])
    chunks = [
        nothing,
        lists,
        (X[:50], y[:50], weights[:50]),
        nothing,
        (X[50:], y[50:], weights[50:]),
        nothing,
    ]
    _assert_same(SparseBayesRegressor().fit(iter(chunks)), SparseBayesRegressor().fit(X, y, weights))
    with pytest.raises(ValueError, match=r"^X has 0 sample\(s\) and 25 feature\(s\)"):
        SparseBayesRegressor().partial_fit(*nothing)


BAD_ON_DISK = {
    "NaN": (
        X12 * np.nan,
        Y12,
        None,
        r"^X contains (NaN|infinity) in row 0, column 0; every value must be finite.* \(in chunk 0, ",
    ),
    "NaN in y": (X12, Y12 * np.nan, None, r"^y contains (NaN|infinity)"),
    "no y": (X12, None, None, r"requires y to be passed, but the target y is None\.$"),
    "length": (X12, Y12[:4], None, r"^y must have one value per row of X: X has 12 rows, but y has shape \(4,\)\.$"),
    "three dimensions of y": (X12, np.ones((12, 2, 2)), None, r"^y should be a 1d array, got"),
    "words": (X12, ["a"] * 12, None, r"^y must hold real numbers"),
    "weights": (
        X12,
        Y12,
        Y12[:4],
        r"^sample_weight must have one value per row of X: X has 12 rows, .*shape \(4,\)\.$",
    ),
    "weights on disk": (
        X12,
        Y12,
        Dataset(Y12[:4]),
        r"^sample_weight must have one value per row of X: X has 12 rows, .*shape \(4,\)\.$",
    ),
    "zero weights": (X12, Y12, 0 * Y12, r"^sample_weight is zero for every row"),
    "zero weights on disk": (X12, Y12, Dataset(0 * Y12), r"^X has 0 sample\(s\) of positive weight"),
    "complex": (X12 + 1j, Y12, None, r"^Complex data not supported"),
}


@pytest.mark.parametrize("case", BAD_ON_DISK)
def test_bad_arrays_on_disk(case):
    X, y, weights, message = BAD_ON_DISK[case]
    with sklearn.config_context(working_memory=1e-3), pytest.raises(ValueError, match=message):
        SparseBayesRegressor().fit(Dataset(X), y, sample_weight=weights)


def test_a_column_for_y_is_taken_with_a_warning():
    with sklearn.config_context(working_memory=1e-3), pytest.warns(DataConversionWarning):
        model = SparseBayesRegressor(noise_variance=0.1).fit(Dataset(X12), Y12[:, None])
    _assert_same(model, SparseBayesRegressor(noise_variance=0.1).fit(X12, Y12))


def test_sample_weight_beside_chunks_is_refused():
    with pytest.raises(ValueError, match=r"^sample_weight must be None if X gives chunks"):
        SparseBayesRegressor().fit(iter([(X12, Y12)]), sample_weight=Y12)


def test_too_many_columns_for_one_pass():
    X, y, _ = _data(15)
    with sklearn.config_context(working_memory=0.01):
        with pytest.raises(ValueError, match=r"^X has 25 columns, whose statistics need .* can be read more"):
            SparseBayesRegressor().fit(_chunks(X, y, None, 50))
        with pytest.raises(ValueError, match=r"^X has 25 columns.* raise it for partial_fit\.$"):
            SparseBayesRegressor().partial_fit(X, y)
        model = SparseBayesRegressor().fit(list(_chunks(X, y, None, 50)))  # can be read again
    _assert_same(model, SparseBayesRegressor().fit(X, y))


@pytest.mark.parametrize(
    "model",
    [
        RelevanceVectorRegressor(gamma=0.01, prior="bic"),
        RelevanceVectorRegressor(gamma=0.01, prior="bic", variance="augmented"),
        RelevanceVectorRegressor("precomputed", prior="bic"),
        RelevanceVectorClassifier(gamma=0.01),
        SparseBayesClassifier(),
    ],
    ids=["kernel", "augmented", "precomputed", "kernel classes", "classes"],
)
def test_predictions_of_inputs_on_disk(model, tmp_path):
    X, y, _ = _data(16, n=60, d=5)
    y = y if hasattr(model, "noise_variance") else y > 3
    if getattr(model, "kernel", None) == "precomputed":
        X = np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = clone(model).fit(X, y, sample_weight=np.arange(60) % 4)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped, rows = np.load(tmp_path / "X.npy", mmap_mode="r"), X.astype(np.float32)
    names = [name for name in ("predict", "predict_proba", "decision_function") if hasattr(model, name)]
    expected = {name: getattr(model, name)(rows) for name in names}
    std = model.predict(rows, return_std=True)[1] if len(names) == 1 else None
    with sklearn.config_context(working_memory=0.002):
        for queries in (mapped, Dataset(rows, most=13)):
            for name in names:
                np.testing.assert_allclose(getattr(model, name)(queries), expected[name], rtol=1e-10)
            if std is not None:
                np.testing.assert_allclose(model.predict(queries, return_std=True)[1], std, rtol=1e-9)
        with pytest.raises(ValueError, match="features"):
            model.predict(Dataset(rows[:, 1:]))
        with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
            model.predict(Dataset(rows * np.nan))


def test_names_are_asked_for_once_a_prediction():
    X, y, _ = _data(17, d=4)
    model = SparseBayesRegressor().fit(pd.DataFrame(X, columns=["a", "b", "c", "d"]), y)
    with sklearn.config_context(working_memory=0.01):
        with pytest.warns(UserWarning, match="does not have valid feature names") as caught:
            model.predict(Dataset(X, most=70))
    assert len(caught) == 1


@pytest.mark.parametrize("kind", [list, iter])
@pytest.mark.parametrize("model", [RelevanceVectorRegressor, SparseBayesClassifier])
def test_chunks_are_refused_in_words_where_they_are_not_taken(model, kind):
    X, y, _ = _data(0)
    for refused in (model().fit, SparseBayesRegressor().fit, SparseBayesRegressor().partial_fit):
        with pytest.raises(TypeError, match=r"which only SparseBayesRegressor\.fit takes"):
            refused(kind(list(_chunks(X, y, None, 100))), y)


def test_arrays_in_a_list_are_no_chunks():
    X, _, _ = _data(0)
    with pytest.raises(ValueError, match=r"X must have two dimensions .* got 3"):
        SparseBayesRegressor().fit([X, X], None)
