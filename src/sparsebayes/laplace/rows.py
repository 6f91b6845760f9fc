"""Rows under a likelihood that is not Gaussian: their candidates, outputs f and expansions."""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np

from sparsebayes._array import Array, Indices, asfloat64, beside, namespace, take, to_numpy
from sparsebayes.bases.operators import Operator
from sparsebayes.laplace.likelihood import LaplaceLikelihood
from sparsebayes.laplace.linearised import Candidates, Expansion, HeldColumns, Linearised
from sparsebayes.rows.scaled import ScaledColumns, random_vector

SMALLEST_COLUMN, LARGEST_COLUMN = 1e-152, 1e152  # norms whose squares stay within floating point


class LaplaceRows:
    """The rows (Φ, y) under a likelihood; candidate c = k·M + m is function m in output k.

    y, the weights and outputs f stay where the design is; what is said of candidates is on the host.
    y : (N, K).  weights : (N,) or None.  center : whether every output has an intercept.
    functions : numbers of the columns of the operator among all functions of a fit; None for 0, 1, …. The
        attribute has those of the M columns of the design, ascending: zero and repeated ones are not in it.
    """

    def __init__(
        self,
        operator: Operator,
        y: Array,
        likelihood: LaplaceLikelihood,
        weights: Array | None,
        center: bool,
        functions: np.ndarray | None = None,
    ) -> None:
        self.y, self.likelihood, self.center = y, likelihood, center
        xp = namespace(y)
        self.counts = xp.ones_like(y[:, 0]) if weights is None else weights
        self.n = float(xp.sum(self.counts))
        design = ScaledColumns.of(operator, self.counts, center)
        signature = design.adjoint((self.counts * random_vector(self.counts))[:, None])[:, 0]
        self.design = design.keep(design.without_repeats(signature))
        check_sizes(self.norms)
        self.functions = self.design.kept if functions is None else functions[self.design.kept]
        self.outputs = likelihood.outputs
        self.size = self.design.size * self.outputs

    @cached_property
    def norms(self) -> np.ndarray:
        """ν of the columns of the design, on the host, (M,)."""
        return to_numpy(self.design.norms)

    @cached_property
    def means(self) -> np.ndarray:
        """φ̄ of the columns of the design, on the host, (M,)."""
        return to_numpy(self.design.means)

    def under(self, likelihood: LaplaceLikelihood) -> LaplaceRows:
        """The same rows under another likelihood with the same number of outputs."""
        other = copy.copy(self)
        other.likelihood = likelihood
        return other

    def split(self, J: Indices) -> tuple[np.ndarray, np.ndarray]:
        """The functions (positions in the design) and the outputs of the candidates J."""
        J = np.asarray(J, dtype=np.int64)
        return J % self.design.size, J // self.design.size

    def numbers(self, J: Indices) -> np.ndarray:
        """The numbers of the functions of the candidates J among all functions of a fit."""
        return self.functions[self.split(J)[0]]

    def scales(self, J: Indices) -> tuple[Array, Array, Array]:
        """ν (S,) and φ̄ (S,) of the candidates J, and (K, S) with 1 where one belongs to an output."""
        position, output = self.split(J)
        norms, means = take(self.norms, position), take(self.means, position)
        own = asfloat64(output[None, :] == np.arange(self.outputs)[:, None])
        return norms, means, own

    def everything(self) -> Candidates:
        """All candidates."""
        return Candidates(self.design, *self.split(np.arange(self.size)))

    def held(self, J: Indices) -> Candidates:
        """The candidates J (ascending) alone, their columns in memory."""
        function, output = self.split(J)
        distinct, position = np.unique(function, return_inverse=True)
        return Candidates(HeldColumns(self.design.columns(distinct)), position, output)

    def start(self) -> Array:
        """The intercepts (K,) of the model without functions; zero if there is no intercept."""
        return to_numpy(self.likelihood.start(self.y, self.counts)) if self.center else np.zeros(self.outputs)

    def predictor(self, held: Candidates, w: Array, b: Array) -> Array:
        """f = Φw + b (N, K)."""
        f = held.combination(np.arange(len(held.output)), w, self.outputs)
        return f + beside(b, f)[None, :]

    def expand(self, f: Array) -> Expansion:
        """Value, gradient and curvature at f."""
        counts = self.counts[:, None]
        g, (d, u) = self.likelihood.gradient(self.y, f), self.likelihood.curvature_factors(self.y, f)
        u = None if u is None else namespace(f).sqrt(counts) * u
        return Expansion(f, self.value(f), counts * g, counts * d, u)

    def value(self, f: Array) -> float:
        """log p(y|f)."""
        return float(namespace(f).sum(self.counts * self.likelihood.log_prob(self.y, f)))

    def linearise(self, candidates: Candidates, expansion: Expansion) -> Linearised:
        """The quadratic of these candidates around the expansion."""
        return Linearised(candidates, expansion, self.n, self.center)


def check_sizes(norms: Array) -> None:
    """Raise ValueError for columns whose squares would overflow or underflow."""
    xp = namespace(norms)
    least, most = float(xp.min(norms)), float(xp.max(norms))
    if least < SMALLEST_COLUMN or most > LARGEST_COLUMN:
        raise ValueError(
            f"Phi has basis functions of size {least:.3g} to {most:.3g}, beyond {SMALLEST_COLUMN:g} to "
            f"{LARGEST_COLUMN:g}: rescale it."
        )
