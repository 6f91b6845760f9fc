"""`sparsebayes export`: the formats, and what is said of them."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sparsebayes import load, save
from sparsebayes.tables import read_table


@pytest.fixture
def model(cli, data):
    """A fitted model file."""
    assert cli("fit", data, "--target", "y", "--drop", "label", "--drop", "day", "-o", "m.sbm").code == 0
    return load("m.sbm")


def test_onnx_takes_the_encoded_columns_in_the_order_that_is_printed(cli, data, model):
    runtime = pytest.importorskip("onnxruntime")
    found = cli("export", "m.sbm", "-o", "m.onnx", "--json").json
    frame = read_table(data)
    X = np.asarray(model[0].transform(frame))
    assert found["inputs"] == list(model[0].get_feature_names_out())
    session = runtime.InferenceSession("m.onnx")
    mean = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert_allclose(np.ravel(mean), model.predict(frame), rtol=1e-9)


def test_an_exported_model_takes_the_encoded_table(cli, data, model):
    runtime = pytest.importorskip("onnxruntime")
    said = cli("export", "m.sbm", "-o", "m.onnx").out
    assert "outputs: mean, std\n" in said
    said = cli("predict", "m.sbm", data, "-o", "p.csv", "--encoded", "x.csv").out
    assert "x.csv written: the numbers that an exported model takes" in said
    encoded = pd.read_csv("x.csv")
    assert list(encoded) == list(model[0].get_feature_names_out())
    found = runtime.InferenceSession("m.onnx").run(["mean", "std"], {"X": encoded.to_numpy(dtype=np.float64)})
    assert_allclose(np.hstack(found), pd.read_csv("p.csv")[["prediction", "std"]], rtol=1e-9)
    assert "must be different files" in cli("predict", "m.sbm", data, "-o", "p.csv", "--encoded", "p.csv").err


def test_an_export_without_standard_deviations_says_why(cli, data, model):
    model[-1].set_params(variance="gp").fit(model[0].transform(read_table(data)), read_table(data)["y"])
    save(model, "g.sbm")
    said = cli("export", "g.sbm", "-o", "g.c").out
    assert "outputs: mean; no std, which with variance='gp' needs all training rows" in said


def test_c_and_json(cli, model, tmp_path):
    assert "inputs in this order: x, colour=" in cli("export", "m.sbm", "-o", "m.c").out
    assert "model_predict" in (tmp_path / "m.c").read_text(encoding="utf-8")
    assert cli("export", "m.sbm", "-o", "m.json").code == 0
    assert json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("m.sbm", "-o", "m.txt"), "must end in .onnx or .c or .json"),
        (("data.csv", "-o", "m.c"), "model file"),
        (("m.sbm", "-o", "m.json", "--float"), "--float is for ONNX and C"),
    ],
)
def test_wrong_words_are_one_sentence(cli, model, words, sentence):
    found = cli("export", *words)
    assert found.code == 2
    assert sentence in found.err
