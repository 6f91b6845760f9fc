"""Every page of docs/ is in the table of contents, every exported name in the reference; examples have titles."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import sparsebayes
from sparsebayes import datasets, explorer, export, inspection, reports, tables

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").rglob("plot_*.py"))


def entries(page):
    """The pages in the tables of contents of a page: "Start <start>" is start."""
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return [re.sub(r".*<(.+)>$", r"\1", line) for line in lines]


def test_every_page_is_in_the_table_of_contents():
    pages = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in DOCS.rglob("*.md")}
    listed, reached = [], ["index"]
    for page in reached:  # grows: the pages that a page lists come behind it
        listed += entries(pages[page])
        reached += [entry for entry in entries(pages[page]) if entry in pages]
    assert set(reached) == set(pages)
    assert len(listed) == len(set(listed))


def test_every_exported_name_is_in_the_reference():
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    modules = (sparsebayes, inspection, datasets, explorer, export, reports, tables)
    exported = {name for module in modules for name in module.__all__} - {"__version__", "SIGNALS"}
    assert sorted(listed) == sorted(exported)


def parameters_of(name):
    """The parameters in the docstring of an exported class, in their order."""
    section = inspect.getdoc(getattr(sparsebayes, name)).split("Parameters\n----------\n")[1].split("\n\n")[0]
    found = re.findall(r"^(\w[\w, ]*) :", section, re.MULTILINE)
    return [each for names in found for each in names.split(", ")]


@pytest.mark.parametrize("name", ["RelevanceVectorRegressor", "RelevanceVectorClassifier", "SparseBayesRegressor"])
def test_parameters_are_described_in_the_order_of_the_signature(name):
    assert parameters_of(name) == list(inspect.signature(getattr(sparsebayes, name)).parameters)


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_an_example_has_a_title(script):
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    assert text
    title, line = text.splitlines()[:2]
    assert title
    assert line == "=" * len(title)


def test_the_package_is_typed():
    assert (ROOT / "src" / "sparsebayes" / "py.typed").exists()
