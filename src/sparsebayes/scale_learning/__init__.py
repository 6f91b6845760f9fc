"""Scales of kernels by the marginal likelihood of a Gaussian process, and what else that process tells.

`process` has the Gaussian process as a function of its scales, `evidence` and `laplace_evidence` its log
marginal likelihood for numbers and for classes, `search` the search for the best scales. The process then
tells which columns beside a kernel are irrelevant (`screening`), what the error bars of a sparse model lack
(`leave_one_out`) and its own error bars (`variance`).
"""

from sparsebayes.scale_learning.evidence import GaussianEvidence
from sparsebayes.scale_learning.laplace_evidence import LaplaceEvidence
from sparsebayes.scale_learning.learned import LearnedScales
from sparsebayes.scale_learning.leave_one_out import LeaveOneOutPredictions
from sparsebayes.scale_learning.screening import input_relevance
from sparsebayes.scale_learning.search import learn_scales
from sparsebayes.scale_learning.settings import ScaleSearchSettings
from sparsebayes.scale_learning.variance import GaussianProcessPosterior

__all__ = [
    "GaussianEvidence",
    "GaussianProcessPosterior",
    "LaplaceEvidence",
    "LearnedScales",
    "LeaveOneOutPredictions",
    "ScaleSearchSettings",
    "input_relevance",
    "learn_scales",
]
