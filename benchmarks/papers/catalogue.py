"""All items of all papers: measured one after the other, results stored, the page written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.papers import ch4, ft02, page, se07, t01, tf03
from benchmarks.papers.items import Item, Measured, Run, write

ITEMS: list[Item] = [*t01.ITEMS, *ft02.ITEMS, *tf03.ITEMS, *se07.ITEMS, *ch4.ITEMS]


@dataclass(frozen=True)
class Place:
    """Where a run keeps its parts, its results, its pictures and its page."""

    is_full: bool
    parts: Path
    results: Path
    images: Path
    page: Path

    @classmethod
    def full(cls, root: Path) -> Place:
        """The repository."""
        images = root / "docs" / "images" / "papers"
        results = root / "benchmarks" / "results" / "papers"
        return cls(True, root / "build" / "papers" / "full", results, images, root / "docs" / "papers.md")

    @classmethod
    def quick(cls, root: Path) -> Place:
        """A folder that nothing refers to."""
        folder = root / "build" / "papers" / "quick"
        return cls(False, folder / "parts", folder / "results", folder / "images" / "papers", folder / "papers.md")


def chosen(only: list[str]) -> list[Item]:
    """The items that are named, or whose paper is; all of them if nothing is named."""
    known = {item.key for item in ITEMS} | {item.paper for item in ITEMS}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise SystemExit(f"no such item: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [item for item in ITEMS if not only or item.key in only or item.paper in only]


def measure(item: Item, place: Place, most: int | None = None, fresh: bool = False) -> None:
    """Measure an item and store its results."""
    if fresh:
        for path in place.parts.glob(f"{item.key}--*.json"):
            path.unlink()
    run = Run(place.parts, place.images, place.is_full, most, item.key)
    value = item.measure(run)
    write(place.results / f"{item.key}.json", {"value": value, "seconds": run.seconds()})


def stored(place: Place) -> dict[str, Measured]:
    """The results of all items that have been measured, by key."""
    paths = {item.key: place.results / f"{item.key}.json" for item in ITEMS}
    return {key: json.loads(path.read_text(encoding="utf-8")) for key, path in paths.items() if path.exists()}


def render(place: Place) -> None:
    """Write the page, and that of the algorithms of the chapter."""
    text = page.render(ITEMS, stored(place))
    place.page.parent.mkdir(parents=True, exist_ok=True)
    place.page.write_text(text, encoding="utf-8")
    place.page.with_name("chapter4.md").write_text(ch4.page(), encoding="utf-8")
