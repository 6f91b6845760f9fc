"""Passes over the parts of Dask collections."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="Dask is not installed")
import dask.array as da

from sparsebayes.distributed import DaskRows
from sparsebayes.distributed.fusion import Recipe

X = np.random.default_rng(0).standard_normal((600, 4))


def part_sum(part):
    return float(np.sum(part.X)), int(part.X.shape[0])


def both(results):
    return tuple(map(sum, zip(*results, strict=True)))


class Counting(dask.callbacks.Callback):
    """Counts the tasks that are computed."""

    def __init__(self):
        self.tasks = 0

    def _pretask(self, key, graph, state):
        self.tasks += 1


@pytest.mark.parametrize("rows", [600, 70, 7])
def test_a_pass_sees_every_row_once(rows):
    total, seen = DaskRows.of(da.from_array(X, chunks=(rows, 4))).reduce("sum", part_sum, both)
    np.testing.assert_allclose(total, X.sum())
    assert seen == 600


def test_what_makes_a_part_is_one_task_with_its_use():
    remote = (2 * da.from_array(X, chunks=(100, 4)) + 1)[:, ::-1]
    rows = DaskRows.of(remote, remote[:, 0] + remote[:, 1])
    assert all(isinstance(part, Recipe) for part in rows.parts)
    with Counting() as counting, dask.config.set(scheduler="synchronous"):
        total, _ = rows.reduce("sum", part_sum, both)
    np.testing.assert_allclose(total, (2 * X + 1).sum())
    assert counting.tasks <= 6 + 1 + 2  # parts, their sum, what they share


def test_parts_that_share_tasks_are_left_as_they_are():
    shared = dask.delayed(lambda: X)()
    blocks = [da.from_delayed(dask.delayed(lambda x, k=k: x[k : k + 300])(shared), (300, 4), float) for k in (0, 300)]
    rows = DaskRows.of(da.concatenate(blocks))
    assert not any(isinstance(part, Recipe) for part in rows.parts)
    np.testing.assert_allclose(rows.reduce("sum", part_sum, both)[0], X.sum())


def chained(results):
    return [each for result in results for each in result]


def test_a_part_knows_where_it_is():
    rows = DaskRows.of(da.from_array(X, chunks=((100, 0, 500), 4)))
    found = rows.reduce("where", lambda part: [(part.number, part.start)], chained)
    assert found == [(0, 0), (1, 100), (2, 100)]
