"""The version and the lowest dependencies are the same wherever they are written; what workflows run exists."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
RECIPE = ROOT / "conda" / "recipe" / "meta.yaml"

# a source distribution has neither
outside = pytest.mark.skipif(not (WORKFLOW.exists() and RECIPE.exists()), reason="no clone of the repository")


def lowest(requirements):
    """The lowest version of each requirement "name>=version", by its name in lower case."""
    found = [re.fullmatch(r"([\w-]+) ?>=([\d.]+)", each) for each in requirements]
    return {match[1].lower(): match[2] for match in found}


def text_of(path):
    """The text of a file."""
    return path.read_text(encoding="utf-8")


@outside
def test_the_version_is_the_same_everywhere():
    recipe = re.search(r'set version = "(.+?)"', text_of(RECIPE))[1]
    citation = re.search(r"^version: (.+)$", text_of(ROOT / "CITATION.cff"), re.MULTILINE)[1]
    assert recipe == citation == PROJECT["version"]


@outside
def test_the_recipe_needs_what_the_package_needs():
    run = text_of(RECIPE).split("  run:\n")[1].split("\n\n")[0]
    needed = lowest(re.findall(r"^    - (.+)$", run, re.MULTILINE))
    assert needed == lowest(PROJECT["dependencies"]) | {"python": PROJECT["requires-python"].removeprefix(">=")}


@outside
def test_the_oldest_dependencies_are_tested():
    pinned = {name.lower(): version for name, version in re.findall(r'"([\w-]+)==([\d.]+)\.\*"', text_of(WORKFLOW))}
    needed = lowest(PROJECT["dependencies"])
    assert {name: version for name, version in pinned.items() if name in needed} == needed


@outside
def test_the_recipe_has_the_commands_of_the_package():
    for name, function in PROJECT["scripts"].items():
        assert f"- {name} = {function}" in text_of(RECIPE)


@outside
def test_what_the_workflow_makes_is_in_the_makefile():
    targets = re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE)
    made = re.findall(r"make (\w+)", text_of(WORKFLOW))
    assert made
    assert set(made) <= set(targets)
