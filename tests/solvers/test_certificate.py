"""What a certificate says of a point."""

import numpy as np
from brute import problem_of, random_problem

from sparsebayes.core.newton import polish
from sparsebayes.solvers.certificate import certify


def test_the_certificate_looks_at_the_noise():
    Phi, t, J = random_problem(0, 60, 20, 4)
    best = polish(problem_of(Phi, t).start(J, np.full(4, 0.1), 10.0))
    off = best.moved(best.alpha, 1.2 * best.beta)
    for _ in range(200):
        off = off.moved(np.where(np.isfinite(off.best_alpha), off.best_alpha, 1e6), off.beta)
    assert abs(certify(off).noise_gradient) > 1
    assert not certify(off).is_local_maximum
