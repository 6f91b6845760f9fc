"""Wavelet denoising of signals, images and volumes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsebayes._array import is_foreign, to_numpy
from sparsebayes._checks import require_whole
from sparsebayes.estimators._dask import refuse_dask
from sparsebayes.estimators._fitted import all_or_nothing, beside_inputs
from sparsebayes.estimators._levels import summary_of_levels
from sparsebayes.estimators._representation import FittedRepresentation
from sparsebayes.estimators._summaries import MOST_ROWS
from sparsebayes.priors import Prior, as_prior
from sparsebayes.rows.sources import is_dask
from sparsebayes.signals.denoise import BOUNDARIES, SignalDenoiser
from sparsebayes.signals.shrinkage import Shrinkage
from sparsebayes.signals.wavelet_transform import WaveletOperator
from sparsebayes.solvers.regression import checked_variance
from sparsebayes.summaries import Summary

AUTOMATIC = "auto"
NOT_LAZY = "fit estimates what it publishes from signals in memory, and X is a Dask collection, which transform takes"
MANY_ROWS = 32  # from which on a table may be an image
SQUARE = 2  # largest ratio of the sides of what may be an image


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
    noise_variance : float, optional
        σ² if it is known; None estimates it.
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
    n_features_in_, feature_names_in_ : int, ndarray of str
        Of a table with one signal per row: how many samples each has, and what its columns are called.

    Notes
    -----
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
    noise_variance: float | None = None
    shifts: int = 64
    ndim: int = 1
    boundary: str = "symmetric"

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
        signals, single, denoiser = self._prepared(X)
        _warn_of_an_image(X, self.ndim)
        self._publish(X, single, denoiser, [denoiser.shrink(signal) for signal in signals])
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
        signals, single, denoiser = self._prepared(X)
        if not single and getattr(self, "n_features_in_", None) == signals.shape[-1]:
            validate_data(self, X, reset=False, skip_check_array=True)
        found = [denoiser.denoise(signal, return_std) for signal in signals]
        return beside_inputs(_collected(found, single), X)

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
        signals, single, denoiser = self._prepared(X)
        _warn_of_an_image(X, self.ndim, stacklevel=5)  # scikit-learn wraps this method
        found = [denoiser.denoise(signal, return_std) for signal in signals]
        self._publish(X, single, denoiser, [shrunk for _, _, shrunk in found])
        return beside_inputs(_collected(found, single), X)

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
            averages); a text if printed, a table in a notebook; `to_latex()`, `to_html()` and `to_frame()`.
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

    def _prepared(self, X: Any) -> tuple[np.ndarray, bool, SignalDenoiser]:
        """The signals as a batch, whether X is a single one, and what denoises them; all of it checked."""
        if self.ndim not in (1, 2, 3):
            raise ValueError(f"ndim must be 1, 2 or 3, got {self.ndim!r}.")
        require_whole(self.shifts, "shifts", 0)
        variance = checked_variance(self.noise_variance, "noise_variance")
        if not (isinstance(self.boundary, str) and self.boundary in BOUNDARIES):
            raise ValueError(f"boundary must be one of {list(BOUNDARIES)}, got {self.boundary!r}.")
        automatic = isinstance(self.prior, str) and self.prior == AUTOMATIC
        prior = None if automatic else as_prior(self.prior, also=(AUTOMATIC,))
        signals, single = _signals(X, self.ndim)
        operator = WaveletOperator(signals.shape[1:], self.wavelet, self.level)
        if variance is None and not any(band.kind for band in operator.bands):
            raise ValueError(
                f"X holds signals of shape {signals.shape[1:]}, which with level={self.level!r} have no "
                "wavelet coefficients to estimate the noise from; give noise_variance, longer signals, or, "
                "for one signal that is a column, X.ravel()."
            )
        denoiser = SignalDenoiser(operator, prior, variance, int(self.shifts))
        return signals, single, denoiser.padded() if self.boundary == "symmetric" else denoiser

    def _publish(self, X: Any, single: bool, denoiser: SignalDenoiser, found: list[Shrinkage]) -> None:
        """Set the attributes; the names of the samples only for a table that has one signal per row."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.ndim == 1 and not single:
            validate_data(self, X, reset=True, skip_check_array=True)
        pick = (lambda values: values[0]) if single else np.asarray
        self.noise_variance_ = pick([each.noise_variance for each in found])
        self.n_active_ = pick([each.n_active for each in found])
        self.coef_ = pick([each.coef for each in found])
        self.mean_ = pick([each.signal_mean for each in found])
        self.bands_ = denoiser.operator.bands
        self.c_ = pick([each.constants for each in found])


def _signals(X: Any, ndim: int) -> tuple[np.ndarray, bool]:
    """X as a batch of float64 signals of `ndim` axes, and whether it is a single one."""
    if np.ma.isMaskedArray(X):
        raise ValueError(
            "X must not be a masked array; give X.filled(numpy.nan), in which NaN marks the missing samples."
        )
    values = to_numpy(X) if is_foreign(X) else np.asarray(X)  # PyWavelets works on the host
    if values.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, got an array of dtype {values.dtype}.")
    if values.ndim not in (ndim, ndim + 1):
        raise ValueError(
            f"X must have {ndim} axes (one signal) or {ndim + 1} (a batch) with ndim={ndim}, got shape "
            f"{values.shape}; set ndim to the number of axes of one signal."
        )
    if not values.size:
        raise ValueError(f"X must have at least one sample, got shape {values.shape}.")
    values = values.astype(np.float64, copy=False)
    single = values.ndim == ndim
    signals = values[None] if single else values
    if not np.isfinite(values).all():
        _check_gaps(signals, single)
    return signals, single


def _check_gaps(signals: np.ndarray, single: bool) -> None:
    """ValueError if a sample is infinite, or if a signal has no sample at all."""
    infinite = np.isinf(signals)
    if infinite.any():
        place = tuple(int(k[0]) for k in np.nonzero(infinite))[single:]
        raise ValueError(f"X must hold finite numbers, or NaN for missing samples, got infinity at index {place}.")
    empty = np.isnan(signals).all(axis=tuple(range(1, signals.ndim)))
    if empty.any():
        which = "" if single else f" in signal {int(empty.argmax())}"
        raise ValueError(f"X must have at least one sample that is not NaN, got none{which}; leave that out.")


def _warn_of_an_image(X: Any, ndim: int, stacklevel: int = 4) -> None:
    """Warn if a batch of signals has the shape of an image, and no names of columns."""
    shape = np.shape(X)
    if ndim != 1 or len(shape) != 2 or hasattr(X, "columns"):
        return
    if shape[0] >= MANY_ROWS and max(shape) <= SQUARE * min(shape):
        warnings.warn(
            f"X of shape {shape} is denoised as {shape[0]} separate signals of {shape[1]} samples, since ndim=1; if it "
            "is an image, use sparsebayes.denoise(X) or WaveletDenoiser(ndim=2).",
            UserWarning,
            stacklevel=stacklevel,
        )


def _collected(found: list[tuple[np.ndarray, np.ndarray | None, Shrinkage]], single: bool) -> Any:
    """The denoised signals as one array; with standard deviations, two arrays."""
    means, stds, _ = zip(*found, strict=True)
    mean, std = (each[0] if single or each[0] is None else np.stack(each) for each in (means, stds))
    return mean if std is None else (mean, std)
