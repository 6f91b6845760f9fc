"""Kernels that learn beside wavelets, cosines and spikes, which a dense model cannot tell from noise."""

import numpy as np
import pytest

from sparsebayes import (
    DCT,
    RBF,
    Columns,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Spike,
    ThinPlateSpline,
    Wavelet,
)
from sparsebayes.datasets import make_signal
from sparsebayes.inference.complete import Split

SIGNALS = [("blocks", 64, 7.0), ("blocks", 128, 7.0), ("doppler", 100, 5.0), ("heavisine", 64, 7.0)]


def signal(name, n, snr, seed):
    _, y, f = make_signal(name, n, snr=snr, random_state=seed)
    return np.arange(float(n))[:, None], y, f


def with_outliers(seed, n=100):
    rng = np.random.default_rng(seed)
    x = np.linspace(-10, 10, n)[:, None]
    y = np.sinc(x[:, 0] / np.pi) + 0.1 * rng.standard_normal(n)
    out = rng.choice(n, 4, replace=False)
    y[out] += 1.5 * rng.choice([-1, 1], 4)
    return x, y, out


@pytest.mark.parametrize("prior", ["bic", "ric"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "n", "snr"), SIGNALS)
def test_learned_scales_are_no_worse_than_the_same_scales_given(name, n, snr, seed, prior):
    X, y, f = signal(name, n, snr, seed)
    learned = RelevanceVectorRegressor(
        Wavelet("haar") + ThinPlateSpline(), prior=prior, gamma="evidence"
    ).fit(X, y)
    fixed = RelevanceVectorRegressor(
        Wavelet("haar") + ThinPlateSpline(float(learned.scales_[0])), prior=prior
    ).fit(X, y)
    assert learned.evidence_path_[-1] > fixed.evidence_path_[-1] - 1
    assert learned.noise_variance_ > 0.3 * np.mean((y - f) ** 2)
    assert len(learned.relevance_) < n / 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "n", "snr"), SIGNALS)
def test_under_the_uniform_prior_there_is_no_function_for_every_row(name, n, snr, seed):
    X, y, f = signal(name, n, snr, seed)
    model = RelevanceVectorRegressor(Wavelet("haar") + ThinPlateSpline(), gamma="evidence").fit(X, y)
    assert len(model.relevance_) < n / 2
    assert model.noise_variance_ > 0.3 * np.mean((y - f) ** 2)


@pytest.mark.parametrize("prior", ["uniform", "ric"])
@pytest.mark.parametrize("seed", range(3))
def test_spikes_are_left_to_rows_that_are_far_out(seed, prior):
    x, y, out = with_outliers(seed)
    model = RelevanceVectorRegressor(RBF() + Spike(), prior=prior, gamma="evidence").fit(x, y)
    spikes = model.relevance_[model.relevance_ >= 100] - 100
    assert set(out) <= set(spikes)
    assert len(spikes) < 10
    assert model.noise_variance_ == pytest.approx(0.01, rel=0.5)


@pytest.mark.parametrize("complete", [Wavelet("haar"), Wavelet("sym8"), DCT(), Spike()])
def test_scales_are_those_the_kernel_learns_alone(complete):
    X, y, _ = signal("sinc", 80, 7.0, 0)
    alone = RelevanceVectorRegressor(RBF(), gamma="evidence").fit(X, y)
    for kernel in (complete + RBF(), RBF() + complete):
        model = RelevanceVectorRegressor(kernel, prior="ric", gamma="evidence").fit(X, y)
        np.testing.assert_array_equal(model.scales_, alone.scales_)


def test_many_rows_do_without_them_as_well(monkeypatch):
    for name, value in {"FEW_ROWS": 40, "ROWS": 80, "CENTRES": 60, "JUDGES": 90}.items():
        monkeypatch.setattr(f"sparsebayes.inference.scales.{name}", value)
    X, y, f = signal("blocks-sinc", 128, 7.0, 0)
    model = RelevanceVectorRegressor(Wavelet("haar") + RBF(), prior="ric", gamma="evidence").fit(X, y)
    fixed = RelevanceVectorRegressor(Wavelet("haar") + RBF(float(model.scales_[0])), prior="ric").fit(X, y)
    assert model.evidence_path_[-1] > fixed.evidence_path_[-1] - 1
    assert model.noise_variance_ > 0.3 * np.mean((y - f) ** 2)


@pytest.mark.parametrize("seed", range(3))
def test_error_bars_are_not_those_of_a_model_without_wavelets(seed):
    X, y, f = signal("blocks", 128, 7.0, seed)
    model = RelevanceVectorRegressor(Wavelet("haar") + ThinPlateSpline(), prior="ric", gamma="evidence")
    mean, std = model.fit(X, y).predict(X, return_std=True)
    assert model.excess_variance_ == 0
    assert np.mean(((f - mean) / std) ** 2) < 1
    assert np.mean(std**2) < 0.1 * np.var(y)


def test_numbers_of_functions_are_those_of_all_candidates():
    x, y, _ = with_outliers(3)
    basis = Columns(1) + Spike() + RBF() + Columns(2)
    model = RelevanceVectorRegressor(basis, gamma="evidence").fit(x, y)
    bound = basis.bind(x).with_log_scales(np.log(model.scales_))
    columns = bound(x)[:, model.relevance_]
    np.testing.assert_allclose(columns @ model.coef_ + model.intercept_, model.predict(x), rtol=1e-9)


def test_a_split_keeps_count_of_the_functions():
    X = np.arange(16.0)[:, None]
    bound = (Columns(2) + DCT() + RBF() + Spike()).bind(X)
    split = Split.of(bound, X)
    assert split.dense.n_functions == 2 + 16
    np.testing.assert_array_equal(split.complete, np.r_[2:18, 34:50])
    np.testing.assert_array_equal(split.among_all(np.array([1, 2, 17])), [1, 18, 33])
    np.testing.assert_array_equal(split.complete_columns(X), np.hstack([DCT().bind(X)(X), np.eye(16)]))


@pytest.mark.parametrize("basis", [RBF(), RBF() + Columns(2)])
def test_a_basis_without_such_parts_stays_as_it_is(basis):
    X = np.arange(16.0)[:, None]
    bound = basis.bind(X)
    split = Split.of(bound, X)
    assert split.whole is split.dense is split.with_scales_of(bound) is bound
    assert not len(split.complete)


def test_noise_that_is_known_and_classes_have_them_in_the_dense_model():
    X, y, _ = signal("heavisine", 64, 7.0, 0)
    options = {"kernel": Wavelet("haar") + RBF(), "prior": "ric", "gamma": "evidence"}
    assert RelevanceVectorRegressor(noise_variance=0.2, **options).fit(X, y).score(X, y) > 0.9
    assert RelevanceVectorClassifier(**options).fit(X, y > 0).score(X, y > 0) > 0.7
