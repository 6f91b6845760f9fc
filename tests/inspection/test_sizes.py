import sys

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsebayes import RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes.datasets import make_sinc
from sparsebayes.inspection import SparsityPathDisplay


def fitted(**parameters):
    X, y, _ = make_sinc(80, random_state=0)
    return RelevanceVectorRegressor(gamma=0.1, **parameters).fit(X, y), X, y


def test_the_lines_are_the_path_and_the_points_the_model():
    model, X, y = fitted()
    display, path = SparsityPathDisplay.from_estimator(model, X, y), model.path(X, y)
    np.testing.assert_array_equal(display.evidence_line_.get_xydata(), np.c_[path.size, path.log_evidence])
    np.testing.assert_array_equal(display.error_line_.get_xydata(), np.c_[path.size, path.leave_one_out_error])
    np.testing.assert_allclose(display.evidence_point_.get_offsets(), [[len(model.relevance_), model.log_evidence_]])
    assert list(display.size_line_.get_xdata()) == [len(model.relevance_)] * 2


def test_a_limited_model_is_marked_on_the_path_without_the_limit():
    model, X, y = fitted(max_vectors=3)
    display = SparsityPathDisplay.from_estimator(model, X, y)
    free = fitted()[0]
    assert display.size == 3 < display.path.size[-1] == len(free.relevance_)
    assert display.log_evidence == pytest.approx(model.log_evidence_)
    assert display.log_evidence >= display.path.log_evidence[display.path.size == 3][0] - 1e-6
    assert model.max_vectors == 3
    assert len(model.relevance_) == 3


def test_the_model_in_a_pipeline_or_a_search_is_followed():
    model, X, y = fitted()
    wanted = SparsityPathDisplay.from_estimator(model, X, y)
    for whole in (
        make_pipeline(FunctionTransformer(), clone(model)),
        GridSearchCV(clone(model), {"gamma": [0.1]}, cv=2),
    ):
        display = SparsityPathDisplay.from_estimator(whole.fit(X, y), X, y)
        np.testing.assert_allclose(display.path.log_evidence, wanted.path.log_evidence)


def test_one_function_is_counted_as_one():
    X = np.random.default_rng(0).standard_normal((40, 8))
    y = X[:, 0] + 0.1 * np.random.default_rng(1).standard_normal(40)
    display = SparsityPathDisplay.from_estimator(SparseBayesRegressor(max_vectors=1).fit(X, y), X, y)
    assert display.size_line_.get_label() == "the model: 1 function"


def test_weights_reach_both_fits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 12))
    y, weights = X[:, :6] @ np.arange(1.0, 7.0) + 0.1 * rng.standard_normal(40), rng.integers(0, 3, 40)
    model = SparseBayesRegressor(max_vectors=4).fit(X, y, weights)
    display = SparsityPathDisplay.from_estimator(model, X, y, sample_weight=weights)
    free = SparseBayesRegressor().fit(X, y, weights)
    np.testing.assert_allclose(display.path.log_evidence[-1], free.log_evidence_)
    variances = np.full(40, 0.01)
    known = SparseBayesRegressor(max_vectors=4).fit(X, y, noise_variance=variances)
    assert SparsityPathDisplay.from_estimator(known, X, y, noise_variance=variances).size == 4


def test_it_draws_where_it_is_told_to_and_again():
    model, X, y = fitted()
    _, ax = pyplot.subplots()
    display = SparsityPathDisplay.from_estimator(model, X, y, ax=ax)
    assert display.ax_ is ax
    assert display.error_ax_.figure is display.figure_ is ax.figure
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "log evidence",
        "leave-one-out error",
        f"the model: {len(model.relevance_)} functions",
    ]
    assert display.plot() is display
    assert display.ax_ is not ax


def test_bad_input_is_named(monkeypatch):
    model, X, y = fitted()
    with pytest.raises(NotFittedError):
        SparsityPathDisplay.from_estimator(RelevanceVectorRegressor(), X, y)
    with pytest.raises(ValueError, match="must be those of fit"):
        SparsityPathDisplay.from_estimator(model, X, y**2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'sparsebayes\[plot\]'"):
        SparsityPathDisplay.from_estimator(model, X, y)
