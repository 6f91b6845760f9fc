"""[T01] Tipping (2001): figures 1 to 10, tables 1 and 2, and the tables of sections 4.4.1 and 4.4.2."""

from __future__ import annotations

from benchmarks.papers import (
    t01_classification,
    t01_logodds,
    t01_regression,
    t01_ripley,
    t01_scales,
    t01_sinc,
    t01_views,
)
from benchmarks.papers.items import Item

ITEMS: list[Item] = [
    *t01_sinc.ITEMS,
    t01_ripley.ITEM,
    t01_scales.ITEM,
    t01_regression.ITEM,
    t01_classification.ITEM,
    *t01_views.ITEMS,
    t01_logodds.ITEM,
]
