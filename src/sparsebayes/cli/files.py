"""Files that a command writes: checked before the work begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def output_path(path: str, endings: Sequence[str], inputs: Sequence[str] = ()) -> Path:
    """The path of a file that will be written; ValueError if its name or folder will not do.

    endings : of names that will do.  inputs : files that it must not replace.
    """
    target = Path(path)
    if target.suffix.lower() not in endings:
        raise ValueError(f"the output must end in {' or '.join(dict.fromkeys(endings))}, got {path!r}.")
    if target.is_dir():
        raise ValueError(f"the output must be a file, got the folder {path!r}.")
    folder = target.parent
    if not folder.is_dir():
        raise ValueError(f"the folder of the output {path!r} does not exist; create it first.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"the folder of the output {path!r} cannot be written to.")
    if any(Path(each).exists() and target.exists() and target.samefile(each) for each in inputs):
        raise ValueError(f"the output {path!r} would replace the input; give it another name.")
    return target
