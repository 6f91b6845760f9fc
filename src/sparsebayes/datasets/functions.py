"""Regression functions of one, two and more inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._checks import require_whole
from sparsebayes.datasets._arguments import check_scale, generator, noise_of

LIMIT = 10.0  # inputs of sinc lie in [−10, 10]
# Friedman #2 and #3: resistance, angular frequency, inductance, capacitance of a circuit
LOW, HIGH = np.asarray([0.0, 40 * np.pi, 0.0, 1.0]), np.asarray([100.0, 560 * np.pi, 1.0, 11.0])


def make_sinc(
    n: int = 100, noise: str | None = "gaussian", scale: float = 0.1, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f(x) = sin(x)/x at equally spaced points of [−10, 10], with noise [T01, 4.1 and E.1].

    Parameters
    ----------
    n : int
        N, the number of points.
    noise : "gaussian", "uniform" or None
        Normal with standard deviation `scale`, uniform between ±`scale`, or none.
    scale : float
        The size of the noise, not negative. T01 has 0.1 in its tables and uniform noise of 0.2 in figure 2.
    random_state : int, RandomState, Generator or None
        Seed of the noise.

    Returns
    -------
    X : (N, 1) array
        The inputs.
    y : (N,) array
        f with noise.
    f : (N,) array
        The function itself.
    """
    require_whole(n, "n", 1)
    check_scale(scale, "scale")
    X = np.linspace(-LIMIT, LIMIT, n)[:, None]
    f = sinc(X[:, 0])
    return X, f + scale * _drawn(noise, n, generator(random_state)), f


def make_sinc2d(
    n: int = 1000, noise: float = 0.1, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f(x) = sin(‖x‖)/‖x‖ at points drawn uniformly from [−10, 10]², with Gaussian noise [TF03, 5.1].

    Parameters
    ----------
    n : int
        N, the number of points.
    noise : float
        Standard deviation of the noise, not negative.
    random_state : int, RandomState, Generator or None
        Seed of the points and of the noise.

    Returns
    -------
    X : (N, 2) array
        The inputs.
    y : (N,) array
        f with noise.
    f : (N,) array
        The function itself.
    """
    require_whole(n, "n", 1)
    check_scale(noise, "noise")
    rng = generator(random_state)
    X = rng.uniform(-LIMIT, LIMIT, size=(n, 2))
    f = sinc(np.hypot(X[:, 0], X[:, 1]))
    return X, f + noise * rng.standard_normal(n), f


def make_friedman(
    number: int = 1, n: int = 240, snr: float | None = 3.0, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Friedman's functions #1, #2 and #3 at random points, with Gaussian noise [Friedman 1991; T01, 4.2].

        #1: 10 sin(πx₁x₂) + 20 (x₃ − ½)² + 10x₄ + 5x₅, ten inputs in [0, 1] of which five do nothing
        #2: √(x₁² + (x₂x₃ − 1/(x₂x₄))²), four inputs
        #3: arctan((x₂x₃ − 1/(x₂x₄))/x₁), the same inputs

    Parameters
    ----------
    number : 1, 2 or 3
        Which of them.
    n : int
        N, the number of points.
    snr : float or None
        std(f)/σ over the points drawn, σ being the standard deviation of the noise; None for no noise.
    random_state : int, RandomState, Generator or None
        Seed of the points and of the noise.

    Returns
    -------
    X : (N, 10) or (N, 4) array
        The inputs.
    y : (N,) array
        f with noise.
    f : (N,) array
        The function itself.
    """
    if number not in (1, 2, 3):
        raise ValueError(f"number must be 1, 2 or 3, got {number!r}.")
    require_whole(n, "n", 1)
    rng = generator(random_state)
    X = rng.uniform(size=(n, 10)) if number == 1 else LOW + (HIGH - LOW) * rng.uniform(size=(n, 4))
    f = _first(X) if number == 1 else _circuit(X, number)
    return X, f + noise_of(f, snr) * rng.standard_normal(n), f


def sinc(x: np.ndarray) -> np.ndarray:
    """sin(x)/x, elementwise, 1 at 0.

    Parameters
    ----------
    x : array-like
        Where to evaluate it, in radians.

    Returns
    -------
    ndarray
        The values, of the shape of x.
    """
    return np.sinc(np.asarray(x) / np.pi)  # NumPy's has a factor π inside


def _drawn(noise: str | None, n: int, rng: np.random.RandomState) -> np.ndarray:
    """Noise of unit size, one value per point."""
    if noise is None:
        return np.zeros(n)
    if not isinstance(noise, str) or noise not in ("gaussian", "uniform"):
        raise ValueError(f"noise must be 'gaussian', 'uniform' or None, got {noise!r}.")
    return rng.standard_normal(n) if noise == "gaussian" else rng.uniform(-1.0, 1.0, n)


def _first(X: np.ndarray) -> np.ndarray:
    waves = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return waves + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def _circuit(X: np.ndarray, number: int) -> np.ndarray:
    """Impedance (#2) or phase (#3) of the circuit."""
    reactance = X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])
    return np.hypot(X[:, 0], reactance) if number == 2 else np.arctan2(reactance, X[:, 0])
