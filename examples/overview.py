"""The picture on the first page: a regression, a classification and a denoised signal, all with the defaults.

Writes docs/images/overview.png: `python examples/overview.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, WaveletDenoiser
from sparsebayes.datasets import make_ripley, make_signal, make_sinc
from sparsebayes.inspection import ClassificationDisplay, DenoisingDisplay, RegressionDisplay

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "overview.png"


def draw() -> None:
    """Fit the three models, and draw them side by side."""
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(13, 3.9), layout="constrained")
    X, y, _ = make_sinc(n=100, random_state=0)
    regressor = RelevanceVectorRegressor().fit(X, y)
    RegressionDisplay.from_estimator(regressor, X, y, ax=left)
    left.set_title(f"100 points, {len(regressor.relevance_)} vectors, error bars")
    _legend_below(left)
    X2, labels, _ = make_ripley(n=300, random_state=0)
    classifier = RelevanceVectorClassifier().fit(X2, labels)
    ClassificationDisplay.from_estimator(classifier, X2, labels, ax=middle)
    middle.set_title(f"300 points, {len(classifier.relevance_)} vectors, probabilities")
    _, noisy, _ = make_signal("doppler", 1024, snr=5.0, random_state=0)
    DenoisingDisplay.from_estimator(WaveletDenoiser().fit(noisy), noisy, ax=right)
    _legend_below(right)
    right.set_title("1024 samples denoised, nothing tuned")
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


def _legend_below(ax: Any) -> None:
    """A legend where it covers neither data nor title, as that of the display in the middle."""
    style = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.17), "borderaxespad": 0.0, "columnspacing": 0.9}
    ax.legend(ncols=4, frameon=False, fontsize="small", handletextpad=0.4, handlelength=1.3, **style)


if __name__ == "__main__":
    draw()
