"""Parameters of kernels: from the words, numbers and sequences that users write to positive numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, to_numpy
from sparsebayes._checks import is_number, is_whole

SQUARABLE = (1e-154, 1e153)  # widths r whose r⁻² neither overflows nor loses digits to underflow

SAME = 1e-9  # spreads of inputs that differ by less are the same

FIXED = "fixed"  # bounds of a scale that keeps its value while others are learned

OneOrEach = float | np.ndarray  # one number for all inputs, or one per input (d,)
Gamma = Any  # "scale", "auto" or numbers; OneOrEach once resolved
Width = Any  # a number or a sequence of d numbers; OneOrEach once resolved
Origin = Any  # "auto" or numbers; OneOrEach once resolved
Bounds = Any  # None, "fixed" or a pair of positive numbers


def resolve_gamma(gamma: Gamma, X: Array, sample_weight: Array | None = None, power: float | None = None) -> OneOrEach:
    """gamma as numbers: "scale" follows the spread of the inputs; "auto" is 1/d.

    Parameters
    ----------
    gamma : "scale", "auto", a positive number or one per input
        "scale" is 1/(d s_k^|power|) for an input k of standard deviation s_k, d being the number of inputs that vary:
        one number if all spreads are the same, else one per input. 1/d for an input that does not vary.
    X : array of shape (n, d)
        Training rows.
    sample_weight : array of shape (n,), optional
        How often each row counts.
    power : float, optional
        The parameter is proportional to a width to this power, and "scale" measures each input in units of its own
        spread. None for one number for all inputs, 1/(d Var(X)) over all entries of X, as in scikit-learn.

    Returns
    -------
    float or ndarray of shape (d,)
    """
    d = int(X.shape[1])
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / d
        if gamma == "scale":
            return _pooled(X, sample_weight) if power is None else _gamma_from_spread(X, sample_weight, power)
        raise ValueError(f"gamma must be 'scale', 'auto' or positive numbers, got {gamma!r}.")
    return positive_scale(gamma, "gamma", d)


def positive_scale(value: Any, name: str, d: int) -> OneOrEach:
    """value as one positive number, or as d of them."""
    try:
        scale = np.asarray(value)
    except ValueError:  # a ragged nest of sequences
        scale = np.asarray(None)
    if scale.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be a positive number or {d} of them, got {value!r}.")
    scale = scale.astype(np.float64)
    if not np.all(np.isfinite(scale) & (scale > 0)):
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    if scale.ndim == 0:
        return float(scale)
    if scale.shape != (d,):
        raise ValueError(f"{name} must have one number per column of X ({d}), got shape {scale.shape}.")
    return scale


def inverse_square(scale: OneOrEach, name: str) -> OneOrEach:
    """scale⁻² of positive numbers; ValueError if that is beyond the range of a float."""
    least, most = SQUARABLE
    if np.min(scale) < least or np.max(scale) > most:
        raise ValueError(f"{name} must be between {least:g} and {most:g}, got {scale!r}: rescale X.")
    return scale**-2.0


def positive_number(value: Any, name: str) -> float:
    """value as one positive number."""
    if not is_number(value) or value <= 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    return float(value)


def positive_numbers(values: Any, name: str, count: int | None = None) -> np.ndarray:
    """values as `count` positive numbers, by default one or more."""
    if not isinstance(values, list | tuple | np.ndarray) or len(values) != (count or len(values) or 1):
        raise ValueError(f"{name} must be {count or 'one or more'} positive numbers, got {values!r}.")
    return np.asarray([positive_number(value, f"each of {name}") for value in values])


def resolve_origin(origin: Origin, X: Array, share: float, far: float) -> OneOrEach:
    """The origin of inputs, one number or one per input.

    Parameters
    ----------
    origin : "auto", a number or one per input
        "auto" is 0 for inputs that vary about 0 or near it. An input whose values lie more than `far` times their
        range from 0 has its origin among them: powers of such values differ by less than rounding.
    X : array of shape (n, d)
        Training rows.
    share : float
        Where "auto" moves the origin to: 0 for the least value, ½ for the middle of the range.
    far : float
        How many ranges from 0 values have to lie for "auto" to move their origin.

    Returns
    -------
    float or ndarray of shape (d,)
        0.0 if no origin is moved.
    """
    d = int(X.shape[1])
    if isinstance(origin, str) and origin == "auto":
        xp = namespace(X)
        low, high = (to_numpy(f(X, axis=0)) for f in (xp.min, xp.max))
        with np.errstate(over="ignore"):
            spread = high - low
            moved = (spread > 0) & (np.maximum(np.abs(low), np.abs(high)) > far * spread)
        return np.where(moved, low + share * spread, 0.0) if moved.any() else 0.0
    try:
        numbers = np.asarray(origin, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.asarray(np.nan)
    if numbers.shape not in ((), (d,)) or not np.all(np.isfinite(numbers)):
        raise ValueError(f"origin must be 'auto', a finite number or one per column of X ({d}), got {origin!r}.")
    return numbers if numbers.ndim else float(numbers)


def about(X: Array, origin: OneOrEach) -> Array:
    """X (n, d) less the origin; X itself if that is 0."""
    if np.ndim(origin) == 0 and origin == 0.0:
        return X
    return X - asfloat64(np.atleast_1d(origin), like=X)[None, :]


def check_bounds(bounds: Bounds, name: str) -> None:
    """Raise ValueError unless bounds are None, "fixed" or a pair of positive numbers in ascending order."""
    if bounds is None or (isinstance(bounds, str) and bounds == FIXED):
        return
    pair = isinstance(bounds, list | tuple | np.ndarray) and len(bounds) == 2 and all(map(is_number, bounds))
    if not pair or not 0 < bounds[0] < bounds[1]:
        raise ValueError(f"{name} must be None, 'fixed' or two positive numbers in ascending order, got {bounds!r}.")


def check_degree(degree: Any) -> int:
    """degree as an integer of at least 1."""
    if not is_whole(degree, 1):
        raise ValueError(f"degree must be an integer of at least 1, got {degree!r}.")
    return int(degree)


def check_coef0(coef0: Any) -> float:
    """coef0 as a finite number."""
    if not is_number(coef0):
        raise ValueError(f"coef0 must be a finite number, got {coef0!r}.")
    return float(coef0)


def _gamma_from_spread(X: Array, sample_weight: Array | None, power: float) -> OneOrEach:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variances = variances_of(X, sample_weight)
        varies = variances > 0
        d = max(int(np.count_nonzero(varies)), 1)
        gamma = np.where(varies, np.where(varies, variances, 1.0) ** (0.5 * power), 1.0) / d
    if not np.all((gamma > 0) & (gamma < np.inf)):
        raise ValueError(f"gamma='scale' needs a variance of X within range, got {variances}: rescale X.")
    same = gamma[varies] if varies.any() else gamma
    return float(same[0]) if np.ptp(same) <= SAME * same[0] else gamma


def _pooled(X: Array, sample_weight: Array | None) -> float:
    """1/(d Var(X)), the variance over all entries of X; 1 if they are equal."""
    xp, (n, d) = namespace(X), map(int, X.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        entries = xp.reshape(X, (n * d, 1))
        weights = (
            None
            if sample_weight is None
            else xp.reshape(xp.asarray(sample_weight)[:, None] * xp.ones_like(X), (n * d,))
        )
        variance = float(variances_of(entries, weights)[0])
    if variance == 0.0:
        return 1.0
    gamma = 1.0 / (d * variance)
    if not 0.0 < gamma < np.inf:
        raise ValueError(f"gamma='scale' needs a variance of X within range, got {variance}: rescale X.")
    return gamma


def variances_of(X: Array, sample_weight: Array | None) -> np.ndarray:
    """Variance of each column of X, row n counted sample_weight[n] times."""
    xp, n = namespace(X), int(X.shape[0])
    weights = asfloat64(np.ones(n) if sample_weight is None else sample_weight, like=X)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one number per row of X ({n}), got shape {weights.shape}.")
    share = weights[:, None] / xp.sum(weights)
    # deviations from a row of X first: equal entries then have variance 0 exactly
    deviations = X - X[int(xp.argmax(weights)), :][None, :]
    deviations = deviations - xp.sum(share * deviations, axis=0)[None, :]
    return to_numpy(xp.sum(share * deviations * deviations, axis=0))
