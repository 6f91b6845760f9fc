"""One precision for a group of d columns: the group is the function, and enters or leaves as a whole.

Without the group, S = Φ_gᵀC⁻¹Φ_g (d, d) and Q = Φ_gᵀC⁻¹t (d, T). With S = U diag(λ) Uᵀ and c_i = ‖u_iᵀQ‖² the
objective depends on the group's precision through [Möderl et al. 2025, F-BSBL]

    ℓ(α) = ½ Σ_i [log α − log(α+λ_i) + c_i/(α+λ_i)]

which has no closed maximum if d > 1 (`groups.prior`). From a state with the group in, S = Σ_gg⁻¹ − αI and
Q = Σ_gg⁻¹μ_g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes import _array as xa
from sparsebayes._array import Array, Indices, asfloat64, take, to_numpy
from sparsebayes.core.posterior import LEAST_GAMMA, SPANNED, Problem, Restriction, Scores, State
from sparsebayes.core.quadratic import Quadratic

BATCH = 128  # columns whose products with each other are fetched together


class Groups:
    """Which columns make up each function.

    label : (M,) the number of the function of each column.  count : how many functions there are.
    sizes, first : (count,) how many columns each has, and the first of them.
    by_size : for every size d, the functions of that size and their columns (functions, d).
    """

    def __init__(self, quadratic: Quadratic, label: np.ndarray) -> None:
        self.quadratic, self.label, self.sizes = quadratic, label, np.bincount(label)
        self.count, self._order = len(self.sizes), np.argsort(label, kind="stable")
        self._start = np.cumsum(self.sizes) - self.sizes
        self.first = self._order[self._start]
        alike = [np.flatnonzero(self.sizes == d) for d in np.unique(self.sizes)]
        self.by_size = [(J, self.columns(J).reshape(len(J), -1)) for J in alike]

    def columns(self, J: Indices) -> np.ndarray:
        """The columns of the functions J, function after function."""
        size = self.sizes[np.asarray(J, dtype=np.int64)]
        return self._order[np.repeat(self._start[J] - np.cumsum(size) + size, size) + np.arange(size.sum())]

    @cached_property
    def blocks(self) -> list[Array]:
        """G_gg of all functions, (functions, d, d) for every size d."""
        parts = []
        for _, columns in self.by_size:
            step = max(1, BATCH // columns.shape[1])
            pieces = [self._blocks(columns[k : k + step]) for k in range(0, len(columns), step)]
            parts.append(self.quadratic.xp.concat(pieces, axis=0))
        return parts

    def block_of(self, m: int) -> Array:
        """G_gg (d, d) of one function."""
        J, _ = self.by_size[k := int(np.searchsorted([c.shape[1] for _, c in self.by_size], self.sizes[m]))]
        return self.blocks[k][int(np.searchsorted(J, m)), ...]

    def _blocks(self, columns: np.ndarray) -> Array:
        """G_gg of the functions with these columns (functions, d)."""
        count, d = columns.shape
        gram = self.quadratic.gram(columns.ravel())
        return self.quadratic.xp.stack([gram[k : k + d, k : k + d] for k in range(0, count * d, d)])


@dataclass(frozen=True)
class GroupedProblem(Problem):
    """A problem whose functions are groups of columns.

    Its `unit` has a row for each group, and its `prior` takes (λ, √c) (groups, d) in place of (s, q) (M,).
    """

    groups: Groups

    @property
    def size(self) -> int:
        """The number of functions."""
        return self.groups.count

    @cached_property
    def projections(self) -> np.ndarray:
        """The length of Φ_gᵀt, (functions,)."""
        squares = to_numpy(xa.row_squares(self.quadratic.h))
        return np.sqrt(np.bincount(self.groups.label, squares))

    def columns(self, J: Indices) -> Indices:
        """The columns of the groups J, group after group."""
        return self.groups.columns(J)

    def state(self, active: Restriction, alpha: Array, beta: float) -> State:
        """The posterior of functions whose restriction is known."""
        return GroupedState(self, active, alpha, beta)


class GroupedState(State):
    """The posterior over the weights of active groups: α, γ and gains are of groups, μ and Σ of their columns."""

    problem: GroupedProblem

    def _functions(self, alpha: Array) -> tuple[np.ndarray, Array]:
        """The numbers of the active groups, and α of each of their columns."""
        label = self.problem.groups.label[self.active.J]
        self._begin = np.flatnonzero(np.diff(label, prepend=-1))
        J = label[self._begin]
        self.sizes = asfloat64(self.problem.groups.sizes[J], like=alpha)
        self._owner = np.repeat(np.arange(len(J)), self.problem.groups.sizes[J])
        return J, take(alpha, self._owner)

    @cached_property
    def _member(self) -> Array:
        """(columns, groups): 1 where a column belongs to a group."""
        return asfloat64(self._owner[:, None] == np.arange(self.size), like=self.alpha)

    def of_functions(self, values: Array) -> Array:
        """Sums over the columns of each group, of values (columns,), or both ways of (columns, columns)."""
        sums = self._member.T @ values
        return sums if values.ndim == 1 else sums @ self._member

    def column_positions(self, positions: Indices) -> Indices:
        """Where the columns of the groups at these positions are."""
        sizes = self.problem.groups.sizes[self.J]
        return np.concatenate([np.arange(self._begin[k], self._begin[k] + sizes[k]) for k in np.asarray(positions)])

    def block(self, position: int) -> tuple[Array, Array]:
        """Σ_gg (d, d) and μ_g (d, T) of the group at this position."""
        own = self.column_positions([position])
        mean = take(self.mean, own)
        return xa.submatrix(self.covariance, own, own), mean if mean.ndim == 2 else mean[:, None]

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """(λ, √c) of every active group, (S, d) each, from Σ_gg = U diag(v) Uᵀ: λ = (1−αv)/v, √c = ‖uᵀμ‖/v."""
        xp, widest = self.problem.quadratic.xp, int(self.problem.groups.sizes[self.J].max())
        lam, q = [], []
        for k in range(self.size):
            block, mean = self.block(k)
            v, U = xp.linalg.eigh(block)
            lam.append(_padded(xa.at_least(1 - self.alpha[k] * v, LEAST_GAMMA) / v, widest))
            q.append(_padded(xa.row_lengths(U.T @ mean) / v, widest))
        return xp.stack(lam), xp.stack(q)

    @cached_property
    def scores(self) -> GroupedScores:
        """λ, √c and the gain of adding, of every group."""
        return GroupedScores(self)

    def candidate_scores(self, unit: Array, function: np.ndarray) -> None:
        """None: S and Q of a group are no numbers."""


class GroupedScores(Scores):
    """S and Q of all groups, and the gain of adding each.

    S, q : λ and √c of the groups, (groups, d) each, with zeros where a group has fewer than d columns.
    """

    def _factors(self, state: GroupedState, Q: Array) -> None:  # type: ignore[override]
        """λ and √c of every group, and which could be added."""
        groups, beta, xp = state.problem.groups, state.beta, state.problem.quadratic.xp
        self.Q = Q if Q.ndim == 2 else Q[:, None]
        order = np.argsort(np.concatenate([J for J, _ in groups.by_size]))
        widest, factors = int(groups.sizes.max()), []
        for (_, columns), gram in zip(groups.by_size, groups.blocks, strict=True):
            W = xp.reshape(take(self.whitened, columns.ravel(), axis=1), (-1, *columns.shape))
            W = xp.permute_dims(W, (1, 2, 0))
            S = beta * gram - beta**2 * (W @ xp.matrix_transpose(W))
            own = xp.reshape(take(self.Q, columns.ravel()), (*columns.shape, -1))
            factors.append([_padded(each, widest) for each in spectra(S, own, beta)])
        self.S, self.q = (take(xp.concat(each, axis=0), order) for each in zip(*factors, strict=True))
        outside = np.ones(groups.count, dtype=bool)
        outside[state.J] = False
        self.free = xp.asarray(outside, device=xa.device(Q)) & xp.any(self.S > 0, axis=1)

    @property
    def theta(self) -> Array:
        """Σ_i (c_i − λ_i) of the groups that could be added, −∞ of the others."""
        xp = xa.namespace(self.S)
        return xp.where(self.free, xp.sum(self.q * self.q - self.S, axis=1), -math.inf)


def spectra(S: Array, Q: Array, beta: float) -> tuple[Array, Array]:
    """λ and √c, each (…, d), of S (…, d, d) and Q (…, d, T); 0 for directions in the span of the active columns."""
    xp = xa.namespace(S)
    lam, U = xp.linalg.eigh(S)
    projected = xp.matrix_transpose(U) @ Q
    length, known = xp.sqrt(xp.sum(projected * projected, axis=-1)), lam > SPANNED * beta
    return xp.where(known, lam, 0.0), xp.where(known, length, 0.0)


def _padded(values: Array, width: int) -> Array:
    """Values (…, d) with zeros up to (…, width)."""
    xp, missing = xa.namespace(values), width - values.shape[-1]
    zeros = xp.zeros((*values.shape[:-1], missing), dtype=values.dtype, device=xa.device(values))
    return xp.concat([values, zeros], axis=-1) if missing else values
