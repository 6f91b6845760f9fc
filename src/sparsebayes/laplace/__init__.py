"""Likelihoods that are not Gaussian: labels, noise with lighter tails, and likelihoods that a user defines.

The posterior is approximated by a Gaussian around its mode [T01, 3.1]. Read the files in this order:
`likelihood`, `classes`, `linearised`, `rows`, `sharing`, `mode`, `polish`, `loop`, `candidates`, `path`; then
`generalized_normal` and `noise` for noise with parameters of its own, and for probabilities `averaging`, `predictions`
and `process`.
"""

from sparsebayes.laplace.classes import Bernoulli, ClassLikelihood, Multinomial, check_label_vector, number_classes
from sparsebayes.laplace.generalized_normal import GeneralizedNormal
from sparsebayes.laplace.likelihood import Encoded, LaplaceLikelihood
from sparsebayes.laplace.noise import NoisePath
from sparsebayes.laplace.path import LaplacePath
from sparsebayes.laplace.predictions import f_covariance, link_inputs, log_probabilities
from sparsebayes.laplace.process import ProcessClassifier, SparseProcess
from sparsebayes.laplace.settings import LaplaceSettings, NoiseSettings, ProcessSettings
from sparsebayes.laplace.sharing import check_class_groups

__all__ = [
    "Bernoulli",
    "ClassLikelihood",
    "Encoded",
    "GeneralizedNormal",
    "LaplaceLikelihood",
    "LaplacePath",
    "LaplaceSettings",
    "Multinomial",
    "NoisePath",
    "NoiseSettings",
    "ProcessClassifier",
    "ProcessSettings",
    "SparseProcess",
    "check_class_groups",
    "check_label_vector",
    "f_covariance",
    "link_inputs",
    "log_probabilities",
    "number_classes",
]
