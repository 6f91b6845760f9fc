"""What can be stored and where; what cannot is refused before anything is written."""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import pickle
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler
from stored_models import example

import sparsebayes
from sparsebayes import (
    RBF,
    Columns,
    LaplaceLikelihood,
    ModelFileError,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    WaveletDenoiser,
)
from sparsebayes.bases import Kernel
from sparsebayes.export._members import pack

MODEL = RelevanceVectorRegressor(gamma=0.25)
FIRST = Path(__file__).parent / "format_1.sbm"
MEAN = [-0.9697734159220006, 0.37804697592598613, 0.08520403888433958]  # of its predictions
STD = [0.11496685112315791, 0.11870609118174318, 0.12102205085261944]


def product(X, Z):
    return X @ Z.T


@dataclass
class OwnLikelihood(LaplaceLikelihood):
    def log_prob(self, y, f): ...

    def gradient(self, y, f): ...

    def curvature_factors(self, y, f): ...

    def start(self, y, counts): ...


class OwnRegressor(RelevanceVectorRegressor):
    pass


# -- where


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path(tmp_path, kind):
    path = kind(tmp_path / "model.sbm")
    sparsebayes.save(MODEL, path)
    assert sparsebayes.load(path).gamma == 0.25
    assert [each.name for each in tmp_path.iterdir()] == ["model.sbm"]


def test_a_file_object(tmp_path):
    with open(tmp_path / "model.sbm", "wb") as file:
        sparsebayes.save(MODEL, file)
    with open(tmp_path / "model.sbm", "rb") as file:
        assert sparsebayes.load(file).gamma == 0.25
    for action in (lambda file: sparsebayes.save(MODEL, file), sparsebayes.load):
        with pytest.raises(TypeError, match="open for bytes"):
            action(io.StringIO("text"))
    for action in (lambda path: sparsebayes.save(MODEL, path), sparsebayes.load):
        with pytest.raises(TypeError, match="path must be a str, a path or a binary file object, got int"):
            action(3)


class Drop(io.RawIOBase):
    """A file without a buffer that takes seven bytes at a time, and so many in all."""

    def __init__(self, room):
        self.room, self.content = room, b""

    def write(self, data):
        part = bytes(data[: min(7, self.room - len(self.content))])
        if not part:
            raise OSError("no space left on device")
        self.content += part
        return len(part)


def test_a_file_without_a_buffer_gets_all_bytes_or_an_error():
    whole, full = Drop(1 << 20), Drop(100)
    sparsebayes.save(MODEL, whole)
    assert sparsebayes.load(io.BytesIO(whole.content)).gamma == 0.25
    with pytest.raises(OSError, match="no space"):
        sparsebayes.save(MODEL, full)


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127])
def test_the_longest_names(tmp_path, name):
    sparsebayes.save(MODEL, tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("most", [1e9, "x", None, 0, True])
def test_max_bytes_is_a_positive_integer(most):
    with pytest.raises(ValueError, match="max_bytes must be an integer >= 1, got"):
        sparsebayes.load(FIRST, max_bytes=most)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        sparsebayes.load(tmp_path / "model.sbm")
    with pytest.raises(FileNotFoundError, match=r"path must be in a folder that exists, got .*model\.sbm"):
        sparsebayes.save(MODEL, tmp_path / "folder" / "model.sbm")
    with pytest.raises(ValueError, match="regular file"):
        sparsebayes.save(MODEL, tmp_path)


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_an_error_names_the_file_that_was_to_be_written(tmp_path, monkeypatch, step):
    def fail(*arguments):
        raise OSError(errno.EACCES, "Permission denied", ".model.sbm.1a2b.tmp")

    monkeypatch.setattr(builtins if step == "open" else os, step, fail)
    with pytest.raises(PermissionError) as caught:
        sparsebayes.save(MODEL, tmp_path / "model.sbm")
    assert str(caught.value) == f"[Errno {errno.EACCES}] Permission denied: {str(tmp_path / 'model.sbm')!r}"
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "model.sbm"
    sparsebayes.save(MODEL, path)
    before = path.read_bytes()

    def fail(*arguments):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space"):
        sparsebayes.save(RelevanceVectorRegressor(gamma=9.0), path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model.sbm"]


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "model.sbm", tmp_path / "link"
    sparsebayes.save(MODEL, path)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to(path)
    sparsebayes.save(RelevanceVectorRegressor(gamma=9.0), link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sparsebayes.load(path).gamma == 9.0


def test_the_same_model_gives_the_same_bytes():
    first, second = io.BytesIO(), io.BytesIO()
    sparsebayes.save(example("columns").model, first)
    sparsebayes.save(pickle.loads(pickle.dumps(example("columns").model)), second)
    assert first.getvalue() == second.getvalue()


# -- what


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (RelevanceVectorRegressor(Kernel(product)), r"kernel\.function"),
        (RelevanceVectorRegressor(product), "kernel cannot be stored, got 'product'"),
        (RelevanceVectorRegressor(RBF() * Kernel(product)), r"kernel\.parts\[1\]\.function"),
        (RelevanceVectorRegressor(callback=print), "callback"),
        (SparseBayesRegressor(likelihood=OwnLikelihood()), "likelihood .*OwnLikelihood"),
        (RelevanceVectorClassifier(random_state=np.random.RandomState(0)), "random_state"),
        (RelevanceVectorRegressor(centres=np.array([[object()]])), "centres must hold text or numbers"),
        (RelevanceVectorRegressor(centres=np.ma.zeros((2, 2))), "centres must be a plain NumPy array"),
        (
            RelevanceVectorRegressor(centres=np.zeros((2, 2), dtype=np.longdouble)),
            "centres must be a plain NumPy array",
        ),
        (RelevanceVectorRegressor(random_state=1 << 70), "random_state must be an integer of at most 64 bits"),
        (SparseBayesRegressor(groups=range(3)), "groups"),
        (WaveletDenoiser("\ud800"), "wavelet must be text"),
        (Ridge(), "model must be one of"),
        (OwnRegressor(), "model must be one of"),
        (TransformedTargetRegressor(MODEL), "model must be one of"),
        (make_pipeline(StandardScaler(), Ridge()), "Pipeline without one"),
        (make_pipeline(FunctionTransformer(product), MODEL), r"steps\[0\]\[1\]"),
        (make_pipeline(StandardScaler(), OwnRegressor()), r"steps\[1\]\[1\]|without one"),
        (RelevanceVectorRegressor(Columns(transformer=FunctionTransformer(product))), r"kernel\.transformer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_stored_is_refused_before_anything_is_written(tmp_path, model, match):
    path = tmp_path / "model.sbm"
    with pytest.raises((TypeError, ValueError), match=match) as caught:
        sparsebayes.save(model, path)
    assert not any(tmp_path.iterdir())
    assert "\n" not in str(caught.value)


def test_attributes_that_nobody_knows_are_not_lost_silently():
    model = RelevanceVectorRegressor()
    model.colour = "red"
    with pytest.raises(ValueError, match="attribute 'colour'"):
        sparsebayes.save(model, io.BytesIO())
    basis = RBF()
    basis.colour = "red"
    with pytest.raises(ValueError, match="attribute 'colour'"):
        sparsebayes.save(RelevanceVectorRegressor(basis), io.BytesIO())


def test_a_list_that_contains_itself_is_refused():
    kernel = RBF() + Columns()
    kernel.parts.append(kernel)
    with pytest.raises(ValueError, match="must not contain itself"):
        sparsebayes.save(RelevanceVectorRegressor(kernel), io.BytesIO())
    groups = []
    groups.append(groups)
    with pytest.raises(ValueError, match="nested too deeply"):
        sparsebayes.save(SparseBayesRegressor(groups=groups), io.BytesIO())


@pytest.mark.parametrize("name", ["pipeline", "transformer"])
def test_without_skops_a_message_says_what_to_install(monkeypatch, name):
    file = io.BytesIO()
    sparsebayes.save(example(name).model, file)
    known = builtins.__import__

    def without(module, *arguments, **keywords):
        if module.startswith("skops"):
            raise ImportError(module)
        return known(module, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"which is no part of sparsebayes; .*pip install 'sparsebayes\[export\]'"):
        sparsebayes.save(example(name).model, io.BytesIO())
    with pytest.raises(ImportError, match=r"pip install 'sparsebayes\[export\]'"):
        sparsebayes.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("step", [SimpleImputer(), KBinsDiscretizer(3, encode="onehot-dense")], ids=repr)
def test_steps_that_keep_a_dtype(step):
    X = np.where(np.arange(60).reshape(20, 3) % 7 == 0, np.nan, np.arange(60.0).reshape(20, 3) ** 0.5)
    X = X if isinstance(step, SimpleImputer) else np.nan_to_num(X)
    model = make_pipeline(step, SparseBayesRegressor()).fit(X, np.arange(20.0) ** 0.5)
    file = io.BytesIO()
    sparsebayes.save(model, file)
    np.testing.assert_array_equal(sparsebayes.load(io.BytesIO(file.getvalue())).predict(X), model.predict(X))


@pytest.mark.parametrize("shape", ["(1099511627776,)", "(-1,)", "(" * 9000, "__import__('os').system('true')"])
def test_a_damaged_file_of_skops_is_refused_in_a_sentence(shape):
    """Whatever it makes skops raise: an array that takes 8 TiB, a header that is none."""
    file = io.BytesIO()
    sparsebayes.save(example("pipeline").model, file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    array, inner = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text, io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(members["foreign/0.skops"])) as old, zipfile.ZipFile(inner, "w") as new:
        for name in old.namelist():
            new.writestr(name, array if name.endswith(".npy") else old.read(name))
    forged = pack(members | {"foreign/0.skops": inner.getvalue()}, "0")
    with pytest.raises(ModelFileError, match=r"foreign/0\.skops of the model file is nothing that skops can read"):
        sparsebayes.load(io.BytesIO(forged))


def test_a_file_of_skops_may_hold_trusted_types_alone():
    import skops.io

    data = skops.io.dumps(make_pipeline(FunctionTransformer(product)))
    record = {"class": "Columns", "fields": {"degree": 1, "transformer": {"foreign": 0}}}
    members = {"model.json": json.dumps({"model": {"object": 0}, "objects": [record]}).encode()}
    with pytest.raises(ModelFileError, match="trusts"):
        sparsebayes.load(io.BytesIO(pack(members | {"foreign/0.skops": data}, "0")))
    with pytest.raises(ModelFileError, match="skops"):
        sparsebayes.load(io.BytesIO(pack(members | {"foreign/0.skops": b"nothing"}, "0")))
    own = skops.io.dumps({"a": 1})
    with pytest.raises(ModelFileError, match="must be an estimator of scikit-learn"):
        sparsebayes.load(io.BytesIO(pack(members | {"foreign/0.skops": own}, "0")))


# -- versions


def test_a_file_of_the_first_format_is_read_for_ever():
    model = sparsebayes.load(FIRST)
    mean, std = model.predict([[-2.0], [0.5], [3.0]], return_std=True)
    np.testing.assert_allclose(mean, MEAN, rtol=1e-9)
    np.testing.assert_allclose(std, STD, rtol=1e-9)
    assert model.get_params()["gamma"] == 0.5
    assert model.converged_


def test_parameters_that_came_later_have_their_defaults():
    with zipfile.ZipFile(FIRST) as archive:
        content = json.loads(archive.read("model.json"))
        members = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
    (record,) = [each for each in content["objects"] if each["class"] == "RelevanceVectorRegressor"]
    del record["fields"]["shared_noise"]
    members["model.json"] = json.dumps(content).encode()
    model = sparsebayes.load(io.BytesIO(pack(members, "0.1.0")))
    assert model.shared_noise is False


def test_a_stream_goes_on_from_a_file():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    y = X[:, 1] - 2 * X[:, 3] + 0.1 * rng.normal(size=60)
    model, file = SparseBayesRegressor().partial_fit(X[:30], y[:30]), io.BytesIO()
    sparsebayes.save(model, file)
    file.seek(0)
    same = sparsebayes.load(file).partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(same.predict(X), model.partial_fit(X[30:], y[30:]).predict(X))


def test_a_search_is_told_to_store_its_best_estimator():
    X = np.linspace(0, 3, 20)[:, None]
    search = GridSearchCV(RelevanceVectorRegressor(), {"gamma": [0.1, 1.0]}, cv=2).fit(X, np.sin(X[:, 0]))
    with pytest.raises(TypeError, match=r"got GridSearchCV: store its best_estimator_\.$"):
        sparsebayes.save(search, io.BytesIO())
