"""The expansion of a log-likelihood on Dask: one pass gives all that a Newton step needs, in sums over the rows.

Around f = Φw + b the sums are those of `laplace.linearised`: the value, Σ φη, Σ φB, Σ φφ'B and a few totals, for the
active candidates (every Newton step) or for all of them (every round of the solver).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from sparsebayes._array import Indices, column_squares
from sparsebayes.core.quadratic import DenseQuadratic, Quadratic
from sparsebayes.distributed.labels import Labelled
from sparsebayes.distributed.remote_design import RemoteDesign
from sparsebayes.distributed.settings import DISTRIBUTED
from sparsebayes.laplace.linearised import LEAST_ROW, LEAST_SQUARE, Expansion, pseudo_root
from sparsebayes.rows.chunks import slices
from sparsebayes.rows.lazy import LazyQuadratic, RowProducts

Sums = dict[str, Any]


@dataclass(frozen=True, eq=False)
class RemoteOutputs:
    """f = Φw + b of some candidates, at rows that are elsewhere.

    function, output : (S,) of each candidate, `function` being a position in the design.  w : (S,).  b : (K,).
    """

    function: np.ndarray
    output: np.ndarray
    w: np.ndarray
    b: np.ndarray

    def at(self, design: RemoteDesign, X: Any) -> np.ndarray:
        """f (n, K) at the rows of X."""
        weights = np.zeros((len(self.w), len(self.b)))
        weights[np.arange(len(self.w)), self.output] = self.w
        if not len(self.w):
            return np.tile(self.b, (X.shape[0], 1))
        return design.at(X, self.function) @ weights + self.b


@dataclass(frozen=True, eq=False)
class RemoteExpansion:
    """Where a log-likelihood is expanded: the outputs f."""

    f: RemoteOutputs


@dataclass(frozen=True, eq=False)
class RemoteCandidates:
    """Candidates: functions (positions in the design) in outputs, in the order of their outputs.

    J : their numbers among all candidates.
    """

    J: np.ndarray
    function: np.ndarray
    output: np.ndarray


def expand_block(rows: Labelled, part: slice, design: RemoteDesign, likelihood: Any, f: RemoteOutputs) -> Expansion:
    """The expansion at some rows."""
    y, counts = rows.y[part], rows.counts[part]
    values = f.at(design, rows.X[part])
    g, (d, u) = likelihood.gradient(y, values), likelihood.curvature_factors(y, values)
    u = None if u is None else np.sqrt(counts)[:, None] * u
    value = float(counts @ likelihood.log_prob(y, values))
    return Expansion(values, value, counts[:, None] * g, counts[:, None] * d, u)


def expanded(
    rows: Labelled, design: RemoteDesign, likelihood: Any, f: RemoteOutputs, wanted: RemoteCandidates | None
) -> Sums:
    """The sums over the rows of a part; of the value alone if no candidates are wanted."""
    width = 1 if wanted is None else max(len(wanted.J), 1)
    blocks = slices(len(rows.counts), 2 * width + len(f.w))
    found = []
    for part in blocks:
        expansion = expand_block(rows, part, design, likelihood, f)
        if wanted is None:
            found.append({"value": expansion.value})
        else:
            found.append(_sums(expansion, rows.X[part], design, wanted))
    return added(found)


def added(results: list[Sums]) -> Sums:
    """The sums of several sets of rows."""
    return reduce(lambda a, b: {name: a[name] + b[name] for name in a}, results)


def _sums(expansion: Expansion, X: Any, design: RemoteDesign, wanted: RemoteCandidates) -> Sums:
    """The sums over some rows."""
    f, g, d, u = expansion.f, expansion.g, expansion.d, expansion.u
    K = f.shape[1]
    curved = expansion.curved(f)
    eta = curved + g
    distinct, position = np.unique(wanted.function, return_inverse=True)
    Phi = design.at(X, distinct) if len(distinct) else np.zeros((len(f), 0))
    B = np.stack([expansion.curved(np.eye(K)[k][None, :]) for k in range(K)], axis=2)  # (n, K, K)
    outputs = [position[wanted.output == k] for k in range(K)]
    products = [Phi.T @ np.column_stack([eta[:, k], g[:, k], B[:, k, :]]) for k in range(K)]
    table = np.concatenate([products[k][outputs[k]] for k in range(K)])
    squares = (Phi * Phi).T @ (d if u is None else d - u * u)
    sums = {
        "value": expansion.value,
        "eta": eta.sum(axis=0),
        "g": g.sum(axis=0),
        "total": B.sum(axis=0),
        "around": float(np.sum(f * (g + 0.5 * curved))),
        "eta_squared": float(np.sum(eta * eta / np.where(d > LEAST_ROW, d, LEAST_ROW))),
        "linear": table[:, 0],
        "slope": table[:, 1],
        "curved": table[:, 2:],
        "diagonal": np.concatenate([squares[outputs[k], k] for k in range(K)]),
    }
    if len(wanted.J) <= DISTRIBUTED.dense:
        sums["G"] = _gram(Phi, outputs, d, u)
    return sums


def _gram(Phi: np.ndarray, outputs: list[np.ndarray], d: np.ndarray, u: np.ndarray | None) -> np.ndarray:
    """Σ_n φφ'B of candidates, whose columns of each output are Phi[:, outputs[k]]."""
    if len(outputs) == 1:
        columns = np.sqrt(d) * Phi[:, outputs[0]]
        return columns.T @ columns
    ends = np.cumsum([0, *map(len, outputs)])
    G = np.zeros((ends[-1], ends[-1]))
    for k, mine in enumerate(outputs):
        columns = np.sqrt(d[:, k : k + 1]) * Phi[:, mine]
        G[ends[k] : ends[k + 1], ends[k] : ends[k + 1]] = columns.T @ columns
    if u is not None:
        coupled = np.concatenate([u[:, k : k + 1] * Phi[:, mine] for k, mine in enumerate(outputs)], axis=1)
        G -= coupled.T @ coupled
    return G


def gram_rows(
    rows: Labelled, design: RemoteDesign, likelihood: Any, f: RemoteOutputs, wanted: RemoteCandidates, J: np.ndarray
) -> np.ndarray:
    """Σ_n φφ'B of the candidates at the positions J with all that are wanted, (|J|, C), over the rows of a part."""
    K, found = len(f.b), np.zeros((len(J), len(wanted.J)))
    for part in slices(len(rows.counts), design.size + (K + 2) * len(J) + len(f.w)):
        expansion = expand_block(rows, part, design, likelihood, f)
        Phi = design.at(rows.X[part], np.arange(design.size))
        mine = Phi[:, wanted.function[J]]
        curved = [expansion.curved(np.eye(K)[k][None, :]) for k in range(K)]  # B[:, k] of each row
        weights = np.stack([curved[k] for k in wanted.output[J]], axis=1)  # (n, |J|, K)
        for k in range(K):
            into = np.flatnonzero(wanted.output == k)
            found[:, into] += ((mine * weights[:, :, k]).T @ Phi)[:, wanted.function[into]]
    return found


class RemoteLinearised(RowProducts):
    """Products of candidates in the metric B of an expansion, as `laplace.linearised.Linearised`, from its sums.

    fetch : positions J -> raw rows of G, if G did not come with the sums.
    """

    def __init__(
        self, candidates: RemoteCandidates, expansion: RemoteExpansion, sums: Sums, n: float, center: bool, fetch: Any
    ) -> None:
        self.candidates, self.expansion, self.n, self.sums, self.fetch = candidates, expansion, n, sums, fetch
        K = len(sums["eta"])
        root, log_det = pseudo_root(sums["total"], n) if center else (np.zeros((K, 0)), 0.0)
        self.root: np.ndarray = root
        self.value: float = sums["value"]
        raised = self._raised = sums["eta"] @ self.root  # Rᵀ Σ_n η_n
        self.side = sums["curved"] @ self.root
        squares = sums["diagonal"] - column_squares(self.side.T)
        self.scale = np.sqrt(np.where(squares > LEAST_SQUARE, squares, LEAST_SQUARE))
        self.h = (sums["linear"] - self.side @ raised) / self.scale
        self.tt = sums["eta_squared"] - float(raised @ raised)
        self.constant = self.value - sums["around"] + 0.5 * float(raised @ raised) + 0.5 * self.tt
        self.constant += 0.5 * (self.root.shape[1] * math.log(2 * math.pi) - log_det)

    def intercept(self, w: np.ndarray, J: Indices | None = None) -> np.ndarray:
        """The intercepts (K,) that go with weights w of the scaled columns J; None for all candidates."""
        side = self.side if J is None else self.side[np.asarray(J, dtype=np.int64)]
        return self.root @ (self._raised - w @ side)

    def rise(self, step: np.ndarray, step_b: np.ndarray) -> float:
        """What the quadratic says the log-likelihood gains by steps of the weights and the intercepts."""
        sums = self.sums
        bent = step @ (sums["G"] @ step) + 2 * step @ (sums["curved"] @ step_b) + step_b @ (sums["total"] @ step_b)
        return float(step @ sums["slope"] + step_b @ sums["g"] - 0.5 * bent)

    def quadratic(self) -> Quadratic:
        """What a solver sees: β = 1, and the rest of the log-likelihood of the expansion in `offset`."""
        offset = self.constant + 0.5 * self.n * math.log(2 * math.pi)
        if "G" not in self.sums:
            return LazyQuadratic(self.n, self.tt, self.h, self, offset)
        every = np.arange(len(self.h))
        return DenseQuadratic(self.n, self.tt, self.h, self.rows(every), offset=offset, products=self)

    def rows(self, J: Indices) -> np.ndarray:
        """G̃[J, :]."""
        J = np.asarray(J, dtype=np.int64)
        if "G" in self.sums:
            raw = self.sums["G"][J]
        else:
            size = DISTRIBUTED.fetched
            raw = np.concatenate([self.fetch(J[k : k + size]) for k in range(0, len(J), size)])
        return (raw - self.side[J] @ self.side.T) / (self.scale[J][:, None] * self.scale[None, :])

    def block(self, J: Indices) -> np.ndarray:
        """G̃[J, J]."""
        return self.rows(J)[:, np.asarray(J, dtype=np.int64)]

    def residual(self, J: Indices, weights: np.ndarray) -> float:
        """‖t − Φw‖² of the quadratic at these weights, from its sums."""
        J = np.asarray(J, dtype=np.int64)
        found = self.tt - 2 * float(self.h[J] @ weights) + float(weights @ (self.block(J) @ weights))
        return max(found, 0.0)
