"""What the `kernel` argument of an estimator may be."""

from __future__ import annotations

import numpy as np
import pytest

from sparsebayes import bases
from sparsebayes.bases import KERNEL_NAMES, RBF, Basis, Bias, Kernel, as_basis

NAMED = [
    ("rbf", "RBF(gamma=0.5)"),
    ("laplacian", "Laplacian(gamma=0.5)"),
    ("matern", "Matern(gamma=0.5)"),
    ("rational-quadratic", "RationalQuadratic(gamma=0.5)"),
    ("poly", "Polynomial(coef0=2.0, degree=4, gamma=0.5)"),
    ("linear", "Linear()"),
    ("cosine", "Cosine()"),
    ("histogram-intersection", "HistogramIntersection()"),
    ("sigmoid", "Sigmoid(coef0=2.0, gamma=0.5)"),
    ("linear-spline", "LinearSpline()"),
    ("cubic-spline", "CubicSpline()"),
    ("thin-plate-spline", "ThinPlateSpline()"),
    ("precomputed", "Precomputed()"),
]


@pytest.mark.parametrize(("name", "expected"), NAMED)
def test_names(name, expected):
    assert repr(as_basis(name, gamma=0.5, degree=4, coef0=2.0)) == expected


def test_every_name_is_tested():
    assert set(KERNEL_NAMES) == {name for name, _ in NAMED}


@pytest.mark.parametrize("basis", [RBF(3.0), RBF() + Bias()])
def test_bases_pass_through(basis):
    assert as_basis(basis, gamma=0.1) is basis


def test_callable():
    basis = as_basis(np.dot)
    assert isinstance(basis, Kernel)
    assert basis.function is np.dot


@pytest.mark.parametrize("name", ["gauss", "RBF", ""])
def test_unknown_name_lists_the_known(name):
    with pytest.raises(ValueError, match=r"kernel must be one of 'rbf', .*'precomputed'.*got"):
        as_basis(name)


@pytest.mark.parametrize("kernel", [None, 3, 1.0, ["rbf"], RBF, Basis])
def test_wrong_type(kernel):
    with pytest.raises(TypeError, match="kernel must be a name, a callable"):
        as_basis(kernel)


def test_all_is_complete():
    public = {
        name for name, value in vars(bases).items() if not name.startswith("_") and not _is_module(value)
    }
    assert public == set(bases.__all__)


def _is_module(value):
    return type(value).__name__ == "module"
