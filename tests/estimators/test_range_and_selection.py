"""Predictions outside the range of the data are warned of; collapsed models and Pipelines in a selection."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    ExtrapolationWarning,
    NoiseCollapseWarning,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    select,
)
from sparsebayes.datasets import make_sinc

OUTSIDE = pytest.mark.filterwarnings("error::sparsebayes.ExtrapolationWarning")


@OUTSIDE
@pytest.mark.parametrize("gamma", [None, "ard", 0.1])
def test_a_query_outside_by_more_than_a_width_is_warned_of(gamma):
    X, y, _ = make_sinc(100, random_state=0)
    model = RelevanceVectorRegressor(gamma=gamma).fit(X, y)
    model.predict(X, return_std=True)
    model.predict([[10.5]])
    with pytest.raises(
        ExtrapolationWarning,
        match=r"training rows, which lie between -10 and 10 in input 0.*"
        r"RBF\(\) \+ Columns\(degree=1\), both from sparsebayes",
    ):
        model.predict([[0.0], [40.0]])


@OUTSIDE
def test_columns_and_splines_extrapolate_without_a_word():
    X, y, _ = make_sinc(60, random_state=0)
    for model in (SparseBayesRegressor(), RelevanceVectorRegressor("linear-spline")):
        model.fit(X, y).predict([[40.0]])


def test_a_collapsed_model_ranks_behind_all_others():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = X[:, 0] + 0.5 * rng.standard_normal(60)
    narrow, wide = RelevanceVectorRegressor(gamma=20.0), RelevanceVectorRegressor(gamma=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(X, y, [narrow, wide])
    assert [row["collapsed"] for row in found.table] == [False, True]
    assert found.best_index_ == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Every candidate has collapsed", NoiseCollapseWarning)
        with pytest.raises(NoiseCollapseWarning, match="Every candidate has collapsed"):
            select(X, y, [narrow])


def test_pipelines_are_candidates():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 3)) * [1.0, 100.0, 0.01]
    y = np.sin(X[:, 0]) + 0.01 * X[:, 1] + 0.1 * rng.standard_normal(80)
    plain = RelevanceVectorRegressor(gamma=0.3)
    found = select(X, y, [plain, make_pipeline(StandardScaler(), plain)])
    assert found.best_index_ == 1
    assert found.best_estimator_.score(X, y) > 0.9
    with pytest.raises(TypeError, match="Pipelines that end in one"):
        select(X, y, [StandardScaler()])
