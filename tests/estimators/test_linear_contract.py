"""The linear estimators keep scikit-learn's contract of linear models: coef_ has one entry per column."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor, BaggingRegressor, StackingRegressor
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import PartialDependenceDisplay, permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_score, cross_validate
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 10))
Y = 5 * X[:, 0] + 3 * X[:, 1] + 0.1 * RNG.standard_normal(200)
LABELS = (2 * X[:, 0] - 2 * X[:, 1] + RNG.logistic(size=200) > 0).astype(int)
THREE = np.argmax(3 * X[:, :3] + RNG.gumbel(size=(200, 3)), axis=1)
FRAME = pd.DataFrame(X, columns=[f"column {j}" for j in range(10)])


def regressor(**parameters):
    return SparseBayesRegressor(prior="ric", **parameters)


def classifier(**parameters):
    return SparseBayesClassifier(prior="bic", **parameters)


@pytest.mark.parametrize("chunks", [False, True])
def test_weights_of_all_columns(chunks):
    model = regressor().fit([(X[:90], Y[:90]), (X[90:], Y[90:])]) if chunks else regressor().fit(X, Y)
    assert model.coef_.shape == (10,)
    np.testing.assert_array_equal(np.flatnonzero(model.coef_), model.relevance_)
    np.testing.assert_array_equal(model.coef_[model.relevance_], model.active_coef_)
    assert model.covariance_.shape == (len(model.active_coef_),) * 2 == (len(model.relevance_),) * 2
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
def test_weights_of_all_columns_in_every_output(y):
    model = classifier(moderated=False).fit(X, y)
    outputs = 1 if y.max() == 1 else 3
    assert model.coef_.shape == (outputs, 10)
    assert model.active_coef_.shape == (outputs, len(model.relevance_))
    np.testing.assert_array_equal(model.coef_[:, model.relevance_], model.active_coef_)
    decisions = (X @ model.coef_.T + model.intercept_).reshape(model.decision_function(X).shape)
    np.testing.assert_allclose(decisions, model.decision_function(X), rtol=1e-9, atol=1e-12)


def test_select_from_model():
    np.testing.assert_array_equal(SelectFromModel(regressor()).fit(X, Y).get_support(indices=True), [0, 1])
    np.testing.assert_array_equal(SelectFromModel(classifier()).fit(X, LABELS).get_support(indices=True), [0, 1])
    assert SelectFromModel(classifier()).fit(X, THREE).transform(X).shape[1] < 10


@pytest.mark.parametrize("select", [RFE, SequentialFeatureSelector])
def test_feature_selection(select):
    np.testing.assert_array_equal(select(regressor(), n_features_to_select=2).fit(X, Y).get_support(True), [0, 1])
    chosen = select(classifier(), n_features_to_select=2).fit(X[:, :5], LABELS)
    np.testing.assert_array_equal(chosen.get_support(True), [0, 1])


def test_recursive_elimination_by_cross_validation():
    found = RFECV(regressor(), cv=3).fit(X, Y).get_support(True)
    assert set(found) >= {0, 1}


@pytest.mark.filterwarnings("ignore")
def test_shap_explains_a_linear_model():
    shap = pytest.importorskip("shap", reason="shap is not installed")
    model = regressor().fit(X, Y)
    values = shap.LinearExplainer(model, X)(X[:5])
    np.testing.assert_allclose(values.base_values + values.values.sum(axis=1), model.predict(X[:5]), rtol=1e-6)
    assert not values.values[:, 2:].any()


def test_wrapped_regressors():
    several = MultiOutputRegressor(regressor()).fit(
        X, np.column_stack([Y, 2 * X[:, 3] + 0.1 * RNG.standard_normal(200)])
    )
    assert several.predict(X).shape == (200, 2)
    np.testing.assert_array_equal(several.estimators_[0].relevance_, [0, 1])
    target = TransformedTargetRegressor(regressor(), func=np.sinh, inverse_func=np.arcsinh, check_inverse=False)
    assert target.fit(X, np.arcsinh(Y)).score(X, np.arcsinh(Y)) > 0.9
    stack = StackingRegressor([("sparse", regressor()), ("ridge", Ridge())], final_estimator=regressor(), cv=3)
    assert stack.fit(X, Y).score(X, Y) > 0.99
    assert BaggingRegressor(regressor(), 3, random_state=0).fit(X, Y).score(X, Y) > 0.99
    assert AdaBoostRegressor(regressor(), n_estimators=3, random_state=0).fit(X, Y).score(X, Y) > 0.99


@pytest.mark.parametrize("base", [classifier(), RelevanceVectorClassifier(gamma=0.1)])
@pytest.mark.parametrize("y", [LABELS, THREE], ids=["two", "three"])
def test_boosted_classifiers(base, y):
    """AdaBoost's weights sum to 1."""
    model = AdaBoostClassifier(base, n_estimators=3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    assert len(model.estimators_) == 3


def test_wrapped_classifiers():
    for y in (LABELS, THREE):
        assert CalibratedClassifierCV(classifier(), cv=3).fit(X, y).predict_proba(X).shape == (200, y.max() + 1)
    assert TunedThresholdClassifierCV(classifier(), cv=3).fit(X, LABELS).score(X, LABELS) > 0.8


def test_pipelines_of_data_frames():
    pipeline = make_pipeline(StandardScaler(), SelectFromModel(regressor()), regressor()).set_output(transform="pandas")
    pipeline.fit(FRAME, Y)
    assert list(pipeline[-1].feature_names_in_) == ["column 0", "column 1"]
    assert list(pipeline[:-1].transform(FRAME).columns) == ["column 0", "column 1"]


@pytest.mark.parametrize("model", [regressor(), RelevanceVectorRegressor(gamma=0.01)])
def test_metadata_routing(model):
    weights, noise = RNG.integers(1, 3, 200), RNG.uniform(0.01, 0.02, 200)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = model.set_fit_request(sample_weight=True, noise_variance=True).set_score_request(sample_weight=False)
        metadata = {"sample_weight": weights, "noise_variance": noise}
        found = cross_validate(routed, X, Y, cv=3, params=metadata, return_estimator=True, return_indices=True)
        for fitted, train in zip(found["estimator"], found["indices"]["train"], strict=True):
            np.testing.assert_array_equal(fitted.noise_variance_, noise[train])
        search = GridSearchCV(routed, {"prior": ["aic", "bic"]}, cv=3).fit(X, Y, **metadata)
        assert search.best_score_ > 0.9
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed)
        np.testing.assert_array_equal(pipeline.fit(X, Y, **metadata)[-1].noise_variance_, noise)


def test_inspection():
    model = regressor().fit(FRAME, Y)
    importance = permutation_importance(model, FRAME, Y, n_repeats=3, random_state=0).importances_mean
    assert set(np.argsort(importance)[-2:]) == {0, 1}
    assert not importance[2:].any()
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
    display = PartialDependenceDisplay.from_estimator(model, FRAME, ["column 0", "column 5"])
    rise = [np.ptp(result["average"]) for result in display.pd_results]
    assert rise[0] > 5
    assert rise[1] == 0
    assert cross_val_score(classifier(), FRAME, LABELS, cv=3).mean() > 0.7
