"""Denoising of one array."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sparsebayes._array import is_foreign
from sparsebayes.estimators._dask import refuse_dask
from sparsebayes.estimators._wavelet_denoiser import WaveletDenoiser
from sparsebayes.priors import Prior


def denoise(
    x: Any,
    *,
    noise_variance: Any = None,
    wavelet: str = "sym8",
    prior: str | Prior = "auto",
    level: int | None = None,
    shifts: int = 64,
    boundary: str = "symmetric",
    channel_axis: int | None = None,
    return_std: bool = False,
) -> Any:
    """Denoise a signal, an image or a volume by sparse Bayesian shrinkage of its wavelet coefficients.

    Parameters
    ----------
    x : array-like with one, two or three axes
        One signal, one grey image, or one volume, with `channel_axis` one axis more; NaN for missing samples, which
        are filled in. Not modified.
    noise_variance : float or array of shape (n_channels,), optional
        σ² if it is known, with `channel_axis` also one for each channel; None estimates it.
    wavelet : str, default="sym8"
        Any orthogonal wavelet of PyWavelets: "haar", "db4", "sym8", "coif2", …
    prior : "auto", "uniform", "aic", "bic", "ric" or Prior, default="auto"
        "auto" takes a smoothness prior with a constant for each level by least expected squared error; any
        other prior is put on all coefficients.
    level : int, optional
        How often each axis is halved; by default log2(n) − 3 times for an axis of n samples.
    shifts : int, default=64
        Number of circular shifts to average over, which removes artefacts of where the wavelets happen to
        lie; 0 for none, which is the sparse model itself.
    boundary : {"symmetric", "periodic"}, default="symmetric"
        How x continues beyond its ends: mirrored, or from its other end.
    channel_axis : int, optional
        Which axis of x its channels are, such as the colours of an image: -1 for the last. Every channel is denoised
        on its own, with a noise of its own. None if x has no channels.
    return_std : bool, default=False
        Whether to return the standard deviation of every sample, without the noise, as well; with prior="auto"
        it counts the wavelets that were set to zero.

    Returns
    -------
    denoised : ndarray of float64 in the shape of x
        The posterior mean.
    std : ndarray in the shape of x
        Only with `return_std`.

    See Also
    --------
    WaveletDenoiser : the same as a transformer, for batches of signals, with the estimates as attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import denoise
    >>> from sparsebayes.datasets import make_signal
    >>> _, y, f = make_signal("doppler", 1024, snr=7.0, random_state=0)
    >>> y[100:105] = np.nan
    >>> denoised, std = denoise(y, return_std=True)
    >>> bool(np.sqrt(np.mean((denoised - f) ** 2)) < 0.5 * np.nanstd(y - f))
    True
    """
    refuse_dask(
        x, "denoise takes one signal in memory, and x is a Dask collection; WaveletDenoiser().transform takes many"
    )
    _require_samples(x)
    axes = (x.ndim if is_foreign(x) else np.ndim(x)) - (channel_axis is not None)
    if axes not in (1, 2, 3):
        beside = "" if channel_axis is None else f" beside channel_axis={channel_axis}"
        raise ValueError(
            f"x must have one axis (a signal), two (an image) or three (a volume){beside}, got shape {np.shape(x)}; "
            "for a batch use WaveletDenoiser."
        )
    denoiser = WaveletDenoiser(wavelet, prior, level, noise_variance, shifts, axes, boundary, channel_axis)
    return denoiser.fit_transform(x if is_foreign(x) else np.asanyarray(x), return_std=return_std)


def _require_samples(x: Any) -> None:
    """TypeError for a file or a table, which do not say what one signal is."""
    if isinstance(x, str | os.PathLike):
        raise TypeError(
            f"x must be an array of samples, got the file name {os.fspath(x)!r}; read it first, or use the command "
            "sparsebayes denoise, which reads files."
        )
    if hasattr(x, "columns"):
        raise TypeError(
            "x must be one signal, image or volume, got a table; for one of its columns pass x['NAME'], for each of "
            "them x.to_numpy() with channel_axis=1."
        )
