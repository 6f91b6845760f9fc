"""Kernel classification on Dask: a working set of true columns, and passes that score all rows as candidates.

The first working set are landmarks and rows drawn at random. Around the mode of its model every row is scored as a
candidate in every output through K ≈ LLᵀ: with L̃ the centred rows of L, ℓ row m of L and ν the norm of function m,

    h = ℓᵀL̃ᵀη/ν,    Σ φB = ℓᵀL̃ᵀB/ν,    Σ φ²B = ℓᵀ(L̃ᵀBL̃)ℓ/ν²,    G_jm = ℓᵀ(L̃ᵀBφ_j)/ν,

sums that one pass collects and another one takes to the rows. The best additions and substitutes, with the functions of
the model, are the next working set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sparsebayes._array import column_squares, lower_transposed_times
from sparsebayes._sketches import hashes
from sparsebayes.core.posterior import Problem, State
from sparsebayes.core.prior import Prior
from sparsebayes.core.quadratic import DenseQuadratic
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.distributed.expansion import Sums, added, expand_block
from sparsebayes.distributed.kernel_search import SCORES, Scored, scored_blocks
from sparsebayes.distributed.kernel_statistics import KnownPoints, raw_statistics
from sparsebayes.distributed.labels import EncodedRows, Labelled
from sparsebayes.distributed.landmarks import Landmarks, enough_landmarks
from sparsebayes.distributed.points import distinct_points
from sparsebayes.distributed.remote_design import KernelAt, RemoteDesign, scaled_design
from sparsebayes.distributed.remote_laplace import (
    RemoteLaplacePath,
    RemoteLaplaceRows,
    refuse_groups,
    refuse_polish,
    remote_result,
)
from sparsebayes.distributed.settings import DISTRIBUTED
from sparsebayes.distributed.triangles import sum_of
from sparsebayes.laplace.linearised import LEAST_SQUARE
from sparsebayes.laplace.loop import LaplaceSolution
from sparsebayes.laplace.mode import UNIT_NOISE
from sparsebayes.laplace.settings import LAPLACE, LaplaceSettings
from sparsebayes.large_kernels.columns import norms_of
from sparsebayes.rows.chunks import Chunk, slices
from sparsebayes.rows.triangle import Triangle
from sparsebayes.solvers.active_set import ActiveSet
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.stages import once


class Factor(NamedTuple):
    """K ≈ LLᵀ at all rows.

    landmarks : gives L.  middle : (r,) what is subtracted from its rows.  root : (r, r) lower, L̃ᵀWL̃ = root rootᵀ.
    """

    landmarks: Landmarks
    middle: np.ndarray
    root: np.ndarray

    def norms_at(self, L: np.ndarray, n: float) -> np.ndarray:
        """ν of the functions with these columns of Lᵀ (r, m)."""
        return norms_of(column_squares(lower_transposed_times(self.root, L)), self.middle @ L, n)


def _factor_triangle(rows: Labelled, landmarks: Landmarks) -> Triangle | None:
    """The triangle of L."""
    return Triangle.of(
        Chunk(landmarks.at(rows.X[part]).T, rows.y[part, 0], rows.counts[part])
        for part in slices(len(rows.counts), landmarks.rank + 1)
    )


def _through_factor(rows: Labelled, design: RemoteDesign, likelihood: Any, f: Any, factor: Factor) -> Sums:
    """Sums of L̃ with η, with B, with itself under B, and with the active columns under B, over the rows of a part."""
    K, found = len(f.b), []
    for part in slices(len(rows.counts), 3 * (factor.landmarks.rank + len(f.w))):
        expansion = expand_block(rows, part, design, likelihood, f)
        eta = expansion.curved(expansion.f) + expansion.g
        B = np.stack([expansion.curved(np.eye(K)[k][None, :]) for k in range(K)], axis=2)
        L = factor.landmarks.at(rows.X[part]).T - factor.middle
        active = design.at(rows.X[part], f.function)
        found.append(
            {
                "eta": L.T @ eta,
                "B": np.stack([L.T @ B[:, :, k] for k in range(K)], axis=1),  # (r, K, K)
                "LBL": np.stack([(L * B[:, k, k][:, None]).T @ L for k in range(K)]),
                "active": np.stack([L.T @ (B[:, f.output, k] * active) for k in range(K)]),  # (K, r, S)
            }
        )
    return added(found)


class LabelScorer(NamedTuple):
    """What a part needs to score its rows in every output.

    sums : of `_through_factor`.  h, G, side, scale, alpha : of the active candidates.
    root, raised : of the intercepts.
    points : (S, d) of the active candidates.  barred : hash values of points that are not to be scored.
    number : substitutes for each active candidate.
    """

    factor: Factor
    sums: Sums
    n: float
    tt: float
    h: np.ndarray
    G: np.ndarray
    side: np.ndarray
    scale: np.ndarray
    unit: np.ndarray
    alpha: np.ndarray
    root: np.ndarray
    raised: np.ndarray
    prior: Prior
    points: np.ndarray
    barred: np.ndarray
    number: int


def _scored_labels(rows: Labelled, scorer: LabelScorer) -> Scored:
    """The best of the rows of a part."""
    width = max(len(scorer.h) * len(scorer.root), scorer.factor.landmarks.rank)
    size = max(1, DISTRIBUTED.block_elements // width)
    return scored_blocks(rows.X, size, lambda X: _label_state(X, scorer), scorer.points, scorer.number)


def _label_state(X: np.ndarray, scorer: LabelScorer) -> State:
    """The model in the problem of its candidates and of the functions centred at X in every output."""
    sums, first, pieces = scorer.sums, len(scorer.h), []
    L = scorer.factor.landmarks.at(X)
    norms = scorer.factor.norms_at(L, scorer.n)
    barred = np.isin(hashes(X), scorer.barred) | (norms <= 0)
    norms = np.where(norms > 0, norms, 1.0)
    L = L / norms
    for k in range(len(scorer.root)):
        side = (L.T @ sums["B"][:, k, :]) @ scorer.root
        squares = np.einsum("ij,ij->j", L, sums["LBL"][k] @ L) - column_squares(side.T)
        scale = np.sqrt(np.where(squares > LEAST_SQUARE, squares, LEAST_SQUARE))
        scale = np.where(barred, np.inf, scale)
        h = (L.T @ sums["eta"][:, k] - side @ scorer.raised) / scale
        G = (sums["active"][k].T @ L - scorer.side @ side.T) / (scorer.scale[:, None] * scale)
        pieces.append((h, G, np.clip(scale * norms, 1e-150, 1e150) ** 2))
    h = np.concatenate([scorer.h, *(each[0] for each in pieces)])
    G = np.concatenate([scorer.G, *(each[1] for each in pieces)], axis=1)
    unit = np.concatenate([scorer.unit, *(each[2] for each in pieces)])
    problem = Problem(DenseQuadratic(scorer.n, scorer.tt, h, G), scorer.prior, UNIT_NOISE, unit)
    return problem.start(np.arange(first), scorer.alpha / scorer.scale**2, 1.0)


@dataclass(frozen=True, eq=False)
class KernelLabels:
    """Labelled rows that stay where they are, with one kernel function centred at each of them as candidates.

    encoded : the rows.  kernel : k, its parameters being numbers.  width : inputs.
    """

    encoded: EncodedRows
    kernel: Any
    width: int

    @cached_property
    def known(self) -> KnownPoints:
        """The points that the client knows, none at first: the numbers of functions are theirs."""
        return KnownPoints(np.zeros((0, self.width)))

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        return (self.encoded.total, self.encoded.total)

    def path_of_rows(
        self, center: bool, likelihood: Any, polish: bool, noise: Any = None, groups: Any = None
    ) -> RemoteKernelLabelsPath:
        """How a likelihood of classes is fitted to these rows."""
        refuse_polish(polish)
        refuse_groups(groups)
        return RemoteKernelLabelsPath(self, center)


@dataclass(frozen=True, eq=False)
class RemoteKernelLabelsPath:
    """A fit to labels by kernel functions centred at rows that stay where they are.

    rows : the rows and the kernel.  fit_intercept : whether every output has an intercept.
    settings : what the loop depends on.
    """

    rows: KernelLabels
    fit_intercept: bool
    settings: LaplaceSettings = LAPLACE
    default_solver = ActiveSet()

    def fit(self, prior: Prior, solver: Solver, monitor: FitMonitor) -> Result:
        """Fit on landmarks, then on working sets that scoring passes over all rows recommend.

        Parameters
        ----------
        prior : Prior
            Prior on the precision of each weight.
        solver : Solver
            What selects functions on the quadratic of each expansion.
        monitor : FitMonitor
            What the rounds of the loop are reported to.

        Returns
        -------
        Result
            The model in the user's units; function m is centred at point m of `rows.known`.
        """
        encoded, kernel, known = self.rows.encoded, self.rows.kernel, self.rows.known
        none = Landmarks.none(kernel, self.rows.width)
        landmarks = enough_landmarks(encoded.rows, encoded.total, none, self.settings.low_rank_tolerance)
        triangle = encoded.rows.reduce("low-rank", _factor_triangle, sum_of, landmarks)
        Z, _, middle = raw_statistics(triangle, self.fit_intercept)
        factor = Factor(landmarks, middle, np.tril(Z[: landmarks.rank].T))
        sample = distinct_points(encoded.rows, max(DISTRIBUTED.first - landmarks.rank, 0), seed=0)
        W = pivots = np.unique(known.numbers_of(np.concatenate([landmarks.Z, sample])))
        end = self._solve(W, prior, solver, monitor)
        for _ in range(DISTRIBUTED.rounds):
            scored = once(monitor, "pass", SCORES, partial(self._score, end, factor, W))
            W = np.union1d(pivots, self._working_set(end, scored))
            following = self._solve(W, prior, solver, monitor, end.model)
            better = following.mode.objective > end.mode.objective + DISTRIBUTED.round_gain
            end = following if following.mode.objective >= end.mode.objective else end
            if not (better and monitor.going):
                break
        scored = once(monitor, "pass", SCORES, lambda: self._score(end, factor, W))
        others = (scored.batch.theta, max(scored.batch.gain, 0.0))
        end = replace(end, others=others)
        return replace(remote_result(end, monitor, self.settings), candidates=None)

    def _solve(self, W: np.ndarray, prior: Prior, solver: Solver, monitor: FitMonitor, start: Any = None) -> Any:
        """The end of the loop among the true columns of the functions W (ascending)."""
        functions = KernelAt(self.rows.kernel, self.rows.known.X[W])
        design = scaled_design(self.rows.encoded, functions, len(W), self.fit_intercept)
        rows = RemoteLaplaceRows(self.rows.encoded, design, self.fit_intercept, W)
        return RemoteLaplacePath(rows, self.settings).solve(prior, solver, monitor, start)

    def _score(self, end: LaplaceSolution, factor: Factor, barred: np.ndarray) -> Scored:
        """All rows but those barred, scored at the mode of a model: two passes."""
        mode, rows = end.mode, end.fit.rows
        linear: Any = mode.linear
        passes, remote = self.rows.encoded.rows, linear.expansion.f
        sums = passes.reduce("factor", _through_factor, added, rows.design, rows.likelihood, remote, factor)
        modes, known = end.fit.modes, self.rows.known
        scorer = LabelScorer(
            factor=factor,
            sums=sums,
            n=rows.n,
            tt=linear.tt,
            h=linear.h,
            G=linear.rows(np.arange(len(mode.J))),
            side=linear.side,
            scale=linear.scale,
            unit=modes.unit(linear, mode.J),
            alpha=mode.alpha,
            root=linear.root,
            raised=linear.sums["eta"] @ linear.root,
            prior=modes.prior,
            points=known.X[end.model.function],
            barred=hashes(known.X[np.union1d(barred, end.model.function)]),
            number=self.settings.substitutes,
        )
        return passes.reduce("score", _scored_labels, sum_of, scorer)

    def _working_set(self, end: LaplaceSolution, scored: Scored) -> np.ndarray:
        """The functions of the model, of their best substitutes and of the best additions, ascending."""
        batch = scored.known(self.rows.known)
        functions = np.concatenate([batch.additions[: self.settings.additions], batch.substitutes.ravel()])
        return np.unique(np.append(functions, end.model.function))
