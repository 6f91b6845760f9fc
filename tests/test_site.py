"""Every page of docs/ is in the table of contents, every exported name in the reference; examples have titles."""

import ast
import re
from pathlib import Path

import pytest

import sparsebayes
from sparsebayes import datasets, explorer, export, inspection, reports, tables

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
    listed = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")} - {"index"}
    assert pages - set(listed) == set()
    assert len(listed) == len(set(listed))


def test_every_exported_name_is_in_the_reference():
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    modules = (sparsebayes, inspection, datasets, explorer, export, reports, tables)
    exported = {name for module in modules for name in module.__all__} - {"__version__", "SIGNALS"}
    assert sorted(listed) == sorted(exported)


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_an_example_has_a_title(script):
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    assert text
    title, line = text.splitlines()[:2]
    assert title
    assert line == "=" * len(title)


def test_the_package_is_typed():
    assert (ROOT / "src" / "sparsebayes" / "py.typed").exists()
