"""The summary of a wavelet denoiser: a row per level of the transform, and in images per orientation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsebayes.core.prior import Uniform
from sparsebayes.estimators._facts import listed
from sparsebayes.estimators._representation import kept
from sparsebayes.estimators._summaries import MOST_ROWS, check_options
from sparsebayes.priors import Smoothness, as_prior
from sparsebayes.summaries import ALL_ROWS, Column, Summary
from sparsebayes.summaries.numbers import share, significant

AUTOMATIC = "auto"


def summary_of_levels(model: Any, max_rows: int | None = MOST_ROWS) -> Summary:
    """The summary of a fitted denoiser; of a batch, the signals one after the other."""
    check_options(0.5, max_rows, "model")
    noise, coef = np.atleast_1d(model.noise_variance_), np.atleast_2d(model.coef_)
    signals, bands = range(len(noise)), model.bands_
    thresholds = np.sqrt(noise)[:, None] * np.sqrt(_squared_thresholds(model, coef.shape[1]))
    counts = np.asarray([[np.count_nonzero(row[band.where]) for band in bands] for row in coef])
    energy = np.asarray([[np.sum(row[band.where] ** 2) for band in bands] for row in coef])
    total = np.maximum(energy.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    columns = [
        Column("level", "level", [_level(band) for band in bands] * len(signals)),
        Column("coefficients", "coefficients", [math.prod(band.shape) for band in bands] * len(signals)),
        Column("kept", "kept", counts.ravel()),
        Column("threshold", "threshold", thresholds.ravel(), significant),
        Column("energy", "energy", (energy / total).ravel(), share),
    ]
    if len(signals) > 1:
        channels = getattr(model, "n_channels_", None) == len(signals)  # older model files do not say how many
        columns.insert(0, Column("signal", "channel" if channels else "signal", np.repeat(signals, len(bands))))
    rows = len(signals) * len(bands)
    shown = np.arange(rows if max_rows is None else min(rows, max_rows))
    return Summary(
        type(model).__name__,
        _facts(model, noise),
        tuple(columns),
        _notes(rows, len(shown), bands),
        shown,
    )


def _squared_thresholds(model: Any, n: int) -> np.ndarray:
    """The threshold of each band squared, in units of σ², (signals, bands); NaN if it is unknown, 0 if all is kept."""
    constants = np.atleast_2d(model.c_)
    if isinstance(model.prior, str) and model.prior == AUTOMATIC:
        return np.where(np.isnan(constants), 0.0, 1 + 2 * constants)
    prior = as_prior(model.prior).resolve(n)
    return np.full(constants.shape, prior.threshold if isinstance(prior, Uniform | Smoothness) else math.nan)


def _level(band: Any) -> str:
    """The level of a band, 1 being the finest; in images with its orientation."""
    if not band.kind:
        return "coarse"
    return str(band.level) + (f" ({band.kind})" if len(band.shape) > 1 else "")


def _one(model: Any) -> str:
    """What each of several signals is called."""
    return "signal" if model.channel_axis is None else "channel"


def _facts(model: Any, noise: np.ndarray) -> tuple[tuple[str, str], ...]:
    return (
        ("wavelet", model.wavelet),
        ("prior", model.prior if isinstance(model.prior, str) else repr(model.prior)),
        (f"{_one(model)}s", str(len(noise))),
        ("selected", kept(model)),
        ("noise std", listed([significant(math.sqrt(each)) for each in noise])),
        ("mean", listed([significant(float(each)) for each in np.atleast_1d(model.mean_)])),
    )


def _notes(rows: int, shown: int, bands: Any) -> tuple[str, ...]:
    cut = [f"… and {rows - shown} more", ALL_ROWS] if shown < rows else []
    meaning = "threshold: the size up to which a coefficient is set to zero; 0 if all are kept, — if it is unknown"
    letters = "level 1 is the finest"
    if len(bands[0].shape) > 1:
        letters += '; a letter for each axis: "d" has differences along it, "a" averages'
        if any("n" in band.kind for band in bands):
            letters += ', "n" is not halved at this level'
    return (*cut, letters, meaning, "energy: the share of the squares of the denoised coefficients")
