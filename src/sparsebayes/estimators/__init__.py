"""scikit-learn estimators: validation, fitted attributes, predictions."""

from sparsebayes.estimators._denoise import denoise
from sparsebayes.estimators._off_grid import OffGridAtoms
from sparsebayes.estimators._relevance_vector_classifier import RelevanceVectorClassifier
from sparsebayes.estimators._relevance_vector_regressor import RelevanceVectorRegressor
from sparsebayes.estimators._selection import Selection, select
from sparsebayes.estimators._sparse_bayes_classifier import SparseBayesClassifier
from sparsebayes.estimators._sparse_bayes_regressor import SparseBayesRegressor
from sparsebayes.estimators._sparse_recovery import SparseRecovery
from sparsebayes.estimators._sparsity_path import SparsityPath
from sparsebayes.estimators._wavelet_denoiser import WaveletDenoiser

__all__ = [
    "OffGridAtoms",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "Selection",
    "SparseBayesClassifier",
    "SparseBayesRegressor",
    "SparseRecovery",
    "SparsityPath",
    "WaveletDenoiser",
    "denoise",
    "select",
]
