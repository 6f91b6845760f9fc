"""How much code a plain fit goes through: the functions and files of the package that are on its path.

    python benchmarks/speed/path_length.py            # the figures
    python benchmarks/speed/path_length.py --list     # and the names, file by file

The path is that of `RelevanceVectorRegressor(gamma=0.1).fit(X, y).predict(X, return_std=True)` on 1-D sinc,
N = 100, as seen by `sys.setprofile`. A function counts once, however often it is called; what is run while a
module is imported does not count. A lambda or comprehension belongs to the function it stands in; the second
figure counts each of them as a function of its own.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import sparsebayes
from sparsebayes import RelevanceVectorRegressor
from sparsebayes.datasets import make_sinc

PACKAGE = Path(sparsebayes.__file__).resolve().parent


class Recorder:
    """The code objects of the package that were entered."""

    def __init__(self) -> None:
        self.codes: dict[tuple[str, CodeType], CodeType] = {}  # equal code may stand in two files

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """What `sys.setprofile` calls."""
        code = frame.f_code
        key = (code.co_filename, code)
        if event != "call" or key in self.codes or not _is_ours(code):
            return
        if not _is_importing(frame):
            self.codes[key] = code


def _is_ours(code: CodeType) -> bool:
    """Whether the code is of the package."""
    return Path(code.co_filename).is_relative_to(PACKAGE)


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a module of the package is being imported further up the stack."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and _is_ours(frame.f_code):
            return True
        frame = frame.f_back
    return False


def path_of_a_fit() -> list[CodeType]:
    """The code that a plain fit and its prediction with error bars go through."""
    X, y, _ = make_sinc(100, random_state=0)
    path = Recorder()
    sys.setprofile(path)
    try:
        RelevanceVectorRegressor(gamma=0.1).fit(X, y).predict(X, return_std=True)
    finally:
        sys.setprofile(None)
    return list(path.codes.values())


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names as well")
    options = parser.parse_args()
    files: dict[Path, list[CodeType]] = defaultdict(list)
    for code in path_of_a_fit():
        files[Path(code.co_filename)].append(code)
    codes = [code for found in files.values() for code in found]
    functions = [code for code in codes if not code.co_name.startswith("<")]
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    print(f"{len(functions)} functions in {len(files)} files of {lines} lines")
    print(f"{len(codes)} with lambdas and comprehensions counted by themselves")
    for file in sorted(files) if options.list else []:
        print(f"\n{file.relative_to(PACKAGE)}")
        for code in sorted(files[file], key=lambda code: code.co_firstlineno):
            print(f"    {code.co_firstlineno:4d}  {code.co_qualname}")


if __name__ == "__main__":
    main()
