"""The journal of a fit: its stages, what those that are over have found, and how far those under way have come.

A fit is a tree of stages, which are entered and left in the same order each time. A stage that is over keeps its
result; one that goes round a loop keeps the state of the last round, and the stages that are over since then. A fit
that is resumed takes the same way: stages that are over return what they found, and the one that was under way
starts from its last round. So the journal is small, whatever the fit has done so far.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparsebayes._checks import warn
from sparsebayes.checkpoints.identity import digest
from sparsebayes.checkpoints.storage import damaged, read, write

INTERVAL = 1.0  # seconds between two writes
SHARE = 0.01  # of the time may be spent on writing, at most


@dataclass
class Frame:
    """A stage that is under way.

    state : of its last round, None if there was none.  done : names and results of the stages within it that are over
    since then.  running : the stage within it that is under way.  position : how many of `done` were entered again.
    """

    name: str
    state: Any = None
    done: list[tuple[str, Any]] = field(default_factory=list)
    running: Frame | None = None
    position: int = 0

    def tree(self) -> dict[str, Any]:
        """The stage as it is written."""
        done = [[name, result] for name, result in self.done]
        running = None if self.running is None else self.running.tree()
        return {"name": self.name, "state": self.state, "done": done, "running": running}

    @classmethod
    def of(cls, tree: dict[str, Any]) -> Frame:
        """The stage as it was written."""
        running = None if tree["running"] is None else cls.of(tree["running"])
        return cls(tree["name"], tree["state"], [(name, result) for name, result in tree["done"]], running)

    @property
    def replaying(self) -> bool:
        """Whether something within the stage is known already."""
        return self.position < len(self.done) or self.running is not None

    def forget(self) -> None:
        """Without what is known of stages that were not entered again."""
        del self.done[self.position :]
        self.running = None


class Journal:
    """The journal of a fit and its file.

    path : the file.  identity : names and digests of what the fit is of, in the order in which they became known.
    frozen : whether the fit has ended before its end, so that nothing is added any more.
    known : objects made of what was read, by their contents: what was one object is one again.
    """

    def __init__(self, path: Path, tree: dict[str, Any] | None = None) -> None:
        self.path, self.frozen, self._failed = path, False, False
        self._place = Path(os.path.realpath(path))  # a link stays a link, wherever the process goes
        self._seen = _stamp(self._place)
        root = Frame("fit") if tree is None else Frame.of(tree["root"])
        self._expected: list[list[str]] = [] if tree is None else tree["identity"]
        self.identity: list[list[str]] = []
        self.known: dict[Any, Any] = {}
        self._stack = [root]
        self._changed, self._next = False, 0.0

    def identify(self, name: str, value: Any) -> None:
        """Say what the fit is of; ValueError if the file is that of a fit of something else."""
        found, place = [name, digest(value)], len(self.identity)
        self.identity.append(found)
        if place < len(self._expected) and self._expected[place] != found:
            known = self._expected[place][0]
            what = f"{name} differs" if known == name else f"{known} was given there, and {name} here"
            raise ValueError(
                f"checkpoint='{self.path}' is of another fit: {what}; give the data and the parameters of that fit to "
                "resume it, or another path to begin anew."
            )

    @property
    def replaying(self) -> bool:
        """Whether the fit is on a way that it went before it was interrupted."""
        return not self.frozen and self._stack[-1].replaying

    def enter(self, name: str) -> tuple[Frame | None, Any]:
        """Enter a stage: (None, its result) if it is over, else the stage, from where it was if it was entered before.

        A fit that takes another way than before, as one with a limit in seconds may, goes on without what it knew.
        """
        top = self._stack[-1]
        frame = Frame(name)
        if not self.frozen:
            if top.position < len(top.done):
                if top.done[top.position][0] == name:
                    top.position += 1
                    return None, top.done[top.position - 1][1]
                top.forget()
            if top.running is not None and top.running.name == name:
                frame = top.running
            top.running = frame
        self._stack.append(frame)
        return frame, None

    def save(self, state: Any) -> None:
        """Keep the state of a round of the stage under way, as a tree or as a function that returns it."""
        if self.frozen:
            return
        top = self._stack[-1]
        top.state, top.position = state, 0
        top.forget()
        self._write_if_due()

    def leave(self, result: Any) -> None:
        """Leave the stage under way, which is over, with its result."""
        name = self._stack.pop().name
        if self.frozen:
            return
        top = self._stack[-1]
        top.forget()
        top.done.append((name, result))
        top.position += 1
        self._write_if_due()

    def give_up(self) -> None:
        """Leave the stage under way without a result: it failed, and the fit goes on without it."""
        self._stack.pop()
        if not self.frozen:
            self._stack[-1].running = None

    def break_off(self) -> None:
        """Leave the stage under way because the fit ends there: the file keeps how far it had come."""
        self.freeze()
        self._stack.pop()

    def freeze(self) -> None:
        """Write what is known, and add nothing any more."""
        if not self.frozen:
            self.flush()
            self.frozen = True

    def flush(self) -> None:
        """Write what is known, if the file does not have it."""
        if self._changed and not self.frozen:
            self._write()

    def _write_if_due(self) -> None:
        self._changed = True
        if time.perf_counter() >= self._next:
            self._write()

    def _write(self) -> None:
        """Write the file; a folder that has become full or vanished does not end the fit."""
        began = time.perf_counter()
        identity = self.identity + self._expected[len(self.identity) :]
        if self._is_taken(identity):
            self.frozen = True
            warn(
                f"checkpoint='{self.path}' was written by another fit meanwhile, and this one goes on without it: give "
                "each fit a path of its own."
            )
            return
        try:
            write(self._place, {"identity": identity, "root": self._stack[0].tree()})
            self._seen = _stamp(self._place)
        except OSError as error:
            if not self._failed:
                warn(f"checkpoint='{self.path}' could not be written, and the fit goes on without it: {error}.")
            self._failed = True
        self._changed, ended = False, time.perf_counter()
        self._next = ended + max(INTERVAL, (ended - began) / SHARE)

    def _is_taken(self, identity: list[list[str]]) -> bool:
        """Whether somebody else has put the file of another fit, or anything else, at the path."""
        if _stamp(self._place) in (None, self._seen):
            return False
        try:
            found = read(self._place)["identity"]
        except (OSError, KeyError, ValueError):
            return True
        return any(one != other for one, other in zip(found, identity, strict=False))


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What tells a file from one that was put in its place; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def check_path(path: Any) -> Path | None:
    """The path of a checkpoint; ValueError or TypeError, in one sentence, if nothing can be written there.

    None for None, and for a journal, whose path is known.
    """
    if path is None or isinstance(path, Journal):
        return None
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise TypeError(f"checkpoint must be a path (str or os.PathLike) or None, got {path!r}.")
    file = Path(path)
    if not file.name or os.path.isdir(file):  # unlike `is_dir`, no error for a name that is too long
        raise ValueError(f"checkpoint must be the path of a file, got the folder {os.fspath(path)!r}.")
    try:
        place = Path(os.path.realpath(file))
        other = os.path.exists(place) and not os.path.isfile(place)
        if not other:
            handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".tmp", dir=place.parent)
            os.close(handle)
            os.unlink(name)
    except (OSError, ValueError) as error:  # ValueError: a character that no path has
        raise ValueError(
            f"checkpoint={os.fspath(path)!r} cannot be written ({getattr(error, 'strerror', error)}): give a path in a "
            "folder that exists and that you may write to."
        ) from error
    if other:
        raise ValueError(f"checkpoint must be the path of a file, got {os.fspath(path)!r}, which is none.")
    return file


def open_journal(path: Any) -> Journal | None:
    """The journal of a file, which may exist or not; None for None, and a journal as it is.

    ValueError or TypeError, in one sentence, if the file cannot be written, or is there and is no checkpoint.
    """
    file = check_path(path)
    if file is None:
        return path if isinstance(path, Journal) else None
    try:
        known = read(file) if file.exists() else None
    except OSError as error:
        raise ValueError(f"checkpoint='{file}' cannot be read ({error.strerror}): give another path.") from error
    try:
        return Journal(file, known)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(damaged(file)) from error
