"""Bases: what turns inputs x into columns of the design matrix."""

from sparsebayes.bases.base import Basis, BoundBasis, BoundConcatenation, Concatenation
from sparsebayes.bases.columns import Bias, BoundBias, BoundColumns, Columns
from sparsebayes.bases.kernels import (
    RBF,
    BoundKernel,
    BoundPrecomputed,
    CentredBasis,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from sparsebayes.bases.named import KERNEL_NAMES, as_basis
from sparsebayes.bases.operators import DenseOperator, Operator, SparseOperator, StackedOperator, as_operator
from sparsebayes.bases.splines import LinearSpline, ThinPlateSpline
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
