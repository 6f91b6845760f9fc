"""`sparsebayes fit` and `predict`: the same numbers as in Python."""

import io
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor, load
from sparsebayes.tables import TableEncoder, read_table

pd = pytest.importorskip("pandas")
LINEAR = ("--target", "y", "--kernel", "none", "--drop", "label", "-o", "m.sbm")


def in_python(estimator, target, drop):
    """The same fit in Python, and the table."""
    encoder = TableEncoder(target, drop).set_output(transform="pandas")
    frame = read_table("data.csv")
    return make_pipeline(encoder, estimator).fit(frame, frame[target].to_numpy()), frame


def test_a_regression_is_that_of_python(cli, data):
    found = cli("fit", data, "--target", "y", "--drop", "label", "-o", "m.sbm", "--json")
    assert found.code == 0, found.err
    model, frame = in_python(RelevanceVectorRegressor(gamma="ard"), "y", ("label",))
    assert found.json["log_evidence"] == pytest.approx(model[-1].log_evidence_, rel=1e-12)
    assert found.json["inputs"] == model[0].get_feature_names_out().tolist()
    assert cli("predict", "m.sbm", data, "-o", "p.csv", "--level", "0.8").code == 0
    predictions = pd.read_csv("p.csv")
    mean, std = model.predict(frame, return_std=True)
    low, high = model[-1].predict_interval(model[0].transform(frame), level=0.8)
    for name, expected in (("prediction", mean), ("std", std), ("low", low), ("high", high)):
        assert_allclose(predictions[name], expected, rtol=1e-10, err_msg=name)


def test_a_classification_is_that_of_python(cli, data):
    assert cli("fit", data, "--target", "label", "--drop", "y", "--quiet", "-o", "m.sbm").out == ""
    model, frame = in_python(RelevanceVectorClassifier(gamma="ard"), "label", ("y",))
    predictions = pd.read_csv(io.StringIO(cli("predict", "m.sbm", data).out))
    assert_allclose(predictions["p(high)"], model.predict_proba(frame)[:, 0], rtol=1e-10)
    assert_array_equal(predictions["prediction"], model.predict(frame))


def test_a_linear_model_of_products(cli, data):
    words = (
        "--kernel",
        "none",
        "--degree",
        "2",
        "--prior",
        "bic",
        "--drop",
        "day",
        "--drop",
        "size",
        "--drop",
        "label",
    )
    assert cli("fit", data, "--target", "y", *words, "-o", "m.sbm").code == 0
    assert "colour=red" in load("m.sbm")[-1].formula()


def test_the_summary_names_the_columns_of_the_table(cli, data):
    text = cli("fit", data, *LINEAR).out
    assert "colour=red" in text
    assert "log evidence" in text
    assert "m.sbm written" in text


def test_the_model_file_is_a_pipeline_without_traces_of_the_command(cli, data):
    cli("fit", data, *LINEAR, "--prior", "bic")
    model, frame = in_python(SparseBayesRegressor(prior="bic"), "y", ("label",))
    stored = load("m.sbm")
    assert str(stored[-1].get_params()) == str(model[-1].get_params())
    assert_array_equal(stored.predict(frame), model.predict(frame))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "npy"])
def test_predictions_in_every_format(cli, data, ending):
    cli("fit", data, *LINEAR)
    found = cli("predict", "m.sbm", data, "-o", f"p.{ending}", "--json")
    assert found.json["columns"] == ["prediction", "std", "low", "high"]
    read = read_table(f"p.{ending}")
    assert_allclose(read[read.columns[0]], load("m.sbm").predict(read_table(data)), rtol=1e-13)


def test_standard_input_and_output(cli, data, frame, monkeypatch):
    cli("fit", data, *LINEAR)
    with open(data, encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", io.StringIO(file.read()))
    found = cli("predict", "m.sbm", "-", "--with-inputs")
    assert list(pd.read_csv(io.StringIO(found.out))) == [*frame.columns, "prediction", "std", "low", "high"]


def test_rows_without_a_target_do_not_count(cli, frame):
    frame.loc[[3, 8], "y"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    frame.dropna(subset=["y"]).to_csv("whole.csv", index=False)
    gaps, whole = cli("fit", "gaps.csv", *LINEAR, "--json").json, cli("fit", "whole.csv", *LINEAR, "--json").json
    assert gaps["rows_without_target"] == 2
    assert gaps["log_evidence"] == whole["log_evidence"]


@pytest.mark.parametrize(
    ("target", "task", "expected"),
    [
        ("y", "auto", "regression"),
        ("label", "auto", "classification"),
        ("two", "auto", "classification"),
        ("two", "regression", "regression"),
        ("truth", "auto", "classification"),
        ("three", "classification", "classification"),
    ],
)
def test_the_task_follows_from_the_target(cli, frame, target, task, expected):
    frame["two"], frame["three"] = (frame["x"] > 2) * 2.0 - 1, np.digitize(frame["x"], [1.5, 3.5])
    frame["truth"] = frame["x"] + np.random.default_rng(0).standard_normal(len(frame)) > 2
    frame[["size", "x", target]].to_csv("t.csv", index=False)
    found = cli("fit", "t.csv", "--target", target, "--task", task, "--kernel", "none", "--json", "-o", "m.sbm")
    assert found.json["task"] == expected
    assert cli("predict", "m.sbm", "t.csv").code == 0


def test_warnings_are_lines_and_in_the_json(cli, frame):
    frame[["x", "y"]].assign(constant=1.0).to_csv("t.csv", index=False)
    words = ("fit", "t.csv", "--target", "y", "--kernel", "none", "-o", "m.sbm")
    assert "sparsebayes: warning: column 'constant' is dropped" in cli(*words).err
    assert "column 'constant' is dropped: it is constant." in cli(*words, "--json").json["warnings"]


FIT = ("fit", "data.csv", "-o", "m.sbm", "--target")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("fit", "none.csv", "--target", "y", "-o", "m.sbm"), "none.csv does not exist"),
        ((*FIT, "z"), "--target must be a column of the table, got 'z'"),
        (("fit", "data.csv", "--target", "y", "-o", "m.pkl"), "the output must end in .sbm"),
        (("fit", "data.csv", "--target", "y", "-o", "no/m.sbm"), "does not exist; create it first"),
        ((*FIT, "day"), "got 60 dates in 60 rows: days since one of them, such as '2024-01-01', are numbers"),
        ((*FIT, "y", "--gamma", "wide"), "gamma"),
        ((*FIT, "y", "--degree", "2"), "--degree needs --kernel none"),
        ((*FIT, "y", "--kernel", "none", "--gamma", "1"), "--gamma needs a kernel"),
        ((*FIT, "label", "--max-vectors", "3"), "--max-vectors is for regression"),
        ((*FIT, "y", "--max-vectors", "0"), "max_vectors"),
        ((*FIT, "y", "--drop", "q"), "--drop must name a column of the table, got 'q'; it has 'x', "),
        ((*FIT, "y", "--separator", "ab"), "--separator must be one character"),
        ((*FIT, "colour", "--task", "regression"), "must hold numbers"),
        (("predict", "data.csv", "data.csv"), "model file"),
        (("predict", "none.sbm", "data.csv"), "none.sbm does not exist"),
        (("compare", "data.csv", "--target", "y", "--folds", "1"), "--folds must lie between 2 and"),
    ],
)
def test_wrong_arguments_and_data_are_one_sentence_and_exit_code_2(cli, data, tmp_path, words, sentence):
    before = sorted(tmp_path.iterdir())
    found = cli(*words)
    assert found.code == 2
    assert found.out == ""
    assert found.err.startswith("sparsebayes: error: ")
    assert found.err.count("\n") == 1
    assert sentence in found.err
    assert sorted(tmp_path.iterdir()) == before
    assert cli(*words, "--json").json["error"] == found.err.removeprefix("sparsebayes: error: ").strip()


def test_words_that_no_command_knows_are_exit_code_2(cli):
    assert cli("fly").code == 2
    assert cli("fit").code == 2
    assert cli("fit", "--help").code == 0
    assert "sparsebayes" in cli("--version").out


def test_the_output_does_not_replace_the_input(cli, data):
    cli("fit", data, *LINEAR)
    assert "would replace the input" in cli("predict", "m.sbm", data, "-o", data).err


def test_an_interrupted_fit_leaves_the_old_model(cli, data, tmp_path, monkeypatch):
    cli("fit", data, *LINEAR)
    before = (tmp_path / "m.sbm").read_bytes()

    def interrupted(self, *_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(SparseBayesRegressor, "fit", interrupted)
    assert cli("fit", data, *LINEAR).code == 130
    assert (tmp_path / "m.sbm").read_bytes() == before


def test_inputs_that_are_called_as_predictions_are_not_replaced(cli, frame, tmp_path):
    frame[["x", "y"]].assign(std=frame["size"].fillna(0)).to_csv("t.csv", index=False)
    assert cli("fit", "t.csv", "--target", "y", "--kernel", "none", "-o", "m.sbm").code == 0
    assert cli("predict", "m.sbm", "t.csv").code == 0
    found = cli("predict", "m.sbm", "t.csv", "--with-inputs", "-o", "p.csv")
    assert found.code == 2
    assert "the table has a column 'std', as the predictions have" in found.err
    assert not (tmp_path / "p.csv").exists()


def test_a_class_may_be_called_missing(cli, frame):
    frame["label"] = frame["label"].replace("low", "(missing)")
    frame[["x", "label"]].to_csv("t.csv", index=False)
    assert cli("fit", "t.csv", "--target", "label", "--kernel", "none", "-o", "m.sbm").code == 0
    assert load("m.sbm")[-1].classes_.tolist() == ["(missing)", "high"]


def test_a_target_with_a_few_values_that_are_no_numbers_is_no_classification(cli, frame):
    frame.assign(y=frame["y"].astype(str).where(frame.index != 4, "many")).to_csv("t.csv", index=False)
    found = cli("fit", "t.csv", *LINEAR)
    assert found.code == 2
    assert "column 'y' must hold numbers, got 'many' in data row 5" in found.err


def test_new_text_is_warned_of_even_if_quiet(cli, data, frame):
    cli("fit", data, *LINEAR)
    frame.assign(colour="violet").to_csv("new.csv", index=False)
    assert (
        "has text that was not in the fit in 60 of 60 rows, such as 'violet'"
        in cli("predict", "m.sbm", "new.csv", "--quiet", "-o", "p.csv").err
    )


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("${:,.2f}", r"values such as '\$1,000.00' are read as text; write numbers as 1234.5"),
        ("name {}", "nearly every row has a text of its own, such as 'name 1000'"),
    ],
)
def test_a_target_of_text_that_is_no_class_is_refused(cli, frame, form, reason):
    frame["price"] = [form.format(1000 + k) for k in range(len(frame))]
    frame.to_csv("t.csv", index=False)
    found = cli("fit", "t.csv", "--target", "price", "-o", "m.sbm")
    assert found.code == 2
    assert re.search(f"--target 'price' must hold numbers or classes, got 60 texts in 60 rows: {reason}", found.err)
    frame["price"] = [form.format(1000 + k % 3) for k in range(len(frame))]
    frame.to_csv("t.csv", index=False)
    asked = ("--task", "classification", "--kernel", "none", "--drop", "label")
    assert cli("fit", "t.csv", "--target", "price", "-o", "m.sbm", *asked).code == 0


def test_a_cut_summary_names_no_option_of_python(cli, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 40))
    pd.DataFrame(X).assign(y=X @ rng.standard_normal(40)).to_csv(tmp_path / "wide.csv", index=False)
    found = cli("fit", "wide.csv", "--target", "y", "--kernel", "none", "-o", "m.sbm")
    assert "more of smaller Δ evidence" in found.out
    assert "max_rows" not in found.out
