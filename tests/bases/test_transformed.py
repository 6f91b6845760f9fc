"""Columns of scikit-learn transformers as functions."""

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

from sparsebayes import RBF, Columns, RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes.bases import DenseOperator, SparseOperator

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((40, 3)), RNG.standard_normal((7, 3))
TRANSFORMERS = [
    PolynomialFeatures(3),
    SplineTransformer(n_knots=4),
    SplineTransformer(n_knots=4, sparse_output=True),
    StandardScaler(),
    Nystroem(n_components=6, random_state=0),
    FunctionTransformer(np.exp),
    make_pipeline(StandardScaler(), FunctionTransformer(np.sin)),
    make_pipeline(KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), OneHotEncoder()),
    ColumnTransformer([("a", StandardScaler(), [0]), ("b", PolynomialFeatures(2), [1, 2])]),
    StandardScaler().set_output(transform="pandas"),
]
every_transformer = pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda each: type(each).__name__)


def _dense(Z):
    return Z.toarray() if scipy.sparse.issparse(Z) else np.asarray(Z)


@every_transformer
def test_functions_are_the_columns_of_the_transformer(transformer):
    bound, fitted = Columns(transformer=transformer).bind(X), clone(transformer).fit(X)
    for rows in (X, NEW):
        assert_allclose(bound(rows), _dense(fitted.transform(rows)), rtol=1e-14)
        assert_allclose(bound.operator(rows).columns([1, 0]), _dense(fitted.transform(rows))[:, [1, 0]], rtol=1e-14)
    assert not hasattr(transformer, "n_features_in_")  # a copy was fitted


@every_transformer
def test_products_of_the_columns(transformer):
    bound, fitted = Columns(degree=2, origin=0.0, transformer=transformer).bind(X), clone(transformer).fit(X)
    expected = Columns(degree=2, origin=0.0).bind(_dense(fitted.transform(X)))
    assert_allclose(bound(NEW), expected(_dense(fitted.transform(NEW))), rtol=1e-14)
    assert bound.n_functions == len(set(bound.get_feature_names_out()))


@every_transformer
def test_names_are_those_of_the_transformer(transformer):
    bound, fitted, inputs = Columns(transformer=transformer).bind(X), clone(transformer).fit(X), ["a", "b", "c"]
    names = bound.get_feature_names_out(inputs)
    try:
        expected = fitted.get_feature_names_out(inputs)
    except AttributeError:
        expected = [f"{type(transformer).__name__.lower()}{m}" for m in range(bound.n_functions)]
    assert_array_equal(names, expected)


def test_sparse_columns_stay_sparse():
    transformer = SplineTransformer(n_knots=4, sparse_output=True)
    assert isinstance(Columns(transformer=transformer).bind(X).operator(X), SparseOperator)
    assert isinstance(Columns(degree=2, transformer=transformer).bind(X).operator(X), DenseOperator)


def test_other_arrays():
    bound = Columns(transformer=PolynomialFeatures(2)).bind(array_api_strict.asarray(X))
    Phi = bound(array_api_strict.asarray(NEW))
    assert hasattr(Phi, "__array_namespace__")
    assert_allclose(np.asarray(Phi), PolynomialFeatures(2).fit(X).transform(NEW))


def test_weights_are_given_to_a_transformer_that_takes_them():
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = Columns(transformer=StandardScaler()).bind(X, counts.astype(float))
    assert_allclose(weighted(NEW), Columns(transformer=StandardScaler()).bind(np.repeat(X, counts, axis=0))(NEW))
    assert Columns(transformer=PolynomialFeatures()).bind(X, counts.astype(float)).n_functions == 10


def test_parameters_and_search():
    kernel = RBF(0.5) + Columns(transformer=SplineTransformer(n_knots=4))
    model = RelevanceVectorRegressor(kernel, prior="bic")
    assert model.get_params()["kernel__part1__transformer__n_knots"] == 4
    other = clone(model).set_params(kernel__part1__transformer__n_knots=6)
    assert (other.kernel.parts[1].transformer.n_knots, kernel.parts[1].transformer.n_knots) == (6, 4)
    y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(40)
    search = GridSearchCV(model, {"kernel__part1__transformer__n_knots": [4, 5]}, cv=2).fit(X, y)
    assert search.best_estimator_.kernel.parts[1].transformer.n_knots in (4, 5)


def test_in_estimators():
    rng = np.random.default_rng(2)
    rows = rng.uniform(-3, 3, (200, 2))
    f = np.abs(rows[:, 0])
    model = RelevanceVectorRegressor(Columns(transformer=SplineTransformer(n_knots=9, degree=1)), prior="bic")
    model.fit(rows, f + 0.05 * rng.standard_normal(200))
    assert np.sqrt(np.mean((model.predict(rows) - f) ** 2)) < 0.05
    assert all(name.startswith("x0_sp_") for name in model.get_feature_names_out())
    labels = RelevanceVectorClassifier(model.kernel).fit(rows, f > 1.5)
    assert labels.score(rows, f > 1.5) > 0.97


def test_text_columns_go_through_a_pipeline():
    """The way that the docstring describes."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"city": rng.choice(["Bonn", "Ulm"], 60), "size": rng.standard_normal(60)})
    y = 2.0 * (table["city"] == "Ulm") + table["size"] + 0.1 * rng.standard_normal(60)
    encode = make_column_transformer((OneHotEncoder(drop="first"), ["city"]), remainder="passthrough")
    pipe = make_pipeline(encode, SparseBayesRegressor()).fit(table, y)
    assert pipe.get_feature_names_out().tolist() == ["onehotencoder__city_Ulm", "remainder__size"]


@pytest.mark.parametrize("transformer", [3, "spline", SplineTransformer, SparseBayesRegressor()])
def test_what_is_no_transformer(transformer):
    with pytest.raises(TypeError, match="transformer must be an object with fit and transform"):
        Columns(transformer=transformer).bind(X)


def test_errors():
    with pytest.raises(TypeError, match="transformer must not need y, which a basis is not given, got Linear"):
        Columns(transformer=LinearDiscriminantAnalysis()).bind(X)
    with pytest.raises(ValueError, match="FunctionTransformer returned values that are not finite at row 0"):
        Columns(transformer=FunctionTransformer(lambda Z: np.inf * Z)).bind(np.ones((3, 1)))
    with pytest.raises(ValueError, match="transformer must return numbers"):
        Columns(transformer=FunctionTransformer(lambda Z: Z.astype(str).astype(object) + "a")).bind(X)
    with pytest.raises(ValueError, match=r"a column or more with 40 rows, got \(40, 0\) from FunctionTransformer"):
        Columns(transformer=FunctionTransformer(lambda Z: Z[:, :0])).bind(X)
    with pytest.raises(ValueError, match="X must have 3 columns as in training, got 2"):
        Columns(transformer=StandardScaler()).bind(X)(NEW[:, :2])


def test_a_transformer_that_names_columns_is_told_that_there_are_none():
    X = pd.DataFrame({"u": np.arange(9.0), "v": np.arange(9.0) ** 2})
    by_name = ColumnTransformer([("scaled", StandardScaler(), ["u"])])
    with pytest.raises(ValueError, match=r"got ColumnTransformer, which says '.*': name columns by their numbers, or"):
        RelevanceVectorRegressor(Columns(transformer=by_name)).fit(X, X["v"])


def test_the_formula_of_polynomial_features_is_that_of_their_products():
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    y = frame.u - 2 * frame.u * frame.v + frame.w**3
    squared = Columns(degree=2, origin=0.0, transformer=PolynomialFeatures(2))
    for kernel in (Columns(transformer=PolynomialFeatures(3)), squared):
        model = RelevanceVectorRegressor(kernel, noise_variance=0.01, prior="bic").fit(frame, y)
        assert "u·v" in model.formula()
        assert_allclose(frame.eval(model.formula(style="python")), model.predict(frame))
    kernel = Columns(degree=2, origin=1.0, transformer=PolynomialFeatures(2))
    shifted = RelevanceVectorRegressor(kernel, noise_variance=0.01).fit(frame, y)
    with pytest.raises(ValueError, match="needs functions that are columns of X"):
        shifted.formula(style="python")


def test_what_a_transformer_makes_of_an_input_is_not_the_input():
    """Transformers of one column each keep the names of their inputs, with other numbers."""
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = RelevanceVectorRegressor(Columns(transformer=StandardScaler()), noise_variance=0.01).fit(frame, 3 * frame.u)
    assert "·[transformed u]" in model.formula()
    with pytest.raises(ValueError, match="got 'transformed u': use predict"):
        model.formula(style="python")
