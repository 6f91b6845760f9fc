"""Kernels that learn their scales: what is beside them, and what the answers do not depend on."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from sparsebayes import (
    DCT,
    RBF,
    Bias,
    Columns,
    Matern,
    Periodic,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Spike,
    ThinPlateSpline,
    Wavelet,
)
from sparsebayes.datasets import make_signal

SIGNALS = [("blocks", 64, 7.0), ("blocks", 128, 7.0), ("doppler", 100, 5.0), ("heavisine", 64, 7.0)]


def bent(seed, n=100):
    """Not linear in input 0, linear in input 1; nothing else matters."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (n, 2))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * X[:, 1] + 0.1 * rng.standard_normal(n)


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


def test_the_order_of_rows_and_inputs_does_not_matter():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (90, 3))
    y = np.sin(3 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(90)
    rows, inputs = np.random.default_rng(0).permutation(90), [2, 0, 1]
    one = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    other = RelevanceVectorRegressor(gamma="ard").fit(X[rows][:, inputs], y[rows])
    np.testing.assert_allclose(other.scales_, one.scales_[inputs], rtol=0.02)
    np.testing.assert_allclose(other.predict(X[:, inputs]), one.predict(X), atol=0.02)


def test_what_is_no_width_starts_from_what_it_is():
    x = np.linspace(0, 6, 120)[:, None]
    rng = np.random.default_rng(0)
    y = np.sign(np.sin(2 * np.pi * x[:, 0])) + 0.1 * rng.standard_normal(120)
    model = RelevanceVectorRegressor(Periodic(period=1.05, period_bounds=None) + Columns(), gamma="evidence").fit(x, y)
    assert model.scales_[0] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("level", [0.1, 0.3, 1.7, 1e6])
def test_a_constant_column_does_not_matter_whatever_rounding_leaves_of_it(level):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (100, 2))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(100)
    one, other = (
        RelevanceVectorRegressor(RBF() + Columns(), gamma="evidence").fit(np.column_stack([X, c]), y)
        for c in (np.zeros(100), np.full(100, level))
    )
    np.testing.assert_allclose(other.scales_, one.scales_, rtol=0.02)
    assert other.noise_variance_ == pytest.approx(one.noise_variance_, rel=0.02)


@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_columns_that_carry_nothing_are_screened_out(prior):
    kept = []
    for seed in range(10):
        X, y = bent(seed)
        model = RelevanceVectorRegressor(RBF() + Columns(2), gamma="ard", prior=prior).fit(X, y)
        kept.append(set(model.relevance_[model.relevance_ >= 100]))
        assert np.ravel(model.dual_coef_)[model.relevance_ == 101] == pytest.approx(0.1, abs=0.01)
    assert all(101 in each for each in kept)
    assert sum(each == {101} for each in kept) >= 8


def test_numbers_of_functions_are_those_of_all_candidates():
    X, y = bent(11)
    basis = Columns(2) + RBF() + Columns(1) + Matern()
    model = RelevanceVectorRegressor(basis, gamma="evidence").fit(X, y)
    columns = basis.bind(X).with_log_scales(np.log(model.scales_))(X)[:, model.relevance_]
    fitted = columns @ np.ravel(model.dual_coef_) + model.intercept_
    np.testing.assert_allclose(fitted, model.predict(X), rtol=1e-9)
    assert model.components_.shape == (4, 100)
    with_weights = RelevanceVectorRegressor(basis, gamma="evidence")
    with_weights.fit(np.vstack([X[:1], X]), np.r_[9.0, y], sample_weight=np.r_[0.0, np.ones(100)])
    moved = np.where((model.relevance_ >= 5) & (model.relevance_ < 105), 1, 0)
    moved += np.where(model.relevance_ >= 105, 1, 0) + np.where(model.relevance_ >= 107, 1, 0)
    np.testing.assert_array_equal(with_weights.relevance_, model.relevance_ + moved)


def test_a_constant_that_an_intercept_makes_irrelevant_leaves_the_kernel_alone():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (100, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(100)
    # the widths that are learned differ by 4e-5, after which a search need not end in the same maximum
    both, alone = (
        RelevanceVectorRegressor(kernel, gamma="evidence", effort="fast").fit(X, y)
        for kernel in (RBF() + Bias(), RBF())
    )
    np.testing.assert_array_equal(both.relevance_, alone.relevance_)
    assert both.log_evidence_ == pytest.approx(alone.log_evidence_, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["bic", "ric"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "n", "snr"), SIGNALS)
def test_learned_scales_beside_wavelets_are_no_worse_than_the_same_scales_given(name, n, snr, seed, prior):
    X, y, f = signal(name, n, snr, seed)
    learned = RelevanceVectorRegressor(Wavelet("haar") + ThinPlateSpline(), prior=prior, gamma="evidence").fit(X, y)
    fixed = RelevanceVectorRegressor(Wavelet("haar") + ThinPlateSpline(float(learned.scales_[0])), prior=prior).fit(
        X, y
    )
    assert learned.evidence_path_[-1] > fixed.evidence_path_[-1] - 1
    assert learned.noise_variance_ > 0.3 * np.mean((y - f) ** 2)
    assert len(learned.relevance_) < n / 2


@pytest.mark.parametrize("seed", range(3))
def test_spikes_beside_a_kernel_that_learns_are_left_to_rows_that_are_far_out(seed):
    x, y, out = with_outliers(seed)
    model = RelevanceVectorRegressor(RBF() + Spike(), prior="ric", gamma="evidence").fit(x, y)
    spikes = model.relevance_[model.relevance_ >= 100] - 100
    assert set(out) <= set(spikes)
    assert len(spikes) < 10
    assert model.noise_variance_ == pytest.approx(0.01, rel=0.5)


@pytest.mark.parametrize("sampled", [Wavelet("haar"), Wavelet("sym8"), DCT(), Spike()])
def test_scales_beside_samples_are_those_the_kernel_learns_alone(sampled):
    X, y, _ = signal("sinc", 80, 7.0, 0)
    alone = RelevanceVectorRegressor(RBF(), gamma="evidence").fit(X, y)
    for kernel in (sampled + RBF(), RBF() + sampled):
        model = RelevanceVectorRegressor(kernel, prior="ric", gamma="evidence").fit(X, y)
        np.testing.assert_array_equal(model.scales_, alone.scales_)


@pytest.mark.parametrize("seed", range(3))
def test_error_bars_are_not_those_of_a_process_without_wavelets(seed):
    X, y, f = signal("blocks", 128, 7.0, seed)
    model = RelevanceVectorRegressor(Wavelet("haar") + ThinPlateSpline(), prior="ric", gamma="evidence")
    mean, std = model.fit(X, y).predict(X, return_std=True)
    assert model.excess_variance_ == 0
    assert np.mean(((f - mean) / std) ** 2) < 1
    assert np.mean(std**2) < 0.1 * np.var(y)


def test_numbers_of_functions_beside_samples_are_those_of_all_candidates():
    x, y, _ = with_outliers(3)
    basis = Columns(1) + Spike() + RBF() + Columns(2)
    model = RelevanceVectorRegressor(basis, prior="ric", gamma="evidence").fit(x, y)
    bound = basis.bind(x).with_log_scales(np.log(model.scales_))
    fitted = bound(x)[:, model.relevance_] @ np.ravel(model.dual_coef_) + model.intercept_
    np.testing.assert_allclose(fitted, model.predict(x), rtol=1e-9)


def test_beside_samples_a_noise_that_is_known_and_classes_do_well():
    X, y, _ = signal("heavisine", 64, 7.0, 0)
    options = {"kernel": Wavelet("haar") + RBF(), "prior": "ric", "gamma": "evidence"}
    assert RelevanceVectorRegressor(noise_variance=0.2, **options).fit(X, y).score(X, y) > 0.9
    assert RelevanceVectorClassifier(**options).fit(X, y > 0).score(X, y > 0) > 0.7


def test_error_bars_stay_wide_enough_with_many_irrelevant_inputs():
    covered = []
    for seed in range(2):
        X, y = make_friedman1(1120, n_features=100, noise=1.0, random_state=seed)
        model = RelevanceVectorRegressor(gamma="ard").fit(X[:120], y[:120])
        low, high = model.predict_interval(X[120:], level=0.95)
        covered.append(np.mean((low < y[120:]) & (y[120:] < high)))
    assert np.mean(covered) > 0.75
