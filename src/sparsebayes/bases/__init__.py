"""Bases: what turns inputs x into columns of the design matrix."""

from sparsebayes.bases.base import Basis, BoundBasis, BoundConcatenation, Concatenation
from sparsebayes.bases.columns import Bias, BoundBias, BoundColumns, Columns
from sparsebayes.bases.kernels import BoundKernel, BoundPrecomputed, CentredBasis, Kernel, Precomputed
from sparsebayes.bases.named import KERNEL_NAMES, as_basis
from sparsebayes.bases.operators import DenseOperator, Operator, SparseOperator, StackedOperator, as_operator
from sparsebayes.bases.products import Linear, Polynomial, Sigmoid
from sparsebayes.bases.splines import LinearSpline, ThinPlateSpline
from sparsebayes.bases.stationary import RBF, Laplacian
from sparsebayes.bases.transforms import Band, WaveletOperator
from sparsebayes.bases.wavelets import BoundWavelet, Wavelet

__all__ = [
    "KERNEL_NAMES",
    "RBF",
    "Band",
    "Basis",
    "Bias",
    "BoundBasis",
    "BoundBias",
    "BoundColumns",
    "BoundConcatenation",
    "BoundKernel",
    "BoundPrecomputed",
    "BoundWavelet",
    "CentredBasis",
    "Columns",
    "Concatenation",
    "DenseOperator",
    "Kernel",
    "Laplacian",
    "Linear",
    "LinearSpline",
    "Operator",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "SparseOperator",
    "StackedOperator",
    "ThinPlateSpline",
    "Wavelet",
    "WaveletOperator",
    "as_basis",
    "as_operator",
]
