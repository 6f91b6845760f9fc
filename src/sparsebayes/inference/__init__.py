"""The loops that decide when rows are read and when to stop, and the functions researchers call."""

from sparsebayes.inference.classification import ClassificationResult, fit_classes
from sparsebayes.inference.regression import NoiseCollapseWarning, fit
from sparsebayes.inference.result import Result

__all__ = ["ClassificationResult", "NoiseCollapseWarning", "Result", "fit", "fit_classes"]
