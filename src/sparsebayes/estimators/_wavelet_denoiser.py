"""Wavelet denoising of signals, images and volumes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsebayes._checks import require_whole
from sparsebayes.estimators._dask import refuse_dask
from sparsebayes.estimators._fitted import all_or_nothing, beside_inputs
from sparsebayes.estimators._levels import summary_of_levels
from sparsebayes.estimators._representation import FittedRepresentation
from sparsebayes.estimators._signal_batch import SignalBatch, warn_of_an_image
from sparsebayes.estimators._summaries import MOST_ROWS
from sparsebayes.priors import Prior, as_prior
from sparsebayes.rows.sources import is_dask
from sparsebayes.signals.denoise import BOUNDARIES, Denoised, SignalDenoiser
from sparsebayes.signals.shrinkage import Shrinkage
from sparsebayes.signals.wavelet_transform import WaveletOperator
from sparsebayes.summaries import Summary

AUTOMATIC = "auto"
NOT_LAZY = "fit estimates what it publishes from signals in memory, and X is a Dask collection, which transform takes"


def _had_columns(denoiser: WaveletDenoiser) -> bool:
    """Whether samples may have names: not those of a single signal, nor of images."""
    if not hasattr(denoiser, "coef_") or hasattr(denoiser, "n_features_in_"):
        return True
    raise AttributeError("X had no columns to name: only a table with one signal per row has them.")


@dataclass(eq=False, repr=False)
class WaveletDenoiser(OneToOneFeatureMixin, TransformerMixin, FittedRepresentation, BaseEstimator):
    """Denoise signals, images or volumes by sparse Bayesian shrinkage of their wavelet coefficients.

    The signal is t = Φw + ε with orthonormal wavelets Φ and w_m ~ N(0, 1/α_m) [SE07], for which the most
    probable α are in closed form: time and memory grow in proportion to the number of samples. Every
    signal is treated on its own: nothing is carried over from `fit` to `transform`.

    Parameters
    ----------
    wavelet : str, default="sym8"
        Any orthogonal wavelet of PyWavelets: "haar", "db4", "sym8", "coif2", … Biorthogonal ones are refused.
    prior : "auto", "uniform", "aic", "bic", "ric" or Prior, default="auto"
        "auto" takes the smoothness prior with a constant c for each level (in images also each orientation):
        the c of least expected squared error under a distribution fitted to the coefficients; the noise is
        then estimated from the finest level (median absolute coefficient) or, if that is less, from the
        spectrum, and the coarsest coefficients are kept as they are. Any other prior is put on all
        coefficients of the signal minus its mean, and the noise is estimated by maximising the evidence; with
        shifts=0 that is the method of SE07.
    level : int, optional
        How often each axis is halved; by default log2(n) − 3 times for an axis of n samples.
    noise_variance : float or array of shape (n_channels,), optional
        σ² if it is known, with `channel_axis` also one for each channel; None estimates it.
    shifts : int, default=64
        With k > 1 the average over k circular shifts of the signal (cycle spinning), which removes artefacts
        of where the wavelets happen to lie; at most as many shifts as there are. The noise and the constants
        are those of the signal as it is. With prior="auto" the levels whose posterior mean has clearly less
        risk than the sparse rule are averaged by that mean. 0 and 1 take the signal as it is: the sparse model
        alone, in closed form.
    ndim : {1, 2, 3}, default=1
        How many axes one signal has: 1 for signals, 2 for images, 3 for volumes. X of that many axes is one
        signal, X with one axis more a batch of them, along its first axis. A 2-D array is therefore a batch
        of signals unless ndim=2; if it is nearly square, as images are, a warning says so.
    boundary : {"symmetric", "periodic"}, default="symmetric"
        How a signal continues beyond its ends. "symmetric" pads it with its mirror image (at least 32
        samples, or two thirds of a short axis), suits any signal, and halves every axis evenly even if its
        length is odd; `coef_`, `mean_` and `n_active_` are those of the padded signal. "periodic" continues
        it from its other end, which suits signals whose ends meet [SE07]: a jump from one to the other is
        smeared over both.
    channel_axis : int, optional
        Which axis of one signal its channels are, such as the colours of an image: -1 for the last. Every channel is
        denoised on its own, with a noise of its own. One signal then has `ndim` axes and that of the channels, and a
        batch one more, along its first axis: a colour image of shape (height, width, 3) takes ndim=2 and
        channel_axis=-1. None for signals without channels.

    Attributes
    ----------
    noise_variance_ : float or ndarray of shape (n_signals,)
        σ²; of a batch, one value per signal.
    n_active_ : int or ndarray of shape (n_signals,)
        Number of wavelets that were kept.
    coef_ : ndarray of shape (n_samples,) or (n_signals, n_samples)
        Posterior means of the coefficients of the signal minus its mean, in the order of `bands_`; without
        shifts.
    mean_ : float or ndarray of shape (n_signals,)
        The mean of each signal, subtracted before and added again afterwards.
    bands_ : tuple of Band
        Which coefficients belong to which level and orientation, coarse to fine.
    c_ : ndarray of shape (n_bands,) or (n_signals, n_bands)
        With prior="auto" the constant of every band; NaN for bands that are kept as they are.
    n_channels_ : int or None
        With `channel_axis`, how many channels a signal has.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Of a table with one signal per row: how many samples each has, and what its columns are called.

    Notes
    -----
    With `channel_axis` every channel counts as a signal in the attributes: of three colours `noise_variance_` has
    three entries, and of a batch of images those of the first image come first.

    NaN marks a missing sample. It is filled in by EM: the expectation of a missing sample is the denoised
    signal there, and the signal so completed is denoised again, until nothing moves. The noise is then
    estimated from wavelets of the finest level that lie on observed samples, under every prior, and the error
    bars are wider in and beside the gaps. `coef_` and the other attributes are those of the completed signal.

    Lengths need not be powers of two. With boundary="periodic", if an axis has an odd number of samples, the
    last one is set aside in that halving, and the transform stays exactly orthonormal.

    See Also
    --------
    sparsebayes.denoise : the same for one array, which is a signal, an image or a volume by its number of axes.

    Examples
    --------
    >>> from sparsebayes import WaveletDenoiser
    >>> from sparsebayes.datasets import make_signal
    >>> _, y, f = make_signal("doppler", 1024, snr=7.0, random_state=0)
    >>> denoised = WaveletDenoiser().fit_transform(y)
    >>> bool(((denoised - f) ** 2).mean() < 0.25 * ((y - f) ** 2).mean())
    True
    """

    wavelet: str = "sym8"
    prior: str | Prior = "auto"
    level: int | None = None
    noise_variance: Any = None
    shifts: int = 64
    ndim: int = 1
    boundary: str = "symmetric"
    channel_axis: int | None = None

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the noise and the coefficients of X.

        Parameters
        ----------
        X : array-like with `ndim` axes, or one more for a batch
            Signal(s); NaN for missing samples. Not modified.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(X, NOT_LAZY)
        batch, denoisers = self._prepared(X)
        warn_of_an_image(X, self.ndim, self.channel_axis)
        found = [each.shrink(signal) for each, signal in zip(denoisers, batch.signals, strict=True)]
        self._publish(X, batch, denoisers, found)
        return self

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Denoise X, each signal on its own; the attributes stay those of `fit`.

        Parameters
        ----------
        X : array-like with `ndim` axes, or one more for a batch, or Dask array with one axis more
            Signal(s); NaN for missing samples. Not modified. Many signals on Dask are denoised lazily, chunk by chunk,
            and the result is a Dask array.
        return_std : bool, default=False
            Whether to return the standard deviation of the denoised signal at every sample, √Σ_m v_m φ_m²,
            without the noise. With prior="auto" v_m is the expected squared error of a coefficient under the
            distribution fitted to its level, whether it was selected or set to zero. With any other prior it
            is the posterior variance of the sparse model, in which a wavelet that was not selected is known
            to be absent. Over shifts, variances are averaged, which bounds the variance of the average from
            above.

        Returns
        -------
        denoised : ndarray of float64 in the shape of X
            The posterior mean.
        std : ndarray in the shape of X
            Only with `return_std`.
        """
        check_is_fitted(self)
        if is_dask(X):
            from sparsebayes.distributed import transform_lazily

            return transform_lazily(self, X, return_std)
        batch, denoisers = self._prepared(X)
        if batch.many and getattr(self, "n_features_in_", None) == batch.signals.shape[-1]:
            validate_data(self, X, reset=False, skip_check_array=True)
        return beside_inputs(_collected(_denoised(batch, denoisers, return_std), batch), X)

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None, return_std: bool = False) -> Any:
        """Estimate the noise and the coefficients of X, and denoise it, in one pass.

        Parameters
        ----------
        X : array-like with `ndim` axes, or one more for a batch
            Signal(s); NaN for missing samples. Not modified.
        y : ignored
            Present for API consistency.
        return_std : bool, default=False
            Whether to return the posterior standard deviation as well, as `transform` does.

        Returns
        -------
        denoised : ndarray of float64 in the shape of X
            The posterior mean.
        std : ndarray in the shape of X
            Only with `return_std`.
        """
        refuse_dask(X, NOT_LAZY)
        batch, denoisers = self._prepared(X)
        warn_of_an_image(X, self.ndim, self.channel_axis)
        found = _denoised(batch, denoisers, return_std)
        self._publish(X, batch, denoisers, [shrunk for _, _, shrunk in found])
        return beside_inputs(_collected(found, batch), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @available_if(_had_columns)
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the samples: those of the columns of a table with one signal per row.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns if the table had none.

        Returns
        -------
        ndarray of str
            One name per sample.
        """
        return super().get_feature_names_out(input_features)

    def summary(self, max_rows: int | None = MOST_ROWS) -> Summary:
        """A table of the levels: coefficients, how many were kept, and the threshold.

        Parameters
        ----------
        max_rows : int or None, default=30
            How many rows are shown; None for all. `to_frame` always has all.

        Returns
        -------
        Summary
            A row per level, in images and volumes also per orientation ("d": differences along an axis, "a":
            averages, "n": not halved at this level); a text if printed, a table in a notebook; `to_latex()`,
            `to_html()` and `to_frame()`.
        """
        check_is_fitted(self)
        return summary_of_levels(self, max_rows)

    def to_frame(self) -> Any:
        """The table of `summary` as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            A row per level, of a batch for each signal.
        """
        return self.summary(None).to_frame()

    def _prepared(self, X: Any) -> tuple[SignalBatch, list[SignalDenoiser]]:
        """The signals as a batch, and what denoises each of them; all of it checked."""
        if self.ndim not in (1, 2, 3):
            raise ValueError(f"ndim must be 1, 2 or 3, got {self.ndim!r}.")
        require_whole(self.shifts, "shifts", 0)
        if not (isinstance(self.boundary, str) and self.boundary in BOUNDARIES):
            raise ValueError(f"boundary must be one of {list(BOUNDARIES)}, got {self.boundary!r}.")
        automatic = isinstance(self.prior, str) and self.prior == AUTOMATIC
        prior = None if automatic else as_prior(self.prior, also=(AUTOMATIC,))
        batch = SignalBatch.of(X, self.ndim, self.channel_axis)
        variances = batch.variances(self.noise_variance)
        shape = batch.signals.shape[1:]
        operator = WaveletOperator(shape, self.wavelet, self.level)
        if self.noise_variance is None and not any(band.kind for band in operator.bands):
            raise ValueError(
                f"X holds signals of shape {shape}, which with level={self.level!r} have no "
                "wavelet coefficients to estimate the noise from; give noise_variance, longer signals, or, "
                "for one signal that is a column, X.ravel()."
            )
        denoiser = SignalDenoiser(operator, prior, None, int(self.shifts))
        padded = denoiser.padded() if self.boundary == "symmetric" else denoiser
        return batch, [replace(padded, noise_variance=variance) for variance in variances]

    def _publish(self, X: Any, batch: SignalBatch, denoisers: list[SignalDenoiser], found: list[Shrinkage]) -> None:
        """Set the attributes; the names of the samples only for a table that has one signal per row."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.ndim == 1 and batch.many and batch.channels is None:
            validate_data(self, X, reset=True, skip_check_array=True)
        pick = (lambda values: values[0]) if batch.single else np.asarray
        self.noise_variance_ = pick([each.noise_variance for each in found])
        self.n_active_ = pick([each.n_active for each in found])
        self.coef_ = pick([each.coef for each in found])
        self.mean_ = pick([each.signal_mean for each in found])
        self.n_channels_ = batch.channels
        self.bands_ = denoisers[0].operator.bands
        self.c_ = pick([each.constants for each in found])


def _denoised(batch: SignalBatch, denoisers: list[SignalDenoiser], return_std: bool) -> list[Denoised]:
    return [each.denoise(signal, return_std) for each, signal in zip(denoisers, batch.signals, strict=True)]


def _collected(found: list[Denoised], batch: SignalBatch) -> Any:
    """The denoised signals in the shape of X; with standard deviations, two arrays."""
    means, stds, _ = zip(*found, strict=True)
    mean = batch.restored(means)
    return mean if stds[0] is None else (mean, batch.restored(stds))
