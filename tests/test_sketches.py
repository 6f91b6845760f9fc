"""Rows drawn by hash values of their contents: neither their order nor how they are divided matters."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsebayes._array import to_numpy
from sparsebayes._sketches import SmallestKeys, draw_keys, hashes, smallest, uniform

X = np.random.default_rng(0).standard_normal((1000, 3))


def test_a_sample_does_not_depend_on_the_order_of_rows():
    order = np.random.default_rng(1).permutation(1000)
    one = SmallestKeys.of(uniform(X), X, 50)
    two = SmallestKeys.of(uniform(X[order[:300]]), X[order[:300]], 50)
    two = two + SmallestKeys.of(uniform(X[order[300:]]), X[order[300:]], 50)
    assert_array_equal(one.rows, two.rows)
    assert_array_equal(one.rows, X[smallest(uniform(X), 50)])


def test_rows_that_are_one_are_kept_once():
    rows = np.repeat(X[:20], 5, axis=0)
    found = [SmallestKeys.of(uniform(part), part, 30, identity=hashes(part)) for part in (rows[:33], rows[33:])]
    total = found[0] + found[1]
    assert len(total.rows) == 20
    assert_array_equal(total.rows, X[smallest(uniform(X[:20]), 20)])


@pytest.mark.parametrize("seed", [0, 7])
def test_hash_values_look_random_and_depend_on_the_values_alone(seed):
    assert len(np.unique(hashes(X, seed))) == len(X)
    assert abs(uniform(X, seed).mean() - 0.5) < 0.03
    assert_array_equal(hashes(X[::-1], seed), hashes(X, seed)[::-1])
    assert_array_equal(hashes(np.array([[0.0, 1.0]])), hashes(np.array([[-0.0, 1.0]])))
    assert (hashes(X, seed) != hashes(X, seed + 1)).all()


def test_the_first_row_drawn_has_a_probability_proportional_to_its_weight():
    weights = np.array([1.0, 2.0, 5.0])
    first = [np.argmin(draw_keys(X[:3], weights, seed)) for seed in range(4000)]
    shares = np.bincount(first, minlength=3) / len(first)
    np.testing.assert_allclose(shares, weights / 8, atol=4 * np.sqrt(0.25 / 4000))


def test_the_smallest_of_fewer_keys_than_wanted_are_all():
    assert_array_equal(smallest(np.array([3.0, 1.0, 2.0]), 5), [1, 2, 0])


def test_arrays_of_every_library_have_the_same_hash_values(backend):
    special = np.asarray([[0.0, -0.0, 1e-300], [-1.5, np.pi, 1e300]])
    for rows in (X, special):
        found = to_numpy(hashes(backend.asarray(rows), 3))
        assert_array_equal(found.view(np.uint64), hashes(rows, 3))
        assert_array_equal(to_numpy(uniform(backend.asarray(rows), 3)), uniform(rows, 3))
    weights = np.random.default_rng(3).uniform(0.1, 2.0, 1000)
    drawn = smallest(draw_keys(backend.asarray(X), backend.asarray(weights), 5), 40)
    assert_array_equal(drawn, smallest(draw_keys(X, weights, 5), 40))
