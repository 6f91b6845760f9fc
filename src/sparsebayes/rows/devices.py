"""Between devices and the host: rows stay where they are, solvers work on the host.

A solver asks for h once, for rows of G in batches, and for residuals at a few weights: S·M numbers in all, while the
rows have N·M. It therefore never sees anything but NumPy arrays, wherever the rows are.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from sparsebayes._array import Array, Indices, are_together, beside, is_foreign, is_numpy, to_numpy
from sparsebayes.core.quadratic import DenseQuadratic, Quadratic
from sparsebayes.core.result import Result
from sparsebayes.core.units import Units
from sparsebayes.rows.lazy import LazyQuadratic, RowProducts

ARRAYS = ("mean", "alpha", "gamma", "covariance", "intercept", "centre", "intercept_covariance", "output_scales")


class HostProducts(RowProducts):
    """Products of data that lie elsewhere: what goes in is put beside them, what comes out is on the host.

    base : the products.  like : an array beside the data.
    """

    def __init__(self, base: Any, like: Array) -> None:
        self.base, self.like = base, like

    def rows(self, J: Indices) -> Array:
        """G[J, :]."""
        return to_numpy(self.base.rows(J))

    def block(self, J: Indices) -> Array:
        """G[J, J]."""
        return to_numpy(self.base.block(J))

    def residual(self, J: Indices, weights: Array) -> Any:
        """‖t − Φ_J w‖², of every output."""
        residual = self.base.residual(J, beside(weights, self.like))
        return residual if isinstance(residual, float) else to_numpy(residual)

    def posterior(self, J: Indices, alpha: Array, beta: float) -> tuple[Array, Array] | None:
        """μ and diag Σ with the functions J active at α; None if unknown."""
        found = self.base.posterior(J, beside(alpha, self.like), beta)
        return None if found is None else (to_numpy(found[0]), to_numpy(found[1]))

    def far_apart(self, order: Any, size: int) -> Any:
        """`size` functions out of `order` that differ much from each other; None if unknown."""
        return self.base.far_apart(order, size)


def on_host(quadratic: Quadratic, units: Units) -> tuple[Quadratic, Units]:
    """The statistics of rows as a solver takes them: NumPy arrays, each row of G fetched once."""
    return quadratic_on_host(quadratic), units_on_host(units)


def quadratic_on_host(quadratic: Quadratic) -> Quadratic:
    """The same quadratic with h and G, or the rows of G that are fetched, as NumPy arrays."""
    if is_numpy(quadratic.h):
        return quadratic
    h, products = to_numpy(quadratic.h), None
    if quadratic.products is not None:
        products = HostProducts(quadratic.products, quadratic.h)
    if isinstance(quadratic, DenseQuadratic):
        G = to_numpy(quadratic.G)
        return DenseQuadratic(quadratic.n, quadratic.tt, h, G, offset=quadratic.offset, products=products)
    assert products is not None  # what has not all of G reads the rows again
    return LazyQuadratic(quadratic.n, quadratic.tt, h, products, quadratic.offset)


def units_on_host(units: Units) -> Units:
    """The same units with NumPy arrays."""
    own: dict[str, Any] = {name: to_numpy(value) for name, value in vars(units).items() if is_foreign(value)}
    return replace(units, **own) if own else units


def result_beside(result: Result, like: Array) -> Result:
    """A fitted model, its arrays in the library and on the device of `like`; numbers of functions stay on the host.

    A diagonal covariance becomes a dense one anywhere but on the host.
    """
    if are_together(result.mean, like):
        return result
    own = {name: value for name, value in vars(result).items() if name in ARRAYS and value is not None}
    if hasattr(result.covariance, "toarray"):
        own["covariance"] = result.covariance.toarray()
    moved = {name: beside(value, like) for name, value in own.items()}
    averaged = None if result.averaged is None else result_beside(result.averaged, like)
    likelihood = result.likelihood
    if is_foreign(getattr(likelihood, "variances", None)) and is_numpy(like):  # a known variance at each row
        arrays = {name: to_numpy(value) for name, value in vars(likelihood).items() if is_foreign(value)}
        known = {field.name for field in fields(likelihood)}
        likelihood = replace(likelihood, **{name: value for name, value in arrays.items() if name in known})
    return replace(result, **moved, averaged=averaged, likelihood=likelihood)
