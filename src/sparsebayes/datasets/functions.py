"""Functions of one and two inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes.datasets._arguments import check_scale, check_size, generator

LIMIT = 10.0  # inputs lie in [−10, 10]


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
    check_size(n)
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
    check_size(n)
    check_scale(noise, "noise")
    rng = generator(random_state)
    X = rng.uniform(-LIMIT, LIMIT, size=(n, 2))
    f = sinc(np.hypot(X[:, 0], X[:, 1]))
    return X, f + noise * rng.standard_normal(n), f


def sinc(x: np.ndarray) -> np.ndarray:
    """sin(x)/x, elementwise, 1 at 0."""
    return np.sinc(np.asarray(x) / np.pi)  # NumPy's has a factor π inside


def _drawn(noise: str | None, n: int, rng: np.random.RandomState) -> np.ndarray:
    """Noise of unit size."""
    kinds: dict[str | None, Callable[[], np.ndarray]] = {
        "gaussian": lambda: rng.standard_normal(n),
        "uniform": lambda: rng.uniform(-1.0, 1.0, n),
        None: lambda: np.zeros(n),
    }
    if not (noise is None or isinstance(noise, str)) or noise not in kinds:
        raise ValueError(f"noise must be 'gaussian', 'uniform' or None, got {noise!r}.")
    return kinds[noise]()
