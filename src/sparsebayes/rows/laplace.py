"""Rows under a likelihood that is not Gaussian: their functions, their predictor, their expansions."""

from __future__ import annotations

import copy

import numpy as np

from sparsebayes._array import Array, Indices, namespace
from sparsebayes.bases.operators import Operator
from sparsebayes.likelihoods import LaplaceLikelihood
from sparsebayes.rows.expansion import Candidates, Expansion, HeldColumns
from sparsebayes.rows.linearised import Linearised
from sparsebayes.rows.scaled import ScaledColumns, random_vector


class LaplaceRows:
    """The rows (Φ, y) under a likelihood; candidate c = k·M + m is function m in output k."""

    def __init__(
        self, operator: Operator, y: Array, likelihood: LaplaceLikelihood, weights: Array | None, center: bool
    ) -> None:
        self.y, self.likelihood, self.center = y, likelihood, center
        xp = namespace(y)
        self.counts = xp.ones_like(y[:, 0]) if weights is None else weights
        self.n = float(xp.sum(self.counts))
        design = ScaledColumns.of(operator, self.counts, center)
        signature = design.adjoint((self.counts * random_vector(self.counts))[:, None])[:, 0]
        self.design = design.keep(design.without_repeats(signature))
        self.outputs = likelihood.outputs
        self.size = self.design.size * self.outputs

    def under(self, likelihood: LaplaceLikelihood) -> LaplaceRows:
        """The same rows under another likelihood of as many outputs."""
        other = copy.copy(self)
        other.likelihood = likelihood
        return other

    def split(self, J: Indices) -> tuple[np.ndarray, np.ndarray]:
        """The functions and the outputs of the candidates J."""
        J = np.asarray(J, dtype=np.int64)
        return J % self.design.size, J // self.design.size

    def everything(self) -> Candidates:
        """All candidates."""
        return Candidates(self.design, *self.split(np.arange(self.size)))

    def held(self, J: Indices) -> Candidates:
        """The candidates J (ascending) alone, their columns in memory."""
        function, output = self.split(J)
        distinct, position = np.unique(function, return_inverse=True)
        return Candidates(HeldColumns(self.design.columns(distinct)), position, output)

    def start(self) -> Array:
        """The intercepts (K,) of the model without functions; zero where there is no intercept."""
        if not self.center:
            return 0 * self.y[0, :]
        return self.likelihood.start(self.y, self.counts)

    def predictor(self, held: Candidates, w: Array, b: Array) -> Array:
        """f = Φw + b (N, K)."""
        xp = namespace(w)
        f = [held.design.columns(held.function[each]) @ w[each] for each in self._outputs_of(held)]
        return xp.stack(f, axis=1) + b[None, :]

    def _outputs_of(self, held: Candidates) -> list[slice]:
        return [held.of_output(k) for k in range(self.outputs)]

    def expand(self, f: Array) -> Expansion:
        """Value, gradient and curvature at f."""
        xp = namespace(f)
        counts = self.counts[:, None]
        d, u = self.likelihood.curvature_factors(self.y, f)
        return Expansion(
            f=f,
            value=self.value(f),
            g=counts * self.likelihood.gradient(self.y, f),
            d=counts * d,
            u=None if u is None else xp.sqrt(counts) * u,
        )

    def value(self, f: Array) -> float:
        """log p(y|f)."""
        return float(namespace(f).sum(self.counts * self.likelihood.log_prob(self.y, f)))

    def linearise(self, candidates: Candidates, expansion: Expansion) -> Linearised:
        """The quadratic of these candidates around the expansion."""
        return Linearised(candidates, expansion, self.n, self.center)
