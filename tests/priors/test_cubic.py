"""Outer roots of cubics against the roots they were made from."""

import numpy as np
import pytest

from sparsebayes.priors._cubic import outer_cubic_roots


@pytest.mark.parametrize("seed", range(3))
def test_outer_cubic_roots_equal_the_companion_matrix(seed):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((300, 3)) * 10 ** rng.uniform(-2, 2, (300, 1))
    a, b, c = (
        -roots.sum(1),
        roots[:, 0] * roots[:, 1] + roots[:, 0] * roots[:, 2] + roots[:, 1] * roots[:, 2],
        -roots.prod(1),
    )
    large, small = outer_cubic_roots(a, b, c)
    np.testing.assert_allclose(large, roots.max(1), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(small, roots.min(1), rtol=1e-6, atol=1e-9)
    r, i = rng.standard_normal(200), 0.5 + rng.random(200)  # one real root 2r, a complex pair r ± i·1j
    large, small = outer_cubic_roots(-4 * r, 5 * r**2 + i**2, -2 * r * (r**2 + i**2))
    np.testing.assert_allclose(large, 2 * r, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(small, 2 * r, rtol=1e-8, atol=1e-10)
