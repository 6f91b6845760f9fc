"""The test signals of wavelet denoising [Donoho & Johnstone 1994, table 1], and those of SE07."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes._checks import require_whole
from sparsebayes.datasets._arguments import generator, noise_of
from sparsebayes.datasets.functions import LIMIT, sinc

JUMPS = np.asarray([0.10, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81])
BLOCK_HEIGHTS = np.asarray([4.0, -5.0, 3.0, -4.0, 5.0, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
BUMP_HEIGHTS = np.asarray([4.0, 5.0, 3.0, 4.0, 5.0, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
BUMP_WIDTHS = np.asarray([0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005])


def _blocks(n: int) -> np.ndarray:
    """Σ_j h_j (1 + sign(x − x_j))/2: steps."""
    return (1 + np.sign(_unit(n)[:, None] - JUMPS)) / 2 @ BLOCK_HEIGHTS


def _bumps(n: int) -> np.ndarray:
    """Σ_j h_j (1 + |x − x_j|/w_j)⁻⁴: peaks of different widths."""
    return (1 + np.abs(_unit(n)[:, None] - JUMPS) / BUMP_WIDTHS) ** -4 @ BUMP_HEIGHTS


def _heavisine(n: int) -> np.ndarray:
    """4 sin 4πx − sign(x − 0.3) − sign(0.72 − x): a sine with two jumps."""
    x = _unit(n)
    return 4 * np.sin(4 * np.pi * x) - np.sign(x - 0.3) - np.sign(0.72 - x)


def _doppler(n: int) -> np.ndarray:
    """√(x(1 − x)) sin(2.1π/(x + 0.05)): a frequency that falls."""
    x = _unit(n)
    return np.sqrt(x * (1 - x)) * np.sin(2.1 * np.pi / (x + 0.05))


def _sinc(n: int) -> np.ndarray:
    """sin(x)/x on [−10, 10]."""
    return sinc(np.linspace(-LIMIT, LIMIT, n))


def _blocks_sinc(n: int) -> np.ndarray:
    """Blocks, then Sinc, each with standard deviation 1 [SE07, figure 7]."""
    parts = [_blocks(n // 2), _sinc(n - n // 2)]
    return np.concatenate([part / part.std() for part in parts])


SIGNALS: dict[str, Callable[[int], np.ndarray]] = {
    "blocks": _blocks,
    "bumps": _bumps,
    "heavisine": _heavisine,
    "doppler": _doppler,
    "sinc": _sinc,
    "blocks-sinc": _blocks_sinc,
}
LEAST_POINTS = 8  # fewer do not show any of them


def make_signal(
    name: str, n: int = 1024, snr: float | None = 7.0, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A test signal at n equally spaced points, with Gaussian noise.

    Parameters
    ----------
    name : "blocks", "bumps", "heavisine", "doppler", "sinc" or "blocks-sinc"
        The first four are Donoho & Johnstone's, taken at i/n, i = 0 … n − 1, which gives what SE07 print
        of Bumps. The last is Blocks followed by Sinc, each scaled to standard deviation 1.
    n : int
        N, the number of points, at least 8.
    snr : float or None
        std(signal)/σ, σ being the standard deviation of the noise; None for no noise.
    random_state : int, RandomState, Generator or None
        Seed of the noise.

    Returns
    -------
    X : (N, 1) array
        The positions, equally spaced in [−10, 10], the interval to which widths of kernels refer in SE07.
    y : (N,) array
        f with noise.
    f : (N,) array
        The signal itself.
    """
    if not isinstance(name, str) or name not in SIGNALS:
        raise ValueError(f"name must be one of {list(SIGNALS)}, got {name!r}.")
    require_whole(n, "n", LEAST_POINTS)
    f = SIGNALS[name](int(n))
    noise = noise_of(f, snr) * generator(random_state).standard_normal(n)
    return np.linspace(-LIMIT, LIMIT, n)[:, None], f + noise, f


def _unit(n: int) -> np.ndarray:
    return np.arange(n) / n
