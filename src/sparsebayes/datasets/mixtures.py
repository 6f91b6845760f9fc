"""Labels of two classes whose probabilities are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsebayes._checks import require_whole
from sparsebayes.datasets._arguments import generator

RIPLEY_CENTRES = np.asarray([[-0.7, 0.3], [0.3, 0.3], [-0.3, 0.7], [0.4, 0.7]])  # two of each class
RIPLEY_VARIANCE = 0.03


def make_ripley(n: int = 1000, random_state: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two classes in the plane, each a mixture of two round Gaussians of variance 0.03 [Ripley; TF03, 5.2].

    The best possible classifier errs on about 9 % of the points.

    Parameters
    ----------
    n : int
        N, the number of points; each comes from one of the four Gaussians, all equally likely.
    random_state : int, RandomState, Generator or None
        Seed of the points.

    Returns
    -------
    X : (N, 2) array
        The inputs.
    y : (N,) array of int
        The class, 0 or 1.
    p : (N,) array
        The true probability of class 1.
    """
    require_whole(n, "n", 1)
    rng = generator(random_state)
    component = rng.randint(4, size=n)
    X = RIPLEY_CENTRES[component] + math.sqrt(RIPLEY_VARIANCE) * rng.standard_normal((n, 2))
    distances = ((X[:, None, :] - RIPLEY_CENTRES[None, :, :]) ** 2).sum(axis=2)
    density = np.exp(-(distances - distances.min(axis=1, keepdims=True)) / (2 * RIPLEY_VARIANCE))
    return X, (component >= 2).astype(np.int64), density[:, 2:].sum(axis=1) / density.sum(axis=1)
