"""docs/settings.md is complete and true: every field of every record of settings, with its default."""

import dataclasses
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import sparsebayes

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"


def records():
    """The records of settings in the library, by name; `ActiveSet` has the parameters of the default solver."""
    found = {"ActiveSet": sparsebayes.ActiveSet}
    for module in pkgutil.walk_packages(sparsebayes.__path__, "sparsebayes."):
        if module.name.startswith("sparsebayes.integrations."):
            continue  # each needs a package that need not be there
        for name, value in vars(importlib.import_module(module.name)).items():
            if dataclasses.is_dataclass(value) and re.fullmatch(r"\w+Settings|Pace|KernelMemory", name):
                found[name] = value
    return found


def sections():
    """Heading to the rows of the table below it, each a list of cells."""
    for part in re.split(r"^#+ ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        lines = [line for line in body.splitlines() if line.startswith("| `")]
        yield title.strip(), [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]


def code(cell):
    """What a cell has between its backticks."""
    return re.fullmatch(r"\s*`(.+)`\s*", cell)[1]


def value_of(text):
    """The value that a cell states, in the language of the settings themselves."""
    modules = ("solvers.certificate", "core.solver")
    names = {"np": np, **records()}
    for module in modules:
        names |= vars(importlib.import_module(f"sparsebayes.{module}"))
    return eval(text, names)


TABLES = {title: table for title, table in sections() if table}


def test_every_record_has_a_table():
    assert set(records()) == {title for title in TABLES if title in records()}


@pytest.mark.parametrize("name", sorted(set(records()) - {"Pace"}))
def test_every_field_is_listed_with_its_default(name):
    record = records()[name]()
    listed = {code(row[0]): value_of(code(row[1])) for row in TABLES[name]}
    assert listed == {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    assert all(row[2].strip() for row in TABLES[name])


@pytest.mark.parametrize(("pace", "column"), [("cheap", 1), ("costly", 2)])
def test_the_paces_are_those_of_the_search(pace, column):
    record = getattr(records()["WorkingSetSettings"](), pace)
    listed = {code(row[0]): value_of(code(row[column])) for row in TABLES["Pace"]}
    assert listed == dataclasses.asdict(record)


def test_constants_have_the_values_stated():
    for row in TABLES["Numbers that nobody tunes"]:
        module, _, name = code(row[0]).rpartition(".")
        assert getattr(importlib.import_module(f"sparsebayes.{module}"), name) == value_of(code(row[1])), name
