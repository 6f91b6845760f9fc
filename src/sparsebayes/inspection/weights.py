"""The weights of a fitted model with their error bars, the largest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sparsebayes._checks import require_whole
from sparsebayes.inspection._matplotlib import BAND, BLUE, GREY, axes_or_new, note, shortened
from sparsebayes.inspection._models import FittedModel, chosen_output, class_number, model_of_output

MAX_WEIGHTS = 25
LINE = 0.24  # inches for a weight, of a new figure
ORDERS = ("weight", "ratio")


@dataclass(eq=False, repr=False)
class WeightsDisplay:
    """Visualisation of the weights of a model, ± 2 posterior standard deviations: stored values and `plot`.

    Weights are in the units of the target per unit of their function, so that they compare only if the functions do;
    order="ratio" puts those first that are farthest from 0 in standard deviations. Use `from_estimator` to make one.

    Parameters
    ----------
    names : (S,) array of str
        The selected functions, columns or atoms, sorted.
    mean, std : (S,) arrays
        Posterior means and standard deviations of their weights. Complex weights are given by their size |w|, and
        by the standard deviation of that.
    label : str
        What the axis of the weights is called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; set by `plot`.
    points_ : matplotlib Line2D
        The posterior means that are drawn, from the top.
    bars_ : matplotlib LineCollection
        The error bars.
    """

    names: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    label: str = "weight"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        output: int | None = None,
        class_label: Any = None,
        order: str = "weight",
        max_weights: int = MAX_WEIGHTS,
        ax: Any = None,
    ) -> Self:
        """Take the weights of a fitted estimator, and draw.

        Parameters
        ----------
        estimator : fitted regressor, classifier or SparseRecovery, or a pipeline that ends with one
            The model.
        output : int, optional
            Which output, if y had several.
        class_label : label, optional
            Of a classifier, for which class: each has weights of its own. Two classes have one set of weights, that of
            the second.
        order : {"weight", "ratio"}, default="weight"
            Whether the largest weights come first, or those that are largest in their standard deviations.
        max_weights : int, default=25
            So many weights are drawn at most; all of them are stored.
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.

        Returns
        -------
        WeightsDisplay
            The display, drawn.
        """
        if order not in ORDERS:
            raise ValueError(f"order must be one of {list(ORDERS)}, got {order!r}.")
        fitted = FittedModel.of(estimator)
        fitted.require("WeightsDisplay", "a model with weights of selected functions", "_fitted")
        names, mean, std = _weights(fitted, output, class_label)
        label = "weight"
        if np.iscomplexobj(mean):  # the error of a circular weight along w is half of its variance
            mean, std, label = np.abs(mean), std / np.sqrt(2), "|weight|"
        rank = np.abs(mean) if order == "weight" else np.abs(mean) / np.where(std > 0, std, np.finfo(float).tiny)
        place = np.argsort(-rank, kind="stable")
        return cls(names[place], mean[place], std[place], label).plot(ax, max_weights=max_weights)

    def plot(self, ax: Any = None, *, max_weights: int = MAX_WEIGHTS) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw.
        max_weights : int, default=25
            So many weights are drawn at most.

        Returns
        -------
        WeightsDisplay
            Itself.
        """
        require_whole(max_weights, "max_weights", 1)
        shown = min(len(self.mean), max_weights)
        self.ax_ = ax = axes_or_new(ax, (6.0, 1.1 + LINE * max(shown, 3)))
        self.figure_ = ax.figure
        places, mean, half = np.arange(shown), self.mean[:shown], BAND * self.std[:shown]
        ax.axvline(0.0, color=GREY, lw=1, zorder=1)
        self.bars_ = ax.hlines(places, mean - half, mean + half, color=BLUE, alpha=0.5, lw=3, label=f"± {BAND:g} std")
        (self.points_,) = ax.plot(mean, places, "o", color=BLUE, ms=5, label="posterior mean")
        ax.set_yticks(places, [shortened(name) for name in self.names[:shown]])
        ax.set_ylim(max(shown, 1) - 0.4, -0.6)
        if not shown:
            note(ax, "no functions selected")
        left_out = len(self.mean) - shown
        ax.locator_params(axis="x", nbins=6)
        ax.ticklabel_format(axis="x", scilimits=(-3, 4))
        ax.set_xlabel(self.label + f" (± {BAND:g} std)" + (f"; {left_out} more not shown" if left_out else ""))
        return self


def _weights(fitted: FittedModel, output: Any, class_label: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Names, posterior means and standard deviations of the weights of one output or class."""
    model, inputs = fitted.last, fitted.input_names()
    if hasattr(model, "support_"):
        return _of_atoms(model, output)
    if hasattr(model, "classes_"):
        return _of_class(model, class_number(model.classes_, class_label), inputs)
    if class_label is not None:
        raise ValueError(f"class_label must be None for a regressor, got {class_label!r}.")
    model, output = model_of_output(model, output)
    known, result = model._fitted, model._fitted.result
    names = np.asarray(model.get_feature_names_out(inputs), dtype=object)[known.position]
    std = np.sqrt(result.covariance.diagonal())
    if output is None:
        return names, result.mean, std
    return names, result.mean[:, output], std * result.output_scales[output]


def _of_class(model: Any, number: int, inputs: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weights of a class; of two classes the first has those of the second with the other sign."""
    known, result = model._fitted, model._fitted.result
    single = result.outputs == 1
    mine = np.ones(len(result.mean), dtype=bool) if single else result.output == number
    names = np.asarray(model.get_feature_names_out(inputs), dtype=object)[known.position[mine]]
    sign = -1.0 if single and number == 0 else 1.0
    return names, sign * result.mean[mine], np.sqrt(result.covariance.diagonal())[mine]


def _of_atoms(model: Any, output: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weights of the selected atoms of a sparse recovery."""
    number = chosen_output(len(model.coef_) if model.coef_.ndim == 2 else None, output)
    mean, std = (np.atleast_2d(each)[number or 0][model.support_] for each in (model.coef_, model.coef_std_))
    mine = std > 0 if not model.joint else slice(None)
    return np.asarray(model.get_feature_names_out(), dtype=object)[mine], mean[mine], std[mine]
