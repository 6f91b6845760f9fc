"""What all tests share: the option --device, and the array libraries that tests run with."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: scikit-learn's array API checks run

import pytest
import sklearn
from backends import BACKENDS, backend_of


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="device of torch, JAX and CuPy arrays in tests: cpu or cuda")


@pytest.fixture(params=BACKENDS)
def backend(request):
    """An array library: `asarray(x, dtype=None)`, `name`, and `is_own(x)`; skipped if it is not installed."""
    return backend_of(request.param, request.config.getoption("--device"))


@pytest.fixture
def dispatch():
    """The test runs with scikit-learn's array API dispatch."""
    with sklearn.config_context(array_api_dispatch=True):
        yield
