"""Sparse Bayesian learning: relevance vector machines with evidence, error bars and a certificate."""

from importlib.metadata import PackageNotFoundError, version

from sparsebayes.bases import (
    DCT,
    RBF,
    Basis,
    Bias,
    Columns,
    Concatenation,
    Cosine,
    CubicSpline,
    HistogramIntersection,
    Kernel,
    KernelProduct,
    KernelSum,
    Laplacian,
    Linear,
    LinearSpline,
    Matern,
    MultiScale,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    Spike,
    ThinPlateSpline,
    Wavelet,
)
from sparsebayes.estimators import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    WaveletDenoiser,
)
from sparsebayes.inference import ClassificationResult, NoiseCollapseWarning, Result, fit, fit_classes
from sparsebayes.priors import Gamma, Laplace, Prior, Smoothness, Uniform
from sparsebayes.solvers import ActiveSet, Certificate, FixedPoint, Orthonormal, Progress, Sequential, Solver

try:
    __version__ = version("sparsebayes")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "DCT",
    "RBF",
    "ActiveSet",
    "Basis",
    "Bias",
    "Certificate",
    "ClassificationResult",
    "Columns",
    "Concatenation",
    "Cosine",
    "CubicSpline",
    "FixedPoint",
    "Gamma",
    "HistogramIntersection",
    "Kernel",
    "KernelProduct",
    "KernelSum",
    "Laplace",
    "Laplacian",
    "Linear",
    "LinearSpline",
    "Matern",
    "MultiScale",
    "NoiseCollapseWarning",
    "Orthonormal",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "Prior",
    "Progress",
    "RationalQuadratic",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "Result",
    "Sequential",
    "Sigmoid",
    "Smoothness",
    "Solver",
    "SparseBayesClassifier",
    "SparseBayesRegressor",
    "Spike",
    "ThinPlateSpline",
    "Uniform",
    "Wavelet",
    "WaveletDenoiser",
    "__version__",
    "fit",
    "fit_classes",
]
