"""What a command prints: text or one JSON object; warnings, errors and progress go to standard error."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

PREFIX = "sparsebayes"
DISTRIBUTIONS = {"PIL": "pillow"}  # packages whose name is not that of the module


@dataclass
class Console:
    """Where a command says what it has found.

    json : one JSON object at the end instead of text.  quiet : warnings and errors only.
    record : what that object will hold.  closed : whether it has been printed.
    """

    json: bool = False
    quiet: bool = False
    record: dict[str, Any] = field(default_factory=dict)
    closed: bool = False

    def text(self, text: str) -> None:
        """Print text, unless JSON is wanted or nothing is."""
        if not (self.json or self.quiet or sys.stdout is None):
            self.result(f"{text}\n")

    def result(self, text: str) -> None:
        """Write text on standard output; OSError that names it if it cannot be written."""
        if sys.stdout is None:
            raise OSError("standard output is closed; write to a file instead.")
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            discard_output()
            if isinstance(error, BrokenPipeError):
                raise
            raise OSError(error.errno, error.strerror, "standard output") from None

    def note(self, text: str) -> None:
        """Print text on standard error, where it does not mix with results."""
        if not (self.json or self.quiet):
            _say(text)

    def put(self, **values: Any) -> None:
        """Add values to the JSON object."""
        self.record.update(values)

    def close(self) -> None:
        """Print the JSON object if it is wanted, once."""
        if self.json and not self.closed:
            self.closed = True
            self.result(json.dumps(plain(self.record), ensure_ascii=False, allow_nan=False) + "\n")

    def error(self, error: Exception | str) -> None:
        """Print what went wrong as one line on standard error; with JSON also as an object on standard output."""
        message = sentence(error)
        _say(f"{PREFIX}: error: {message}")
        if self.json:
            with suppress(OSError):
                self.result(json.dumps({"error": message}, ensure_ascii=False) + "\n")

    @contextmanager
    def warnings(self) -> Iterator[None]:
        """Within it warnings are lines on standard error, each once, and a list in the JSON object."""
        said: list[str] = []

        def show(message: Any, *_: Any, **__: Any) -> None:
            text = " ".join(str(message).split())
            if text not in said:
                said.append(text)
                if not self.json:
                    _say(f"{PREFIX}: warning: {text}")

        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            warnings.showwarning = show
            self.record["warnings"] = said
            yield

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[Any], Any]]:
        """A callback for fits that moves a progress bar, if standard error is a terminal."""
        if self.quiet or self.json or not sys.stderr.isatty():
            yield lambda progress: None
            return
        from tqdm import tqdm

        with tqdm(desc=label, unit=" steps", leave=False) as bar:

            def step(progress: Any) -> None:
                bar.set_postfix_str(f"log evidence {progress.objective:.2f}, {progress.n_active} functions")
                bar.update()

            yield step


def sentence(error: Exception | str) -> str:
    """What went wrong, as one line."""
    message = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ModuleNotFoundError) and error.name:
        module = error.name.partition(".")[0]
        package = DISTRIBUTIONS.get(module, module)
        return f'the package {package} is needed for this and cannot be imported: pip install "sparsebayes[cli]".'
    if isinstance(error, MemoryError):
        return f"not enough memory: {message}"
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename} does not exist; give the path of a file."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return message


def write_utf8() -> None:
    """Have standard output and error take every character: UTF-8 in files and pipes, escapes on other terminals.

    A standard error that is closed is None, for which `print` and `argparse` would write on standard output.
    """
    if sys.stderr is None:
        sys.stderr = _Nowhere()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


class _Nowhere(io.TextIOBase):
    """A stream that takes everything and keeps nothing."""

    def write(self, text: str) -> int:
        """The length of the text."""
        return len(text)


def discard_output() -> None:
    """Send what is still to be written on standard output nowhere: nobody reads it, or it has no room."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    """Print a line on standard error, if that can be written."""
    with suppress(OSError):
        print(text, file=sys.stderr)


def plain(value: Any) -> Any:
    """A value as JSON knows it: NumPy's numbers and arrays as Python's, numbers that are not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
