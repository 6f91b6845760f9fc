"""Fitted estimators name the functions that they have selected."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sparsebayes import (
    RBF,
    Columns,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
    Spike,
    Wavelet,
)


def _rows(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 1] - 2 * X[:, 2] + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_names_of_rows_are_relevance(seed, weights, kernel):
    """The number in the name is that of the row as it was given, though rows are sorted and some do not count."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (60, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    K = np.exp(-((X - X.T) ** 2))
    counts = rng.integers(0, 3, 60) if weights else None
    model = RelevanceVectorRegressor(kernel, gamma=1.0).fit(K if kernel == "precomputed" else X, y, counts)
    label = "RBF" if kernel == "rbf" else "kernel"
    assert model.get_feature_names_out().tolist() == [f"{label} at row {n}" for n in model.relevance_]
    assert len(model.relevance_) > 1
    if kernel == "rbf":
        np.testing.assert_array_equal(X[model.relevance_], model.relevance_vectors_)


@pytest.mark.parametrize("seed", range(3))
def test_names_in_a_concatenation(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (80, 2))
    y = 2 * X[:, 0] * X[:, 1] + np.exp(-4 * ((X - X[17]) ** 2).sum(axis=1)) + 0.05 * rng.standard_normal(80)
    model = RelevanceVectorRegressor(RBF(4.0) + Columns(degree=2), prior="bic").fit(X, y)
    names, products = model.get_feature_names_out(), ["x0", "x1", "x0²", "x1²", "x0·x1"]
    expected = [f"RBF at row {m}" if m < 80 else products[m - 80] for m in model.relevance_]
    assert names.tolist() == expected
    assert "x0·x1" in names


def test_names_of_columns():
    X, y = _rows()
    frame = pd.DataFrame(X, columns=["age", "height", "weight", "score"])
    model = SparseBayesRegressor(prior="bic").fit(frame, y)
    assert model.get_feature_names_out().tolist() == ["height", "weight"]
    with pytest.raises(ValueError, match=r"input_features must be those of the data frame.*got 'a' in place of 'age'"):
        model.get_feature_names_out(["a", "b", "c", "d"])
    with pytest.raises(ValueError, match=r"input_features must be those of the data frame.*got 2 names for 4 columns"):
        model.get_feature_names_out(["age", "height"])
    model.fit(X, y)
    assert model.get_feature_names_out().tolist() == ["x1", "x2"]
    assert model.get_feature_names_out(["a", "b", "c", "d"]).tolist() == ["b", "c"]
    with pytest.raises(ValueError, match="one name for each of 4 inputs, got 1"):
        model.get_feature_names_out(["a"])


def test_pipeline():
    X, y = _rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipe = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), SparseBayesRegressor(prior="bic"))
    assert pipe.fit(frame, y).get_feature_names_out().tolist() == ["b", "c"]


def test_several_outputs():
    X, y = _rows()
    Y = np.column_stack([y, X[:, 0] + 0.1 * np.random.default_rng(3).standard_normal(60)])
    for joint in (True, False):
        model = SparseBayesRegressor(prior="bic", joint=joint).fit(X, Y)
        assert model.get_feature_names_out().tolist() == ["x0", "x1", "x2"]


def test_classifiers():
    X, y = _rows()
    for labels in (y > 0, np.digitize(y, [-1, 1])):
        columns = SparseBayesClassifier(prior="bic").fit(X, labels)
        assert columns.get_feature_names_out().tolist() == [f"x{m}" for m in columns.relevance_]
        model = RelevanceVectorClassifier(gamma=0.5).fit(X, labels)
        assert model.get_feature_names_out().tolist() == [f"RBF at row {n}" for n in model.relevance_]


def test_samples_in_any_order():
    """A spike is named by its place, whatever row it was in."""
    rng = np.random.default_rng(0)
    t = rng.permutation(64) / 64.0
    y = np.cos(2 * np.pi * t) + 0.02 * rng.standard_normal(64)
    y[t == 0.25] += 5.0
    model = RelevanceVectorRegressor(Wavelet("sym8") + Spike(), prior="bic").fit(t[:, None], y)
    assert "spike at 0.25" in model.get_feature_names_out()


def test_recovery():
    rng = np.random.default_rng(0)
    Phi = np.exp(2j * np.pi * np.outer(np.arange(50), np.arange(100) / 100))
    y = 2 * Phi[:, 10] - 1j * Phi[:, 45] + 0.1 * rng.standard_normal(50)
    model = SparseRecovery().fit(Phi, y)
    assert model.get_feature_names_out().tolist() == ["atom 10", "atom 45"]
    assert model.get_feature_names_out([f"{k} Hz" for k in range(100)]).tolist() == ["10 Hz", "45 Hz"]


def test_not_fitted():
    for model in (SparseBayesRegressor(), RelevanceVectorClassifier(), SparseRecovery()):
        with pytest.raises(NotFittedError):
            model.get_feature_names_out()
