"""Measure the items of the papers and write docs/papers.md.

    python -m benchmarks.papers --full             # all items, the papers' counts: docs/papers.md and its pictures
    python -m benchmarks.papers --quick            # a few draws of everything, into build/papers/quick
    python -m benchmarks.papers --only se07        # a paper, or an item such as t01-figure-1
    python -m benchmarks.papers --render           # docs/papers.md again from the results that are stored

An interrupted run resumes: every part that is finished lies in build/papers. --fresh measures again.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import sys
import time
from pathlib import Path

from benchmarks.papers import catalogue

ROOT = Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--quick", action="store_true", help="few draws, at most a minute")
    mode.add_argument("--full", action="store_true", help="the papers' counts (default)")
    mode.add_argument("--render", action="store_true", help="only write the page again")
    parser.add_argument("--only", nargs="+", default=[], metavar="ITEM", help="papers or items")
    parser.add_argument("--most", type=int, default=None, help="at most so many draws of anything")
    parser.add_argument("--fresh", action="store_true", help="forget parts that were measured before")
    return parser.parse_args()


def main() -> None:
    """Measure, draw, write."""
    options = arguments()
    place = catalogue.Place.quick(ROOT) if options.quick else catalogue.Place.full(ROOT)
    if not options.render:
        for item in catalogue.chosen(options.only):
            start = time.perf_counter()
            catalogue.measure(item, place, options.most, options.fresh)
            print(f"{item.key}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    catalogue.render(place)
    print(f"{place.page}")


if __name__ == "__main__":
    main()
