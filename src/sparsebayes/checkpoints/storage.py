"""The file of a checkpoint: a zip of one JSON document and one array of bytes, replaced as a whole.

The JSON document is a tree of dictionaries, lists, numbers and strings. An array is written there as its type, shape,
order and place among the bytes; a list that only grows, such as the path of a fit, is written once for all its
prefixes. Nothing is pickled. The order of a matrix in memory is kept, since sums round differently in another.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np

FORMAT, VERSION = "sparsebayes checkpoint", 1
TREE, BYTES = "checkpoint.json", "arrays.npy"
ZIP = b"PK\x03\x04"  # how every zip begins
# what reading a damaged zip raises: some damages look like encryption, or like a compression
DAMAGES = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, ValueError, OverflowError, EOFError)


@dataclass(frozen=True)
class Prefix:
    """The first `length` items of a list that only grows; `pack` turns a list into a tree, None if it is one."""

    items: Any
    length: int
    pack: Callable[[list[Any]], Any] | None = list


def package_version() -> str:
    """The version of the package that is running."""
    try:
        return version("sparsebayes")
    except PackageNotFoundError:  # imported from a source tree that was never installed
        return "0+unknown"


def write(path: Path, tree: dict[str, Any]) -> None:
    """Write a tree in place of the file, or leave the file as it is: there is never half of one."""
    contents = _contents(tree)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _contents(tree: dict[str, Any]) -> bytes:
    """The bytes of a file."""
    packing = _Packing()
    head = {"format": FORMAT, "version": VERSION, "package": package_version(), "tree": packing.tree(tree)}
    head["lists"] = packing.all_lists()
    buffer, array = io.BytesIO(), io.BytesIO()
    np.save(array, np.frombuffer(b"".join(packing.pieces), dtype=np.uint8), allow_pickle=False)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        file.writestr(TREE, json.dumps(head))
        file.writestr(BYTES, array.getvalue())
    return buffer.getvalue()


class _Packing:
    """A tree on its way into a file.  pieces, size : the bytes of the arrays so far.  lists : those with prefixes."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.lists: dict[int, list[Any]] = {}

    def tree(self, value: Any) -> Any:
        """The value as JSON knows it; what is callable is called first."""
        if callable(value):
            return self.tree(value())
        if isinstance(value, np.ndarray):
            return {"$array": self._array(value)}
        if isinstance(value, Prefix):
            known = self.lists.setdefault(id(value.items), [len(self.lists), value.items, 0, value.pack])
            known[2] = max(known[2], value.length)
            return {"$list": known[0], "length": value.length}
        if isinstance(value, dict):
            return {name: self.tree(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(each) for each in value]
        return value.item() if isinstance(value, np.generic) else value

    def all_lists(self) -> list[Any]:
        """The lists, each as far as the longest of its prefixes."""
        known = sorted(self.lists.values(), key=lambda each: each[0])
        return [self.tree(items if pack is None else pack(items[:length])) for _, items, length, pack in known]

    def _array(self, value: np.ndarray) -> list[Any]:
        """Type, shape, order and place of an array among the bytes."""
        order: Literal["C", "F"] = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        piece, start = value.tobytes(order), self.size
        self.pieces.append(piece)
        self.size += len(piece)
        return [value.dtype.str, list(value.shape), order, start]


def read(path: Path) -> dict[str, Any]:
    """The tree of a file; ValueError, in one sentence, if the file is none of this version."""
    head, contents = _opened(path)
    if head.get("version") != VERSION:
        age = "a newer" if _number(head.get("version")) > VERSION else "an older"
        raise ValueError(
            f"checkpoint='{path}' has format {head.get('version')} of {age} version of sparsebayes "
            f"({head.get('package')}), and this one reads format {VERSION}: resume the fit with that version, or give "
            "another path to begin anew."
        )
    if head.get("package") != package_version():
        raise ValueError(
            f"checkpoint='{path}' was written by sparsebayes {head.get('package')}, and this is {package_version()}: "
            "resume the fit with the version that began it, or give another path to begin anew."
        )
    try:
        lists = [_unpacked(each, contents, []) for each in head["lists"]]
        return dict(_unpacked(head["tree"], contents, lists))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(damaged(path)) from error


def _opened(path: Path) -> tuple[dict[str, Any], np.ndarray]:
    """The JSON document and the bytes of a file; ValueError if it is foreign or damaged."""
    contents = path.read_bytes()
    if contents[: len(ZIP)] != ZIP[: len(contents)] or not contents:
        what = "is empty, and" if not contents else "is"
        raise ValueError(
            f"checkpoint='{path}' {what} no checkpoint of sparsebayes: give another path, or remove that file."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(contents)) as file:
            ours = file.namelist() == [TREE, BYTES]
            head = json.loads(file.read(TREE)) if ours else {}
            array = np.load(io.BytesIO(file.read(BYTES)), allow_pickle=False) if ours else np.zeros(0)
    except DAMAGES as error:
        raise ValueError(damaged(path)) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        what = "" if ours else ", but another archive"
        raise ValueError(
            f"checkpoint='{path}' is no checkpoint of sparsebayes{what}: give another path, or remove that file."
        )
    return head, array


def _unpacked(value: Any, contents: np.ndarray, lists: list[Any]) -> Any:
    """A tree with arrays, and with prefixes of lists."""
    if isinstance(value, list):
        return [_unpacked(each, contents, lists) for each in value]
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        dtype, shape, order, start = value["$array"]
        kind, count = np.dtype(dtype), int(np.prod(shape, dtype=np.int64))
        piece = contents[start : start + count * kind.itemsize].tobytes()
        return np.frombuffer(piece, dtype=kind).reshape(shape, order=order).copy(order=order)
    if "$list" in value:
        return Prefix(lists[value["$list"]], value["length"], None)
    return {name: _unpacked(each, contents, lists) for name, each in value.items()}


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def damaged(path: Path) -> str:
    """What is said of a file that is only a part of one."""
    return (
        f"checkpoint='{path}' is truncated or damaged, and no fit can be resumed from it: give another path, or remove "
        "that file to begin anew."
    )
