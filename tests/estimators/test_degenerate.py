"""Constant targets, weights that are no counts, fits that fail, and arrays that must not be touched."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sliced_rows import Dataset

from sparsebayes import (
    RBF,
    Columns,
    GeneralizedNormal,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Sequential,
    SparseBayesClassifier,
    SparseBayesRegressor,
    WaveletDenoiser,
    fit,
    select,
)
from sparsebayes.datasets import make_signal
from sparsebayes.solvers.regression import NoiseCollapseWarning

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
Y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(30)
LABELS = (X[:, 0] + 0.5 * RNG.standard_normal(30) > 0).astype(int)
CONSTANT = np.full(30, 3.5)

REGRESSORS = {
    "kernel": RelevanceVectorRegressor(),
    "linear-spline": RelevanceVectorRegressor("linear-spline"),
    "parts": RelevanceVectorRegressor(RBF() + Columns()),
    "augmented": RelevanceVectorRegressor(variance="augmented"),
    "evidence": RelevanceVectorRegressor(gamma="evidence"),
    "ard": RelevanceVectorRegressor(gamma="ard", variance="gp"),
    "shape": RelevanceVectorRegressor(likelihood=GeneralizedNormal(4.0)),
    "columns": SparseBayesRegressor(),
    "solver": SparseBayesRegressor(solver="mackay", prior="bic"),
}
FITTED = [SparseBayesRegressor(), RelevanceVectorRegressor(), SparseBayesClassifier(), RelevanceVectorClassifier()]


def is_the_constant(model, value=3.5):
    mean, std = model.predict(X[:4], return_std=True)
    np.testing.assert_array_equal(mean, np.full(4, value))
    np.testing.assert_array_equal(std, np.zeros(4))
    np.testing.assert_array_equal(model.predict(X[:4], return_cov=True)[1], np.zeros((4, 4)))
    assert model.relevance_.shape == (0,)
    assert (model.intercept_, model.noise_variance_, model.log_evidence_) == (value, 0.0, math.inf)
    assert model.covariance_.shape == (0, 0)
    assert model.converged_


@pytest.mark.parametrize("name", REGRESSORS)
def test_constant_targets_give_the_constant(name):
    with pytest.warns(
        UserWarning, match=r"^y is constant \(every value is 3\.5\): the model is that constant"
    ) as record:
        is_the_constant(clone(REGRESSORS[name]).fit(X, CONSTANT))
    assert [warning.filename for warning in record] == [__file__]  # one, at this line


@pytest.mark.parametrize("name", REGRESSORS)
def test_zero_targets_need_no_intercept(name):
    model = clone(REGRESSORS[name]).set_params(fit_intercept=False)
    with pytest.warns(UserWarning, match="y is constant"):
        is_the_constant(model.fit(X, 0 * CONSTANT), 0.0)


def test_constant_targets_in_a_selection():
    models = [SparseBayesRegressor(), RelevanceVectorRegressor()]
    with pytest.warns(UserWarning, match="y is constant"):
        chosen = select(X, CONSTANT, models)
    assert {row["loo_error"] for row in chosen.table} == {0.0}


def test_targets_that_are_constant_where_rows_count():
    y, weights = np.r_[1.0, CONSTANT[1:]], np.r_[0.0, np.ones(29)]
    for model in (SparseBayesRegressor(), RelevanceVectorRegressor()):
        with pytest.warns(UserWarning, match="y is constant"):
            is_the_constant(model.fit(X, y, weights))


def test_constant_targets_in_chunks_and_on_disk():
    chunks = [(X[:9], CONSTANT[:9]), (X[9:], CONSTANT[9:])]
    with pytest.warns(UserWarning, match="y is constant"):
        is_the_constant(SparseBayesRegressor().fit(chunks))
    with sklearn.config_context(working_memory=1e-3), pytest.warns(UserWarning, match="y is constant"):
        is_the_constant(SparseBayesRegressor().fit(Dataset(X), CONSTANT))
    with pytest.warns(UserWarning, match="y is constant"):
        assert fit(chunks, fit_intercept=True).intercept[0] == 3.5


@pytest.mark.parametrize("y", [CONSTANT, 0 * CONSTANT])
@pytest.mark.parametrize("center", [False, True])
def test_constant_targets_with_known_noise_have_a_finite_evidence(y, center):
    """The evidence is that of targets which hardly vary."""
    if y.any() and not center:
        return
    with pytest.warns(UserWarning, match="y is constant"):
        exact = fit(X, y, noise_variance=0.2, fit_intercept=center)
    nearly = fit(X, y + 1e-6 * Y, noise_variance=0.2, fit_intercept=center, prior="ric")
    assert exact.log_evidence == pytest.approx(nearly.log_evidence, abs=1e-4)
    assert exact.certificate.is_local_maximum
    for ours, theirs in zip(exact.predict(X, return_std=True), nearly.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_constant_without_an_intercept_is_fitted_like_any_target():
    design = np.column_stack([X, 1 + 0.01 * RNG.standard_normal(30)])
    model = SparseBayesRegressor(fit_intercept=False, prior="bic").fit(design, CONSTANT)
    np.testing.assert_array_equal(model.relevance_, [3])


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("total", [1.0, 1e-200, 1.9])
def test_weights_that_sum_to_less_than_two_rows_are_relative(model, total):
    # with labels that can be separated weights are so large that rounding shows
    mixed = np.where(np.arange(30) % 7 == 4, 1 - LABELS, LABELS)
    y, weights = mixed if "Classifier" in type(model).__name__ else Y, RNG.uniform(0.5, 1.5, 30)
    weights[:3] = 0
    relative = clone(model).fit(X, y, sample_weight=weights * (total / weights.sum()))
    counted = clone(model).fit(X, y, sample_weight=weights * (27 / weights.sum()))
    np.testing.assert_array_equal(relative.relevance_, counted.relevance_)
    assert relative.log_evidence_ == pytest.approx(counted.log_evidence_, rel=1e-9)
    np.testing.assert_allclose(relative.predict(X), counted.predict(X), rtol=1e-6)


@pytest.mark.parametrize("memory", [1024, 4e-4], ids=["triangle", "passes"])
def test_relative_weights_in_chunks(memory):
    weights = RNG.uniform(0.5, 1.5, 30)
    small, whole = weights / weights.sum(), SparseBayesRegressor().fit(X, Y, weights * 30 / weights.sum())
    with sklearn.config_context(working_memory=memory):
        chunks = [(X[:11], Y[:11], small[:11]), (X[11:], Y[11:], small[11:])]
        models = [SparseBayesRegressor().fit(chunks), SparseBayesRegressor().fit(Dataset(X), Y, Dataset(small))]
    models.append(SparseBayesRegressor().partial_fit(*chunks[0]).partial_fit(*chunks[1]))
    for model in models:
        assert model.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-9)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7)


def test_weights_beyond_two_rows_are_counts():
    one, two = (SparseBayesRegressor().fit(X, Y, np.full(30, count)) for count in (0.1, 0.2))
    assert one.log_evidence_ != pytest.approx(two.log_evidence_, rel=1e-3)


def interrupted(_):
    raise KeyboardInterrupt


FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def state(model):
    return {name: value for name, value in vars(model).items() if name not in model.get_params()}


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("before", [False, True], ids=["first fit", "refit"])
@pytest.mark.parametrize("how", ["NaN in y", "length", "parameter", "interrupt", "weights"])
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(model, before, how):
    model, labelled = clone(model), "Classifier" in type(model).__name__
    y = LABELS if labelled else Y
    if before:
        model.fit(FRAME, y)
    known, other = state(model), FRAME[["c", "b"]]
    arguments = {"X": other, "y": y}
    if how == "NaN in y":
        arguments["y"] = np.where(np.arange(30) == 7, np.nan, y)
    elif how == "length":
        arguments["y"] = y[:5]
    elif how == "weights":
        arguments["sample_weight"] = -np.ones(30)
    model.set_params(callback=interrupted if how == "interrupt" else None, prior="bad" if how == "parameter" else "aic")
    with pytest.raises(KeyboardInterrupt if how == "interrupt" else ValueError):
        model.fit(**arguments)
    assert state(model).keys() == known.keys()
    assert all(state(model)[name] is known[name] for name in known)
    model.set_params(callback=None, prior="aic")
    if before:
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        model.predict(FRAME)
    assert list(model.fit(other, y).feature_names_in_) == ["c", "b"]


def test_rows_in_chunks_that_fail_leave_the_estimator_as_it_was():
    model = SparseBayesRegressor().fit(FRAME, Y)
    known = state(model)
    with pytest.raises(ValueError, match=r"row 2, column 0; .* \(in chunk 1, which starts at row 30\)"):
        model.fit([(FRAME[["b", "c"]], Y), (np.where(np.arange(30) == 2, np.nan, X.T).T[:, :2], Y)])
    assert state(model) == known
    fresh = SparseBayesRegressor()
    with pytest.raises(ValueError, match=r"y contains (NaN|infinity) in row 0"):
        fresh.partial_fit(X, Y * np.nan)
    assert state(fresh) == {}
    fresh.partial_fit(X[:, :2], Y)


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_masked_values_are_refused(model):
    y, mask = LABELS if "Classifier" in type(model).__name__ else Y, np.arange(30) == 3
    masked = np.ma.masked_array(X, mask=np.broadcast_to(mask[:, None], X.shape))
    fitted = clone(model).fit(X, y)
    for call in (
        lambda: clone(model).fit(masked, y),
        lambda: clone(model).fit(X, np.ma.masked_array(y, mask)),
        lambda: clone(model).fit(X, y, sample_weight=np.ma.masked_array(np.ones(30), mask)),
        lambda: fitted.predict(masked),
    ):
        with pytest.raises(ValueError, match=r"^(X|y|sample_weight) is a masked array with \d+ masked value\(s\)"):
            call()
    unmasked = clone(model).fit(np.ma.masked_array(X), np.ma.masked_array(y))
    np.testing.assert_array_equal(unmasked.relevance_, fitted.relevance_)


def test_masked_designs_are_refused():
    with pytest.raises(ValueError, match=r"^Phi is a masked array"):
        fit(np.ma.masked_less(X, 0), Y)


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_arrays_are_only_read(model):
    arrays = [X.copy(), (LABELS if "Classifier" in type(model).__name__ else Y).copy(), np.ones(30)]
    for array in arrays:
        array.flags.writeable = False
    fitted = clone(model).fit(*arrays)
    fitted.predict(arrays[0])
    np.testing.assert_array_equal(arrays[0], X)


@pytest.mark.parametrize("kind", ["csc", "csr"])
@pytest.mark.parametrize("model", [SparseBayesRegressor(), SparseBayesClassifier()])
def test_sparse_matrices_are_only_read(model, kind):
    """Entries out of order and in several pieces would be put together in place."""
    rows, values = [2, 0, 2, 1, 1, 3], np.arange(1.0, 7)
    indices, pointers = (rows, [0, 3, 6]) if kind == "csc" else ([0, 1, 1, 0, 0, 1], [0, 1, 3, 5, 6])
    given = getattr(scipy.sparse, f"{kind}_array")((values, indices, pointers), shape=(4, 2))
    for array in (given.data, given.indices, given.indptr):
        array.flags.writeable = False
    dense, before = given.toarray(), [array.copy() for array in (given.data, given.indices, given.indptr)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseCollapseWarning)
        fitted, same = clone(model).fit(given, [0, 1, 0, 1]), clone(model).fit(dense, [0, 1, 0, 1])
    np.testing.assert_allclose(fitted.predict(given), same.predict(dense), atol=1e-6)
    fit(given, [0.0, 1, 0, 1], noise_variance=0.1)
    for array, kept in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_numpys_global_generator_is_left_alone():
    before = np.random.get_state()
    for solver in ("auto", Sequential("random")):
        SparseBayesRegressor(solver=solver).fit(X, Y)
        RelevanceVectorRegressor(gamma="ard", solver=solver).fit(X, Y)
    RelevanceVectorClassifier().fit(X, LABELS)
    after = np.random.get_state()
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


def test_errors_name_the_row():
    bad = X.copy()
    bad[[7, 11], [1, 0]] = np.nan, np.inf
    for design, model in ((bad, RelevanceVectorRegressor()), (scipy.sparse.csc_array(bad), SparseBayesRegressor())):
        with pytest.raises(ValueError, match=r"^X contains NaN in row 7, column 1; every value must .*Imputer"):
            model.fit(design, Y)
    model = SparseBayesRegressor().fit(X, Y)
    with sklearn.config_context(working_memory=1e-3), pytest.raises(ValueError, match="NaN in row 7, column 1;"):
        model.predict(Dataset(bad))


def test_warnings_point_at_the_line_of_the_user():
    for call in (
        lambda: SparseBayesRegressor().fit(X, 3 * X[:, 0]),
        lambda: SparseBayesRegressor(max_iter=1).fit(X, Y),
        lambda: RelevanceVectorRegressor().fit(X, Y[:, None]),
        lambda: RelevanceVectorClassifier().fit(X, LABELS[:, None]),
        lambda: SparseBayesRegressor().fit(X, Y).partial_fit(X, Y),
        lambda: fit(X, Y, max_iter=1),
        lambda: WaveletDenoiser(prior="uniform").fit(make_signal("bumps", 128, random_state=1)[1]),
    ):
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            call()
        assert record
        assert {warning.filename for warning in record} == {__file__}
