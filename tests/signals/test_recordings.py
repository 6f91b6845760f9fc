"""Denoising with all defaults of recorded signals, which lie beside the project and are never copied into it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sparsebayes import WaveletDenoiser, denoise

LOADER = Path(__file__).resolve().parents[3] / "shared" / "data" / "load.py"
pytestmark = pytest.mark.skipif(not LOADER.exists(), reason="the benchmark data are not beside the project")


@pytest.fixture(scope="module")
def load():
    spec = importlib.util.spec_from_file_location("load", LOADER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bayes_shrink(y):
    """BayesShrink of scikit-image."""
    restoration = pytest.importorskip("skimage.restoration", reason="scikit-image is an extra")
    return restoration.denoise_wavelet(y, wavelet="sym8", method="BayesShrink", mode="soft", rescale_sigma=True)


@pytest.mark.filterwarnings("ignore:Level value of")  # of scikit-image
@pytest.mark.parametrize(("name", "draws"), [("ecg", 5), ("camera", 1)])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_defaults_beat_bayes_shrink_and_bars_cover(load, name, draws, share):
    f = getattr(load, name)()
    errors, others, covered = [], [], []
    for seed in range(draws):
        y = f + share * f.std() * np.random.default_rng(100 + seed).standard_normal(f.shape)
        mean, std = denoise(y, return_std=True)
        errors.append(np.mean((mean - f) ** 2))
        others.append(np.mean((bayes_shrink(y) - f) ** 2))
        covered.append(np.mean(np.abs(mean - f) < 1.96 * std))
    assert np.mean(errors) <= 0.9 * np.mean(others)
    assert np.mean(covered) >= 0.9


def test_the_denoiser_and_the_function_have_the_same_defaults(load):
    y = load.ecg()
    np.testing.assert_array_equal(WaveletDenoiser().fit_transform(y), denoise(y))
