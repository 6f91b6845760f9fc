"""A float32 design on a device: it is never copied whole to float64, and no sum is taken in float32."""

from __future__ import annotations

from collections.abc import Iterator

from sparsebayes._array import Array, Indices, asfloat64, is_foreign, namespace, take
from sparsebayes.bases.operators import DenseOperator

SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 19, 1 << 26  # elements of Φ that are float64 at a time
SHARE = 32  # blocks that Φ is divided into at least, beyond the smallest block


class SingleOperator(DenseOperator):
    """A float32 design matrix of any library, in float64 a block of rows or a few columns at a time.

    The products of float32 numbers are exact in float64, and their sums are those of a float64 design with the same
    entries: a result differs from that of the copied design by rounding of float64 alone.

    Parameters
    ----------
    Phi : array of shape (N, M)
        Φ, float32.
    """

    is_wide = True

    def __init__(self, Phi: Array) -> None:
        self.Phi = Phi
        self.shape = (int(Phi.shape[0]), int(Phi.shape[1]))
        self.block_elements = min(LARGEST_BLOCK, max(SMALLEST_BLOCK, self.shape[0] * self.shape[1] // SHARE))

    def columns(self, J: Indices) -> Array:
        """Φ[:, J] as float64."""
        if isinstance(J, range) and J.step == 1:
            return asfloat64(self.Phi[:, J.start : J.stop])
        return asfloat64(take(self.Phi, J, axis=1))

    def adjoint(self, V: Array) -> Array:
        """ΦᵀV, the sum over blocks of rows."""
        blocks = self._row_blocks()
        first = next(blocks)
        products = asfloat64(self.Phi[first, ...]).T @ V[first, ...]
        for rows in blocks:
            products += asfloat64(self.Phi[rows, ...]).T @ V[rows, ...]
        return products

    def _row_blocks(self) -> Iterator[slice]:
        """The rows in blocks of at most `block_elements` elements of Φ."""
        N, M = self.shape
        step = max(1, self.block_elements // max(M, 1))
        for start in range(0, N, step):
            yield slice(start, min(start + step, N))


def dense_operator(Phi: Array) -> DenseOperator:
    """A design matrix in memory or on a device as an operator.

    Parameters
    ----------
    Phi : array of shape (N, M)
        Φ.

    Returns
    -------
    DenseOperator
        A `SingleOperator` for float32 of another library than NumPy; any other is float64, copied if need be.
    """
    single = is_foreign(Phi) and Phi.dtype == namespace(Phi).float32
    return SingleOperator(Phi) if single else DenseOperator(Phi)
