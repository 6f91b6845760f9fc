"""A crystal for the benchmark of force constants: its forces, and the terms that they are expanded in.

A body-centred cubic cell of 4×4×4 cubes (128 atoms, periodic). The forces are those of a Morse potential between
neighbours up to the fifth shell and of a harmonic potential of the angles between nearest neighbours. They are expanded
in the displacements: every term is an invariant polynomial of bond vectors, summed over all bonds of a shell or over
all pairs of bonds of two shells at one angle, and its column of the fit matrix is the force it gives on every atom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

CUBES, SPACING = 4, 3.16  # lattice constant of tungsten, Å
SHELLS = 5  # of pairs
NEAR = 3  # shells of the bonds that make pairs of bonds
DEPTH, STIFFNESS, DISTANCE = 0.99, 1.41, 3.03  # Morse potential of tungsten: eV, 1/Å, Å
BENDING = 0.3  # eV

# exponents of (a, b): a the component of the displacement along the bond, b its square
PAIR_TERMS = [(p, q) for order in range(2, 7) for q in range(order // 2, -1, -1) for p in [order - 2 * q]]
# exponents of (aj, ak, cj, ck, d): aj, ak along its own bond, cj, ck along the other one, d the scalar product
TRIPLET_TERMS = [
    (1, 1, 0, 0, 0),
    (0, 0, 1, 1, 0),
    (0, 0, 0, 0, 1),
    (1, 0, 0, 1, 0),
    (2, 1, 0, 0, 0),
    (1, 0, 0, 0, 1),
    (1, 0, 1, 1, 0),
    (2, 0, 0, 1, 0),
    (2, 2, 0, 0, 0),
    (0, 0, 0, 0, 2),
]


@dataclass(frozen=True)
class Bonds:
    """Bonds (i, j) with their unit vectors (n, 3) in the perfect crystal and their shells, numbered from 0."""

    i: np.ndarray
    j: np.ndarray
    unit: np.ndarray
    length: np.ndarray
    shell: np.ndarray


def crystal() -> Bonds:
    """All bonds of the cell up to the last shell, in both directions."""
    corners = np.stack(np.meshgrid(*[np.arange(CUBES)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    places = np.concatenate([corners, corners + 0.5])
    vectors = places[None, :] - places[:, None]
    vectors -= CUBES * np.round(vectors / CUBES)
    lengths = np.linalg.norm(vectors, axis=-1).round(9)
    steps = np.unique(lengths)[1 : SHELLS + 1]
    i, j = np.nonzero(np.isin(lengths, steps))
    chosen = lengths[i, j]
    return Bonds(i, j, vectors[i, j] / chosen[:, None], SPACING * chosen, np.searchsorted(steps, chosen))


def forces(bonds: Bonds, moved: np.ndarray) -> np.ndarray:
    """The forces (atoms, 3), in eV/Å, at displacements (atoms, 3), in Å."""
    r = bonds.unit * bonds.length[:, None] + moved[bonds.j] - moved[bonds.i]
    length = np.linalg.norm(r, axis=1)
    decay = np.exp(-STIFFNESS * (length - DISTANCE))
    slope = 2 * DEPTH * STIFFNESS * decay * (1 - decay)
    total = np.zeros_like(moved)
    np.add.at(total, bonds.i, (slope / length)[:, None] * r)
    for j, k in triplets(bonds, (0, 0)):
        cosine = np.sum(r[j] * r[k], axis=1) / (length[j] * length[k])
        rest = np.sum(bonds.unit[j] * bonds.unit[k], axis=1)
        for one, other in ((j, k), (k, j)):
            gradient = r[other] / (length[one] * length[other])[:, None] - (cosine / length[one] ** 2)[:, None] * r[one]
            _pull(total, bonds, one, -0.5 * BENDING * (cosine - rest)[:, None] * gradient)
    return total


def _pull(total: np.ndarray, bonds: Bonds, bond: np.ndarray, force: np.ndarray) -> None:
    """Add the force on the end of each bond, and its opposite on the beginning."""
    np.add.at(total, bonds.j[bond], force)
    np.add.at(total, bonds.i[bond], -force)


def triplets(bonds: Bonds, shells: tuple[int, int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each angle, all pairs (j, k) of bonds from one atom, j in the first shell and k in the second."""
    one, two = (np.flatnonzero(bonds.shell == shell) for shell in shells)
    every = [np.stack(np.meshgrid(one[bonds.i[one] == n], two[bonds.i[two] == n]), -1) for n in np.unique(bonds.i)]
    j, k = np.concatenate([pairs.reshape(-1, 2) for pairs in every]).T
    cosine = np.sum(bonds.unit[j] * bonds.unit[k], axis=1).round(6)
    for angle in np.unique(cosine[j != k]):
        same = (cosine == angle) & (j != k)
        yield j[same], k[same]


def pair_columns(bonds: Bonds, moved: np.ndarray) -> Iterator[np.ndarray]:
    """The forces of the terms aᵖbᑫ of each shell."""
    d = moved[bonds.j] - moved[bonds.i]
    a, b = np.sum(d * bonds.unit, axis=1), np.sum(d**2, axis=1)
    for shell in range(SHELLS):
        those = bonds.shell == shell
        for p, q in PAIR_TERMS:
            along = p * a ** max(p - 1, 0) * b**q
            across = 2 * q * a**p * b ** max(q - 1, 0)
            gradient = along[:, None] * bonds.unit + across[:, None] * d
            total = np.zeros_like(moved)
            np.add.at(total, bonds.i[those], gradient[those])  # each bond counts in both directions
            yield total.ravel()


def triplet_columns(bonds: Bonds, moved: np.ndarray) -> Iterator[np.ndarray]:
    """The forces of the terms of two bonds, for every two shells and every angle."""
    d = moved[bonds.j] - moved[bonds.i]
    for first in range(NEAR):
        for second in range(first, NEAR):
            for j, k in triplets(bonds, (first, second)):
                for exponents in TRIPLET_TERMS:
                    total = np.zeros_like(moved)
                    for one, other in ((j, k), (k, j)):  # symmetric in the two bonds
                        _add_term(total, bonds, d, one, other, exponents)
                    yield total.ravel()


def _add_term(
    total: np.ndarray, bonds: Bonds, d: np.ndarray, j: np.ndarray, k: np.ndarray, exponents: tuple[int, ...]
) -> None:
    """Add the forces of aj^e₁ ak^e₂ cj^e₃ ck^e₄ (dj·dk)^e₅ over all pairs of bonds (j, k)."""
    uj, uk, dj, dk = bonds.unit[j], bonds.unit[k], d[j], d[k]
    pairs = ((dj, uj), (dk, uk), (dj, uk), (dk, uj), (dj, dk))
    values = [np.sum(x * y, axis=1) for x, y in pairs]
    for m, power in enumerate(exponents):
        if power == 0:
            continue
        others = [v ** (e - (n == m)) for n, (v, e) in enumerate(zip(values, exponents, strict=True))]
        slope = power * np.prod(others, axis=0)[:, None]
        if m in (0, 2, 4):
            _pull(total, bonds, j, -slope * pairs[m][1])
        if m in (1, 3):
            _pull(total, bonds, k, -slope * pairs[m][1])
        if m == 4:
            _pull(total, bonds, k, -slope * dj)


def fit_matrix(bonds: Bonds, moved: np.ndarray) -> np.ndarray:
    """The columns of all terms, (3 × atoms, terms)."""
    return np.column_stack([*pair_columns(bonds, moved), *triplet_columns(bonds, moved)])
