"""Likelihoods p(y|f): what is known of y once f = Φw is given. They know nothing of Φ, w or α.

Each has `log_prob`, its `gradient` g = ∂ log p/∂f and its `curvature` B = −∂² log p/∂f². Those whose
curvature depends on f (the Laplace likelihoods) work on f of shape (N, K), K being `outputs`.
"""

from sparsebayes.likelihoods.base import LaplaceLikelihood
from sparsebayes.likelihoods.classes import Bernoulli, ClassLikelihood, Multinomial
from sparsebayes.likelihoods.gaussian import Gaussian
from sparsebayes.likelihoods.generalized_normal import GAUSSIAN, LARGEST_SHAPE, GeneralizedNormal

__all__ = [
    "GAUSSIAN",
    "LARGEST_SHAPE",
    "Bernoulli",
    "ClassLikelihood",
    "Gaussian",
    "GeneralizedNormal",
    "LaplaceLikelihood",
    "Multinomial",
]
