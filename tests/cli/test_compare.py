"""`sparsebayes compare`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold, StratifiedKFold

from sparsebayes import SparseBayesClassifier, SparseBayesRegressor
from sparsebayes.cli.peers import Competitor, competitors
from sparsebayes.tables import TableEncoder, read_table

ARGUMENTS = ("--kernel", "none", "--folds", "2", "--json")


def held_out(model, target, drop, folds):
    """Squared error (error rate) and log score of a model, averaged over the folds, by hand."""
    found, frame = [], read_table("data.csv")
    y = frame[target].to_numpy()
    for train, test in folds.split(frame, y):
        encoder = TableEncoder(target, drop)
        model.fit(encoder.fit_transform(frame.iloc[train]), y[train])
        X = encoder.transform(frame.iloc[test])
        if hasattr(model, "classes_"):
            P = model.predict_proba(X)[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]
            found.append((np.mean(model.predict(X) != y[test]), np.mean(np.log(P))))
        else:
            mean, std = model.predict(X, return_std=True)
            density = np.exp(-0.5 * ((y[test] - mean) / std) ** 2) / (np.sqrt(2 * np.pi) * std)
            found.append((np.mean((y[test] - mean) ** 2), np.mean(np.log(density))))
    return np.mean(found, axis=0)


def test_scores_of_a_regression_are_those_by_hand(cli, data):
    found = cli("compare", data, "--target", "y", "--drop", "label", *ARGUMENTS).json["models"]
    expected = held_out(SparseBayesRegressor(), "y", ("label",), KFold(2, shuffle=True, random_state=0))
    assert_allclose([found[0]["error"] ** 2, found[0]["log_score"]], expected, rtol=1e-6)
    assert [each["model"] for each in found] == ["sparsebayes", "SVM, tuned", "Gaussian process", "gradient boosting"]
    assert all(np.isfinite([each["error"], each["log_score"]]).all() and each["bytes"] > 0 for each in found)


@pytest.mark.filterwarnings("ignore")
def test_scores_of_a_classification_are_those_by_hand(cli, data):
    found = cli("compare", data, "--target", "label", "--drop", "y", *ARGUMENTS).json["models"]
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    expected = held_out(SparseBayesClassifier(), "label", ("y",), folds)
    assert_allclose([found[0]["error"], found[0]["log_score"]], expected, rtol=1e-6)
    assert all(0 <= each["error"] <= 1 and each["log_score"] < 0 for each in found)


def test_the_text_has_a_line_per_model(cli, data):
    text = cli("compare", data, "--target", "y", "--drop", "label", *ARGUMENTS[:-1]).out
    assert text.splitlines()[0].split() == ["model", "RMSE", "log", "score", "fit", "(s)", "size", "(kB)"]
    assert len(text.splitlines()) == 6


def test_a_peer_that_cannot_be_fitted_is_reported_and_the_others_are_compared(cli, frame, monkeypatch):
    frame[["x", "y"]].to_csv("t.csv", index=False)

    def refused(X, y):
        raise ValueError("no fit.\nTraceback (most recent call last): ...")

    peers = [Competitor("broken", refused, len), *competitors(False)[2:]]
    monkeypatch.setattr("sparsebayes.cli.comparing.competitors", lambda classify: peers)
    words = ("compare", "t.csv", "--target", "y", "--kernel", "none")
    found = cli(*words, "--json").json
    assert found["warnings"] == ["broken cannot be fitted to this table: no fit."]
    assert [model["error"] is None for model in found["models"]] == [False, True, False]
    text = cli(*words).out
    assert "failed" in text
    assert "nan" not in text


def test_a_constant_target_has_finite_scores(cli, frame):
    frame[["x"]].assign(y=3.0).to_csv("t.csv", index=False)
    found = cli("compare", "t.csv", "--target", "y", "--kernel", "none", "--folds", "2", "--json").json
    assert found["warnings"] == []
    assert None not in [model["log_score"] for model in found["models"]]
