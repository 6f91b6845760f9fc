"""The best models known on real data: what is stored is what it says, and more effort comes closer to it."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from brute import log_evidence

search = pytest.importorskip("benchmarks.accuracy.search")
KNOWN = json.loads((Path(__file__).parent / "best_known.json").read_text(encoding="utf-8"))
DATA = Path(os.environ.get("SPARSEBAYES_DATA", search.DATA))
CASES = [(name, split) for name in search.SETS for split in search.SPLITS]


def _task(name, split):
    if name != "friedman1" and not (DATA / "load.py").exists():
        pytest.skip("the real data sets are not there")
    return search.Task(name, split)


@pytest.mark.parametrize(("name", "split"), CASES)
def test_the_evidence_of_a_stored_model_is_that_of_brute_force(name, split):
    task, stored = _task(name, split), KNOWN[f"{name} {split}"]
    y, Phi = task.data[1], task.design[:, stored["functions"]]
    beta, n = 1 / stored["noise_variance"], len(y)
    centred = log_evidence(Phi - Phi.mean(axis=0), y - y.mean(), np.asarray(stored["alpha"]), beta)
    # the intercept is integrated out: one row less counts
    value = centred - 0.5 * np.log(beta / (2 * np.pi)) - 0.5 * np.log(n)
    # weights of near neighbours reach thousands: C is so ill-conditioned that two O(N³) ways differ by 0.02
    assert stored["log_evidence"] == pytest.approx(value, abs=0.05)


@pytest.mark.parametrize("name", ["boston", "energy", "power"])
def test_the_default_effort_comes_closer_to_the_best_known(name):
    closed = []
    for split in search.SPLITS:
        task = _task(name, split)
        fast, default = (task.solve(effort=effort)[0].log_evidence for effort in ("fast", "default"))
        assert default >= fast - 1e-6
        closed.append((default - fast) / (KNOWN[task.key]["log_evidence"] - fast))
    assert np.mean(closed) > 0.3
