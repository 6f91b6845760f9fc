"""The alternation of α and mode: steps that swing are damped, short ones that repeat are lengthened."""

import numpy as np
import pytest

from sparsebayes import RelevanceVectorClassifier
from sparsebayes.laplace.settings import LaplaceSettings
from sparsebayes.laplace.settling import Damping


def _alternate(best, x, times=60):
    """Where x ends if it moves towards best(x), and how many steps that takes."""
    damping = Damping(LaplaceSettings())
    for k in range(times):
        step = best(x) - x
        if np.abs(step).max() < 1e-6:
            return x, k
        damping = damping.after(step)
        x = x + damping.factor * step
    return x, times


@pytest.mark.parametrize(
    "best",
    [
        lambda x: 0.2 * x,  # as it usually is
        lambda x: -0.9 * x,
        lambda x: -1.5 * x,  # leads away
        lambda x: np.where(x > 0, -1.66, 0.5) * np.minimum(np.abs(x), 1.0),  # between two points
        lambda x: np.array([-1.2, 0.3]) * x,  # together with one that does not swing
        lambda x: 0.97 * x,  # slow
    ],
)
def test_the_alternation_comes_to_an_end(best):
    x, steps = _alternate(best, np.asarray([0.6, 0.9]))
    assert steps < 60
    np.testing.assert_allclose(x, 0.0, atol=1e-4)


def test_deleted_functions_start_it_anew():
    damping = Damping(LaplaceSettings())
    for _ in range(8):
        damping = damping.after(np.asarray([1.0, -1.0])).after(np.asarray([-1.0, 1.0]))
    assert damping.factor < 0.2
    assert damping.after(np.asarray([1.0])).factor == 1.0


@pytest.mark.parametrize("seed", [8, 15, 21, 24, 28, 35, 42])
def test_alpha_of_a_converged_classifier_is_at_a_maximum(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 120))
    X = rng.standard_normal((n, 3))
    y = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n) > 0
    model = RelevanceVectorClassifier().fit(X, y)
    assert model.converged_
    assert model.certificate_.log_alpha_step < 1e-4
    assert model.certificate_.hessian_eigenvalue < 1e-6


def test_a_fit_can_be_stopped_before_its_first_round_ends():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    seen = []
    model = RelevanceVectorClassifier(gamma=1e4, callback=lambda p: seen.append(p) or len(seen) == 3)
    model.fit(X, X[:, 0] > 0)
    assert len(seen) == 3
    assert {progress.iteration for progress in seen} == {1}
    assert not model.converged_
    assert np.isfinite(model.predict_proba(X)).all()
