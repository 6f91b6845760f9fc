"""Wavelet denoising of signals, images and volumes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsebayes._checks import is_number, require_whole
from sparsebayes.bases.transforms import WaveletOperator
from sparsebayes.inference import denoising
from sparsebayes.inference.continuation import circular_shifts, continued, inside, longer_shape
from sparsebayes.inference.denoising import Shrinkage
from sparsebayes.inference.pointwise import pointwise_variance
from sparsebayes.priors import Prior, as_prior

ROUNDING = 4 * float(np.finfo(float).eps)  # of the largest sample: variation below it is none
BOUNDARIES = ("periodic", "symmetric")
LARGEST = 1e120  # sample: the squares of what is reckoned with are numbers


def _had_columns(denoiser: WaveletDenoiser) -> bool:
    """Whether samples may have names: not those of one signal, nor of images."""
    if not hasattr(denoiser, "coef_") or hasattr(denoiser, "n_features_in_"):
        return True
    raise AttributeError("X had no columns to name: that takes a table with a signal in every row.")


class WaveletDenoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
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
        the c of least expected squared error under a law fitted to the coefficients; the noise is then
        estimated from the finest level (median absolute coefficient), and the coarsest coefficients are kept
        as they are. Any other prior is put on all coefficients of the signal less its mean, and the noise
        estimated by maximising the evidence, as in SE07.
    level : int, optional
        How often each axis is halved; by default log2(n) − 3 times for an axis of n samples.
    noise_variance : float, optional
        σ² where it is known.
    shifts : int, default=0
        With k > 1 the average over k circular shifts of the signal (cycle spinning), which removes artefacts
        of where the wavelets happen to lie; all shifts there are where k is larger. The noise and the
        constants are those of the signal as it is.
    ndim : {1, 2, 3}, default=1
        How many axes one signal has: 1 for signals, 2 for images, 3 for volumes. X of that many axes is one
        signal, X with one axis more a batch of them, along its first axis. A 2-D array is therefore a batch
        of signals unless ndim=2.
    boundary : {"periodic", "symmetric"}, default="periodic"
        How a signal goes on at its ends. "periodic", from its other end, suits signals whose ends meet: a
        jump from one to the other is smeared over both. "symmetric", by its mirror image (of 32 samples at
        least), suits any, and leaves no sample aside where a length is odd; `coef_`, `mean_` and `n_active_`
        are then those of the longer signal.

    Attributes
    ----------
    noise_variance_ : float or ndarray of shape (n_signals,)
        σ², of each signal of a batch.
    n_active_ : int or ndarray of shape (n_signals,)
        Wavelets that were kept.
    coef_ : ndarray of shape (n_samples,) or (n_signals, n_samples)
        Posterior means of the coefficients of the signal less its mean, in the order of `bands_`; without
        shifts.
    mean_ : float or ndarray of shape (n_signals,)
        The mean of each signal, taken off before and added again after.
    bands_ : tuple of Band
        Which coefficients belong to which level and orientation, coarse to fine.
    c_ : ndarray of shape (n_bands,) or (n_signals, n_bands)
        With prior="auto" the constant of every band; NaN for those kept as they are.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Of a table with a signal in every row: how many samples each has, and what its columns are called.

    Notes
    -----
    Lengths need not be powers of two: where an axis has an odd number of samples, the last is left out of
    that halving, and the transform stays exactly orthonormal.

    Examples
    --------
    >>> from sparsebayes import WaveletDenoiser
    >>> from sparsebayes.datasets import make_signal
    >>> _, y, f = make_signal("doppler", 1024, snr=7.0, random_state=0)
    >>> denoised = WaveletDenoiser().fit_transform(y)
    >>> bool(((denoised - f) ** 2).mean() < 0.25 * ((y - f) ** 2).mean())
    True
    """

    def __init__(
        self,
        wavelet: str = "sym8",
        prior: str | Prior = "auto",
        level: int | None = None,
        noise_variance: float | None = None,
        shifts: int = 0,
        ndim: int = 1,
        boundary: str = "periodic",
    ) -> None:
        self.wavelet = wavelet
        self.prior = prior
        self.level = level
        self.noise_variance = noise_variance
        self.shifts = shifts
        self.ndim = ndim
        self.boundary = boundary

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the noise and the coefficients of X.

        Parameters
        ----------
        X : array-like with `ndim` axes, or one more for a batch
            Signal(s), finite. Not modified.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._checked_parameters()
        signals, single = self._signals(X)
        operator = self._operator(signals)
        self._name_samples(X, single)
        longer = (continued(signal, operator.signal_shape) for signal in signals)
        self._store([self._shrunk(operator, signal) for signal in longer], operator, single)
        return self

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Denoise X, each signal from what it says itself; the attributes stay those of `fit`.

        Parameters
        ----------
        X : array-like with `ndim` axes, or one more for a batch
            Signal(s), finite. Not modified.
        return_std : bool, default=False
            Whether to return the posterior standard deviation of the denoised signal at every sample,
            √Σ_m Var(w_m) φ_m², exactly; of a long signal that cannot be halved evenly much faster with
            boundary="symmetric". It does not include the noise, and a wavelet left out counts as
            known to be absent, which makes it small where weak detail may have been missed. Over shifts,
            variances are averaged, which bounds the variance of the average from above.

        Returns
        -------
        denoised : ndarray of float64 in the shape of X
            The posterior mean.
        std : ndarray in the shape of X
            Only with `return_std`.
        """
        check_is_fitted(self)
        self._checked_parameters()
        signals, single = self._signals(X)
        if not single and getattr(self, "n_features_in_", None) == signals.shape[-1]:
            validate_data(self, X, reset=False, skip_check_array=True)
        operator = self._operator(signals)
        return _collected([self._denoised(operator, signal, return_std)[0] for signal in signals], single)

    def fit_transform(self, X: Any, y: Any = None, return_std: bool = False) -> Any:
        """`fit` and `transform` in one pass; parameters and results as there."""
        self._checked_parameters()
        signals, single = self._signals(X)
        operator = self._operator(signals)
        self._name_samples(X, single)
        pairs = [self._denoised(operator, signal, return_std) for signal in signals]
        self._store([found for _, found in pairs], operator, single)
        return _collected([denoised for denoised, _ in pairs], single)

    @available_if(_had_columns)
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the samples: those of the columns of a table with a signal in every row."""
        return super().get_feature_names_out(input_features)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _checked_parameters(self) -> None:
        if self.ndim not in (1, 2, 3):
            raise ValueError(f"ndim must be 1, 2 or 3, got {self.ndim!r}.")
        require_whole(self.shifts, "shifts", 0)
        known = self.noise_variance
        if known is not None and not (is_number(known) and known > 0):
            raise ValueError(f"noise_variance must be a finite number > 0 or None, got {known!r}.")
        if not (isinstance(self.boundary, str) and self.boundary in BOUNDARIES):
            raise ValueError(f"boundary must be one of {list(BOUNDARIES)}, got {self.boundary!r}.")
        if not denoising.is_automatic(self.prior):
            as_prior(self.prior, also=(denoising.AUTOMATIC,))

    def _signals(self, X: Any) -> tuple[np.ndarray, bool]:
        """X as a batch of float64 signals, and whether it is a single one."""
        if np.ma.isMaskedArray(X):
            raise ValueError("X must not be a masked array: every sample must be there; fill the gaps first.")
        values = np.asarray(X)
        if values.dtype.kind not in "biuf":
            raise ValueError(f"X must hold real numbers, got an array of dtype {values.dtype}.")
        if values.ndim not in (self.ndim, self.ndim + 1):
            raise ValueError(
                f"X must have {self.ndim} axes (one signal) or {self.ndim + 1} (a batch), ndim being "
                f"{self.ndim}, got shape {values.shape}; ndim says how many axes one signal has."
            )
        if not values.size:
            raise ValueError(f"X must have at least one sample, got shape {values.shape}.")
        values = values.astype(np.float64, copy=False)
        if not np.isfinite(values).all():
            raise ValueError("X contains NaN or infinity; every sample must be finite.")
        single = values.ndim == self.ndim
        return (values[None] if single else values), single

    def _name_samples(self, X: Any, single: bool) -> None:
        """What `set_output` needs to know of a table that has a signal in every row."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if self.ndim == 1 and not single:
            validate_data(self, X, reset=True, skip_check_array=True)

    def _operator(self, signals: np.ndarray) -> WaveletOperator:
        operator = WaveletOperator(signals.shape[1:], self.wavelet, self.level)
        if self.noise_variance is None and not any(band.kind for band in operator.bands):
            raise ValueError(
                f"X holds signals of shape {signals.shape[1:]}, which with level={self.level!r} have no "
                "wavelet coefficients to estimate the noise from; give noise_variance, longer signals, or, "
                "for one signal that is a column, X.ravel()."
            )
        if self.boundary == "periodic":
            return operator
        longer = longer_shape(signals.shape[1:], operator.levels)
        return WaveletOperator(longer, self.wavelet, operator.levels)

    def _shrunk(self, operator: WaveletOperator, signal: np.ndarray) -> tuple[Shrinkage, float]:
        """The shrunk coefficients of a signal less its mean, and the mean."""
        w, mean = _coefficients(operator, signal)
        if denoising.is_automatic(self.prior):
            return denoising.shrink_by_risk(w, operator, self.noise_variance), mean
        return denoising.shrink_by_evidence(w, operator, self.prior, self.noise_variance), mean

    def _denoised(
        self, operator: WaveletOperator, signal: np.ndarray, return_std: bool
    ) -> tuple[tuple[np.ndarray, np.ndarray | None], tuple[Shrinkage, float]]:
        """(denoised, std or None), and what the unshifted signal gave."""
        longer = continued(signal, operator.signal_shape)
        shrunk, mean = self._shrunk(operator, longer)
        total = operator.synthesize(shrunk.coef)
        variance = self._variance(operator, shrunk) if return_std else None
        shifts, axes = circular_shifts(int(self.shifts), operator.signal_shape), range(signal.ndim)
        for move in shifts:
            w, _ = _coefficients(operator, np.roll(longer, move, axes))
            moved = denoising.like(shrunk, w, operator, self.prior)
            back = tuple(-k for k in move)
            total += np.roll(operator.synthesize(moved.coef), back, axes)
            if variance is not None:
                variance += np.roll(self._variance(operator, moved), back, axes)
        total /= len(shifts) + 1
        total += mean
        std = None if variance is None else inside(np.sqrt(variance / (len(shifts) + 1)), signal.shape)
        return (inside(total, signal.shape), std), (shrunk, mean)

    def _variance(self, operator: WaveletOperator, shrunk: Shrinkage) -> np.ndarray:
        """Of the posterior at every sample; that of the mean as well, where it was not among the wavelets."""
        variance = pointwise_variance(operator, shrunk.gamma)
        if not shrunk.flat:
            variance += 1 / variance.size
        return shrunk.noise_variance * variance

    def _store(self, found: list[tuple[Shrinkage, float]], operator: WaveletOperator, single: bool) -> None:
        pick = (lambda values: values[0]) if single else np.asarray
        self.noise_variance_ = pick([each.noise_variance for each, _ in found])
        self.n_active_ = pick([each.n_active for each, _ in found])
        self.coef_ = pick([each.coef for each, _ in found])
        self.mean_ = pick([mean for _, mean in found])
        self.bands_ = operator.bands
        self.c_ = pick([each.constants for each, _ in found])


def _coefficients(operator: WaveletOperator, signal: np.ndarray) -> tuple[np.ndarray, float]:
    """Of the signal less its mean, and the mean."""
    rest, mean = _centred(signal)
    return operator.analyze(rest), mean


def _centred(signal: np.ndarray) -> tuple[np.ndarray, float]:
    """The signal less its mean, and the mean; nothing is left where nothing varies, rounding aside."""
    low, high = float(signal.min()), float(signal.max())
    peak, spread = max(high, -low), high - low
    if spread <= ROUNDING * peak:
        return np.zeros_like(signal), low
    if peak > LARGEST or spread < 1 / LARGEST:
        raise ValueError(
            f"X must be neither larger than {LARGEST:g} nor vary by less than {1 / LARGEST:g}, beyond which "
            f"squares are no numbers, got samples from {low:g} to {high:g}; give it in other units."
        )
    mean = float(signal.mean())
    return signal - mean, mean


def _collected(denoised: list[tuple[np.ndarray, np.ndarray | None]], single: bool) -> Any:
    """One array, or with standard deviations two."""
    means, stds = zip(*denoised, strict=True)
    if single:
        return means[0] if stds[0] is None else (means[0], stds[0])
    return np.stack(means) if stds[0] is None else (np.stack(means), np.stack(stds))
