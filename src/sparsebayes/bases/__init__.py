"""Bases: what turns inputs x into columns of the design matrix."""

from sparsebayes.bases.arguments import OutOfRange
from sparsebayes.bases.columns import Bias, BoundBias, BoundColumns, Columns
from sparsebayes.bases.concatenation import BoundConcatenation, Concatenation
from sparsebayes.bases.contract import Basis, BoundBasis, Fixed, ListedBasis, Scale
from sparsebayes.bases.kernel_operator import KernelMemory, KernelOperator
from sparsebayes.bases.kernels.composed import KernelProduct, KernelSum
from sparsebayes.bases.kernels.contract import BoundKernel, CentredBasis
from sparsebayes.bases.kernels.given import BoundPrecomputed, Kernel, Precomputed
from sparsebayes.bases.kernels.learnable import Learnable
from sparsebayes.bases.kernels.multiscale import BoundMultiScale, MultiScale
from sparsebayes.bases.kernels.named import KERNEL_NAMES, as_basis
from sparsebayes.bases.kernels.periodic import Periodic
from sparsebayes.bases.kernels.products import Cosine, HistogramIntersection, Linear, Polynomial, Sigmoid
from sparsebayes.bases.kernels.splines import CubicSpline, LinearSpline, ThinPlateSpline
from sparsebayes.bases.kernels.stationary import RBF, Laplacian, Matern, RationalQuadratic, Stationary
from sparsebayes.bases.low_rank import LowRankOperator, LowRankSettings
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.bases.sparse_operator import SparseOperator
from sparsebayes.bases.stacked_operator import StackedOperator, as_operator
from sparsebayes.bases.transformed import BoundTransformed
