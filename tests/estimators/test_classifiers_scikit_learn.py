"""The classifiers keep scikit-learn's conventions, without exception."""

import doctest
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from fitted import learned
from sklearn.base import clone, is_classifier
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsebayes import (
    RBF,
    ActiveSet,
    Bias,
    Columns,
    FixedPoint,
    Precomputed,
    RelevanceVectorClassifier,
    Smoothness,
    SparseBayesClassifier,
)

ESTIMATORS = [RelevanceVectorClassifier, SparseBayesClassifier]
VARIATIONS = [
    RelevanceVectorClassifier(),
    SparseBayesClassifier(),
    SparseBayesClassifier(class_weight="balanced"),
    RelevanceVectorClassifier("linear", moderated=False),
    RelevanceVectorClassifier(RBF() + Columns() + Bias(), fit_intercept=False, class_weight="balanced"),
]
every_class = pytest.mark.parametrize("estimator", ESTIMATORS)


def _problem(seed: int = 0, n: int = 60, K: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes along the first two columns, and a third that says nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.standard_normal((n, 3))
    X[:, 0] += 2.0 * np.cos(2 * np.pi * y / K)
    X[:, 1] += 2.0 * np.sin(2 * np.pi * y / K)
    return X, y


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(VARIATIONS)
def test_every_check(estimator, check):
    check(estimator)


def test_tags_say_what_is_accepted():
    assert all(is_classifier(estimator()) for estimator in ESTIMATORS)
    assert get_tags(SparseBayesClassifier()).input_tags.sparse
    assert not get_tags(RelevanceVectorClassifier()).input_tags.sparse
    for kernel in ("precomputed", Precomputed(), Precomputed() + Bias()):
        assert get_tags(RelevanceVectorClassifier(kernel)).input_tags.pairwise
    assert not get_tags(RelevanceVectorClassifier(RBF() + Bias())).input_tags.pairwise


def test_nested_parameters():
    model = RelevanceVectorClassifier(RBF(), prior=Smoothness(), solver=ActiveSet())
    model.set_params(kernel__gamma=0.7, prior__c=2.0, solver__batch=3)
    assert (model.kernel.gamma, model.prior.c, model.solver.batch) == (0.7, 2.0, 3)
    copy = clone(model)
    assert copy.kernel is not model.kernel
    assert copy.get_params()["kernel__gamma"] == 0.7
    parts = RelevanceVectorClassifier(RBF() + Bias()).set_params(kernel__part0__gamma=0.3)
    assert parts.kernel.parts[0].gamma == 0.3


@pytest.mark.parametrize(
    "model",
    [
        RelevanceVectorClassifier(RBF(0.5) + Columns(2), solver=FixedPoint("mackay"), prior=Smoothness("bic")),
        RelevanceVectorClassifier(moderated=False),
        SparseBayesClassifier(solver="sequential", random_state=3),
    ],
)
@pytest.mark.parametrize("K", [2, 3])
def test_pickles_and_refits_to_the_same_model(model, K):
    X, y = _problem(K=K)
    model = clone(model).fit(X, y)
    expected = learned(model)
    for other in (
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(X, y),
        clone(model).fit(X, 1 - y).fit(X, y),
    ):
        actual = learned(other)
        assert actual.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_array_equal(actual[name], value, err_msg=name)
        np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_nothing_the_user_owns_is_changed(container):
    values, y = _problem(K=3)
    X, weights = container(values), np.arange(60.0) % 3
    y = np.random.default_rng(1).permutation(y)
    kept = X.copy(), y.copy(), weights.copy()
    class_weight = {0: 2.0}
    model = SparseBayesClassifier(prior=Smoothness(), solver=ActiveSet(), class_weight=class_weight)
    parameters = repr(model.get_params())
    model.fit(X, y, sample_weight=weights).predict_proba(X)
    difference = X - kept[0]
    assert not (difference.count_nonzero() if scipy.sparse.issparse(X) else difference.any())
    np.testing.assert_array_equal(y, kept[1])
    np.testing.assert_array_equal(weights, kept[2])
    assert repr(model.get_params()) == parameters


@every_class
def test_read_only_input(estimator):
    X, y = _problem()
    X.flags.writeable = y.flags.writeable = False
    estimator().fit(X, y).predict_log_proba(X)


@pytest.mark.parametrize("library", [pd, pl])
@every_class
@pytest.mark.parametrize("K", [2, 3])
def test_frames_and_series(library, estimator, K):
    X, y = _problem(K=K)
    names = ["height", "age", "income"]
    labels = np.array(["low", "medium", "high"])[y]
    data = library.DataFrame(dict(zip(names, X.T, strict=True)))
    model = estimator().fit(data, library.Series(labels.tolist()))
    assert model.feature_names_in_.tolist() == names
    plain = estimator().fit(X, labels)
    assert model.classes_.tolist() == plain.classes_.tolist()
    # frames are stored by columns, so that sums may round otherwise
    np.testing.assert_allclose(model.predict_proba(data), plain.predict_proba(X), rtol=1e-5, atol=1e-8)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(data[["age", "height", "income"]])


def test_nullable_and_categorical_series():
    X, y = _problem(K=3)
    plain = SparseBayesClassifier().fit(X, y)
    nullable = SparseBayesClassifier().fit(X, pd.Series(y, dtype="Int64"))
    categories = pd.Series(pd.Categorical.from_codes(y, ["a", "b", "c"]))
    categorical = SparseBayesClassifier().fit(X, categories)
    assert categorical.classes_.tolist() == ["a", "b", "c"]
    for model in (nullable, categorical):
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_in_pipelines_and_searches():
    X, y = _problem(n=90, K=3)
    pipeline = make_pipeline(StandardScaler(), RelevanceVectorClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.7
    assert cross_val_score(pipeline, X, y, cv=3, scoring="neg_log_loss").mean() > -0.8
    model = RelevanceVectorClassifier(RBF())
    search = GridSearchCV(model, {"kernel__gamma": [0.1, 1e3]}, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_ == {"kernel__gamma": 0.1}
    assert search.predict(X[:2]).shape == (2,)


def test_area_under_the_curve_is_that_of_the_probabilities():
    X, y = _problem(n=80)
    model = RelevanceVectorClassifier(gamma=1.0).fit(X[:40], y[:40])
    by_score = roc_auc_score(y[40:], model.decision_function(X[40:]))
    assert by_score == roc_auc_score(y[40:], model.predict_proba(X[40:])[:, 1])
    assert by_score > 0.8


@pytest.mark.parametrize("K", [2, 3])
def test_cross_validation_of_a_precomputed_kernel_equals_that_of_the_kernel(K):
    X, y = _problem(K=K)
    matrix = rbf_kernel(X, gamma=0.2)
    np.testing.assert_allclose(
        cross_val_predict(RelevanceVectorClassifier("precomputed"), matrix, y, cv=3, method="predict_proba"),
        cross_val_predict(RelevanceVectorClassifier(gamma=0.2), X, y, cv=3, method="predict_proba"),
        rtol=1e-5,
        atol=1e-7,
    )


@every_class
def test_documentation(estimator):
    X, y = _problem()
    attributes = {name for name in vars(estimator().fit(X, y)) if name.endswith("_")}
    for name in attributes | estimator().get_params().keys() | {"feature_names_in_"}:
        assert f"\n    {name} : " in estimator.__doc__, name
    for method in ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert "Returns\n" in getattr(estimator, method).__doc__
    runner = doctest.DocTestRunner()
    examples = doctest.DocTestFinder().find(estimator, globs={})
    assert all(runner.run(example).failed == 0 for example in examples)
    assert runner.tries > 0
