"""Whether probabilities of a classifier are right: observed frequencies against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import binomtest

from sparsebayes._checks import require_whole
from sparsebayes.estimators._fitted import on_host
from sparsebayes.inspection._inputs import as_numbers, check_length
from sparsebayes.inspection._matplotlib import BLACK, BLUE, axes_or_new, shortened
from sparsebayes.inspection._models import FittedModel, class_number

INTERVAL_LEVEL = 0.95
STRATEGIES = ("uniform", "quantile")


@dataclass(eq=False, repr=False)
class ReliabilityDisplay:
    """Visualisation of the calibration of a classifier: stored values and `plot`.

    Rows are sorted into bins by the probability that was predicted for a class; for each bin the share of rows that
    are of the class, with its 95 % Wilson interval, is drawn against the mean probability. On the diagonal the
    probabilities are right; a curve less steep than it says that they are too extreme. Use `from_estimator` or
    `from_predictions` to make one.

    Parameters
    ----------
    probability : (B,) array
        Mean predicted probability of each bin.
    frequency : (B,) array
        The share of its rows that are of the class.
    low, high : (B,) arrays
        The ends of the 95 % Wilson intervals of the frequencies.
    counts : (B,) array of int
        Rows of each bin.
    label : str
        What the probabilities are of.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; set by `plot`.
    line_ : matplotlib Line2D
        The frequencies.
    bars_ : matplotlib LineCollection
        Their intervals.
    """

    probability: np.ndarray
    frequency: np.ndarray
    low: np.ndarray
    high: np.ndarray
    counts: np.ndarray
    label: str = "the class"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        class_label: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        ax: Any = None,
    ) -> Self:
        """Predict rows whose labels are known, and draw.

        Parameters
        ----------
        estimator : fitted classifier, or a pipeline that ends with one
            With `predict_proba` and `classes_`.
        X, y : arrays of shape (N, n_features) and (N,)
            Rows that the model has not seen.
        class_label : label, optional
            The class whose probabilities are drawn. None is the second of two classes; of more it is, row by row, the
            one that is predicted.
        n_bins : int, default=10
            How many bins there are at most.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether the bins have equal widths, or about as many rows each.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.
        """
        fitted = FittedModel.of(estimator)
        fitted.needs(cls.__name__, "a classifier with predict_proba", hasattr(fitted.last, "predict_proba"))
        classes = np.asarray(on_host(fitted.last.classes_))
        probabilities = as_numbers(fitted.last.predict_proba(fitted.transformed(X)))
        labels = check_length(np.asarray(on_host(y)), len(probabilities))
        if class_label is None and len(classes) > 2:
            chosen = probabilities.argmax(axis=1)
            found, probability, label = classes[chosen] == labels, probabilities.max(axis=1), "the predicted class"
        else:
            k = class_number(classes, class_label)
            found, probability, label = labels == classes[k], probabilities[:, k], str(classes[k])
        return cls._of(found, probability, n_bins, strategy, label).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        probability: Any,
        *,
        class_label: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        ax: Any = None,
    ) -> Self:
        """Draw probabilities of one class.

        Parameters
        ----------
        y_true : array of shape (N,)
            Labels.
        probability : array of shape (N,)
            Predicted probabilities of `class_label`.
        class_label : label, optional
            Their class; of two labels None is the second.
        n_bins : int, default=10
            How many bins there are at most.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether the bins have equal widths, or about as many rows each.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.
        """
        labels, values = np.asarray(on_host(y_true)), as_numbers(probability)
        if values.ndim != 1 or not len(values) or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"probability must be numbers from 0 to 1, one per row, got shape {values.shape}.")
        if labels.shape != values.shape:
            raise ValueError(f"y_true must have {len(values)} labels, one per probability, got shape {labels.shape}.")
        classes = np.unique(labels)
        label = class_label if class_label is not None else classes[class_number(classes, None)]
        return cls._of(labels == label, values, n_bins, strategy, str(label)).plot(ax)

    @classmethod
    def _of(cls, found: np.ndarray, probability: np.ndarray, n_bins: int, strategy: str, label: str) -> Self:
        """The bins of rows that are of the class or not."""
        require_whole(n_bins, "n_bins", 1)
        if strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {list(STRATEGIES)}, got {strategy!r}.")
        inner = np.linspace(0, 1, n_bins + 1)[1:-1]
        cuts = inner if strategy == "uniform" else np.quantile(probability, inner)
        members = np.unique(np.searchsorted(cuts, probability, side="right"), return_inverse=True)[1]
        counts, hits = np.bincount(members), np.bincount(members, found).astype(int)
        intervals = [
            binomtest(k, n).proportion_ci(INTERVAL_LEVEL, "wilson")
            for k, n in zip(hits.tolist(), counts.tolist(), strict=True)
        ]
        low, high = np.asarray(intervals).T
        return cls(np.bincount(members, probability) / counts, hits / counts, low, high, counts, label)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw.

        Returns
        -------
        ReliabilityDisplay
            Itself.
        """
        self.ax_ = ax = axes_or_new(ax, (4.2, 4.2))
        self.figure_ = ax.figure
        ax.plot([0, 1], [0, 1], color=BLACK, lw=1, ls="--", zorder=1)
        self.bars_ = ax.vlines(self.probability, self.low, self.high, color=BLUE, alpha=0.5, lw=3, zorder=2)
        (self.line_,) = ax.plot(self.probability, self.frequency, "o-", color=BLUE, ms=5, lw=1, zorder=3)
        ax.set(xlabel=f"predicted probability of {shortened(self.label)}", ylabel="observed frequency (95 % interval)")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        return self
