"""The order of many rows, the sign of the target and the order of the classes do not matter."""

from functools import cache

import numpy as np
import pytest
from metamorphic.problems import (
    KERNEL_CLASSIFIERS,
    KERNEL_MACHINES,
    LINEAR_CLASSIFIERS,
    LINEAR_MODELS,
    class_table,
    classes,
    surface,
    table,
)
from metamorphic.transformations import TARGETS, Data, permuted
from sklearn.base import clone

from sparsebayes import RBF, RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor, fit
from sparsebayes.datasets import make_ripley, make_sinc2d

REGRESSORS = KERNEL_MACHINES | LINEAR_MODELS
CLASSIFIERS = KERNEL_CLASSIFIERS | LINEAR_CLASSIFIERS
MANY = 1600  # more rows than a kernel matrix is formed for


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", REGRESSORS)
def test_sign_of_y(name, seed):
    data = Data(*(surface(seed) if name in KERNEL_MACHINES else table(seed)))
    plain = data.fitted(REGRESSORS[name])
    negated = TARGETS["sign of y"].change(data).fitted(REGRESSORS[name])
    mean, std = plain.predict(data.queries, return_std=True)
    negated_mean, negated_std = negated.predict(data.queries, return_std=True)
    close = 1e-4 if "GeneralizedNormal" in name or "spline" in name else 1e-6
    np.testing.assert_allclose(-negated_mean, mean, rtol=close, atol=close)
    np.testing.assert_allclose(negated_std, std, rtol=close, atol=close)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_order_of_classes(name, K, seed):
    data = Data(*(classes(seed, K) if name in KERNEL_CLASSIFIERS else class_table(seed, K)))
    order = np.random.default_rng(seed + 5).permutation(K) if K > 2 else np.array([1, 0])
    plain = data.fitted(CLASSIFIERS[name])
    swapped = Data(data.X, order[data.y], data.queries).fitted(CLASSIFIERS[name])
    np.testing.assert_allclose(
        swapped.predict_proba(data.queries)[:, order], plain.predict_proba(data.queries), atol=1e-5
    )


FUNCTIONS = {
    "tall": lambda X: X,
    "wide": lambda X: np.tanh(X @ np.random.default_rng(0).standard_normal((X.shape[1], 150))),
    "kernel": lambda X: RBF(0.3).bind(X)(X),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("prior", ["uniform", "bic"])
@pytest.mark.parametrize("design", FUNCTIONS)
def test_order_of_classes_of_fit(design, prior, K, seed):
    X, y, _ = class_table(seed, K)
    Phi, order = FUNCTIONS[design](X), np.roll(np.arange(K), 1)
    options = {"likelihood": "bernoulli" if K == 2 else "multinomial", "prior": prior, "fit_intercept": True}
    plain, swapped = (fit(Phi, labels, **options) for labels in (y, order[y]))
    np.testing.assert_array_equal(np.unique(swapped.active), np.unique(plain.active))
    np.testing.assert_allclose(
        swapped.probabilities(Phi[:, swapped.active])[:, order], plain.probabilities(Phi[:, plain.active]), atol=1e-6
    )
    assert swapped.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_swapped_labels_of_noisy_problems(seed):
    """Three inputs, two of which act together."""
    rng = np.random.default_rng(28 + seed)
    X = rng.standard_normal((int(rng.integers(20, 120)), 3))
    y = (X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(len(X)) > 0).astype(int)
    plain, swapped = (RelevanceVectorClassifier().fit(X, labels) for labels in (y, 1 - y))
    np.testing.assert_allclose(swapped.predict_proba(X)[:, ::-1], plain.predict_proba(X), atol=1e-5)


MANY_ROWS = {
    "rbf": RelevanceVectorRegressor(gamma=0.16),
    'gamma="scale"': RelevanceVectorRegressor(prior="bic"),
    "matern": RelevanceVectorRegressor("matern", gamma=0.05, prior="bic"),
    "columns": SparseBayesRegressor(),
}


@cache
def _many(name: str, seed: int) -> Data:
    X, y, _ = make_sinc2d(MANY, noise=0.1, random_state=seed)
    return Data(X, y, X[:200] + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", MANY_ROWS)
def test_order_of_many_rows(name, seed):
    data = _many(name, seed)
    plain, shuffled = (each.fitted(MANY_ROWS[name]) for each in (data, permuted(data)))
    assert shuffled.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-4)
    for ours, theirs in zip(
        shuffled.predict(data.queries, return_std=True), plain.predict(data.queries, return_std=True), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_order_of_many_rows_of_classes():
    X, y, _ = make_ripley(n=MANY, random_state=0)
    data = Data(X, y, X[:200])
    model = RelevanceVectorClassifier(gamma=1.0)
    plain, shuffled = (each.fitted(model) for each in (data, permuted(data)))
    np.testing.assert_allclose(shuffled.predict_proba(X[:200]), plain.predict_proba(X[:200]), atol=1e-5)
    swapped = clone(model).fit(X, 1 - y)
    np.testing.assert_allclose(swapped.predict_proba(X[:200])[:, ::-1], plain.predict_proba(X[:200]), atol=1e-5)
