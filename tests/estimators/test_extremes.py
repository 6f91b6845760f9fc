"""Noise, kernels and numbers far from what anybody would want: a warning or one sentence, never a foreign error."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    SparsityWarning,
    fit,
)
from sparsebayes.datasets import make_sinc


def _noisy_line(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    X = rng.standard_normal((n, 1))
    return X, np.sin(3 * X[:, 0] / abs(X).max()) + 0.5 * rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # said where both are
@pytest.mark.parametrize("gamma", ["auto", 1.0, 10.0])
@pytest.mark.parametrize("variance", [1e-5, 1e-8])
def test_noise_that_is_given_too_small_is_warned_of_and_ends_at_the_best_state(gamma, variance):
    for seed in range(20, 30):
        X, y = _noisy_line(seed)
        # a model that has almost as many functions as rows explains even so little noise
        words = "noise_variance=.* is far too small|may follow the noise"
        with pytest.warns((ConvergenceWarning, SparsityWarning), match=words):
            model = RelevanceVectorRegressor(gamma=gamma, noise_variance=variance).fit(X, y)
        path = model.evidence_path_
        assert path[-1] >= path.max() - 1e-6 * abs(path.max())


@pytest.mark.parametrize("seed", range(4))
def test_the_right_noise_is_not_warned_of(seed):
    X, y = _noisy_line(seed)
    RelevanceVectorRegressor(gamma=1.0, noise_variance=0.25).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        SparseBayesRegressor(noise_variance=1e-200),
        SparseBayesRegressor(noise_variance=1e-160, solver="mackay"),
        RelevanceVectorRegressor(noise_variance=1e-100, solver="em"),
        RelevanceVectorRegressor(noise_variance=1e-60, solver="sequential"),
    ],
)
def test_noise_below_rounding_is_refused(model):
    X, y, _ = make_sinc(100, random_state=0)
    with pytest.raises(ValueError, match=r"^noise_variance=1e-\d+ is too small beside y, .*or None\.$"):
        model.fit(X, y)


@pytest.mark.parametrize(("factor", "variance"), [(1e-300, "0"), (1e308, "inf")])
def test_scales_of_targets_whose_variance_underflows_or_overflows_are_refused(factor, variance):
    X, y, _ = make_sinc(60, random_state=0)
    with pytest.raises(ValueError, match=rf"^y has a variance of {variance}, beyond .*rescale y\.$"):
        RelevanceVectorRegressor(gamma="ard").fit(X, y * factor)


@pytest.mark.parametrize("factor", [1e160, 1e300])
@pytest.mark.parametrize("outputs", [1, 2])
def test_columns_so_large_that_the_variances_of_their_weights_underflow_are_refused(factor, outputs):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = X[:, :1] + 0.1 * rng.standard_normal((30, outputs))
    with pytest.raises(ValueError, match=r"^The fit left the range of floating point: .* rescale them\.$"):
        SparseBayesRegressor(prior="uniform").fit(X * [factor, 1], y.squeeze())
    model = SparseBayesRegressor(prior="uniform").fit(X * [1e150, 1], y.squeeze())
    std = SparseBayesRegressor(prior="uniform").fit(X, y.squeeze()).predict(9 * X, return_std=True)[1]
    np.testing.assert_allclose(model.predict(9 * X * [1e150, 1], return_std=True)[1], std, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_fit_that_rounding_ends_does_not_blame_the_iterations(seed):
    X, y, _ = make_sinc(100, random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = RelevanceVectorRegressor("laplacian", gamma=1e-12).fit(X, y)
    messages = [str(warning.message) for warning in caught]
    assert model.converged_ or any("to gain (one more function promises" in message for message in messages)
    assert not any("max_iter" in message for message in messages)


@pytest.mark.parametrize("estimator", [RelevanceVectorRegressor, RelevanceVectorClassifier])
def test_a_kernel_so_narrow_that_no_row_has_a_neighbour_is_refused(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(3000)
    y = y > 0 if estimator is RelevanceVectorClassifier else y
    with pytest.raises(ValueError, match=r"^gamma makes the kernel so narrow .* gamma='evidence'\.$"):
        estimator(gamma=1e4).fit(X, y)


def test_a_model_of_almost_all_rows_is_warned_of():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    with pytest.warns(SparsityWarning, match=r"has \d+ functions for 60 rows"):
        model = RelevanceVectorRegressor(gamma=1e4, noise_variance=1e-4).fit(X, X[:, 0])
    assert len(model.relevance_) > 48


def test_columns_and_targets_of_very_different_sizes_are_fitted():
    Phi = np.random.default_rng(0).standard_normal((20, 4))
    result = fit(Phi[:, :3] * 1e-140, (Phi[:, 0] + 0.1 * Phi[:, 3]) * 1e100)
    assert np.isfinite(result.mean).all()
    assert np.isfinite(result.log_evidence)


def test_functions_too_small_for_the_variances_of_their_weights_are_refused():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((19, 3)), rng.standard_normal(19)
    X[5, 1] = -6.8e147
    with pytest.raises(
        ValueError, match=r"^kernel='poly' has functions so small at the rows of X .*than all others\.$"
    ):
        RelevanceVectorRegressor("poly", degree=2).fit(X, y)
