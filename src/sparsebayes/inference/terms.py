"""A mode of the Laplace loop in the units of the columns, and from the rows of some functions to others'.

The loop works on columns φ̃ = (φ − φ̄)/ν, so w = w̃/ν, α = α̃ν² and b = b̃ − Σ w φ̄.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, take
from sparsebayes.inference.laplace import Mode
from sparsebayes.rows import LaplaceRows

SMALLEST_COLUMN, LARGEST_COLUMN = 1e-152, 1e152  # squares of them must stay within floating point


@dataclass(frozen=True)
class Numbered:
    """Rows over some of the functions: column k of their operator is function numbers[k]."""

    rows: LaplaceRows
    numbers: np.ndarray

    @property
    def functions(self) -> np.ndarray:
        """The functions of the rows' design, ascending."""
        return self.numbers[self.rows.design.kept]


@dataclass(frozen=True)
class Terms:
    """Functions in outputs, with precisions α and weights w (S,), and intercepts b (K,); unscaled."""

    function: np.ndarray
    output: np.ndarray
    alpha: Array
    w: Array
    b: Array

    @classmethod
    def of(cls, mode: Mode, here: Numbered) -> Terms:
        """Those of a mode over some rows."""
        position, output = here.rows.split(mode.J)
        norms, means = take(here.rows.design.norms, position), take(here.rows.design.means, position)
        w = mode.w / norms
        b = mode.b - member(output, here.rows.outputs, w) @ (means * w)
        return cls(here.functions[position], output, mode.alpha * norms**2, w, b)

    def on(self, there: Numbered) -> tuple[np.ndarray, Array, Array, Array]:
        """(J, α, w, b) over the rows of other functions, without terms that have none there."""
        here = np.isin(self.function, there.functions)
        function, output = self.function[here], self.output[here]
        alpha, w = take(self.alpha, np.flatnonzero(here)), take(self.w, np.flatnonzero(here))
        design = there.rows.design
        position = np.searchsorted(there.functions, function)
        norms, means = take(design.norms, position), take(design.means, position)
        b = self.b + member(output, there.rows.outputs, w) @ (means * w)
        return output * design.size + position, alpha / norms**2, w * norms, b


def member(output: np.ndarray, outputs: int, like: Array) -> Array:
    """(K, S) with 1 where a term belongs to an output."""
    return asfloat64(output[None, :] == np.arange(outputs)[:, None], like=like)


def unscaled(mode: Mode, here: Numbered) -> dict[str, Any]:
    """What a result says of a mode: functions, weights and intercepts with their covariances.

    active, output, mean, alpha, intercept : see `Terms`.  covariance : Σ (S, S) from the unit diagonal of the
    state.  centre, intercept_covariance : (K, S) and (K, K), the intercepts' share of the variance.
    """
    terms, rows = Terms.of(mode, here), here.rows
    position, output = rows.split(mode.J)
    norms, means = take(rows.design.norms, position), take(rows.design.means, position)
    factor = 1 / (norms * mode.linear.scale)
    root = mode.linear.root
    own = member(output, rows.outputs, norms) * means[None, :]
    return {
        "active": terms.function,
        "mean": terms.w,
        "covariance": mode.state.covariance * factor[:, None] * factor[None, :],
        "alpha": terms.alpha,
        "intercept": terms.b,
        "centre": own + norms[None, :] * (root @ mode.linear.side.T),
        "intercept_covariance": root @ namespace(root).matrix_transpose(root),
    }


def check_sizes(norms: Array) -> None:
    """Refuse columns whose squares would not be numbers."""
    xp = namespace(norms)
    least, most = float(xp.min(norms)), float(xp.max(norms))
    if least < SMALLEST_COLUMN or most > LARGEST_COLUMN:
        raise ValueError(
            f"Phi has basis functions of size {least:.3g} to {most:.3g}, beyond {SMALLEST_COLUMN:g} to "
            f"{LARGEST_COLUMN:g}: rescale it."
        )
