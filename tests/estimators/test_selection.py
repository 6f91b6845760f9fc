"""Leave-one-out in closed form against fits without the row, and the choice between candidates."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sparsebayes import (
    RBF,
    Columns,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    select,
)
from sparsebayes.estimators._leave_one_out import leave_one_out
from sparsebayes.laplace import Bernoulli


def wave(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(n)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_regression_without_each_row(seed, intercept):
    """Refit the weights (and the intercept) to the other rows, α and σ² as they are."""
    X, y = wave(seed)
    model = RelevanceVectorRegressor(fit_intercept=intercept).fit(X, y)
    Phi, noise = model._fitted.basis(X), model.noise_variance_
    design = np.column_stack([Phi, np.ones(len(y))]) if intercept else Phi
    precision = np.append(model.alpha_, 0.0) if intercept else model.alpha_
    errors, variances = [], []
    for n in range(len(y)):
        others = np.arange(len(y)) != n
        covariance = np.linalg.inv(np.diag(precision) + design[others].T @ design[others] / noise)
        weights = covariance @ design[others].T @ y[others] / noise
        errors.append(y[n] - design[n] @ weights)
        variances.append(noise + design[n] @ covariance @ design[n])
    found = leave_one_out(model, X, y)
    errors, variances = np.asarray(errors), np.asarray(variances)
    assert found.error == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-6)
    density = -0.5 * (np.log(2 * np.pi * variances) + errors**2 / variances)
    assert found.log_loss == pytest.approx(-density.mean(), rel=1e-6)


def overlapping(labels, n=60):
    rng = np.random.default_rng(labels)
    X = rng.standard_normal((n, 2))
    return X, np.digitize(X[:, 0] + 0.6 * rng.standard_normal(n), [0.0] if labels == 2 else [-0.5, 0.5])


@pytest.mark.parametrize("gamma", [0.1, 0.5])
def test_two_classes_without_each_row(gamma):
    """Against the mode found without the row, the functions and their α as they are."""
    X, y = overlapping(2)
    model = RelevanceVectorClassifier(gamma=gamma).fit(X, y)
    design = np.column_stack([model._fitted.basis(X), np.ones(len(y))])
    precision = np.append(model.alpha_[0], 0.0)
    losses = []
    for n in range(len(y)):
        others = np.arange(len(y)) != n
        mode, covariance = logistic_mode(design[others], y[others], precision)
        m, v = design[n] @ mode, design[n] @ covariance @ design[n]
        likelihood = Bernoulli()
        p = likelihood.mean(likelihood.moderated_output(np.asarray([[m]]), np.asarray([[[v]]])))[0, 0]
        losses.append(-np.log(p if y[n] else 1 - p))
    found = leave_one_out(model, X, y)
    trained = -np.mean(model.predict_log_proba(X)[np.arange(len(y)), y])
    assert found.log_loss == pytest.approx(np.mean(losses), rel=0.02)
    assert found.log_loss - trained == pytest.approx(np.mean(losses) - trained, rel=0.3)


def logistic_mode(design, y, precision):
    """The most probable weights under N(0, 1/precision), and the covariance there, by Newton's method."""
    w = np.zeros(design.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ w))
        covariance = np.linalg.inv(np.diag(precision) + (design.T * (p * (1 - p))) @ design)
        step = covariance @ (design.T @ (y - p) - precision * w)
        w = w + step * min(1.0, 2.0 / np.abs(design @ step).max())
    return w, covariance


def test_more_classes_without_each_row():
    X, y = overlapping(3, 120)
    model = RelevanceVectorClassifier().fit(X, y)
    found = leave_one_out(model, X, y)
    fresh = np.random.default_rng(9)
    X_new = fresh.standard_normal((4000, 2))
    y_new = np.digitize(X_new[:, 0] + 0.6 * fresh.standard_normal(4000), [-0.5, 0.5])
    trained, new = (-np.mean(model.predict_log_proba(A)[np.arange(len(b)), b]) for A, b in ((X, y), (X_new, y_new)))
    assert trained < found.log_loss < 1.2 * new
    assert 0 < found.error < 1.2 * np.mean(model.predict(X_new) != y_new)


@pytest.mark.parametrize("by", ["evidence", "loo"])
def test_the_winner_comes_first_and_fitted(by):
    X, y = wave(1, 80)
    candidates = [
        ("straight", SparseBayesRegressor()),
        RelevanceVectorRegressor(gamma=1.0),
        ("narrow", RelevanceVectorRegressor(gamma=1e3, prior="bic")),
        ("both", RelevanceVectorRegressor(RBF(1.0) + Columns(), prior="aic")),
    ]
    chosen = select(X, y, candidates, by=by)
    names = [row["candidate"] for row in chosen.table]
    assert sorted(row["index"] for row in chosen.table) == [0, 1, 2, 3]
    assert names[0] in ("both", "RelevanceVectorRegressor(gamma=1.0)")
    assert chosen.best_index_ == chosen.table[0]["index"]
    assert chosen.best_estimator_.score(X, y) > 0.8
    key, sign = ("log_evidence", -1) if by == "evidence" else ("loo_log_loss", 1)
    values = [sign * row[key] for row in chosen.table]
    assert values == sorted(values)
    assert str(chosen).count("\n") == 4
    assert not hasattr(candidates[1], "dual_coef_")


def test_the_evidence_of_the_table_counts_the_prior():
    X, y = wave(2)
    plain = RelevanceVectorRegressor(prior="bic").fit(X, y)
    row = select(X, y, [RelevanceVectorRegressor(prior="bic")]).table[0]
    assert row["log_evidence"] == pytest.approx(plain.evidence_path_[-1])
    assert row["log_evidence"] < plain.log_evidence_


def test_classifiers_can_be_chosen():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    y = np.where(np.hypot(*X.T) + 0.1 * rng.standard_normal(100) < 1.2, "in", "out")
    chosen = select(X, y, [RelevanceVectorClassifier("linear"), RelevanceVectorClassifier(class_weight="balanced")])
    assert chosen.best_index_ == 1
    assert chosen.table[0]["loo_error"] < 0.2 < chosen.table[1]["loo_error"]


def test_what_cannot_be_compared_is_refused():
    X, y = wave(0)
    with pytest.raises(ValueError, match="by must be one of"):
        select(X, y, [RelevanceVectorRegressor()], by="luck")
    with pytest.raises(ValueError, match="candidates must be a non-empty"):
        select(X, y, [])
    with pytest.raises(TypeError, match="candidates must be estimators of sparsebayes"):
        select(X, y, [Ridge()])
    with pytest.raises(ValueError, match="all regressors or all classifiers"):
        select(X, y, [RelevanceVectorRegressor(), RelevanceVectorClassifier()])
    with pytest.raises(TypeError, match="model must be a regressor or classifier"):
        leave_one_out(Ridge(), X, y)


def test_columns_of_the_table_stand_under_their_heads_however_short_the_names():
    X, y = wave(0)
    head, *lines = str(
        select(X, y, [("a", RelevanceVectorRegressor()), ("b", RelevanceVectorRegressor(gamma=1.0))])
    ).split("\n")
    assert {len(line) for line in lines} == {len(head)}


def test_one_estimator_is_no_sequence_of_candidates():
    with pytest.raises(TypeError, match="candidates must be a sequence"):
        select(*wave(0), RelevanceVectorRegressor())
