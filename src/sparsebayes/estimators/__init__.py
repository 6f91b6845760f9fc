"""Scikit-learn faces of the engine: validation, fitted attributes, predictions."""

from sparsebayes.estimators._relevance_vector import RelevanceVectorRegressor
from sparsebayes.estimators._sparse_bayes import SparseBayesRegressor

__all__ = ["RelevanceVectorRegressor", "SparseBayesRegressor"]
