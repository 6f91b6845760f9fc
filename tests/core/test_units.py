"""The map between the user's numbers and the solver's, against what it promises."""

import math
from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.core.units import NothingToModel, Units, root_mean_square, target_spread, without_constants

RNG = np.random.default_rng(0)
T = 3.0 + 2.0 * RNG.standard_normal(20)
COUNTS = RNG.integers(1, 4, 20).astype(float)


@pytest.mark.parametrize("center", [False, True])
def test_the_scaled_target_has_unit_mean_square_and_no_mean_with_an_intercept(center):
    units = Units.of_target(T, COUNTS, center)
    scaled, repeated = units.scaled(T), np.repeat(T, COUNTS.astype(int))
    assert units.n == COUNTS.sum()
    assert units.center is center
    assert COUNTS @ scaled**2 / units.n == pytest.approx(1.0, rel=1e-13)
    assert units.target_mean == pytest.approx(repeated.mean() if center else 0.0, rel=1e-13)
    assert units.target_scale == pytest.approx(repeated.std() if center else np.sqrt(np.mean(repeated**2)), rel=1e-13)
    assert units.target_spread == pytest.approx(repeated.var() / units.target_scale**2, rel=1e-12)


def test_units_without_a_target_change_nothing():
    units = Units(7.0, False)
    assert_array_equal(units.scaled(T), T)
    assert units.log_jacobian == 0.0
    assert units.target_spread == 1.0


def test_an_intercept_costs_one_row_and_half_a_logarithm():
    plain, centred = (Units(9.0, center, target_scale=3.0) for center in (False, True))
    assert (plain.rows_counted, plain.offset) == (9.0, 0.0)
    assert centred.rows_counted == 8.0
    assert centred.offset == pytest.approx(-0.5 * math.log(9.0))
    assert plain.log_jacobian == pytest.approx(-9 * math.log(3.0))
    assert centred.log_jacobian == pytest.approx(-8 * math.log(3.0))


def test_units_follow_the_array_standard():
    strict = Units.of_target(array_api_strict.asarray(T), array_api_strict.asarray(COUNTS), True)
    plain = Units.of_target(T, COUNTS, True)
    assert strict.target_scale == pytest.approx(plain.target_scale)
    assert strict.target_spread == pytest.approx(plain.target_spread)
    norms = array_api_strict.asarray([1.0, 2.0])
    unit = strict.with_columns(np.arange(2), norms, 0 * norms).unit
    assert_allclose(np.asarray(unit) * plain.target_scale**2, [1.0, 4.0])


@pytest.mark.parametrize("size", [1e-119, 1e-60, 1e60, 9e119])
def test_targets_of_any_size_are_scaled_without_overflow(size):
    t = size * T / np.abs(T).max()
    assert root_mean_square(t, None, 20.0) / size == pytest.approx(np.sqrt(np.mean((t / size) ** 2)), rel=1e-13)
    units = Units.of_target(t, np.ones(20), True)
    assert units.target_spread == pytest.approx(1.0)


@pytest.mark.parametrize(("peak", "refused"), [(0.9e-120, True), (1.5e-120, False), (0.9e120, False), (1.5e120, True)])
def test_targets_whose_squares_are_no_numbers_are_refused(peak, refused):
    t = np.asarray([peak, -0.5 * peak, 0.0])
    if not refused:
        assert Units.of_target(t, np.ones(3), False).target_scale == pytest.approx(peak * math.sqrt(1.25 / 3))
        return
    with pytest.raises(ValueError, match="between 1e-120 and 1e120"):
        Units.of_target(t, np.ones(3), False)


def test_rows_that_count_zero_times_do_not_matter():
    n = COUNTS.sum()
    without, beside = root_mean_square(T, COUNTS, n), (np.append(T, 1e50), np.append(COUNTS, 0.0))
    assert root_mean_square(*beside, n) == pytest.approx(without)
    with pytest.raises(NothingToModel, match="there is nothing to model"):
        root_mean_square(np.asarray([0.0, 5.0]), np.asarray([1.0, 0.0]), 1.0)


@pytest.mark.parametrize("center", [False, True])
def test_a_target_without_variation_is_nothing_to_model(center):
    with pytest.raises(NothingToModel, match="zero or, with an intercept, constant"):
        Units.of_target(np.full(5, 2.0) if center else np.zeros(5), np.ones(5), center)


def test_a_constant_target_without_an_intercept_has_the_least_spread():
    assert Units.of_target(np.full(5, 2.0), np.ones(5), False).target_spread == 1e-12
    assert target_spread(np.asarray([1.0, 3.0]), np.asarray([3.0, 1.0]), 4.0, 2.0) == pytest.approx(0.75 / 4)


def test_unit_turns_precisions_into_the_users():
    norms = np.asarray([0.5, 2.0, 1e-200, 1e200])
    unit = Units(5.0, False, target_scale=4.0).with_columns(np.arange(4), norms, np.zeros(4)).unit
    assert_allclose(unit, [(0.5 / 4) ** 2, 0.25, 1e-300, 1e300], rtol=1e-13)


def test_unit_of_columns_alike_is_one_number():
    norms = np.broadcast_to(np.asarray(3.0), (6,))
    unit = Units(5.0, False, target_scale=2.0).with_columns(np.arange(6), norms, norms).unit
    assert_array_equal(unit, np.full(6, 2.25))
    assert unit.strides == (0,)
    none = norms[:0]
    assert len(Units(5.0, False).with_columns(np.arange(0), none, none).unit) == 0


def test_what_rounding_leaves_of_a_constant_column_counts_as_zero():
    units, means = Units(100.0, True), np.asarray([3.0, -3.0, 3.0, 0.0])
    left = np.asarray([2.5e-12, 2.5e-12, 4e-12, 1e-30])  # the limit is 1e-13 of |mean| √n = 30
    assert_array_equal(without_constants(left, means, units.n), [0.0, 0.0, left[2], left[3]])
    assert_array_equal(without_constants(np.zeros(2), np.zeros(2), units.n), [0.0, 0.0])


def _state(covariance):
    """A posterior of the functions 2 and 0, in that order, with β = 5."""
    return SimpleNamespace(
        J=np.asarray([2, 0]),
        mean=np.asarray([0.3, -0.7]),
        alpha=np.asarray([1.5, 0.2]),
        gamma=np.asarray([0.9, 0.4]),
        covariance=covariance,
        beta=5.0,
    )


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("diagonal", [False, True])
def test_weights_in_user_units(center, diagonal):
    dense = np.diag([0.2, 0.3]) if diagonal else np.asarray([[0.2, 0.05], [0.05, 0.3]])
    norms, means = np.asarray([2.0, 7.0, 0.5]), np.asarray([1.0, 4.0, -3.0]) * center
    units = Units(8.0, center, target_scale=3.0, target_mean=1.5 * center)
    units = units.with_columns(np.asarray([10, 11, 15]), norms, means)
    back = units.weights_in_user_units(_state(scipy.sparse.csr_array(dense) if diagonal else dense))
    assert_array_equal(back["active"], [10, 15])
    assert_array_equal(back["output"], [0, 0])
    assert_allclose(back["mean"], [-0.7 * 3 / 2, 0.3 * 3 / 0.5])
    assert_allclose(back["alpha"], [0.2 * (2 / 3) ** 2, 1.5 * (0.5 / 3) ** 2])
    assert_allclose(back["gamma"], [0.4, 0.9])
    covariance = back["covariance"].toarray() if diagonal else back["covariance"]
    expected = np.asarray([[0.3 * 1.5**2, dense[0, 1] * 1.5 * 6], [dense[0, 1] * 1.5 * 6, 0.2 * 36]])
    assert_allclose(covariance, expected)
    assert hasattr(back["covariance"], "tocsc") is diagonal
    b = 1.5 - (-0.7 * 1.5 * 1.0 + 0.3 * 6 * -3.0) if center else 0.0
    assert_allclose(back["intercept"], [b])
    assert_allclose(back["centre"], [[means[0], means[2]]])
    assert_allclose(back["intercept_covariance"], [[9 / (5 * 8) if center else 0.0]])
