"""The file of a checkpoint: foreign, damaged, older and newer ones are refused and left alone; it is replaced whole."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from checkpoints.fits import Interrupted, Interrupting, interrupt, same_models

from sparsebayes import RBF, RelevanceVectorRegressor, SparseBayesRegressor, fit
from sparsebayes.checkpoints import Prefix, digest, journal, storage
from sparsebayes.checkpoints.storage import BYTES, TREE, read, write

rng = np.random.default_rng(3)
X = rng.uniform(-6, 6, (60, 1))
y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(60)


def make(**own):
    return RelevanceVectorRegressor(**({"gamma": 0.3} | own))


@pytest.fixture
def path(tmp_path):
    """The file of a fit that was interrupted."""
    path = tmp_path / "fit.checkpoint"
    interrupt(make, path, 3, X, y)
    return path


def refused(path, match, **own):
    """Fitting is refused by one sentence, and the file stays as it is."""
    before = path.read_bytes()
    with pytest.raises(ValueError, match=match) as error:
        make(checkpoint=path, **own).fit(X, y)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_truncated_files_are_refused(path):
    contents = path.read_bytes()
    for length in (4, 5, 30, 100, len(contents) // 2, len(contents) - 100, len(contents) - 1):
        path.write_bytes(contents[:length])
        refused(path, "truncated or damaged")


def test_a_file_with_a_changed_byte_is_refused(path):
    contents = bytearray(path.read_bytes())
    for place in (100, len(contents) // 2):
        changed = bytearray(contents)
        changed[place] ^= 0xFF
        path.write_bytes(bytes(changed))
        refused(path, "truncated or damaged")


def test_damages_that_look_like_encryption_or_an_unknown_compression_are_refused(path):
    contents, seen = path.read_bytes(), set()
    for place in range(len(contents) - 150, len(contents)):  # the table of contents of the zip, at its end
        for bit in range(8):
            changed = bytearray(contents)
            changed[place] ^= 1 << bit
            path.write_bytes(bytes(changed))
            try:
                read(path)
            except ValueError as error:
                seen.add(str(error).split(f"checkpoint='{path}' ")[1].split(",")[0])
    assert "is truncated or damaged" in seen


@pytest.mark.parametrize(
    "contents", [b"\x89PNG\r\n\x1a\n" + bytes(100), b'{"a": 1}', b"no checkpoint", b"\x00"], ids=range(4)
)
def test_foreign_files_are_refused(contents, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(contents)
    refused(path, "is no checkpoint of sparsebayes")


def test_empty_files_and_other_archives_are_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    refused(path, "is empty")
    np.savez(path.with_suffix(".npz"), a=np.arange(3))
    refused(path.with_suffix(".npz"), "another archive")


def rewritten(path, **changes):
    """The file with other entries in its head."""
    with zipfile.ZipFile(path) as file:
        head, array = json.loads(file.read(TREE)), file.read(BYTES)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(TREE, json.dumps(head | changes))
        file.writestr(BYTES, array)
    path.write_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"version": 0}, "an older version"),
        ({"version": 99, "package": "9.9"}, "a newer version of sparsebayes .9.9."),
        ({"package": "0.0.1"}, "written by sparsebayes 0.0.1"),
        ({"format": "something else"}, "is no checkpoint"),
        ({"tree": {}}, "truncated or damaged"),
    ],
)
def test_files_of_other_versions_are_refused(changes, match, path):
    rewritten(path, **changes)
    refused(path, match)


@pytest.mark.parametrize(
    ("own", "name"),
    [({"gamma": 0.4}, "gamma"), ({"prior": "bic"}, "prior"), ({"fit_intercept": False}, "fit_intercept")],
)
def test_a_file_of_other_parameters_is_refused(own, name, path):
    refused(path, f"is of another fit: {name} differs", **own)


def test_a_file_of_other_data_is_refused(path):
    before = path.read_bytes()
    weights = np.ones(60)
    weights[3] = 2
    for data, name in (
        ((X + 1e-12, y), "X"),
        ((X, -y), "y"),
        ((X, y, weights), "sample_weight"),
        ((X[1:], y[1:]), "X"),
    ):
        with pytest.raises(ValueError, match=f"is of another fit: {name} differs"):
            make(checkpoint=path).fit(*data)
    with pytest.raises(ValueError, match="is of another fit"):
        SparseBayesRegressor(checkpoint=path).fit(X, y)
    with pytest.raises(ValueError, match="is of another fit"):
        fit(X, y, checkpoint=path)
    assert path.read_bytes() == before


def test_parameters_that_do_not_matter_may_differ(path):
    expected = make().fit(X, y)
    same_models(make(checkpoint=path, verbose=0, max_time=1e6, max_iter=9999).fit(X, y), expected)


@pytest.mark.parametrize(
    ("place", "error", "match"),
    [
        ("missing/file", ValueError, "cannot be written .No such file"),
        ("", ValueError, "must be the path of a file"),
        (3, TypeError, "checkpoint must be a path"),
        (b"file", TypeError, "checkpoint must be a path"),
        ("nul\0", ValueError, "^checkpoint=.* cannot be written .embedded null"),
        ("x" * 300, ValueError, "^checkpoint=.* cannot be written .File name too long"),
        ("/dev/null", ValueError, "^checkpoint must be the path of a file, got '/dev/null'"),
    ],
)
def test_places_that_cannot_be_written_are_refused_before_any_work(place, error, match, tmp_path):
    path = tmp_path / place if isinstance(place, str) else place
    with pytest.raises(error, match=match):
        make(checkpoint=path).fit(None, None)
    with pytest.raises(error, match=match):
        fit(X, y, checkpoint=path)
    assert not list(tmp_path.iterdir())


def test_a_link_stays_a_link_and_a_relative_path_where_it_was(tmp_path, monkeypatch):
    folders = [tmp_path / name for name in ("one", "other")]
    for each in folders:
        each.mkdir()
    (folders[0] / "link").symlink_to(folders[1] / "file")
    monkeypatch.chdir(folders[0])
    make(checkpoint="link", callback=lambda progress: os.chdir(folders[1])).fit(X, y)
    assert [each.name for each in folders[0].iterdir()] == ["link"]
    assert [each.name for each in folders[1].iterdir()] == ["file"]
    assert (folders[0] / "link").is_symlink()


@pytest.mark.parametrize("contents", [None, b"something else"])
def test_the_file_of_a_fit_that_began_later_is_left_alone(tmp_path, monkeypatch, contents):
    monkeypatch.setattr(journal, "INTERVAL", 0.0)
    monkeypatch.setattr(journal, "SHARE", 1e9)
    path, calls = tmp_path / "file", []

    def other_fit(progress):
        calls.append(path.read_bytes() if path.exists() else None)
        if len(calls) == 3 and contents is None:
            path.unlink(missing_ok=True)
            make(gamma=0.4, checkpoint=path).fit(X, y)
        elif len(calls) == 3:
            path.write_bytes(contents)

    with pytest.warns(UserWarning, match="was written by another fit meanwhile, and this one goes on") as said:
        found = make(checkpoint=path, callback=other_fit).fit(X, y)
    same_models(found, make().fit(X, y))
    assert len(said) == 1
    if contents is None:
        same_models(make(gamma=0.4, checkpoint=path).fit(X, y), make(gamma=0.4).fit(X, y))
    else:
        assert path.read_bytes() == contents


def test_the_same_fit_in_two_processes_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "INTERVAL", 0.0)
    path, calls = tmp_path / "file", []

    def again(progress):
        calls.append(progress)
        if len(calls) == 3:
            make(checkpoint=path, callback=None).fit(X, y)

    expected = make().fit(X, y)
    same_models(make(checkpoint=path, callback=again).fit(X, y), expected)
    same_models(make(checkpoint=path).fit(X, y), expected)


def test_a_crash_before_the_new_file_is_there_leaves_the_old_one(path, monkeypatch):
    before = path.read_bytes()

    def crash(old, new):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        write(path, {"a": np.arange(3)})
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_full_disk_does_not_end_the_fit(tmp_path, monkeypatch):
    expected = make().fit(X, y)

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="could not be written, and the fit goes on") as said:
        found = make(checkpoint=tmp_path / "file").fit(X, y)
    same_models(found, expected)
    assert len(said) == 1
    assert not list(tmp_path.iterdir())


def test_trees_come_back_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "VERSION", 1)
    items = list(range(10))
    arrays = [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 4)), np.eye(1)]
    tree = {"arrays": arrays, "numbers": [1, 2.5, float("inf"), -float("inf"), None, True, 10**30], "text": "é"}
    write(tmp_path / "file", tree | {"few": Prefix(items, 2), "many": lambda: Prefix(items, 5)})
    found = read(tmp_path / "file")
    for one, other in zip(found["arrays"], arrays, strict=True):
        np.testing.assert_array_equal(one, other)
        assert (one.dtype, one.flags.f_contiguous) == (other.dtype, other.flags.f_contiguous)
    assert found["numbers"] == tree["numbers"]
    assert found["text"] == "é"
    assert (found["few"].items, found["few"].length, found["many"].length) == ([0, 1, 2, 3, 4], 2, 5)


def test_digests_tell_values_apart_and_do_not_depend_on_the_process():
    values = [1, 1.0, True, "1", None, [1], (1, 1), {"a": 1}, np.arange(3), np.arange(3.0), np.arange(3)[None], np.sin]
    found = [digest(each) for each in values]
    assert len(set(found)) == len(found)
    assert digest(make()) == digest(make()) != digest(make(gamma=1.0))
    assert digest(X) == digest(X.copy(order="F"))
    assert digest(make(gamma=np.float64(0.5))) == digest(make(gamma=0.5))
    assert [digest(np.int64(3)), digest(np.True_)] == [digest(3), digest(True)]
    code = "from sparsebayes import RBF, checkpoints; print(checkpoints.digest([RBF(2.0), {'a', 'b'}]))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.strip()
    assert other == digest([RBF(2.0), {"a", "b"}])


PROGRAM = """
import sys, numpy as np
from checkpoints.test_files import X, y, make
make(checkpoint=sys.argv[1], callback=lambda progress: print("round", flush=True)).fit(X, y)
"""


def test_a_process_that_is_killed_is_resumed_by_another(tmp_path):
    path = tmp_path / "file"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(__file__)), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, env=environment, text=True
    )
    for _ in range(4):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    time.sleep(0.01)
    same_models(make(checkpoint=path).fit(X, y), make().fit(X, y))


def test_the_first_write_is_not_waited_for(tmp_path):
    path = tmp_path / "file"
    callback = Interrupting(path, 3)
    with pytest.raises(Interrupted):
        make(checkpoint=path, callback=callback).fit(X, y)
    assert callback.contents is not None
