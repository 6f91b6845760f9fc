"""Displays of fitted models. The only package that draws; it needs the `plot` extra (matplotlib)."""

from sparsebayes.inspection.classification import ClassificationDisplay
from sparsebayes.inspection.components import ComponentsDisplay
from sparsebayes.inspection.denoising import DenoisingDisplay
from sparsebayes.inspection.input_relevance import InputRelevanceDisplay
from sparsebayes.inspection.moves import EvidenceDisplay
from sparsebayes.inspection.partial_dependence import PartialDependenceDisplay
from sparsebayes.inspection.pit import PITDisplay
from sparsebayes.inspection.regression import RegressionDisplay
from sparsebayes.inspection.reliability import ReliabilityDisplay
from sparsebayes.inspection.residuals import ResidualsDisplay
from sparsebayes.inspection.shrinkage_curve import ShrinkageDisplay
from sparsebayes.inspection.sizes import SparsityPathDisplay
from sparsebayes.inspection.weights import WeightsDisplay

__all__ = [
    "ClassificationDisplay",
    "ComponentsDisplay",
    "DenoisingDisplay",
    "EvidenceDisplay",
    "InputRelevanceDisplay",
    "PITDisplay",
    "PartialDependenceDisplay",
    "RegressionDisplay",
    "ReliabilityDisplay",
    "ResidualsDisplay",
    "ShrinkageDisplay",
    "SparsityPathDisplay",
    "WeightsDisplay",
]
