"""The core stays small, and imports nothing but NumPy, SciPy, the standard library and `_array`."""

import ast
import sys
from pathlib import Path

import pytest

import sparsebayes.core

FILES = sorted(Path(sparsebayes.core.__file__).parent.rglob("*.py"))
MOST_LINES = 850


def lines_of_code(path):
    """The lines of a file that hold code: no docstrings, comments or blank lines."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(text.splitlines(), start=1)
    return [line for k, line in lines if k not in docstrings and line.strip() and not line.strip().startswith("#")]


def imports_of(path):
    """The full names of all modules that a file imports anywhere, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "sparsebayes":
                yield from (f"sparsebayes.{alias.name}" for alias in node.names)
            else:
                yield node.module


def is_allowed(module):
    package = module.split(".")[0]
    if package == "sparsebayes":
        return module == "sparsebayes._array" or module.startswith("sparsebayes.core.")
    return package in {"numpy", "scipy"} or package in sys.stdlib_module_names


def test_lines_of_code_are_counted_without_documentation(tmp_path):
    file = tmp_path / "example.py"
    file.write_text(
        '"""Doc\nstring."""\n\n# comment\nx = 1  # one\n\n\ndef f():\n    """Doc."""\n    return """no\ndoc"""\n'
    )
    assert lines_of_code(file) == ["x = 1  # one", "def f():", '    return """no', 'doc"""']


def test_the_core_is_small():
    sizes = {path.name: len(lines_of_code(path)) for path in FILES}
    assert len(sizes) > 10
    assert sum(sizes.values()) <= MOST_LINES, sizes


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_core_is_closed_under_imports(path):
    assert [module for module in imports_of(path) if not is_allowed(module)] == []
