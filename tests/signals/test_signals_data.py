import math

import numpy as np
import pytest
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from sparsebayes.datasets import SIGNALS, make_friedman, make_signal


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize(("n", "snr"), [(4000, 2.0), (4097, 7.0)])
def test_snr_is_the_ratio_of_standard_deviations(name, n, snr):
    X, y, f = make_signal(name, n, snr=snr, random_state=1)
    assert X.shape == (n, 1)
    assert y.shape == f.shape == (n,)
    assert f.std() / (y - f).std() == pytest.approx(snr, rel=0.05)
    np.testing.assert_array_equal(make_signal(name, n, snr=None)[1], f)


@pytest.mark.parametrize(("name", "variance"), [("bumps", 4 * 0.119), ("sinc", 4 * 0.031)])
def test_variance_printed_by_se07(name, variance):
    """σ² = var(f)/snr² at N = 128 and SNR 2 [SE07, table 1]."""
    assert make_signal(name, 128, snr=None)[2].var() == pytest.approx(variance, rel=0.01)


def test_doppler_variance_belongs_to_snr_7():
    assert make_signal("doppler", 1024, snr=None)[2].var() / 49 == pytest.approx(0.0017, rel=0.01)


def test_blocks_is_constant_between_its_jumps():
    f = make_signal("blocks", 1000, snr=None)[2]
    assert np.count_nonzero(np.abs(np.diff(f)) > 1e-12) == 22  # a point on a jump is half-way
    assert f[50] == 0
    assert f[999] == pytest.approx(0.0, abs=1e-12)
    assert f[115] == pytest.approx(4.0)


def test_heavisine_and_doppler_are_their_formulas():
    x = np.arange(64) / 64
    heavy = [4 * math.sin(4 * math.pi * v) - np.sign(v - 0.3) - np.sign(0.72 - v) for v in x]
    np.testing.assert_allclose(make_signal("heavisine", 64, snr=None)[2], heavy, atol=1e-12)
    doppler = [math.sqrt(v * (1 - v)) * math.sin(2 * math.pi * 1.05 / (v + 0.05)) for v in x]
    np.testing.assert_allclose(make_signal("doppler", 64, snr=None)[2], doppler, atol=1e-12)


def test_bumps_peak_where_they_are_put():
    f = make_signal("bumps", 2000, snr=None)[2]
    for peak, height in ((0.40, 4.2), (0.65, 4.3)):
        assert f[round(2000 * peak)] == pytest.approx(height, rel=0.05)


def test_blocks_sinc_is_the_one_and_then_the_other():
    f = make_signal("blocks-sinc", 1024, snr=None)[2]
    for half, name in ((f[:512], "blocks"), (f[512:], "sinc")):
        alone = make_signal(name, 512, snr=None)[2]
        np.testing.assert_allclose(half, alone / alone.std())


@pytest.mark.parametrize(("number", "other"), list(enumerate([make_friedman1, make_friedman2, make_friedman3], 1)))
def test_friedman_functions_are_scikit_learns(number, other):
    X, y, f = make_friedman(number, n=50, snr=None, random_state=3)
    np.testing.assert_array_equal(y, f)
    theirs, target = other(n_samples=50, random_state=3)
    np.testing.assert_allclose(X, theirs)
    np.testing.assert_allclose(f, target)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_friedman_snr(number):
    _, y, f = make_friedman(number, n=20000, snr=3.0, random_state=5)
    assert f.std() / (y - f).std() == pytest.approx(3.0, rel=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_signal("noise"), "name must be one of"),
        (lambda: make_signal(["blocks"]), r"name must be one of .*, got \['blocks'\]"),
        (lambda: make_signal(None), "name must be one of .*, got None"),
        (lambda: make_signal("bumps", snr=1e-320), "snr must be large enough for the noise to be finite"),
        (
            lambda: make_friedman(snr=5e-324),
            "snr must be large enough for the noise to be finite, got 5e-324",
        ),
        (lambda: make_friedman(snr=10**400), "snr must be a finite number > 0 or None, got 1000"),
        (lambda: make_friedman(n=True), "n must be an integer >= 1, got True"),
        (lambda: make_signal("bumps", 4), "n must be an integer >= 8, got 4"),
        (lambda: make_signal("bumps", snr=0.0), "snr must be a finite number > 0 or None, got 0.0"),
        (lambda: make_friedman(4), "number must be 1, 2 or 3, got 4"),
        (lambda: make_friedman(snr=math.nan), "snr must be a finite number > 0 or None, got nan"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
