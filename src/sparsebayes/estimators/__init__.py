"""scikit-learn estimators: validation, fitted attributes, predictions."""

from sparsebayes.estimators._classifiers import RelevanceVectorClassifier, SparseBayesClassifier
from sparsebayes.estimators._denoise import denoise
from sparsebayes.estimators._regressors import RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes.estimators._selection import Selection, select
from sparsebayes.estimators._wavelet_denoiser import WaveletDenoiser

__all__ = [
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "Selection",
    "SparseBayesClassifier",
    "SparseBayesRegressor",
    "WaveletDenoiser",
    "denoise",
    "select",
]
