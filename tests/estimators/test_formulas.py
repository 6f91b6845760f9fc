"""The formula of a fitted model is its prediction, and every name in it is written rightly."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import SplineTransformer

from sparsebayes import (
    RBF,
    Bias,
    Columns,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
)


def _rows(seed=0, n=80, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 3)) + shift
    y = 1.5 + 2 * X[:, 0] * X[:, 1] - 0.3 * (X[:, 2] - shift) ** 2 + X[:, 0] + 0.1 * rng.standard_normal(n)
    return X, y


def _evaluated(text, X, names=("x0", "x1", "x2")):
    """The value of an expression in the columns of X, one output per column."""
    values = eval(text, {"__builtins__": {}}, dict(zip(names, X.T, strict=True)))
    each = values if isinstance(values, list) else [values]
    columns = [np.broadcast_to(value, len(X)) for value in each]
    return np.stack(columns, axis=1) if isinstance(values, list) else columns[0]


MODELS = {
    "columns": SparseBayesRegressor(prior="uniform"),
    "no intercept": SparseBayesRegressor(fit_intercept=False),
    "squares": RelevanceVectorRegressor(Columns(degree=2), prior="bic"),
    "cubes": RelevanceVectorRegressor(Columns(degree=3), prior="bic"),
    "origin": RelevanceVectorRegressor(Columns(degree=2, origin=[0.5, -1.25, 3.0]), prior="uniform"),
    "bias": RelevanceVectorRegressor(Bias() + Columns(degree=2), prior="bic", fit_intercept=False),
    "parts": RelevanceVectorRegressor(Columns(degree=2) + Columns(degree=1), prior="uniform"),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("seed", range(2))
def test_python_is_predict(name, shift, seed):
    X, y = _rows(seed, shift=shift)
    model = MODELS[name].fit(X, y)
    queries = np.random.default_rng(seed + 7).uniform(-2, 2, (20, 3)) + shift
    expected = model.predict(queries)
    np.testing.assert_allclose(_evaluated(model.formula(style="python"), queries), expected, rtol=1e-9, atol=1e-9)
    assert len(model.relevance_) >= 1


@pytest.mark.parametrize("joint", [True, False])
def test_python_of_several_outputs(joint):
    X, y = _rows()
    for base in (SparseBayesRegressor(prior="uniform"), RelevanceVectorRegressor(Columns(degree=2), prior="bic")):
        model = base.set_params(joint=joint).fit(X, np.column_stack([y, X[:, 2] - y, np.sin(X[:, 0])]))
        np.testing.assert_allclose(_evaluated(model.formula(style="python"), X), model.predict(X), atol=1e-12)
        assert [line.split(" ≈ ")[0] for line in model.formula().splitlines()] == ["y0", "y1", "y2"]


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_python_of_classes(kernel, K):
    X, y = _rows()
    kind = RelevanceVectorClassifier(Columns(degree=2)) if kernel else SparseBayesClassifier()
    labels = np.asarray(["low", "middle_%", "high"])[np.digitize(y, [0.5, 2.5][: K - 1])]
    model = kind.set_params(moderated=False).fit(X, labels)
    expected = model.decision_function(X)
    np.testing.assert_allclose(_evaluated(model.formula(style="python"), X), expected, atol=1e-9)
    if K == 2:
        assert model.formula().startswith(f"log odds({model.classes_[1]}) ≈ ")
    else:
        assert [line.split(" ≈ ")[0] for line in model.formula().splitlines()] == ["f(high)", "f(low)", "f(middle_%)"]
        assert r"f(\mathrm{middle\_\%}) \approx " in model.formula(style="latex")


@pytest.mark.parametrize("precision", [2, 4, 8])
def test_precision(precision):
    X, y = _rows()
    model = RelevanceVectorRegressor(Columns(degree=2), prior="bic").fit(X, y)
    short = _evaluated(model.formula(precision, "python"), X)
    most = np.abs(model.dual_coef_) @ np.abs(model._fitted.basis(X)).T + abs(model.intercept_)
    assert (np.abs(short - model.predict(X)) <= 5 * 10.0**-precision * most).all()
    numbers = re.findall(r"(?<![x\d.])\d+\.?\d*", model.formula(precision))
    assert len(numbers) == len(model.relevance_) + 1
    assert max(len(number.replace(".", "").lstrip("0")) for number in numbers) <= precision


def test_text_and_latex():
    X, _ = _rows()
    y = 1.25 + 2 * X[:, 0] * X[:, 1] - 0.5 * X[:, 2] ** 2
    with pytest.warns(match="floor"):
        model = RelevanceVectorRegressor(Columns(degree=2), prior="bic").fit(X, y)
    assert model.formula() == "y ≈ 1.25 − 0.5·x2² + 2·x0·x1"
    assert model.formula(style="latex") == r"y \approx 1.25 - 0.5\,x_{2}^{2} + 2\,x_{0}\,x_{1}"
    assert model.formula(style="python", precision=3) == "1.25 - 0.5*x2**2 + 2.0*x0*x1"
    assert model.formula(input_features=["a", "b c", "d_1"]) == "y ≈ 1.25 − 0.5·d_1² + 2·a·[b c]"
    latex = model.formula(style="latex", input_features=["a", "50 %", "d_1"])
    assert latex == r"y \approx 1.25 - 0.5\,\mathrm{d\_1}^{2} + 2\,\mathrm{a}\,\mathrm{[50\ \%]}"


@pytest.mark.parametrize("names", [["age", "height", "class"], ["a b", "x²", "'\"\\"], ["ﬁ", "b", "c"]])
def test_columns_of_a_data_frame(names):
    """Names that can be those of variables are, else an input is an item of X."""
    X, y = _rows()
    frame = pd.DataFrame(X, columns=names)
    model = SparseBayesRegressor(prior="uniform").fit(frame, y)
    text = model.formula(style="python")
    value = eval(text, {"__builtins__": {}}, {"X": frame})
    np.testing.assert_allclose(np.broadcast_to(value, len(X)), model.predict(frame))
    plain = frame.set_axis(["age", "height", "größe"], axis=1)
    model = SparseBayesRegressor(prior="uniform").fit(plain, y)
    assert "X[" not in model.formula(style="python")
    np.testing.assert_allclose(plain.eval(model.formula(style="python")), model.predict(plain))


def test_kernels_have_names_in_a_formula():
    X, y = _rows()
    model = RelevanceVectorRegressor(RBF(0.5) + Columns(degree=2)).fit(X, y)
    for name in model.get_feature_names_out():
        assert name in model.formula()
    with pytest.raises(ValueError, match="products of them, got 'RBF at row"):
        model.formula(style="python")
    transformed = RelevanceVectorRegressor(Columns(transformer=SplineTransformer()), prior="bic").fit(X, y)
    assert "x0_sp_1" in transformed.formula()
    with pytest.raises(ValueError, match="needs functions that are columns of X"):
        transformed.formula(style="python")


def test_a_model_without_functions():
    X, _ = _rows()
    with pytest.warns(match="y"):
        model = SparseBayesRegressor().fit(X, np.full(80, -2.5))
    assert model.formula() == "y ≈ −2.5"
    assert model.formula(style="python") == "-2.5"


def test_wrong_arguments():
    X, y = _rows()
    model = SparseBayesRegressor().fit(X, y)
    with pytest.raises(ValueError, match="style must be one of"):
        model.formula(style="html")
    with pytest.raises(ValueError, match="precision must be"):
        model.formula(precision=0)
    with pytest.raises(ValueError, match="names of inputs that differ"):
        model.formula(style="python", input_features=["a", "a", "b"])
    with pytest.raises(NotFittedError):
        SparseBayesRegressor().formula()
    assert not hasattr(SparseRecovery(), "formula")
