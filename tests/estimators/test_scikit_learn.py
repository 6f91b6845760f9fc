"""The estimators keep scikit-learn's conventions, without exception."""

import doctest
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from fitted import learned
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import sparsebayes
from sparsebayes import (
    RBF,
    ActiveSet,
    Bias,
    Columns,
    FixedPoint,
    GeneralizedNormal,
    Precomputed,
    RelevanceVectorRegressor,
    Smoothness,
    SparseBayesRegressor,
)

ESTIMATORS = [RelevanceVectorRegressor, SparseBayesRegressor]
VARIATIONS = [
    RelevanceVectorRegressor(),
    SparseBayesRegressor(),
    RelevanceVectorRegressor("precomputed"),
    RelevanceVectorRegressor("linear", fit_intercept=False),
    RelevanceVectorRegressor(RBF() + Columns() + Bias(), variance="augmented"),
    SparseBayesRegressor(solver="mackay", prior="bic", fit_intercept=False),
    RelevanceVectorRegressor(likelihood=GeneralizedNormal(4.0)),
    SparseBayesRegressor(likelihood=GeneralizedNormal("evidence")),
]
# the checks fit targets without noise, skip one check unless SciPy is told of array libraries, and call
# partial_fit after fit
quiet = [
    pytest.mark.filterwarnings("ignore::sparsebayes.NoiseCollapseWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore:partial_fit starts anew:UserWarning"),
]


def _problem(seed: int = 0, n: int = 40, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)


def _assert_same_model(a: object, b: object) -> None:
    first, second = learned(a), learned(b)
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


class TestChecks:
    pytestmark = quiet

    @parametrize_with_checks(VARIATIONS)
    def test_every_check(self, estimator, check):
        check(estimator)

    @pytest.mark.parametrize("estimator", ESTIMATORS)
    def test_check_estimator(self, estimator):
        results = check_estimator(estimator())
        assert {result["status"] for result in results} <= {"passed", "skipped"}


def test_tags_say_what_is_accepted():
    assert get_tags(SparseBayesRegressor()).input_tags.sparse
    assert not get_tags(RelevanceVectorRegressor()).input_tags.sparse
    for kernel in ("precomputed", Precomputed(), Precomputed() + Bias()):
        assert get_tags(RelevanceVectorRegressor(kernel)).input_tags.pairwise
    for kernel in ("rbf", RBF(), RBF() + Bias(), np.dot):
        assert not get_tags(RelevanceVectorRegressor(kernel)).input_tags.pairwise


def test_nested_parameters():
    model = RelevanceVectorRegressor(RBF(), prior=Smoothness(), solver=ActiveSet())
    model.set_params(kernel__gamma=0.7, prior__c=2.0, solver__batch=3)
    assert (model.kernel.gamma, model.prior.c, model.solver.batch) == (0.7, 2.0, 3)
    copy = clone(model)
    assert copy.kernel is not model.kernel
    assert copy.get_params()["kernel__gamma"] == 0.7
    parts = RelevanceVectorRegressor(RBF() + Bias()).set_params(kernel__part0__gamma=0.3)
    assert parts.kernel.parts[0].gamma == 0.3


@pytest.mark.parametrize(
    "model",
    [
        RelevanceVectorRegressor(variance="augmented"),
        RelevanceVectorRegressor(RBF(0.5) + Columns(2), solver=FixedPoint("mackay"), prior=Smoothness("bic")),
        SparseBayesRegressor(solver="sequential", random_state=3),
    ],
)
def test_pickles_and_refits_to_the_same_model(model):
    X, y = _problem()
    model = clone(model).fit(X, y)
    restored = pickle.loads(pickle.dumps(model))
    _assert_same_model(model, restored)
    again = clone(model).fit(X, y)
    _assert_same_model(model, again)
    _assert_same_model(model, model.fit(X, y))
    for other in (restored, again):
        for ours, theirs in zip(model.predict(X, return_std=True), other.predict(X, return_std=True), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_nothing_the_user_owns_is_changed(container):
    values, y = _problem()
    X, weights = container(values), np.arange(40.0) % 3
    kept = X.copy(), y.copy(), weights.copy()
    model = SparseBayesRegressor(prior=Smoothness(), solver=ActiveSet())
    parameters = repr(model.get_params())
    model.fit(X, y, sample_weight=weights).predict(X, return_std=True)
    difference = X - kept[0]
    assert not (difference.count_nonzero() if scipy.sparse.issparse(X) else difference.any())
    np.testing.assert_array_equal(y, kept[1])
    np.testing.assert_array_equal(weights, kept[2])
    assert repr(model.get_params()) == parameters


def test_read_only_input():
    X, y = _problem()
    X.flags.writeable = y.flags.writeable = False
    for model in (RelevanceVectorRegressor(variance="augmented"), SparseBayesRegressor()):
        model.fit(X, y).predict(X, return_std=True)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_feature_names_are_kept(frame, estimator):
    X, y = _problem()
    names = ["height", "age", "income"]
    data = frame(dict(zip(names, X.T, strict=True)))
    model = estimator().fit(data, y)
    assert model.feature_names_in_.tolist() == names
    # frames are stored by columns, so that sums may round otherwise
    np.testing.assert_allclose(model.predict(data), estimator().fit(X, y).predict(X), rtol=1e-7)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(data[["age", "height", "income"]])


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # a width of the search is far too small
def test_in_pipelines_and_searches():
    X, y = _problem(n=60)
    pipeline = make_pipeline(StandardScaler(), RelevanceVectorRegressor())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5
    model = RelevanceVectorRegressor(RBF(), noise_variance=0.01)
    search = GridSearchCV(model, {"kernel__gamma": [0.1, 1e3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernel__gamma": 0.1}


def test_cross_validation_of_a_precomputed_kernel_equals_that_of_the_kernel():
    X, y = _problem(n=60)
    matrix = RBF(0.2).bind(X)(X)
    np.testing.assert_allclose(
        cross_val_score(RelevanceVectorRegressor("precomputed"), matrix, y, cv=3),
        cross_val_score(RelevanceVectorRegressor(gamma=0.2), X, y, cv=3),
        rtol=1e-6,
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_documentation(estimator):
    X, y = _problem()
    attributes = {name for name in vars(estimator().fit(X, y)) if name.endswith("_")}
    for name in attributes | estimator().get_params().keys() | {"feature_names_in_"}:
        assert f"\n    {name} : " in estimator.__doc__, name
    examples = doctest.DocTestFinder().find(estimator, globs={})
    runner = doctest.DocTestRunner()
    assert all(runner.run(example).failed == 0 for example in examples)
    assert runner.tries > 0


def test_public_names():
    assert sorted(sparsebayes.__all__) == sorted(set(sparsebayes.__all__))
    assert all(hasattr(sparsebayes, name) for name in sparsebayes.__all__)
    public = {
        name
        for name, value in vars(sparsebayes).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("sparsebayes")
    }
    assert public | {"__version__"} == set(sparsebayes.__all__)
    assert sparsebayes.__version__[0].isdigit()
