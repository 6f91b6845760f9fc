"""Bytes to files, all or nothing, and back."""

from __future__ import annotations

import io
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from sparsebayes._checks import require_whole
from sparsebayes.export._errors import ModelFileError

MOST = 50  # characters of a name that the one of a temporary file has, which must not be too long


def write_bytes(data: bytes, path: Any) -> None:
    """Write bytes to a path or a binary file object; a file at the path is replaced when all of them are on disk."""
    if hasattr(path, "write"):
        _write_all(data, path)
        return
    target = Path(os.path.realpath(_as_path(path)))  # a link stays a link, to the new file
    if target.exists() and not target.is_file():
        raise ValueError(f"path must be that of a regular file, got {str(path)!r}, which is none.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists, got {str(path)!r}: make the folder first.")
    temporary = target.with_name(f".{target.name[:MOST]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:  # nobody knows the temporary file
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _write_all(data: bytes, file: Any) -> None:
    """Write bytes to a file object; one without a buffer takes a part of them at a time."""
    try:
        count = file.write(data)
        while isinstance(file, io.RawIOBase) and count < len(data):
            count += file.write(memoryview(data)[count:])
    except TypeError as error:
        raise TypeError("path must be a path or a file object that is open for bytes, got one for text.") from error


def read_bytes(path: Any, most: int) -> tuple[bytes, str]:
    """The bytes of a path or a binary file object, and what messages call it."""
    require_whole(most, "max_bytes", 1)
    if hasattr(path, "read"):
        data, source = path.read(most + 1), "The file"
        if not isinstance(data, bytes):
            raise TypeError("path must be a path or a file object that is open for bytes, got one for text.")
    else:
        source = repr(os.fspath(_as_path(path)))
        with open(path, "rb") as file:
            data = file.read(most + 1)
    if len(data) > most:
        raise ModelFileError(f"{source} has more than max_bytes={most} bytes: raise that if you trust it.")
    return data, source


def _as_path(path: Any) -> Any:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a str, a path or a binary file object, got {type(path).__name__}.")
    return path
