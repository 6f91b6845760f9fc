"""`python -m benchmarks.papers`: the quick mode of everything, resuming, the index, and the page that is stored."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.papers import catalogue, ch4, data, page
from benchmarks.papers.cells import BEATEN, MATCHED, MISSED, Cell
from benchmarks.papers.items import Run, write

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[1]
FIGURES = {
    "t01": ["figure 1", *(f"figure {k}" for k in range(2, 11)), "table 1", "table 2", "section 4.4.1", "section 4.4.2"],
    "ft02": ["figure 1"],
    "tf03": [f"figure {k}" for k in range(1, 6)],
    "se07": ["table 1", *(f"figure {k}" for k in range(1, 10))],
    "ch4": ["algorithm 4.1", "4.2.2"],
}


@pytest.mark.parametrize("paper", FIGURES)
def test_every_table_and_figure_of_the_papers_has_an_item(paper):
    names = [name.lower() for item in catalogue.ITEMS if item.paper == paper for name in item.names]
    for figure in FIGURES[paper]:
        assert any(re.search(rf"{re.escape(figure)}(?!\d)", name) for name in names), figure


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return catalogue.Place.quick(tmp_path_factory.mktemp("papers"))


@pytest.mark.slow
@pytest.mark.parametrize("item", catalogue.ITEMS, ids=lambda item: item.key)
def test_quick_mode_measures_and_shows_the_item(item, place):
    catalogue.measure(item, place)
    value = catalogue.stored(place)[item.key]["value"]
    shown = item.show(value)
    assert shown.printed
    assert shown.ours
    for name in re.findall(r"images/papers/([\w-]+\.png)", shown.body):
        assert (place.images / name).exists(), name


def test_the_page_is_written_from_what_is_stored(place):
    catalogue.render(place)
    text = place.page.read_text(encoding="utf-8")
    assert text.index("## Scorecard") < text.index("## Index") < text.index("## Errata")


def test_a_run_resumes(tmp_path):
    run, calls = Run(tmp_path, tmp_path, False, key="item"), []
    assert [run.part("a", lambda: calls.append(1) or 3.0) for _ in range(2)] == [3.0, 3.0]
    assert calls == [1]
    write(tmp_path / "x.json", {"value": [1.23456789012]})
    assert json.loads((tmp_path / "x.json").read_text()) == {"value": [1.234568]}
    assert not list(tmp_path.glob("*.partial"))


def test_verdicts():
    draws = [0.9, 1.1] * 50  # mean 1, standard error 0.01
    assert Cell("", 1.01, draws, runs=100).verdict == MATCHED
    assert Cell("", 1.2, draws, runs=100).verdict == BEATEN
    assert Cell("", 0.8, draws, runs=100).verdict == MISSED
    assert Cell("", 0.8, draws, runs=100).much_worse
    assert Cell("", 0.8, draws).verdict == MATCHED  # print has one draw, which scatters by 0.1
    assert Cell("", 1.2, draws, runs=100, truth=1.3).verdict == MISSED


def test_the_stored_page_is_that_of_the_stored_results():
    full = catalogue.Place.full(ROOT)
    stored = catalogue.stored(full)
    assert set(stored) == {item.key for item in catalogue.ITEMS}
    text = full.page.read_text(encoding="utf-8")
    written = page.render(catalogue.ITEMS, stored)
    assert text.rpartition("\n\n")[0] == written.rpartition("\n\n")[0]  # the last paragraph has the versions
    assert (ROOT / "docs" / "chapter4.md").read_text(encoding="utf-8") == ch4.page()
    for name in re.findall(r"images/papers/([\w-]+\.png)", text):
        assert (full.images / name).exists(), name


@pytest.mark.parametrize("key", ["t01-figure-3", "t01-table-442"])
def test_an_item_without_its_data_says_that_it_is_skipped(key, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "DATA", tmp_path)
    (item,) = catalogue.chosen([key])
    shown = item.show(item.measure(Run(tmp_path, tmp_path, False, key=key)))
    assert shown.ours == "skipped"
    assert "SPARSEBAYES_DATA" in shown.body
    assert not shown.cells
