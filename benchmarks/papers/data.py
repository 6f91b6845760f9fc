"""The real data sets, which are no part of the project.

Their loader, load.py, is looked for in the folder that the environment variable SPARSEBAYES_DATA names, else in
../shared/data beside the repository. An item whose data are not there is skipped, and the page says so. `SOURCES` says
where the sets can be had; load.py has to give them by the functions ripley, pima, boston_splits, raetsch and usps.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("SPARSEBAYES_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
SOURCES = {
    "Ripley's synthetic data, Pima": "https://www.stats.ox.ac.uk/pub/PRNN/ (synth.tr, synth.te, pima.tr, pima.te)",
    "Boston housing": "https://lib.stat.cmu.edu/datasets/boston",
    "Banana, breast cancer, titanic, waveform, German, image": "G. Rätsch's benchmark repository, "
    "https://www.openml.org/ and mirrors of ida.first.gmd.de/raetsch: splits 1 to 10",
    "USPS": "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps (usps.bz2, usps.t.bz2)",
}


class Missing(Exception):
    """A data set is not there."""


def loader() -> Any:
    """The module load.py; `Missing` if there is none."""
    path = DATA / "load.py"
    if not path.exists():
        raise Missing("the real data are not on this machine (SPARSEBAYES_DATA names their folder)")
    spec: Any = importlib.util.spec_from_file_location("load", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
