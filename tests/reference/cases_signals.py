"""Denoising of signals, images and volumes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from cases import QUERIES, Record, add

from sparsebayes import Gamma, Laplace, Smoothness, WaveletDenoiser
from sparsebayes.datasets import make_signal

SAMPLED = 64  # coefficients recorded of each fit


def signal(name: str = "doppler", n: int = 512) -> np.ndarray:
    """One signal."""
    return make_signal(name, n, snr=5.0, random_state=1)[1]


def batch() -> np.ndarray:
    """Three signals."""
    return np.stack([signal(name, 256) for name in ("blocks", "bumps", "heavisine")])


def image(shape: tuple[int, ...] = (48, 64)) -> np.ndarray:
    """A smooth function with an edge, and noise."""
    axes = np.meshgrid(*(np.linspace(0, 1, n) for n in shape), indexing="ij")
    clean = sum(np.sin(5 * axis) for axis in axes) + 2.0 * (axes[0] > axes[1])
    return clean + 0.3 * np.random.default_rng(2).standard_normal(shape)


def of_denoiser(model: Any, X: np.ndarray) -> Record:
    """What is recorded: the denoised signal, its error bars and the coefficients at some places."""
    mean, std = model.fit_transform(X, return_std=True)
    places = np.linspace(0, mean.size - 1, 2 * QUERIES).astype(int)
    coef = np.ravel(model.coef_)
    return {
        "mean": np.ravel(mean)[places],
        "std": np.ravel(std)[places],
        "weights": coef[np.linspace(0, coef.size - 1, SAMPLED).astype(int)],
        "size": np.sum(coef**2),
        "noise_variance": model.noise_variance_,
        "active": model.n_active_,
        "level_constants": np.nan_to_num(np.ravel(model.c_)) if np.ndim(model.c_) else None,
    }


def denoises(name: str, data: Callable[[], np.ndarray], **options: Any) -> None:
    """A `WaveletDenoiser` with these options, periodic and without shifts unless they say otherwise."""
    add(name, lambda: of_denoiser(WaveletDenoiser(**{"boundary": "periodic", "shifts": 0, **options}), data()))


for kind in ("blocks", "bumps", "heavisine", "doppler", "sinc", "blocks-sinc"):
    denoises(f"denoise {kind}", partial(signal, kind))
for wavelet in ("haar", "db4", "coif2"):
    denoises(f"denoise by {wavelet}", signal, wavelet=wavelet)
PRIORS = {"uniform": "uniform", "aic": "aic", "bic": "bic", "ric": "ric", "Smoothness": Smoothness(3.0)}
PRIORS |= {"Gamma": Gamma(0.01, 0.01), "Laplace": Laplace(0.5)}
for label, prior in PRIORS.items():
    denoises(f"denoise, prior {label}", signal, prior=prior)
denoises("denoise, noise known", signal, noise_variance=0.004)
denoises("denoise, noise known, bic", signal, noise_variance=0.004, prior="bic")
denoises("denoise, level", signal, level=3)
denoises("denoise, shifts", signal, shifts=8)
denoises("denoise, shifts, bic", signal, shifts=4, prior="bic")
denoises("denoise, symmetric", partial(signal, "heavisine"), boundary="symmetric")
denoises(
    "denoise, symmetric, shifts, haar",
    partial(signal, "blocks", 300),
    boundary="symmetric",
    shifts=5,
    wavelet="haar",
)
denoises("denoise, odd length", partial(signal, "bumps", 333))
denoises("denoise, short", partial(signal, "sinc", 40))
denoises("denoise, batch", batch, shifts=2)
denoises("denoise, image", image, ndim=2)
denoises("denoise, image, symmetric, shifts", image, ndim=2, boundary="symmetric", shifts=3)
denoises("denoise, image, odd, bic", partial(image, (33, 47)), ndim=2, prior="bic", wavelet="haar")
denoises("denoise, volume", partial(image, (16, 16, 24)), ndim=3, wavelet="db2")
