"""Damaged and forged model files: a clear error, never other numbers, and never code that is executed."""

from __future__ import annotations

import copy
import io
import json
import pickle
import random
import struct
import sys
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest
from stored_models import X, Y

import sparsebayes
from sparsebayes import ModelFileError, RelevanceVectorClassifier, RelevanceVectorRegressor
from sparsebayes.export._fields import types_of
from sparsebayes.export._members import MANIFEST, digest, pack, unpack
from sparsebayes.export._registry import RECORDS

FORBIDDEN = ("exec", "os.", "subprocess.", "shutil.", "pickle.", "marshal.", "ctypes.", "socket.", "open", "import")
WATCH = {"on": False, "seen": []}


def _watch(event, arguments):
    if WATCH["on"] and event.startswith(FORBIDDEN):
        WATCH["seen"].append((event, arguments))


sys.addaudithook(_watch)  # it cannot be removed, only be silent


@contextmanager
def nothing_executed():
    """Fail if anything is executed, imported or opened meanwhile."""
    WATCH.update(on=True, seen=[])
    try:
        yield
    finally:
        WATCH["on"] = False
    assert not WATCH["seen"]


def stored(model):
    file = io.BytesIO()
    sparsebayes.save(model, file)
    return file.getvalue()


def load(data):
    return sparsebayes.load(io.BytesIO(data))


def attempt(data):
    """What `load` gives, or the message of its error, which is a sentence; nothing is executed."""
    with nothing_executed():
        try:
            return load(data), None
        except ModelFileError as error:
            message = str(error)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 400
    return None, message


def zipped(members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forged(members, **manifest):
    """A file with these members (model.json and arrays) and all checksums right, and other entries of the manifest."""
    data = pack(members, "0.1.0")
    if not manifest:
        return data
    whole = members_of(data)
    head = json.loads(whole[MANIFEST]) | manifest
    return zipped([(MANIFEST, json.dumps(head | {"sha256": digest(head)})), *members.items()])


@pytest.fixture(scope="module")
def files():
    """Two small files, and all that a first load imports."""
    small = RelevanceVectorRegressor(gamma=0.5, noise_variance=0.01).fit(X[:12], Y[:12])
    labels = RelevanceVectorClassifier(gamma=0.5).fit(X[:20], X[:20, 0] > 0)
    for record in RECORDS:
        types_of(record)
    for each in (small, labels):
        load(stored(each)).predict(X)
    return stored(small), stored(labels)


def mutated(data, rng):
    """One random change of the bytes of a file."""
    at, kind = rng.randrange(len(data)), rng.randrange(5)
    if kind == 0:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]
    if kind == 3:
        return data[:at] + data[at + rng.randrange(1, 9) :]
    length = rng.randrange(1, 30)
    return data[:at] + rng.randbytes(length) + data[at + length :]


@pytest.mark.parametrize("seed", range(5))
def test_random_damage_is_found(files, seed):
    rng, refused = random.Random(seed), 0
    for k in range(120):
        data = files[k % 2]
        model, message = attempt(mutated(data, rng))
        refused += message is not None
        if model is not None:
            assert stored(model) == data  # what was hit has no meaning, such as the date of a member
    assert refused > 80


VALUES = [
    None, True, -1, 0, 7, 1 << 62, 0.5, -1e308, "", "x", "__class__", [], [[]], {"object": 0}, {"object": 3},
    {"array": 0}, {"array": 9999}, {"tuple": []}, {"dict": [["a", 1]]}, {"float": "nan"}, {"float": "x"},
    {"slice": [0, 1, None]}, {"complex": [0.0, 1.0]}, {"scalar": ["<f8", 1.5]}, {"scalar": ["|O", 1]}, {"scalar": 3},
    {"class": "RBF"}, {"foreign": 0}, {"builtins": "eval"},
]  # fmt: skip


def places(value):
    """The containers in a JSON value, each with its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def edited(content, rng):
    """A JSON value with one random change."""
    content = copy.deepcopy(content)
    where, key = rng.choice([*places(content)])
    kind = rng.randrange(4)
    if kind == 0 and isinstance(where, dict):
        where[rng.choice(["__class__", "extra", "predict", "zeros_", "_fitted"])] = where.pop(key)
    elif kind == 1:
        del where[key]
    else:
        where[key] = rng.choice(VALUES)
    return content


@pytest.mark.parametrize("seed", range(3))
def test_edited_values_with_old_checksums_are_found(files, seed):
    rng = random.Random(seed)
    for k in range(50):
        members = members_of(files[k % 2])
        content = edited(json.loads(members["model.json"]), rng)
        changed = members | {"model.json": json.dumps(content).encode()}
        with nothing_executed(), pytest.raises(ModelFileError, match="checksum"):
            load(zipped(changed.items()))


@pytest.mark.parametrize("seed", range(5))
def test_edited_values_with_new_checksums_execute_nothing(files, seed):
    rng = random.Random(seed)
    for k in range(50):
        members = members_of(files[k % 2])
        del members[MANIFEST]
        content = edited(json.loads(members["model.json"]), rng)
        data = forged(members | {"model.json": json.dumps(content).encode()})
        model, message = attempt(data)
        assert message or type(model) in (RelevanceVectorRegressor, RelevanceVectorClassifier)


@pytest.mark.parametrize("seed", range(3))
def test_swapped_members_are_found(files, seed):
    rng = random.Random(seed)
    for k in range(10):
        members = members_of(files[k % 2])
        first, second = rng.sample(sorted(members), 2)
        if members[first] == members[second]:
            continue
        changed = members | {first: members[second], second: members[first]}
        with nothing_executed(), pytest.raises(ModelFileError):
            load(zipped(changed.items()))


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "an empty file"),
        (b"\x89PNG\r\n\x1a\n....", "a PNG image"),
        (pickle.dumps({"a": 1}), "a pickle"),
        (zipped([("word/document.xml", b"<x/>")]), "without manifest.json"),
        (b"hello world", "bytes that begin with b'hello wo'"),
        (b"{}", "a text file"),
        (b"PK\x03\x04 and nothing more", "damaged or incomplete"),
    ],
)
def test_other_files_are_told_apart(data, match):
    with pytest.raises(ModelFileError, match=match) as caught:
        load(data)
    assert "expected one written by sparsebayes.save" in str(caught.value) or "damaged" in match


def test_a_later_format_asks_for_an_upgrade(files):
    members = unpack(files[0], "file", 1 << 30)
    with pytest.raises(ModelFileError, match="upgrade"):
        load(forged(members, version=2, layout="new"))
    for version in (0, 1.0, True, "1", None):
        with pytest.raises(ModelFileError, match="positive integer"):
            load(forged(members, version=version))
    with pytest.raises(ModelFileError, match="must name the format"):
        load(forged(members, format="other"))


def test_a_member_twice_is_refused(files):
    members = [*members_of(files[0]).items()]
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zipped([*members, members[1]])
    with pytest.raises(ModelFileError, match="every member once"):
        load(data)


def test_more_bytes_than_allowed_are_refused_before_they_are_read(files):
    bomb = zipped([*members_of(files[0]).items(), ("arrays/99.npy", bytes(1 << 26))], zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 18
    with pytest.raises(ModelFileError, match="max_bytes=1000000"):
        sparsebayes.load(io.BytesIO(bomb), max_bytes=1_000_000)
    with pytest.raises(ModelFileError, match=f"has {len(bomb)} bytes that claim to expand to "):
        load(bomb)
    with pytest.raises(ModelFileError, match="must be those that"):
        load(zipped([*members_of(files[0]).items(), ("arrays/99.npy", bytes(1 << 20))], zipfile.ZIP_DEFLATED))
    with pytest.raises(ModelFileError, match="max_bytes=100"):
        sparsebayes.load(io.BytesIO(files[0]), max_bytes=100)


def test_the_message_of_a_class_that_is_none_is_short(files):
    members = members_of(files[0])
    members.pop(MANIFEST)
    content = json.loads(members["model.json"])
    for wrong in ({"a": ["x" * 500]}, "x" * 500):
        content["objects"][0]["class"] = wrong
        _, message = attempt(forged(members | {"model.json": json.dumps(content).encode()}))
        assert message.startswith("The model file names the class ")
        content["objects"][0] = {"class": "RBF", "fields": {"gamma": {"array": wrong}}}
        _, message = attempt(forged(members | {"model.json": json.dumps(content).encode()}))
        assert message.startswith("The model file names array ")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(files, compression):
    """A file says how much memory LZMA takes, up to 4 GiB for a member of any size."""
    data = zipped(members_of(files[0]).items(), compression)
    with nothing_executed(), pytest.raises(ModelFileError, match="stored or deflated"):
        load(data)


def header(text, version=b"\x01\x00"):
    text = text.encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    "array",
    [
        b"",
        b"x" * 200,
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + pickle.dumps([print]),
        header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }") + bytes(8),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }") + bytes(8),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }") + bytes(8),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,), }") + bytes(8),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }") + bytes(8),
        header("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }"),
        header("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }") + b"\x02",
        header("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }") + b"\xff\xff\xff\xff",
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", b"\x09\x00") + bytes(8),
        header("__import__('os').system('true')"),
        header("(" * 5000),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': " + f"({'0, ' * 99}), }}"),
    ],
)
def test_arrays_that_are_none(files, array):
    members = unpack(files[0], "file", 1 << 30)
    with nothing_executed(), pytest.raises(ModelFileError, match=r"arrays/0\.npy"):
        load(forged(members | {"arrays/0.npy": array}))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"[1, NaN]",
        b'{"model": Infinity, "objects": []}',
        b'{"model": 1e999, "objects": []}',
        b'{"model": ' + b"9" * 5000 + b', "objects": []}',
        b'{"model": 1, "model": 2, "objects": []}',
        b'{"model": 1}',
        b'{"model": 1, "objects": []}',
        b'{"model": {"object": 0}, "objects": []}',
        b'{"model": {"object": 0}, "objects": [{"class": "RBF", "fields": {}}]}',
        b'{"model": {"object": 0}, "objects": [{"class": "os.system", "fields": {"command": "true"}}]}',
        b'{"model": {"object": 0}, "objects": [{"class": "RBF", "fields": {"gamma": {"object": 0}}}]}',
        b'{"model": ' + b"[" * 100_000 + b"]" * 100_000 + b', "objects": []}',
        b'{"model": ' + b"[" * 900 + b"]" * 900 + b', "objects": []}',
        b'{"model": {"dict": [[{"slice": [0, 1, 2]}, 1]]}, "objects": []}',
        b'{"model": {"dict": [[[], 1]]}, "objects": []}',
        b'{"model": 1, "objects": [{"class": "ndarray", "shape": [4611686018427387904, 4, 0], "items": []}]}',
        b'{"model": 1, "objects": [{"class": "ndarray", "shape": [' + b"1, " * 69 + b'1], "items": [1]}]}',
    ],
)
def test_structure_that_is_none(text):
    with nothing_executed(), pytest.raises(ModelFileError) as caught:
        load(forged({"model.json": text}))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["Laplace", "SparseRecovery"])
def test_a_parameter_that_is_not_known_is_refused(name):
    record = {"class": name, "fields": {"colour": 1}}
    data = forged({"model.json": json.dumps({"model": {"object": 0}, "objects": [record]}).encode()})
    with pytest.raises(ModelFileError, match="colour"):
        load(data)


def test_indices_beyond_a_sparse_covariance_are_refused():
    fields = {"shape": {"tuple": [2, 2]}, "data": {"array": 0}, "indices": {"array": 1}, "indptr": {"array": 2}}
    content = {"model": {"object": 0}, "objects": [{"class": "csr_array", "fields": fields}]}
    arrays = [np.ones(2), np.array([0, 1 << 20]), np.array([0, 1, 2])]
    members = {"model.json": json.dumps(content).encode()}
    for k, array in enumerate(arrays):
        file = io.BytesIO()
        np.save(file, array)
        members[f"arrays/{k}.npy"] = file.getvalue()
    with pytest.raises(ModelFileError, match="indices within its shape"):
        load(forged(members))
