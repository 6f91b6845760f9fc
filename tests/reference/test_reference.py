"""Fits give what they gave before: evidence, predictions and the active set of the stored results.

A fit whose answer was changed on purpose is named in explained.py. `store.py --compare` runs the longer fits
as well, and says by how much each of them differs.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import store
from explained import EXPLAINED

SHORT = 0.3  # seconds of processor time: longer fits are for store.py
EVIDENCE, FLOOR, PREDICTION = 1e-7, 1e-6, 1e-5  # of the evidence; nats; of the spread of the predictions
STORED = store.stored()


@pytest.mark.parametrize("name", [name for name, record in STORED.items() if record["seconds"] < SHORT])
def test_the_stored_result_is_found_again(name):
    if name in EXPLAINED:
        pytest.skip(EXPLAINED[name])
    if name in store.REAL and not store.available():
        pytest.skip("the benchmark data are not beside the project")
    before, now = STORED[name], store.run(name)
    for key in store.EVIDENCE:
        if key in before and key in now:
            np.testing.assert_allclose(now[key], before[key], rtol=EVIDENCE, atol=FLOOR, err_msg=key)
    for key in store.PREDICTIONS:
        if key in before and key in now:
            tolerance = PREDICTION * store.spread(key, before[key])
            np.testing.assert_allclose(now[key], before[key], rtol=0.0, atol=tolerance, err_msg=key)
    for key in store.SAME:
        if key in before and key in now:
            assert now[key] == before[key], key


def test_every_fit_is_stored_and_every_explanation_is_of_a_fit():
    assert set(store.CASES) == set(STORED)
    assert set(EXPLAINED) <= set(STORED)
