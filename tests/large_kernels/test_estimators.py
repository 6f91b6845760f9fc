"""Estimators and classification with kernels that are never formed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import Bernoulli, Multinomial, RelevanceVectorRegressor, fit
from sparsebayes.bases import RBF, KernelOperator
from sparsebayes.datasets import make_ripley, make_sinc2d
from sparsebayes.laplace.predictions import log_probabilities
from sparsebayes.laplace.settings import LAPLACE


def test_regressor_with_more_points_than_its_matrix_is_formed_for():
    X, y, _ = make_sinc2d(2600, 0.1, random_state=0)  # a third of them do not count
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    model = RelevanceVectorRegressor(gamma=1 / 2.5**2).fit(X, y + 3.0, sample_weight=weights)
    assert weights[model.relevance_].all()
    assert_array_equal(model.relevance_vectors_, X[model.relevance_])
    assert model.certificate_.is_local_maximum
    assert {"scored", "working set"} <= {move.name for move in model.trace_}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_low_rank_classifier_equals_the_one_of_the_matrix(classes, weighted):
    X, y = make_ripley(250, random_state=0)[:2]
    y = np.where((classes == 3) & (X[:, 0] > 0.3), 2, y)
    weights = np.random.default_rng(0).integers(1, 3, len(y)) if weighted else None
    operator, likelihood = KernelOperator(RBF(1.0), X, X), Bernoulli() if classes == 2 else Multinomial()
    assert operator.low_rank(LAPLACE.low_rank_tolerance) is not None
    low, dense = (
        fit(Phi, y, likelihood=likelihood, fit_intercept=True, sample_weight=weights)
        for Phi in (operator, operator.dense())
    )
    assert low.log_evidence > dense.log_evidence - 0.5
    assert low.certificate.gain_outside < max(dense.certificate.gain_outside, 1e-5) + 0.05
    one, other = (np.exp(log_probabilities(each, operator.columns(each.active))) for each in (low, dense))
    assert_allclose(one, other, atol=0.05)
