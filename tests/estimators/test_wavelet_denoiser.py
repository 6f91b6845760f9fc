"""Denoising: better than nothing everywhere, exact where it can be, and clear about what it cannot do."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sparsebayes import Laplace, NoiseCollapseWarning, Smoothness, WaveletDenoiser
from sparsebayes.datasets import SIGNALS, make_signal
from sparsebayes.signals.boundary import circular_shifts, padded_shape
from sparsebayes.signals.wavelet_transform import WaveletOperator

PRIORS = ["auto", "aic", "bic", "ric", Smoothness(2.0), Laplace(10.0)]


def phantom(shape, seed):
    """A box in a smooth background, with noise."""
    axes = np.meshgrid(*(np.linspace(-1, 1, n) for n in shape), indexing="ij")
    f = sum(np.cos(2 * a) for a in axes) + 3.0 * (np.max(np.abs(axes), axis=0) < 0.5)
    return f + 0.5 * np.random.default_rng(seed).standard_normal(shape), f


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("n", [512, 1000, 1021])
@pytest.mark.parametrize("shifts", [0, 5])
@pytest.mark.parametrize("boundary", ["symmetric", "periodic"])
def test_signals_come_out_cleaner(name, n, shifts, boundary):
    _, y, f = make_signal(name, n, snr=4.0, random_state=n)
    denoiser = WaveletDenoiser(shifts=shifts, boundary=boundary)
    denoised = denoiser.fit_transform(y)
    assert np.mean((denoised - f) ** 2) < 0.75 * np.mean((y - f) ** 2)
    assert 0.5 < denoiser.noise_variance_ / (f.var() / 16) < 2.0  # sharp bumps count as noise
    assert 0 < denoiser.n_active_ < n
    size = n if boundary == "periodic" else padded_shape((n,), (n.bit_length() - 4,), 32)[0]
    assert denoiser.coef_.shape == (size,)


@pytest.mark.parametrize("shape", [(64, 64), (61, 50), (16, 16, 16), (13, 18, 11)], ids=str)
@pytest.mark.parametrize("shifts", [0, 3])
def test_images_and_volumes_come_out_cleaner(shape, shifts):
    y, f = phantom(shape, 1)
    denoiser = WaveletDenoiser("sym4", ndim=len(shape), shifts=shifts)
    denoised, std = denoiser.fit_transform(y, return_std=True)
    assert np.mean((denoised - f) ** 2) < 0.7 * np.mean((y - f) ** 2)
    assert denoised.shape == std.shape == shape
    assert (std > 0).all()


def test_shifts_help():
    gains = []
    for seed in range(5):
        _, y, f = make_signal("blocks", 1024, snr=4.0, random_state=seed)
        alone, spun = (WaveletDenoiser(shifts=k).fit_transform(y) for k in (0, 16))
        gains.append(np.mean((alone - f) ** 2) / np.mean((spun - f) ** 2))
    assert min(gains) > 1.1


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_known_noise_is_used_and_kept(prior):
    _, y, f = make_signal("heavisine", 256, snr=5.0, random_state=3)
    sigma2 = f.var() / 25
    denoiser = WaveletDenoiser(prior=prior, noise_variance=sigma2)
    denoised = denoiser.fit_transform(y)
    assert denoiser.noise_variance_ == pytest.approx(sigma2)
    assert np.mean((denoised - f) ** 2) < np.mean((y - f) ** 2)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("n", [128, 100])
def test_units_do_not_matter(prior, n):
    if isinstance(prior, Laplace):
        return  # its scale has units
    _, y, _ = make_signal("bumps", n, snr=5.0, random_state=4)
    base, std = WaveletDenoiser(prior=prior).fit_transform(y, return_std=True)
    moved, wider = WaveletDenoiser(prior=prior).fit_transform(1e6 * y - 3e5, return_std=True)
    assert_allclose(moved, 1e6 * base - 3e5, rtol=1e-6, atol=1e-2)
    assert_allclose(wider, 1e6 * std, rtol=1e-6)


def test_error_bars_cover_smooth_signals():
    covered = []
    for seed in range(10):
        _, y, f = make_signal("heavisine", 1024, snr=7.0, random_state=seed)
        mean, std = WaveletDenoiser().fit_transform(y, return_std=True)
        covered.append(np.mean(np.abs(f - mean) < 3 * std))
    assert np.mean(covered) > 0.8


def test_error_bars_of_a_prior_are_those_of_its_posterior():
    _, y, _ = make_signal("bumps", 100, snr=4.0, random_state=5)
    denoiser = WaveletDenoiser("db2", "bic", shifts=0, boundary="periodic")
    mean, std = denoiser.fit_transform(y, return_std=True)
    operator = WaveletOperator(100, "db2")
    w = operator.analyze(y - y.mean())
    gamma = np.divide(denoiser.coef_, w, out=np.zeros(100), where=denoiser.coef_ != 0)
    Phi = operator.columns(range(100))
    assert_allclose(std**2, denoiser.noise_variance_ * (Phi**2 @ gamma + 1 / 100), rtol=1e-9)
    assert_allclose(mean, Phi @ denoiser.coef_ + y.mean(), atol=1e-10)


def test_a_batch_is_its_signals_one_by_one():
    rows = np.stack([make_signal(name, 120, snr=3.0, random_state=1)[1] for name in ("bumps", "doppler", "sinc")])
    denoiser = WaveletDenoiser(shifts=2, boundary="periodic")
    together, std = denoiser.fit_transform(rows, return_std=True)
    assert denoiser.noise_variance_.shape == denoiser.n_active_.shape == (3,)
    assert denoiser.coef_.shape == (3, 120)
    assert denoiser.c_.shape == (3, len(denoiser.bands_))
    for k, row in enumerate(rows):
        one = WaveletDenoiser(shifts=2, boundary="periodic")
        mean, deviation = one.fit_transform(row, return_std=True)
        assert_allclose(together[k], mean, atol=1e-14)
        assert_allclose(std[k], deviation, atol=1e-14)
        assert denoiser.noise_variance_[k] == one.noise_variance_
    images = np.stack([phantom((20, 24), s)[0] for s in range(2)])
    assert WaveletDenoiser(ndim=2).fit_transform(images).shape == images.shape


@pytest.mark.parametrize("shifts", [0, 3])
def test_fit_then_transform_is_fit_transform(shifts):
    _, y, _ = make_signal("doppler", 300, random_state=6)
    both = WaveletDenoiser(shifts=shifts).fit_transform(y)
    fitted = WaveletDenoiser(shifts=shifts).fit(y)
    coef = fitted.coef_.copy()
    assert_array_equal(fitted.transform(y), both)
    other = make_signal("bumps", 77, random_state=7)[1]
    assert_array_equal(fitted.transform(other), WaveletDenoiser(shifts=shifts).fit_transform(other))
    assert_array_equal(fitted.coef_, coef)
    assert_array_equal(clone(fitted).fit_transform(y), both)


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.float64, bool])
def test_any_real_type_and_inputs_are_not_modified(dtype):
    _, y, _ = make_signal("blocks", 256, snr=5.0, random_state=8)
    X = (100 * y).astype(dtype)
    kept = X.copy()
    X.setflags(write=False)
    denoised = WaveletDenoiser(shifts=2).fit_transform(X)
    assert denoised.dtype == np.float64
    assert_array_equal(X, kept)
    assert_allclose(denoised, WaveletDenoiser(shifts=2).fit_transform(kept.astype(float)))
    assert_allclose(WaveletDenoiser(shifts=2).fit_transform(kept.tolist()), denoised)


@pytest.mark.parametrize("prior", ["auto", "bic"])
@pytest.mark.parametrize("value", [0.0, 0.1, -7e8])
@pytest.mark.parametrize("n", [2, 15, 64])
def test_constant_signals_come_back(prior, value, n):
    denoiser = WaveletDenoiser(prior=prior, shifts=2)
    denoised, std = denoiser.fit_transform(np.full(n, value), return_std=True)
    assert_allclose(denoised, value)
    assert denoiser.noise_variance_ == 0
    assert_array_equal(std, 0.0)


@pytest.mark.parametrize("prior", ["auto", "bic"])
@pytest.mark.parametrize("n", [1, 9, 64])
@pytest.mark.parametrize("shifts", [0, 4])
def test_constant_signals_with_known_noise_are_like_those_that_hardly_vary(prior, n, shifts):
    y = np.full(n, 3.3)
    hardly = y + 1e-9 * np.random.default_rng(n).standard_normal(n)
    denoiser = WaveletDenoiser(prior=prior, noise_variance=1.0, shifts=shifts)
    mean, std = denoiser.fit_transform(y, return_std=True)
    assert_allclose(mean, 3.3)
    assert denoiser.n_active_ == 0
    if n > 1:
        assert_allclose(std, denoiser.fit_transform(hardly, return_std=True)[1], rtol=1e-6)


@pytest.mark.parametrize("n", [1024, 2**16])
@pytest.mark.parametrize(("offset", "noise"), [(1.7e9, 0.02), (300.0, 1e-9), (-1e6, 1e-6)])
def test_an_offset_does_not_hide_the_noise(n, offset, noise):
    e = noise * np.random.default_rng(0).standard_normal(n)
    denoiser = WaveletDenoiser().fit(offset + e)
    assert denoiser.noise_variance_ == pytest.approx(noise**2, rel=0.2)
    assert denoiser.n_active_ < n / 10


@pytest.mark.parametrize("shape", [(9,), (4, 3)])
def test_all_shifts_are_different_and_no_more_than_there_are(shape):
    y = np.random.default_rng(0).standard_normal(shape)
    axes = range(len(shape))
    denoiser = WaveletDenoiser(
        "haar", "bic", level=1, noise_variance=0.5, shifts=0, ndim=len(shape), boundary="periodic"
    )
    each = [
        np.roll(denoiser.fit_transform(np.roll(y, move, axes)), [-k for k in move], axes) for move in np.ndindex(shape)
    ]
    for shifts in (y.size, 10 * y.size):
        spun = denoiser.set_params(shifts=shifts).fit_transform(y)
        assert_allclose(spun, np.mean(each, axis=0), atol=1e-12)
    assert all(len(set(circular_shifts(k, shape))) == k - 1 for k in range(1, y.size + 1))


@pytest.mark.parametrize("shape", [(1024,), (1152,), (96, 160), (64, 64), (24, 64, 40)], ids=str)
@pytest.mark.parametrize("bits", [1, 2])
def test_first_shifts_take_every_place_on_the_grids(shape, bits):
    size = 2**bits
    moves = [(0,) * len(shape), *circular_shifts(size ** len(shape), shape)]
    assert len({tuple(k % size for k in move) for move in moves}) == size ** len(shape)


def ramp(n, seed):
    """A signal whose ends are far apart, with noise of standard deviation 1."""
    x = np.linspace(0, 1, n)
    f = 10 * np.sin(5 * x) + 20 * x
    return f + np.random.default_rng(seed).standard_normal(n), f


@pytest.mark.parametrize("n", [1024, 1001, 777])
@pytest.mark.parametrize("shifts", [0, 8])
@pytest.mark.parametrize("prior", ["auto", "bic"])
def test_mirrored_ends_have_less_error_where_ends_do_not_meet(n, shifts, prior):
    errors = {}
    for boundary in ("periodic", "symmetric"):
        denoiser = WaveletDenoiser(prior=prior, shifts=shifts, boundary=boundary)
        squares = [(denoiser.fit_transform(y) - f) ** 2 for y, f in (ramp(n, seed) for seed in range(20))]
        errors[boundary] = np.sqrt(np.mean(squares, axis=0))
    at_ends = {boundary: each[[0, -1]].max() for boundary, each in errors.items()}
    overall = {boundary: np.sqrt(np.mean(each**2)) for boundary, each in errors.items()}
    assert at_ends["symmetric"] < min(1.0, 0.6 * at_ends["periodic"])  # less than the noise
    assert overall["symmetric"] < 0.85 * overall["periodic"]


@pytest.mark.parametrize("shape", [(1,), (2,), (33,), (9, 20), (5, 6, 7)], ids=str)
def test_mirrored_signals_of_any_shape(shape):
    y = np.random.default_rng(0).standard_normal(shape)
    denoiser = WaveletDenoiser("haar", noise_variance=1.0, ndim=len(shape), boundary="symmetric", shifts=3)
    mean, std = denoiser.fit_transform(y, return_std=True)
    assert mean.shape == std.shape == shape
    assert (std > 0).all()
    assert_array_equal(denoiser.fit(y).transform(y), mean)
    assert_allclose(denoiser.fit_transform(np.stack([y, 2 * y]))[0], mean)
    constant, none = WaveletDenoiser(ndim=len(shape), boundary="symmetric", noise_variance=1.0).fit_transform(
        np.full(shape, 2.5), return_std=True
    )
    assert_allclose(constant, 2.5)
    assert none.shape == shape


def test_the_mean_and_the_coefficients_are_the_denoised_signal():
    _, y, _ = make_signal("blocks", 200, random_state=2)
    denoiser = WaveletDenoiser(shifts=0, boundary="periodic")
    denoised = denoiser.fit_transform(y + 7)
    again = WaveletOperator(200).synthesize(denoiser.coef_) + denoiser.mean_
    assert_allclose(again, denoised, atol=1e-12)


def test_tables_keep_their_columns_in_a_pipeline():
    pandas = pytest.importorskip("pandas", reason="pandas is an extra")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = np.stack([make_signal("bumps", 64, random_state=k)[1] for k in range(4)])
    table = pandas.DataFrame(rows, columns=[f"t{k}" for k in range(64)], index=list("abcd"))
    pipeline = make_pipeline(WaveletDenoiser(), StandardScaler()).set_output(transform="pandas")
    out = pipeline.fit_transform(table)
    assert list(out.columns) == list(table.columns)
    assert list(out.index) == list("abcd")
    assert_allclose(WaveletDenoiser().fit_transform(table), WaveletDenoiser().fit_transform(rows))
    assert list(WaveletDenoiser().fit(rows).get_feature_names_out()[:2]) == ["x0", "x1"]
    with pytest.raises(AttributeError, match="no attribute 'get_feature_names_out'"):
        WaveletDenoiser().fit(rows[0]).get_feature_names_out()
    with config_context(transform_output="pandas"):
        assert list(WaveletDenoiser().fit(table).transform(table).columns) == list(table.columns)
        for one, ndim in ((rows[0], 1), (np.vstack([rows] * 3), 2)):
            assert isinstance(WaveletDenoiser(ndim=ndim).fit_transform(one), np.ndarray)
    with pytest.raises(ValueError, match="feature names should match"):
        WaveletDenoiser().fit(table).transform(table.rename(columns={"t0": "other"}))


@pytest.mark.parametrize("prior", ["auto"])
@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_signals_without_noise_come_back(prior, noise):
    x = np.arange(1000.0)
    for f in (x, x**2, np.exp(x / 300), (x > 411) * 1.0, np.sin(x / 50), 1.7e9 + x):
        y = f + noise * np.ptp(f) * np.random.default_rng(0).standard_normal(1000)
        assert_allclose(WaveletDenoiser(prior=prior).fit_transform(y), y, atol=1e-9 * np.ptp(f))


@pytest.mark.parametrize("n", [3, 5, 7])
@pytest.mark.parametrize("prior", ["auto", "bic"])
def test_very_short_signals(n, prior):
    y = np.random.default_rng(n).standard_normal(n)
    denoised = WaveletDenoiser(prior=prior).fit_transform(y)
    assert denoised.shape == (n,)
    assert np.isfinite(denoised).all()


def test_one_sample_needs_the_noise():
    for X in ([3.0], np.arange(9.0)[:, None]):
        with pytest.raises(ValueError, match=r"shape \(1,\), .* no wavelet coefficients .* X.ravel\(\)"):
            WaveletDenoiser().fit(X)
    assert_array_equal(WaveletDenoiser(noise_variance=1.0).fit_transform([3.0]), [3.0])


def test_mostly_flat_signal_has_noise_where_it_varies():
    y = np.zeros(256)
    y[::16] = np.random.default_rng(9).standard_normal(16)
    denoiser = WaveletDenoiser("haar").fit(y)
    assert denoiser.noise_variance_ > 0


def test_uniform_prior_warns_of_the_collapse():
    _, y, _ = make_signal("bumps", 128, random_state=1)
    with pytest.warns(NoiseCollapseWarning, match="noise variance of X .* use prior='auto'"):
        WaveletDenoiser(prior="uniform").fit(y)


@pytest.mark.parametrize(
    ("denoiser", "X", "message"),
    [
        (WaveletDenoiser(), [1.0, np.inf, 2.0], r"X must hold finite numbers, or NaN .* got infinity at index \(1,\)"),
        (WaveletDenoiser(), [np.nan, np.nan], r"X must have at least one sample that is not NaN, got NaN alone\.$"),
        (
            WaveletDenoiser(),
            [[1.0, 2.0], [np.nan, np.nan]],
            r"NaN alone in signal 1: leave that signal out\.$",
        ),
        (WaveletDenoiser(), np.zeros((0,)), "X must have at least one sample"),
        (WaveletDenoiser(), np.zeros((2, 2, 2)), "X must have 1 axes"),
        (WaveletDenoiser(ndim=2), np.zeros(8), "X must have 2 axes"),
        (WaveletDenoiser(), ["a", "b"], "X must hold real numbers"),
        (WaveletDenoiser(), [1j, 2j], "X must hold real numbers"),
        (WaveletDenoiser(), np.ma.masked_invalid([1.0, np.nan, 2.0]), "X must not be a masked array"),
        (WaveletDenoiser(), 1e160 * np.arange(32.0), "X must be neither larger than 1e"),
        (WaveletDenoiser(), 1e-160 * np.arange(32.0), "X must be neither larger than 1e"),
        (WaveletDenoiser(prior="bic"), 1.7e308 * np.eye(1, 32)[0], "X must be neither larger than 1e"),
        (WaveletDenoiser(level=6), np.arange(32.0), "level must be None or an integer from 0 to 5"),
        (WaveletDenoiser("bior4.4"), np.arange(32.0), "analysis is not the adjoint"),
        (WaveletDenoiser(prior="best"), np.arange(32.0), "prior must be one of \\['auto', 'uniform'"),
        (WaveletDenoiser(shifts=-1), np.arange(32.0), "shifts must be an integer >= 0, got -1"),
        (WaveletDenoiser(shifts=1.5), np.arange(32.0), "shifts must be an integer >= 0, got 1.5"),
        (WaveletDenoiser(ndim=4), np.arange(32.0), "ndim must be 1, 2 or 3, got 4"),
        (WaveletDenoiser(boundary="zero"), np.arange(32.0), "boundary must be one of .* got 'zero'"),
        (WaveletDenoiser(boundary=None), np.arange(32.0), "boundary must be one of .* got None"),
        (WaveletDenoiser(noise_variance=0.0), np.arange(32.0), "noise_variance must be a finite number > 0"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(denoiser, X, message):
    for method in (denoiser.fit, denoiser.fit_transform):
        with pytest.raises(ValueError, match=message):
            method(X)


def test_transform_before_fit():
    with pytest.raises(NotFittedError):
        WaveletDenoiser().transform(np.arange(8.0))


@pytest.mark.parametrize("prior", ["auto", "bic", "ric"])
def test_memory_is_a_few_arrays(prior):
    import tracemalloc

    n = 2**18
    _, y, _ = make_signal("doppler", n, random_state=0)
    WaveletDenoiser(prior=prior, shifts=0).fit_transform(y)  # tables are made once
    tracemalloc.start()
    WaveletDenoiser(prior=prior, shifts=0).fit_transform(y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 8 * n


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
@pytest.mark.parametrize("before", [False, True], ids=["first fit", "refit"])
def test_a_fit_that_fails_leaves_the_denoiser_as_it_was(method, before, monkeypatch):
    signals = np.random.default_rng(0).standard_normal((3, 64))
    names = [f"sample {k}" for k in range(64)]
    denoiser = WaveletDenoiser()
    if before:
        denoiser.fit(pd.DataFrame(signals, columns=names))
    known = dict(vars(denoiser))
    mixed = pd.DataFrame(signals[:, ::-1], columns=[0, *names[1:]])  # scikit-learn refuses such names
    with pytest.raises(TypeError, match="feature names"):
        getattr(denoiser, method)(mixed)
    assert vars(denoiser) == known

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(WaveletDenoiser, "_publish", lambda self, *rest: setattr(self, "coef_", 0.0) or interrupted())
    with pytest.raises(KeyboardInterrupt):
        getattr(denoiser, method)(signals)
    assert vars(denoiser) == known
