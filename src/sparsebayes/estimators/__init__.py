"""Scikit-learn faces of the engine: validation, fitted attributes, predictions."""

from sparsebayes.estimators._relevance_vector import RelevanceVectorRegressor
from sparsebayes.estimators._relevance_vector_classifier import RelevanceVectorClassifier
from sparsebayes.estimators._selection import Selection, select
from sparsebayes.estimators._sparse_bayes import SparseBayesRegressor
from sparsebayes.estimators._sparse_bayes_classifier import SparseBayesClassifier
from sparsebayes.estimators._wavelet_denoiser import WaveletDenoiser

__all__ = [
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "Selection",
    "SparseBayesClassifier",
    "SparseBayesRegressor",
    "WaveletDenoiser",
    "select",
]
