"""Sparse Bayesian learning: relevance vector machines with evidence, error bars and a certificate."""

from importlib.metadata import PackageNotFoundError, version

from sparsebayes.bases import (
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
    ThinPlateSpline,
)
from sparsebayes.core.greedy import Greedy
from sparsebayes.core.noise import Gaussian
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.estimators import (
    OffGridAtoms,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Selection,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
    SparsityPath,
    WaveletDenoiser,
    denoise,
    select,
)
from sparsebayes.estimators._range import ExtrapolationWarning
from sparsebayes.export import ModelFileError, load, save
from sparsebayes.fit import fit
from sparsebayes.laplace import Bernoulli, GeneralizedNormal, LaplaceLikelihood, Multinomial
from sparsebayes.priors import Automatic, Gamma, Inclusion, Laplace, PerPart, Prior, Smoothness, Uniform
from sparsebayes.signals import DCT, Orthonormal, Spike, Wavelet
from sparsebayes.solvers import ActiveSet, ActiveSetSettings, FixedPoint, Search, Sequential, Sweep
from sparsebayes.solvers.candidates import CandidateScores
from sparsebayes.solvers.certificate import Certificate
from sparsebayes.solvers.monitor import Move, Progress, SlowFitWarning, SparsityWarning
from sparsebayes.solvers.regression import NoiseCollapseWarning
from sparsebayes.summaries import Summary

try:
    __version__ = version("sparsebayes")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+unknown"

# fmt: off
__all__ = [
    "DCT",
    "RBF",
    "ActiveSet",
    "ActiveSetSettings",
    "Automatic",
    "Basis",
    "Bernoulli",
    "Bias",
    "CandidateScores",
    "Certificate",
    "Columns",
    "Concatenation",
    "Cosine",
    "CubicSpline",
    "ExtrapolationWarning",
    "FixedPoint",
    "Gamma",
    "Gaussian",
    "GeneralizedNormal",
    "Greedy",
    "HistogramIntersection",
    "Inclusion",
    "Kernel",
    "KernelProduct",
    "KernelSum",
    "Laplace",
    "LaplaceLikelihood",
    "Laplacian",
    "Linear",
    "LinearSpline",
    "Matern",
    "ModelFileError",
    "Move",
    "MultiScale",
    "Multinomial",
    "NoiseCollapseWarning",
    "OffGridAtoms",
    "Orthonormal",
    "PerPart",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "Prior",
    "Progress",
    "RationalQuadratic",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "Result",
    "Search",
    "Selection",
    "Sequential",
    "Sigmoid",
    "SlowFitWarning",
    "Smoothness",
    "Solver",
    "SparseBayesClassifier",
    "SparseBayesRegressor",
    "SparseRecovery",
    "SparsityPath",
    "SparsityWarning",
    "Spike",
    "Summary",
    "Sweep",
    "ThinPlateSpline",
    "Uniform",
    "Wavelet",
    "WaveletDenoiser",
    "__version__",
    "denoise",
    "fit",
    "load",
    "save",
    "select",
]
# fmt: on
