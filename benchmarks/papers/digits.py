"""Images of digits: how they are blurred, moved and compared; and the settings of a classifier of them.

Basis functions need not be Mercer kernels. Here a function of an image is the largest of several Gaussian
kernels, centred at a training image that is moved by a pixel or turned by ten degrees. Images are blurred
first, and compared after their means are subtracted and their lengths made one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy import ndimage

from benchmarks.papers.models import classifier
from sparsebayes import ActiveSet, Laplace, RelevanceVectorClassifier

SIDE = 16  # pixels
Images = np.ndarray  # (n, SIDE²)


def blurred(X: Images, blur: float) -> Images:
    """Images on a background of 0, blurred by `blur` pixels."""
    pictures = (X + 1).reshape(-1, SIDE, SIDE)
    return ndimage.gaussian_filter(pictures, (0, blur, blur), mode="constant").reshape(len(X), -1)


def unit_rows(X: Images) -> Images:
    """Every image minus its mean, of unit length."""
    X = X - X.mean(axis=1, keepdims=True)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@cache
def movements(moves: int) -> list[np.ndarray]:
    """Matrices that move an image: 1 is the identity, 9 shift it by a pixel, 27 turn it by ten degrees too."""
    pixels = np.eye(SIDE**2).reshape(-1, SIDE, SIDE)
    centre = np.array([0, (SIDE - 1) / 2, (SIDE - 1) / 2])
    angles = (-10, 0, 10) if moves == 27 else (0,)
    shifts = (0,) if moves == 1 else (-1, 0, 1)
    moved = []
    for angle, down, right in product(np.radians(angles), shifts, shifts):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        offset = centre - turn @ centre + np.array([0, down, right])
        images = ndimage.affine_transform(pixels, turn, offset=offset, order=1, mode="constant")
        moved.append(images.reshape(SIDE**2, -1))
    return moved


@dataclass(frozen=True)
class Likeness:
    """The largest exp(−γ‖x − z‖²) over movements of z; both of unit length, so that ‖x − z‖² = 2 − 2xᵀz."""

    gamma: float
    moves: int

    def __call__(self, X: Images, Z: Images) -> np.ndarray:
        """The kernel matrix, (len(X), len(Z))."""
        rows = unit_rows(X)
        cosine = np.full((len(X), len(Z)), -1.0)
        for movement in movements(self.moves):
            np.maximum(cosine, rows @ unit_rows(Z @ movement).T, out=cosine)
        cosine -= 1
        cosine *= 2 * self.gamma
        return np.exp(cosine, out=cosine)


@dataclass(frozen=True)
class Settings:
    """Blur in pixels, how many movements of an image (1, 9 or 27), γ, and the scale of the Laplace prior.

    pool : size of the pool that the solver initialises from; the settings were chosen when 240 was the default.
    """

    blur: float
    moves: int
    gamma: float
    scale: float
    pool: int = 240

    def classifier(self) -> RelevanceVectorClassifier:
        """One softmax model; without exchanges, which cost more than they gain on ten classes."""
        likeness = Likeness(self.gamma, self.moves)
        solver = ActiveSet(pool=self.pool, exchanges=0)
        return classifier(likeness, prior=Laplace(self.scale), solver=solver)
