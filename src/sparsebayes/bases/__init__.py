"""Bases: what turns inputs x into columns of the design matrix."""

from sparsebayes.bases._learnable import Learnable
from sparsebayes.bases.base import Basis, BoundBasis, BoundConcatenation, Concatenation
from sparsebayes.bases.columns import Bias, BoundBias, BoundColumns, Columns
from sparsebayes.bases.given import BoundPrecomputed, Kernel, Precomputed
from sparsebayes.bases.kernels import BoundKernel, CentredBasis, KernelProduct, KernelSum
from sparsebayes.bases.multiscale import BoundMultiScale, MultiScale
from sparsebayes.bases.named import KERNEL_NAMES, as_basis
from sparsebayes.bases.operators import DenseOperator, Operator, SparseOperator, StackedOperator, as_operator
from sparsebayes.bases.orthonormal import DCTOperator, SpikeOperator, TransformOperator
from sparsebayes.bases.periodic import Periodic
from sparsebayes.bases.products import Cosine, HistogramIntersection, Linear, Polynomial, Sigmoid
from sparsebayes.bases.samples import DCT, BoundSamples, SampledBasis, Spike
from sparsebayes.bases.splines import CubicSpline, LinearSpline, ThinPlateSpline
from sparsebayes.bases.stationary import RBF, Laplacian, Matern, RationalQuadratic
from sparsebayes.bases.transforms import Band, WaveletOperator
from sparsebayes.bases.wavelets import Wavelet

__all__ = [
    "DCT",
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
    "BoundMultiScale",
    "BoundPrecomputed",
    "BoundSamples",
    "CentredBasis",
    "Columns",
    "Concatenation",
    "Cosine",
    "CubicSpline",
    "DCTOperator",
    "DenseOperator",
    "HistogramIntersection",
    "Kernel",
    "KernelProduct",
    "KernelSum",
    "Laplacian",
    "Learnable",
    "Linear",
    "LinearSpline",
    "Matern",
    "MultiScale",
    "Operator",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "RationalQuadratic",
    "SampledBasis",
    "Sigmoid",
    "SparseOperator",
    "Spike",
    "SpikeOperator",
    "StackedOperator",
    "ThinPlateSpline",
    "TransformOperator",
    "Wavelet",
    "WaveletOperator",
    "as_basis",
    "as_operator",
]
