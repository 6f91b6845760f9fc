"""Data that the tests of Dask share, and the collections they are given as."""

import numpy as np


def regression(n=1200, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 5
    y = 2 * X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(n) + 1
    return X, y, rng.integers(0, 3, n).astype(float)


def labels(n=1200, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 3
    f = 2 * X[:, 2] - X[:, 5] - 3
    two = np.where(f + rng.logistic(size=n) > 0, "yes", "no")
    three = np.digitize(f + rng.logistic(size=n), [-2, 2])
    return X, two, three, rng.integers(0, 3, n).astype(float)
