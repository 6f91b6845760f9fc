"""Bad input gets one clear sentence that names the argument."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError

from sparsebayes import (
    RBF,
    Bias,
    Columns,
    Gaussian,
    Laplacian,
    Multinomial,
    Precomputed,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((12, 3))
Y = X[:, 0] + 0.1 * rng.standard_normal(12)
ONES = np.ones(12)


def _with(array, value):
    changed = array.astype(float)
    changed.flat[4] = value
    return changed


both = pytest.mark.parametrize("estimator", [RelevanceVectorRegressor, SparseBayesRegressor])

BAD_DATA = {
    "NaN in X": (
        _with(X, np.nan),
        Y,
        None,
        r"^X contains NaN in row 1, column 1; .*Imputer or .*TableEncoder\.$",
    ),
    "infinity in X": (_with(X, np.inf), Y, None, r"^X contains (NaN|infinity)"),
    "NaN in y": (X, _with(Y, np.nan), None, r"^y contains (NaN|infinity) in row 4; every value must be finite\.$"),
    "infinity in y": (X, _with(Y, -np.inf), None, r"^y contains (NaN|infinity)"),
    "NaN in weights": (X, Y, _with(ONES, np.nan), r"^sample_weight contains (NaN|infinity)"),
    "infinity in weights": (X, Y, _with(ONES, np.inf), r"^sample_weight contains (NaN|infinity)"),
    "long y": (X[:3], Y[:4], None, r"^y must have one value per row of X: X has 3 rows, but y has shape \(4,\)\.$"),
    "short y": (X, Y[:4], None, r"^y must have one value per row of X: X has 12 rows, but y has shape \(4,\)\.$"),
    "three dimensions of y": (X, np.ones((12, 2, 2)), None, r"^y should be a 1d array, got .*\(12, 2, 2\)"),
    "no y": (X, None, None, r"requires y to be passed, but the target y is None\.$"),
    "words for y": (
        X,
        ["a"] * 12,
        None,
        r"^y must hold real numbers, got an array of dtype <U1; for classes use RelevanceVectorClassifier or ",
    ),
    "no sample": (X[:0], Y[:0], None, r"^X has 0 sample\(s\) .*at least 2 sample\(s\) are required\.$"),
    "no feature": (X[:, :0], Y, None, r"^X has .* 0 feature\(s\) .*a minimum of 1 is required\.$"),
    "one sample": (X[:1], Y[:1], None, r"^X has 1 sample\(s\) .*at least 2"),
    "one sample that counts": (X, Y, np.eye(12)[3], r"^sample_weight leaves 1 sample\(s\) of X; at least 2"),
    "one dimension": (X[:, 0], Y, None, r"^X must have two dimensions .* got 1\. Reshape your data"),
    "three dimensions": (X[None], Y, None, r"^X must have two dimensions .* got 3\."),
    "negative weight": (X, Y, _with(ONES, -0.5), r"^sample_weight must not be negative, got -0.5\.$"),
    "zero weights": (X, Y, 0 * ONES, r"^sample_weight is zero for every row"),
    "short weights": (
        X,
        Y,
        ONES[:4],
        r"^sample_weight must have one value per row of X: X has 12 rows, .*shape \(4,\)\.$",
    ),
    "square weights": (
        X,
        Y,
        np.ones((12, 12)),
        r"^sample_weight must have one value per row of X: X has 12 rows, .*shape \(12, 12\)\.$",
    ),
    "words for weights": (X, Y, ["a"] * 12, r"^sample_weight must hold real numbers"),
}


@both
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(estimator, fit_intercept, case):
    bad_X, bad_y, weights, message = BAD_DATA[case]
    with pytest.raises(ValueError, match=message) as caught:
        estimator(fit_intercept=fit_intercept).fit(bad_X, bad_y, sample_weight=weights)
    assert "\n" not in str(caught.value)


BAD_PARAMETERS = {
    "prior name": ({"prior": "bayes"}, r"^prior must be one of \['auto', 'uniform'.*got 'bayes'"),
    "prior object": ({"prior": 3}, r"^prior must be one of .*got 3"),
    "solver name": ({"solver": "newton"}, r"^solver must be one of \['auto', 'active-set'.*got 'newton'"),
    "noise zero": ({"noise_variance": 0.0}, r"^noise_variance must be a finite number > 0 or None, got 0.0"),
    "noise negative": ({"noise_variance": -1}, r"^noise_variance .*got -1"),
    "noise NaN": ({"noise_variance": np.nan}, r"^noise_variance .*got nan"),
    "noise infinite": ({"noise_variance": np.inf}, r"^noise_variance .*got inf"),
    "noise beyond a float": ({"noise_variance": 10**400}, r"^noise_variance must be a finite number > 0"),
    "noise vector": ({"noise_variance": [1.0, 2.0]}, r"^noise_variance .*got \[1.0, 2.0\]"),
    "noise prior": ({"likelihood": Gaussian((1.0,))}, r"^prior of Gaussian must be a pair \(c, d\)"),
    "noise prior sign": (
        {"likelihood": Gaussian((1.0, -2.0))},
        r"^prior of Gaussian must be a pair \(c, d\)",
    ),
    "likelihood": (
        {"likelihood": "poisson"},
        r"^likelihood must be one of \['gaussian'.*got 'poisson'",
    ),
    "no iterations": ({"max_iter": 0}, r"^max_iter must be an integer >= 1, got 0"),
    "tolerance": ({"tol": 0.0}, r"^tol must be a finite number > 0, got 0.0"),
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
    "class": ({"kernel": RBF}, TypeError, r"^kernel must be a name, a callable"),
    "gamma sign": ({"gamma": -1.0}, ValueError, r"^gamma must be positive and finite, got -1.0"),
    "gamma name": ({"gamma": "wide"}, ValueError, r"^gamma must be one of 'scale', 'auto', .*'wide'"),
    "gamma count": ({"gamma": [1.0, 2.0]}, ValueError, r"^gamma must have one number per column of X \(3\)"),
    "degree": (
        {"kernel": "poly", "degree": 0},
        ValueError,
        r"^degree must be an integer of at least 1, got 0",
    ),
    "coef0": ({"kernel": "sigmoid", "coef0": np.nan}, ValueError, r"^coef0 must be a finite number, got nan"),
    "not square": (
        {"kernel": "precomputed"},
        ValueError,
        r"^X must be square when kernel='precomputed'.*\(12, 3\)",
    ),
    "shape": (
        {"kernel": lambda A, B: A @ B[:4].T},
        ValueError,
        r"^kernel returned shape .*expected \(12, 12\)",
    ),
    "nothing": ({"kernel": lambda A, B: None}, ValueError, r"^kernel (must return|returned)"),
    "variance name": (
        {"variance": "robust"},
        ValueError,
        r"^variance must be one of \['auto', 'posterior', .*'robust'",
    ),
    "no centre": (
        {"kernel": Columns() + Bias(), "variance": "augmented"},
        ValueError,
        r"^variance='augmented' .*got 0",
    ),
    "two centres": (
        {"kernel": RBF() + Laplacian(), "variance": "augmented"},
        ValueError,
        r"^variance=.*got 2",
    ),
}


@pytest.mark.parametrize("case", BAD_KERNELS)
def test_bad_kernels(case):
    parameters, error, message = BAD_KERNELS[case]
    with pytest.raises(error, match=message):
        RelevanceVectorRegressor(**parameters).fit(X, Y)


def test_augmented_variance_needs_more_than_a_matrix():
    with pytest.raises(ValueError, match=r"^variance='augmented' needs a kernel .*got 0"):
        RelevanceVectorRegressor("precomputed", variance="augmented").fit(X @ X.T, Y)


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed() + Bias()])
def test_precomputed_matrix_of_the_wrong_width_at_predict(kernel):
    model = RelevanceVectorRegressor(kernel).fit(X @ X.T, Y)
    with pytest.raises(ValueError, match=r"^X has 9 features, .*expecting 12 .*one per training point\.$"):
        model.predict(X @ X[:9].T)


def test_callable_that_returns_the_wrong_shape_at_predict():
    model = RelevanceVectorRegressor(lambda A, B: (A @ B.T)[:12]).fit(X, Y)
    with pytest.raises(ValueError, match=r"^kernel returned shape \(12, \d+\), expected \(24, \d+\)"):
        model.predict(np.concatenate([X, X]))


@both
def test_bad_queries(estimator):
    with pytest.raises(NotFittedError):
        estimator().predict(X)
    model = estimator(noise_variance=0.01).fit(X, Y)
    for bad, message in [
        (X[:, :2], r"^X has 2 features, but \w+ is expecting 3 features as input"),
        (_with(X, np.nan), r"^X contains (NaN|infinity)"),
        (X[:0], r"^X has 0 sample\(s\)"),
        (X[0], r"^X must have two dimensions"),
        (X[0].tolist(), r"^X must have two dimensions .* got 1\. Reshape your data: numpy\.reshape\(X, \(-1, 1\)\)"),
        ((), r"^X must have two dimensions .* got 1\."),
        (3.0, r"^X must have two dimensions .* got 0\. Reshape your data"),
        ([X.tolist()], r"^X must have two dimensions .* got 3\."),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(bad)
    with pytest.raises(RuntimeError, match="At most one of return_std and return_cov may be true"):
        model.predict(X, return_std=True, return_cov=True)


@pytest.mark.parametrize("container", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_sparse_input_is_refused_where_kernels_need_rows(container):
    message = r"^X is sparse, but RelevanceVectorRegressor needs a dense array: pass X.toarray\(\)\.$"
    with pytest.raises(TypeError, match=message):
        RelevanceVectorRegressor().fit(container(X), Y)
    with pytest.raises(TypeError, match=message):
        RelevanceVectorRegressor(noise_variance=0.01).fit(X, Y).predict(container(X))


def test_non_finite_entries_of_a_sparse_matrix():
    with pytest.raises(ValueError, match=r"^X contains (NaN|infinity)"):
        SparseBayesRegressor().fit(scipy.sparse.csr_array(_with(X, np.nan)), Y)


@both
def test_column_vector_for_y_is_taken_with_a_warning(estimator):
    with pytest.warns(DataConversionWarning):
        model = estimator(noise_variance=0.01).fit(X, Y[:, None])
    assert model.predict(X).shape == (12,)


def test_no_usable_column():
    with pytest.raises(ValueError, match=r"^X has no usable column"):
        SparseBayesRegressor().fit(np.ones((12, 3)), Y)


@pytest.mark.parametrize("estimator", [RelevanceVectorRegressor(), SparseBayesRegressor()])
def test_there_is_no_covariance_before_fit(estimator):
    assert not hasattr(estimator, "covariance_")
    with pytest.raises(AttributeError, match="no covariance_ before it is fitted"):
        estimator.covariance_  # noqa: B018


def test_a_missing_value_is_named_by_its_column():
    frame = pd.DataFrame(_with(X, np.nan), columns=["a", "size", "c"])
    with pytest.raises(
        ValueError, match=r"^X contains NaN in row 1, column 'size'; every value must be finite: fill it"
    ):
        RelevanceVectorRegressor().fit(frame, Y)
    with pytest.raises(ValueError, match=r"^X contains infinity in row 1, column 1; every value must be finite\.$"):
        RelevanceVectorRegressor().fit(_with(X, np.inf), Y)


@both
def test_columns_of_one_name_are_named(estimator):
    named = pd.DataFrame(X, columns=["a", "c0", "c0"])
    with pytest.raises(ValueError, match=r"^X has several columns named 'c0': rename them\.$"):
        estimator().fit(named, Y)


@pytest.mark.parametrize(
    "days",
    [
        pd.date_range("2024-01-01", periods=12),
        pd.date_range("2024-01-01", periods=12, tz="UTC"),
        pd.period_range("2024-01", periods=12, freq="M"),
        [datetime.date(2024, 1, 1 + k) for k in range(12)],
    ],
    ids=["naive", "zone", "period", "object"],
)
def test_dates_among_numbers_are_named(days):
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(day=days)
    message = (
        r"^X must hold numbers, got dates in column 'day': sparsebayes.tables.TableEncoder turns them into numbers"
    )
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor().fit(table, Y)


def test_dates_among_numbers_of_polars_are_named():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": Y, "day": [datetime.date(2024, 1, 1 + k) for k in range(12)]})
    with pytest.raises(ValueError, match="got dates in column 'day'"):
        RelevanceVectorRegressor().fit(table, Y)


@pytest.mark.parametrize("dtype", ["U", "S", "O"])
def test_text_in_an_array_is_named(dtype):
    with pytest.raises(ValueError, match=r"^X must hold numbers, got b?'a' in column 1: .*TableEncoder"):
        RelevanceVectorRegressor().fit(np.array([["1", "a"]] * 12).astype(dtype), Y)


@both
def test_complex_inputs_are_refused_in_one_sentence(estimator):
    with pytest.raises(ValueError, match=r"^Complex data not supported: X must hold real .*columns of their own\.$"):
        estimator().fit(X + 1j, Y)


def test_a_word_that_is_almost_one_for_gamma_is_recognised():
    with pytest.raises(ValueError, match=r"got 'ARD'; did you mean 'ard'\?$"):
        RelevanceVectorRegressor(gamma="ARD").fit(X, Y)
    with pytest.raises(ValueError, match=r"got 'wide'\.$"):
        RelevanceVectorRegressor(gamma="wide").fit(X, Y)


@both
def test_a_multinomial_likelihood_of_a_regressor_is_refused(estimator):
    with pytest.raises(ValueError, match=r"^likelihood must not be Multinomial.*Classifier"):
        estimator(likelihood=Multinomial()).fit(X, np.arange(12) % 3)


def test_a_complex_tensor_is_refused_by_one_sentence_that_does_not_show_it():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(ValueError, match="X must hold real numbers, got complex ones; give") as caught:
        SparseBayesRegressor().fit(torch.ones((5, 2), dtype=torch.complex64), torch.ones(5))
    assert len(str(caught.value)) < 200
