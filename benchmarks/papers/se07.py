"""[SE07] Schmolck & Everson (2007): table 1, figures 1 to 9, and a mixed dictionary on HeaviSine."""

from __future__ import annotations

from benchmarks.papers import se07_blocks, se07_figures, se07_shapes, se07_table
from benchmarks.papers.items import Item

ITEMS: list[Item] = [se07_table.ITEM, *se07_figures.ITEMS, *se07_shapes.ITEMS, *se07_blocks.ITEMS]
