import math
from functools import partial

import numpy as np
import pytest

from sparsebayes.datasets import make_friedman, make_ripley, make_signal, make_sinc, make_sinc2d, sinc


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


def test_ripleys_classes_have_the_same_share_and_the_moments_of_two_round_gaussians():
    X, y, _ = make_ripley(n=40_000, random_state=5)
    assert X.shape == (40_000, 2)
    assert set(y.tolist()) == {0, 1}
    assert y.mean() == pytest.approx(0.5, abs=0.01)
    for label, mean, gap in [(0, [-0.2, 0.3], 1.0), (1, [0.05, 0.7], 0.7)]:
        mine = X[y == label]
        np.testing.assert_allclose(mine.mean(axis=0), mean, atol=0.02)
        # the two Gaussians of a class lie `gap` apart along the first input
        np.testing.assert_allclose(mine.var(axis=0), [0.03 + gap**2 / 4, 0.03], rtol=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_ripleys_probabilities_are_calibrated_and_the_best_error_is_about_nine_percent(seed):
    _, y, p = make_ripley(n=40_000, random_state=seed)
    assert ((p >= 0) & (p <= 1)).all()
    tenth = np.minimum((10 * p).astype(int), 9)
    for part in range(10):
        mine = tenth == part
        assert y[mine].mean() == pytest.approx(p[mine].mean(), abs=4 * 0.5 / math.sqrt(mine.sum()))
    error = np.mean((p > 0.5) != y)
    assert error == pytest.approx(np.minimum(p, 1 - p).mean(), abs=0.005)
    assert error == pytest.approx(0.09, abs=0.005)


@pytest.mark.parametrize("make", [make_sinc, make_sinc2d, make_ripley, make_friedman, partial(make_signal, "bumps")])
def test_a_generator_is_drawn_from(make):
    rng = np.random.default_rng(1)
    first, second = make(n=30, random_state=rng), make(n=30, random_state=rng)
    again = make(n=30, random_state=np.random.default_rng(1))
    for one, same in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, same)
    assert not np.array_equal(first[1], second[1])


@pytest.mark.parametrize("make", [make_sinc, make_sinc2d, make_ripley])
def test_a_seed_fixes_the_draw(make):
    first, again, other = (make(n=30, random_state=seed) for seed in (1, 1, 2))
    for one, same in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, same)
    assert not np.array_equal(first[1], other[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_sinc(n=0), "n must be an integer >= 1, got 0"),
        (lambda: make_sinc2d(n=2.5), "n must be an integer >= 1, got 2.5"),
        (lambda: make_ripley(n=0), "n must be an integer >= 1, got 0"),
        (lambda: make_sinc(noise="cauchy"), "noise must be 'gaussian', 'uniform' or None, got 'cauchy'"),
        (lambda: make_sinc(scale=-1.0), "scale must be a finite number >= 0, got -1.0"),
        (lambda: make_sinc2d(noise=math.nan), "noise must be a finite number >= 0, got nan"),
        (lambda: make_sinc(True), "n must be an integer >= 1, got True"),
        (lambda: make_sinc("5"), "n must be an integer >= 1, got '5'"),
        (lambda: make_sinc(5, ["x"]), r"noise must be 'gaussian', 'uniform' or None, got \['x'\]"),
        (lambda: make_sinc(5, "gaussian", "a"), "scale must be a finite number >= 0, got 'a'"),
        (lambda: make_sinc(5, "gaussian", 10**400), "scale must be a finite number >= 0, got 1000"),
        (lambda: make_sinc2d(5, None), "noise must be a finite number >= 0, got None"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
