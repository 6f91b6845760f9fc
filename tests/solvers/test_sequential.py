"""The update formulae of the sequential algorithm against recomputation."""

import numpy as np
import pytest
from brute import problem_of, random_problem

from sparsebayes.core.solver import first_state
from sparsebayes.solvers.tables import Table


def test_sequential_updates_equal_a_recomputation():
    Phi, t, _ = random_problem(4, 50, 30, 5)
    table, rng = Table(first_state(problem_of(Phi, t))), np.random.default_rng(0)
    kinds = set()
    for _ in range(60):
        target = table.target()
        useful = np.flatnonzero(table.gains(target) > 1e-12)
        if not len(useful):
            break
        m = int(rng.choice(useful))
        kinds.add((m in table.J, bool(np.isfinite(target[m]))))
        table.act(m, target[m])
        exact = Table(table.exact())
        np.testing.assert_allclose(table.Sigma, exact.Sigma, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(table.mean, exact.mean, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(table.S, exact.S, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(table.Q, exact.Q, rtol=1e-7, atol=1e-8)
        assert table.objective == pytest.approx(exact.objective, rel=1e-9)
    assert kinds == {(False, True), (True, True), (True, False)}  # added, re-estimated and deleted
