"""Pictures are drawn without a screen, and closed after each test."""

import matplotlib
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")
