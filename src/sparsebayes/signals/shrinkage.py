"""Shrinkage of orthonormal wavelet coefficients by the closed form: band by band, or all of them alike."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._checks import warn
from sparsebayes.core.noise import Gaussian
from sparsebayes.core.posterior import Problem
from sparsebayes.core.prior import Prior
from sparsebayes.core.solver import Monitor
from sparsebayes.core.units import Units
from sparsebayes.signals.closed_form import Orthonormal
from sparsebayes.signals.diagonal import IdentityQuadratic
from sparsebayes.signals.mixture import MixturePosterior
from sparsebayes.signals.noise import noise_from_finest
from sparsebayes.signals.path import orthonormal_statistics
from sparsebayes.signals.risk import constants_of, fit_mixtures, histograms, prefers_mean
from sparsebayes.signals.rules import EvidenceRule, MixtureRule, NoSignal, Rule, SmoothnessRule
from sparsebayes.signals.settings import DENOISING, DenoisingSettings, RiskSettings
from sparsebayes.signals.transforms import SpikeOperator
from sparsebayes.signals.wavelet_transform import Band, WaveletOperator
from sparsebayes.solvers.regression import NoiseCollapseWarning

EXTREME = 1e30  # ratio of noise and mean square beyond which the answer is everything, or nothing
BLOCK = 1 << 15  # coefficients worked on at a time


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """The shrunk coefficients of one signal.

    Attributes
    ----------
    w, coef : ndarray of shape (N,)
        The coefficients, and their posterior means.
    noise_variance : float
        σ².
    constants : ndarray of shape (n_bands,)
        The smoothness constant c of every band, NaN for a band without one.
    rule : Rule
        What is kept of a coefficient of each band.
    flat : tuple of Band
        The bands whose coefficients are kept as they are, having no prior.
    signal_mean : float
        The mean of the signal, which was subtracted before it was transformed.
    """

    w: np.ndarray
    coef: np.ndarray
    noise_variance: float
    constants: np.ndarray
    rule: Rule
    flat: tuple[Band, ...] = ()
    signal_mean: float = 0.0

    @property
    def n_active(self) -> int:
        """Number of coefficients that were not set to zero."""
        return int(np.count_nonzero(self.coef))

    @property
    def gamma(self) -> np.ndarray:
        """Share of each coefficient that was kept, (N,)."""
        gamma = np.divide(self.coef, self.w, out=np.zeros_like(self.w), where=self.w != 0)
        for band in self.flat:
            gamma[band.where] = 1.0
        return gamma

    def variance(self, bands: Sequence[Band]) -> np.ndarray:
        """The expected squared error of each coefficient, in units of σ².

        Parameters
        ----------
        bands : sequence of Band
            All bands of the transform, in order.

        Returns
        -------
        ndarray of shape (N,)
            The posterior variance, plus the square of what the estimate differs from the posterior mean by.
        """
        gamma, parts = self.gamma, [band.where for band in bands]
        return np.concatenate([self.rule.variance(self.w[k], n, gamma[k]) for n, k in enumerate(parts)])


def shrink_by_risk(
    w: np.ndarray,
    operator: WaveletOperator,
    noise_variance: float | None = None,
    constants: np.ndarray | None = None,
    settings: DenoisingSettings = DENOISING,
    most_noise: float = math.inf,
) -> Shrinkage:
    """Shrink each band under a smoothness prior with the constant c of least expected risk.

    The coarsest coefficients are kept as they are.

    Parameters
    ----------
    w : ndarray of shape (N,)
        Coefficients of a signal.
    operator : WaveletOperator
        The transform they come from.
    noise_variance : float, optional
        σ² if it is known; by default it is estimated from the finest level.
    constants : ndarray of shape (n_bands,), optional
        c of every band if they are known; by default they are chosen from the coefficients.
    settings : DenoisingSettings
        How noise and constants are chosen.
    most_noise : float
        The largest σ² that is estimated: another estimate of it.

    Returns
    -------
    Shrinkage
        All coefficients as they are if there is no noise.
    """
    sigma2 = noise_variance
    if sigma2 is None:
        sigma2 = min(noise_from_finest(w, operator, settings), most_noise)
    if not sigma2 > 0:
        constants = np.full(len(operator.bands), math.nan)
        return Shrinkage(w, w, 0.0, constants, SmoothnessRule(0.0, constants), operator.bands)
    usable = usable_variance(sigma2, w)
    if constants is not None:
        return replace(shrink_with(w, operator, usable, constants), noise_variance=sigma2)
    constants, posterior, averaged = _fitted(w, operator, 1 / math.sqrt(usable), settings.risk)
    rule = MixtureRule(SmoothnessRule(usable, constants), posterior, averaged)
    return replace(shrink_with(w, operator, usable, constants), noise_variance=sigma2, rule=rule)


def usable_variance(sigma2: float, w: np.ndarray) -> float:
    """A noise variance with the same answer, to rounding, whose ratio to the squared coefficients is a number.

    Parameters
    ----------
    sigma2 : float
        σ² > 0.
    w : ndarray of shape (N,)
        Coefficients of a signal.

    Returns
    -------
    float
        σ² itself unless it is extreme.
    """
    square = float(w @ w) / len(w)
    return min(max(sigma2, square / EXTREME), square * EXTREME) if square else sigma2


def _fitted(
    w: np.ndarray, operator: WaveletOperator, scale: float, settings: RiskSettings
) -> tuple[np.ndarray, MixturePosterior, np.ndarray]:
    """The constant of every band, NaN for the coarsest, the posteriors, and which bands are averaged.

    w·scale is in units of the noise.
    """
    counts = np.zeros((len(operator.bands), settings.bins), dtype=np.int64)
    for where, bands, sizes in _blocks(operator.bands):
        counts[bands] += histograms(w[where] * scale, sizes, settings)
    shares = fit_mixtures(counts, settings)
    constants = constants_of(shares, settings)
    averaged = prefers_mean(counts, shares, constants, settings)
    flat = np.asarray([not band.kind for band in operator.bands])
    constants[flat] = math.nan
    return constants, MixturePosterior.of(shares, settings.variances), averaged & ~flat


def _blocks(bands: Sequence[Band]) -> Iterator[tuple[slice, slice, list[int]]]:
    """The coefficients of all bands in blocks, whatever the sizes of the bands.

    Yields where the block is, the numbers of its bands, and how many of its coefficients belong to each.
    """
    ends = [band.where.stop for band in bands]  # each band begins where the one before it ends
    for start in range(0, ends[-1], BLOCK):
        stop = min(start + BLOCK, ends[-1])
        inside = slice(bisect_right(ends, start), bisect_left(ends, stop) + 1)
        sizes = [min(band.where.stop, stop) - max(band.where.start, start) for band in bands[inside]]
        yield slice(start, stop), inside, sizes


def shrink_with(w: np.ndarray, operator: WaveletOperator, sigma2: float, constants: np.ndarray) -> Shrinkage:
    """Shrink each band under a smoothness prior with its c: γ = 1 − 1/(u − 2c) if u > 1 + 2c, else 0.

    Parameters
    ----------
    w : ndarray of shape (N,)
        Coefficients of a signal; u = w²/σ².
    operator : WaveletOperator
        The transform they come from.
    sigma2 : float
        σ² > 0.
    constants : ndarray of shape (n_bands,)
        c of every band; NaN for a band that is kept as it is.

    Returns
    -------
    Shrinkage
        With posterior means γw.
    """
    coef = np.empty_like(w)
    free = np.isnan(constants)
    each = np.where(free, -math.inf, constants)  # c = −∞ keeps a coefficient as it is
    for where, bands, sizes in _blocks(operator.bands):
        c = np.repeat(each[bands], sizes) if len(sizes) > 1 else each[bands]
        excess = np.maximum(w[where] * w[where] / sigma2 - 2 * c, 1.0)
        coef[where] = (1 - 1 / excess) * w[where]
    flat = tuple(operator.bands[k] for k in np.flatnonzero(free))
    return Shrinkage(w, coef, sigma2, constants, SmoothnessRule(sigma2, constants), flat)


def shrink_by_evidence(
    w: np.ndarray, operator: WaveletOperator, prior: Prior, noise_variance: float | None = None
) -> Shrinkage:
    """Shrink all coefficients under one prior by maximising the evidence [SE07].

    Parameters
    ----------
    w : ndarray of shape (N,)
        Coefficients of a signal.
    operator : WaveletOperator
        The transform they come from.
    prior : Prior
        Prior on the precision of each coefficient.
    noise_variance : float, optional
        σ² if it is known; by default it is estimated.

    Returns
    -------
    Shrinkage
        Without constants.
    """
    constants = np.full(len(operator.bands), math.nan)
    if not w.any():  # nothing to find, and no noise but that given
        return Shrinkage(w, w, noise_variance or 0.0, constants, NoSignal())
    quadratic, units = _statistics(w)
    usable = None if noise_variance is None else usable_variance(noise_variance, w)
    prior, noise = prior.resolve(units.n), Gaussian().noise(units, usable)
    problem = Problem(quadratic, prior, noise, prior.units(units.unit, units.kept))
    state = Orthonormal().solve(problem, Monitor()).state
    sigma2 = units.target_scale**2 / state.beta if noise_variance is None else noise_variance
    if noise.estimate and not state.noise_is_free:
        warn(
            f"The estimated noise variance of X fell to its floor ({sigma2:.3g}), with {state.size} of "
            f"{len(w)} wavelets kept: under this prior the evidence has no maximum. Give noise_variance a "
            "value, or use prior='auto'.",
            NoiseCollapseWarning,
        )
    coef = np.zeros(len(w))
    coef[state.J] = units.target_scale * state.mean
    rule = EvidenceRule(prior, state.beta, units.target_scale, problem.unit, operator.bands)
    return Shrinkage(w, coef, sigma2, constants, rule)


def _statistics(w: np.ndarray) -> tuple[IdentityQuadratic, Units]:
    """The statistics of coefficients in any units: as a signal, whose orthonormal functions are spikes."""
    size = 2.0 ** math.frexp(float(np.abs(w).max()))[1]
    quadratic, units = orthonormal_statistics(SpikeOperator(len(w)), w / size)
    return quadratic, replace(units, target_scale=units.target_scale * size)
