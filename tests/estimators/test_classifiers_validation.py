"""Bad input gets one clear sentence that names the argument."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import DataConversionWarning

from sparsebayes import RelevanceVectorClassifier, SparseBayesClassifier

rng = np.random.default_rng(0)
X = rng.standard_normal((12, 3))
Y = np.arange(12) % 2
ONES = np.ones(12)

both = pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, SparseBayesClassifier])


def _with(array, value):
    changed = np.array(array, dtype=object if value is None or value is pd.NA else float)
    changed.flat[4] = value
    return changed


BAD_DATA = {
    "NaN in X": (
        _with(X, np.nan),
        Y,
        None,
        r"^X contains NaN in row 1, column 1; .*Imputer or .*TableEncoder\.$",
    ),
    "NaN in y": (X, _with(Y, np.nan), None, r"^y contains (NaN|infinity)"),
    "infinity in y": (X, _with(Y, np.inf), None, r"^y contains (NaN|infinity)"),
    "None in y": (X, _with(Y, None), None, r"^y has missing labels, the first in row 4; every row needs one\.$"),
    "NA in y": (X, _with(Y, pd.NA), None, r"^y has missing labels"),
    "NaT in y": (
        X,
        np.array(["2020-01-01", "NaT"] * 6, dtype="datetime64[D]"),
        None,
        r"^y has missing labels",
    ),
    "real numbers": (X, X[:, 0], None, r"^Unknown label type: continuous"),
    "real numbers in objects": (X, X[:, 0].astype(object), None, r"^Unknown label type: continuous"),
    "two columns": (
        X,
        np.stack([Y, Y], axis=1),
        None,
        r"y should be a 1d array, got an array of shape \(12, 2\)",
    ),
    "words and numbers": (
        X,
        np.array([1, "a"] * 6, dtype=object),
        None,
        r"^y must hold labels that can be sorted, got int and str together\.$",
    ),
    "no y": (X, None, None, r"requires y to be passed, but the target y is None\.$"),
    "short y": (X, Y[:4], None, r"^y must have one value per row of X: X has 12 rows, but y has shape \(4,\)\.$"),
    "one class": (X, np.full(12, "a"), None, r"^y must have at least two classes .*got 1 class: \['a'\]\.$"),
    "one class that counts": (X, Y, Y, r"^y must have at least two classes .*got 1 class: \[1\]\.$"),
    "one row that counts": (
        X,
        Y,
        np.eye(12)[3],
        r"^y must have at least two classes .*got 1 class: \[1\]\.$",
    ),
    "one sample": (X[:1], Y[:1], None, r"^X has 1 sample\(s\) .*at least 2"),
    "negative weight": (X, Y, _with(ONES, -0.5), r"^sample_weight must not be negative, got -0.5\.$"),
    "zero weights": (X, Y, 0 * ONES, r"^sample_weight is zero for every row"),
    "short weights": (
        X,
        Y,
        ONES[:4],
        r"^sample_weight must have one value per row of X: X has 12 rows, .*shape \(4,\)\.$",
    ),
}


@both
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(estimator, case):
    bad_X, bad_y, weights, message = BAD_DATA[case]
    with pytest.raises(ValueError, match=message):
        estimator().fit(bad_X, bad_y, sample_weight=weights)


BAD_PARAMETERS = {
    "prior": ({"prior": "bayes"}, r"^prior must be one of \['auto', 'uniform'.*got 'bayes'"),
    "solver": ({"solver": "newton"}, r"^solver must be one of \['auto', 'active-set'.*got 'newton'"),
    "iterations": ({"max_iter": 0}, r"^max_iter must be an integer >= 1, got 0"),
    "tolerance": ({"tol": 0.0}, r"^tol must be a finite number > 0, got 0.0"),
    "class_weight name": (
        {"class_weight": "even"},
        r"'class_weight' parameter of compute_class_weight .*'even'",
    ),
    "class_weight of no class": (
        {"class_weight": {5: 2.0}},
        r"^The classes, \[0, 1\], are not in class_weight",
    ),
    "negative class_weight": (
        {"class_weight": {0: -1.0}},
        r"^class_weight must hold finite numbers >= 0, got \{0: -1.0\}\.$",
    ),
    "class_weight NaN": ({"class_weight": {0: np.nan}}, r"^class_weight must hold finite numbers >= 0"),
    "one class weighted": (
        {"class_weight": {0: 0.0}},
        r"^y must have at least two classes .*got 1 class: \[1\]",
    ),
    "no class weighted": ({"class_weight": {0: 0, 1: 0}}, r"^y must have at least two classes .*got 0 class"),
}


@both
@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters(estimator, case):
    parameters, message = BAD_PARAMETERS[case]
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(X, Y)


BAD_KERNELS = {
    "name": ({"kernel": "gaussian"}, ValueError, r"^kernel must be one of 'rbf', .*got 'gaussian'"),
    "object": ({"kernel": 3}, TypeError, r"^kernel must be a name, a callable .*got 3"),
    "gamma": ({"gamma": -1.0}, ValueError, r"^gamma must be positive and finite, got -1.0"),
    "not square": ({"kernel": "precomputed"}, ValueError, r"^X must be square when kernel='precomputed'"),
}


@pytest.mark.parametrize("case", BAD_KERNELS)
def test_bad_kernels(case):
    parameters, error, message = BAD_KERNELS[case]
    with pytest.raises(error, match=message):
        RelevanceVectorClassifier(**parameters).fit(X, Y)


@both
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_bad_queries(estimator, method):
    model = estimator().fit(X, Y)
    for bad, message in [
        (X[:, :2], r"^X has 2 features, but \w+ is expecting 3 features as input"),
        (_with(X, np.nan), r"^X contains (NaN|infinity)"),
        (X[:0], r"^X has 0 sample\(s\)"),
        (X[0], r"^X must have two dimensions"),
    ]:
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(bad)


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_sparse_input_is_refused_where_kernels_need_rows(container):
    message = r"^X is sparse, but RelevanceVectorClassifier needs a dense array: pass X.toarray\(\)\.$"
    with pytest.raises(TypeError, match=message):
        RelevanceVectorClassifier().fit(container(X), Y)


@both
def test_column_vector_for_y_is_taken_with_a_warning(estimator):
    with pytest.warns(DataConversionWarning):
        model = estimator().fit(X, Y[:, None])
    assert model.predict(X).shape == (12,)


def test_no_usable_column():
    with pytest.raises(ValueError, match=r"^X has no usable column"):
        SparseBayesClassifier().fit(np.ones((12, 3)), Y)


def test_an_argument_that_predict_has_not_is_named_with_the_class():
    model = SparseBayesClassifier().fit(X, Y)
    with pytest.raises(
        TypeError, match=r"^SparseBayesClassifier\.predict has no argument 'return_std', only X; .*proba"
    ):
        model.predict(X, return_std=True)
