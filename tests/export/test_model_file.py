"""Model files: what `load` gives is what `save` was given, to the last bit."""

import io

import numpy as np
import pytest

import sparsebayes
from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor


def reloaded(model):
    file = io.BytesIO()
    sparsebayes.save(model, file)
    return sparsebayes.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("variance", ["posterior", "augmented", "gp"])
def test_kernel_regression(variance):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (40, 2))
    y = np.sinc(X[:, 0]) + 0.1 * rng.standard_normal(40)
    model = RelevanceVectorRegressor(variance=variance, gamma="evidence" if variance == "gp" else None).fit(X, y)
    same = reloaded(model)
    for a, b in zip(model.predict(X, return_std=True), same.predict(X, return_std=True), strict=True):
        np.testing.assert_array_equal(a, b)
    assert repr(same) == repr(model)


def test_labels_of_text_and_columns():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (60, 2))
    model = RelevanceVectorClassifier().fit(X, np.where(X[:, 0] > 0, "right", "left"))
    same = reloaded(model)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert reloaded(SparseBayesRegressor(tol=1e-4)).get_params() == SparseBayesRegressor(tol=1e-4).get_params()
