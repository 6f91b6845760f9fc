import math

import numpy as np
import pytest

from sparsebayes.datasets import make_sinc, make_sinc2d, sinc


def test_sinc_is_sin_x_over_x_and_one_at_zero():
    x = np.asarray([0.0, 1e-300, -1.0, 2.5, 10.0])
    expected = [1.0, 1.0, *(math.sin(v) / v for v in x[2:])]
    np.testing.assert_allclose(sinc(x), expected, rtol=1e-14)


def test_sinc_points_are_equally_spaced_and_the_truth_belongs_to_them():
    X, y, f = make_sinc(n=41, noise=None)
    assert X.shape == (41, 1)
    np.testing.assert_allclose(np.diff(X[:, 0]), 0.5)
    assert (X.min(), X.max()) == (-10.0, 10.0)
    np.testing.assert_array_equal(y, f)
    np.testing.assert_array_equal(f, sinc(X[:, 0]))


@pytest.mark.parametrize(("noise", "expected"), [("gaussian", 0.3), ("uniform", 0.3 / math.sqrt(3))])
def test_noise_has_the_size_asked_for(noise, expected):
    _, y, f = make_sinc(n=20000, noise=noise, scale=0.3, random_state=3)
    error = y - f
    assert abs(error.mean()) < 4 * expected / math.sqrt(20000)
    assert error.std() == pytest.approx(expected, rel=0.03)
    assert (np.abs(error).max() <= 0.3) == (noise == "uniform")


def test_two_inputs_fill_the_square_and_the_truth_is_radial():
    X, y, f = make_sinc2d(n=5000, noise=0.2, random_state=4)
    assert X.shape == (5000, 2)
    assert np.abs(X).max() <= 10
    np.testing.assert_allclose(X.std(axis=0), 20 / math.sqrt(12), rtol=0.05)
    np.testing.assert_allclose(f, sinc(np.sqrt((X**2).sum(axis=1))), atol=1e-12)
    assert (y - f).std() == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize("make", [make_sinc, make_sinc2d])
def test_a_seed_fixes_the_draw(make):
    again = [make(n=30, random_state=seed)[1] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(again[0], again[1])
    assert not np.array_equal(again[0], again[2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_sinc(n=0), "n must be an integer >= 1, got 0"),
        (lambda: make_sinc2d(n=2.5), "n must be an integer >= 1, got 2.5"),
        (lambda: make_sinc(noise="cauchy"), "noise must be 'gaussian', 'uniform' or None, got 'cauchy'"),
        (lambda: make_sinc(scale=-1.0), "scale must be a finite number >= 0, got -1.0"),
        (lambda: make_sinc2d(noise=math.nan), "noise must be a finite number >= 0, got nan"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
