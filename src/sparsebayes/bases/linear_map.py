"""A linear operator that is known only by its products with vectors, as those of SciPy and PyLops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsebayes._array import Array, Indices
from sparsebayes.bases.operators import Operator

NOT_ADJOINT = 1e-3  # of |Φu||v|: a larger difference between ⟨Φu, v⟩ and ⟨u, Φᴴv⟩ is no rounding, even of float32


def is_linear_operator(Phi: Any) -> bool:
    """Whether Phi is a linear operator of SciPy, PyLops or the like: it has a shape, a dtype and products."""
    products = hasattr(Phi, "matvec") or hasattr(Phi, "matmat")
    return products and hasattr(Phi, "shape") and hasattr(Phi, "dtype") and not isinstance(Phi, Operator)


class LinearMap(Operator):
    """Φ by its products Φx and Φᴴv: a column is its product with a unit vector.

    Parameters
    ----------
    source : object with shape, dtype, and matvec and rmatvec or matmat and rmatmat
        Φ (N, M), real or complex. A complex one is for `joint.complex` alone: `columns` and `adjoint` are then complex.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self.shape = _checked_shape(source)
        kind = np.dtype(source.dtype if source.dtype is not None else np.float64).kind
        self.dtype = np.complex128 if kind == "c" else np.float64
        self._require_adjoint()

    def columns(self, J: Indices) -> Array:
        """Φ[:, J], the products with unit vectors."""
        J = np.asarray(J, dtype=np.int64)
        unit = np.zeros((self.shape[1], len(J)), dtype=self.dtype)
        unit[J, np.arange(len(J))] = 1.0
        return self._times(unit, "mat", self.shape[0])

    def adjoint(self, V: Array) -> Array:
        """ΦᴴV (M, k)."""
        return self._times(np.asarray(V, dtype=self.dtype), "rmat", self.shape[1])

    def combination(self, J: Indices, weights: Array) -> Array:
        """Φ[:, J] w by a single product."""
        whole = np.zeros((self.shape[1], 1), dtype=np.result_type(self.dtype, weights))
        whole[np.asarray(J, dtype=np.int64), 0] = weights
        return self._times(whole, "mat", self.shape[0])[:, 0]

    def _blocks(self, larger: int = 1) -> Iterator[range]:
        """The numbers of all columns in ranges, so few that their unit vectors are not too large either."""
        step = max(1, larger * self.block_elements // max(self.shape))
        for start in range(0, self.shape[1], step):
            yield range(start, min(start + step, self.shape[1]))

    def _times(self, V: Array, kind: str, rows: int) -> Array:
        """Products with the columns of V, all together if the source can do that; kind is "mat" or "rmat"."""
        if not V.shape[1]:
            return np.zeros((rows, 0), dtype=V.dtype)
        if hasattr(self.source, f"{kind}mat"):
            product = np.asarray(getattr(self.source, f"{kind}mat")(V))
        else:
            apply = getattr(self.source, f"{kind}vec")
            product = np.stack([np.asarray(apply(V[:, k])).reshape(-1) for k in range(V.shape[1])], axis=1)
        return product.astype(V.dtype, copy=False)

    def _require_adjoint(self) -> None:
        """Raise ValueError unless ⟨Φu, v⟩ = ⟨u, Φᴴv⟩ for random vectors u and v, and both are finite."""
        rng = np.random.default_rng(0)
        u, v = (rng.standard_normal((n, 1)).astype(self.dtype) for n in self.shape[::-1])
        if self.dtype is np.complex128:
            u, v = (x + 1j * rng.standard_normal(x.shape) for x in (u, v))
        forward = self._times(u, "mat", self.shape[0])
        try:
            back = self.adjoint(v)
        except (NotImplementedError, AttributeError, TypeError) as error:
            raise ValueError("Phi must be a linear operator with an adjoint: give it rmatvec or rmatmat.") from error
        if not (np.isfinite(forward).all() and np.isfinite(back).all()):
            raise ValueError("Phi must be a linear operator whose products are finite, got NaN or infinity.")
        size = float(np.linalg.norm(forward) * np.linalg.norm(v))
        if abs(np.vdot(v, forward) - np.vdot(back, u)) > NOT_ADJOINT * size:
            raise ValueError(
                "Phi must be a linear operator whose rmatvec is the adjoint of its matvec, got other products."
            )


def _checked_shape(source: Any) -> tuple[int, int]:
    """(N, M), both at least 1."""
    shape = tuple(int(n) for n in source.shape)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"Phi must be a linear operator with rows and columns, got shape {shape}.")
    return shape[0], shape[1]
