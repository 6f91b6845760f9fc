"""`sparsebayes report` and `demo`."""

import sys

import numpy as np
import pandas as pd
import pytest


def test_a_report_of_a_saved_model(cli, data, tmp_path):
    cli("fit", data, "--target", "label", "--drop", "y", "--kernel", "none", "-o", "m.sbm")
    found = cli("report", "m.sbm", data, "-o", "r.html", "--held-out", "--json")
    assert found.json["rows"] == 60
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "colour=red" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_report_needs_the_target_and_a_page(cli, data, frame):
    cli("fit", data, "--target", "y", "--drop", "label", "--kernel", "none", "-o", "m.sbm")
    frame.drop(columns="y").to_csv("queries.csv", index=False)
    sentence = "a report needs the target column 'y', which the table lacks; it has 'x', "
    assert sentence in cli("report", "m.sbm", "queries.csv", "-o", "r.html").err
    assert "must end in .html" in cli("report", "m.sbm", data, "-o", "r.pdf").err


def test_the_demonstration_writes_what_it_names(cli, tmp_path):
    found = cli("demo", "-o", "demo")
    assert found.code == 0, found.err
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert names == {
        "friedman.csv", "signal.csv", "model.sbm", "predictions.csv", "report.html", "model.onnx", "model.c",
        "denoised.csv",
    }  # fmt: skip
    assert np.isfinite(pd.read_csv("demo/predictions.csv")["std"]).all()
    again = cli("demo", "-o", "demo")
    assert again.code == 2
    assert "must be a new or empty folder, got 'demo': remove it, or give another -o" in again.err


def test_the_demonstration_leaves_out_what_needs_a_package_that_is_missing(cli, tmp_path, monkeypatch):
    for name in ["onnx", *(name for name in sys.modules if name.partition(".")[0] == "onnx")]:
        monkeypatch.setitem(sys.modules, name, None)
    found = cli("demo", "-o", "demo")
    assert found.code == 0, found.err
    assert "left out: ONNX models need the package onnx, which is not installed" in found.out
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert "model.onnx" not in names
    assert {"model.c", "denoised.csv", "report.html"} <= names


@pytest.mark.parametrize("new", [True, False])
def test_a_demonstration_that_fails_can_be_tried_again(cli, tmp_path, monkeypatch, new):
    if not new:
        (tmp_path / "demo").mkdir()
    with monkeypatch.context() as patch:
        for name in ["pandas", *(name for name in sys.modules if name.partition(".")[0] == "pandas")]:
            patch.setitem(sys.modules, name, None)
        assert cli("demo", "-o", "demo").code == 2
    assert (tmp_path / "demo").exists() == (not new)
    assert not list(tmp_path.rglob("*.csv"))


def test_a_report_names_the_target_which_is_no_input(cli, data, tmp_path):
    cli("fit", data, "--target", "size", "--drop", "label", "--drop", "y", "--kernel", "none", "-o", "m.sbm")
    assert cli("report", "m.sbm", data, "-o", "r.html").code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "SparseBayesRegressor of size</h1>" in page
    assert ">columns</th><td>3</td>" in page.replace(' scope="row"', "")
    columns = page.split("Columns</h3>")[1].split("</table>")[0]
    assert ">x<" in columns
    assert not any(f">{name}<" in columns for name in ("size", "label", "y"))


def test_a_report_of_a_table_without_an_input_is_one_sentence(cli, data, frame):
    cli("fit", data, "--target", "y", "--drop", "label", "--kernel", "none", "-o", "m.sbm")
    frame.drop(columns="x").to_csv("queries.csv", index=False)
    found = cli("report", "m.sbm", "queries.csv", "-o", "r.html")
    assert found.code == 2
    assert "the table must have a column 'x' as in the fit" in found.err
