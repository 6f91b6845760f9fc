"""Which inputs matter: their relevance as bars, and the length scales that were learned for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sparsebayes._checks import require_whole
from sparsebayes.inspection._inputs import as_numbers
from sparsebayes.inspection._matplotlib import (
    BLUE,
    MARKERS,
    PALETTE,
    given_axes,
    legend_beside,
    pyplot_module,
    shortened,
)
from sparsebayes.inspection._models import FittedModel

MAX_INPUTS = 25
LINE = 0.26  # inches for an input, of a new figure
APART = 0.2  # inputs between the length scales of two kernels


@dataclass(eq=False, repr=False)
class InputRelevanceDisplay:
    """Visualisation of the relevance of inputs and of their length scales: stored values and `plot`.

    The relevance of an input is the mean square by which the prediction moves when the input is set to its mean, over
    the variance of the prediction; with interactions the sum may be above 1. An input with a long length scale does
    little or acts almost linearly. Use `from_estimator` to make one.

    Parameters
    ----------
    names : (d,) array of str
        The inputs, the most relevant first.
    relevance : (d,) array
        Their relevance.
    length_scales : (P, d) array
        The length scales of each kernel that has one for each input; P may be 0.
    kernels : list of str
        What the P kernels are called.
    unit : str
        What length scales are measured in.

    Attributes
    ----------
    ax_, figure_ : array of one or two matplotlib Axes, and Figure
        Where it was drawn; set by `plot`.
    bars_ : matplotlib BarContainer
        The relevance.
    points_ : list of matplotlib Line2D
        The length scales of each kernel; empty if they were not drawn.
    """

    names: np.ndarray
    relevance: np.ndarray
    length_scales: np.ndarray
    kernels: list[str]
    unit: str = "units of the input"

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, max_inputs: int = MAX_INPUTS, ax: Any = None) -> Self:
        """Take the relevance of the inputs of a fitted estimator, and draw.

        Parameters
        ----------
        estimator : RelevanceVectorRegressor or RelevanceVectorClassifier, or a pipeline that ends with one
            Fitted with gamma="evidence" or "ard".
        X : array or data frame of shape (N, n_features), optional
            The rows of the fit; length scales are then given in standard deviations of their inputs, and compare.
        max_inputs : int, default=25
            So many inputs are drawn at most; all of them are stored.
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the relevance alone. None makes a new figure.

        Returns
        -------
        InputRelevanceDisplay
            The display, drawn.
        """
        fitted = FittedModel.of(estimator)
        fitted.require(
            cls.__name__, 'a kernel machine whose scales were learned, by gamma="evidence" or "ard"', "input_relevance_"
        )
        widths, unit = _length_scales(fitted.last), "units of the input"
        if X is not None:
            spread = np.std(as_numbers(fitted.transformed(X)), axis=0)
            if spread.shape != fitted.last.input_relevance_.shape:
                raise ValueError(f"X must have the columns of the fit, got shape {np.shape(X)}.")
            widths = {name: each / np.where(spread > 0, spread, np.nan) for name, each in widths.items()}
            unit = "std of the input"
        relevance = as_numbers(fitted.last.input_relevance_)
        place = np.argsort(-relevance, kind="stable")
        names = np.asarray(fitted.input_names(), dtype=object)[place]
        scales = np.asarray(list(widths.values())).reshape(len(widths), len(place))[:, place]
        return cls(names, relevance[place], scales, list(widths), unit).plot(ax, max_inputs=max_inputs)

    def plot(self, ax: Any = None, *, max_inputs: int = MAX_INPUTS) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, one or two, or None
            Where to draw; one is for the relevance alone.
        max_inputs : int, default=25
            So many inputs are drawn at most.

        Returns
        -------
        InputRelevanceDisplay
            Itself.
        """
        require_whole(max_inputs, "max_inputs", 1)
        shown, both = min(len(self.names), max_inputs), 2 if len(self.length_scales) else 1
        pyplot = pyplot_module()
        if ax is None:
            size = {"figsize": (4.2 * both, 1.2 + LINE * max(shown, 3)), "layout": "constrained"}
            self.ax_ = np.atleast_1d(pyplot.subplots(1, both, sharey=True, **size)[1])
        else:
            self.ax_ = given_axes(ax, both, 1)
        self.figure_ = self.ax_[0].figure
        self._plot_relevance(self.ax_[0], shown)
        self.points_: list[Any] = []
        if len(self.ax_) == 2:
            self._plot_length_scales(self.ax_[1], shown, ax is not None)
        return self

    def _plot_relevance(self, ax: Any, shown: int) -> None:
        self.bars_ = ax.barh(np.arange(shown), self.relevance[:shown], height=0.7, color=BLUE)
        self._name_inputs(ax, shown)
        left_out = len(self.names) - shown
        ax.set(xlabel="relevance" + (f"\n{left_out} more not shown" if left_out else ""))
        ax.set_xlim(left=0.0)

    def _plot_length_scales(self, ax: Any, shown: int, named: bool) -> None:
        for k, (kernel, widths) in enumerate(zip(self.kernels, self.length_scales, strict=True)):
            style = {"color": PALETTE[k % len(PALETTE)], "marker": MARKERS[k % len(MARKERS)], "ms": 5, "label": kernel}
            places = np.arange(shown) + APART * (k - 0.5 * (len(self.kernels) - 1))
            self.points_ += ax.plot(widths[:shown], places, ls="", **style)
        drawn = self.length_scales[:, :shown]
        low, high = np.log10(np.nanmin(drawn)), np.log10(np.nanmax(drawn))
        ends = 10.0 ** np.asarray([np.floor(low - 0.1), np.ceil(high + 0.1)])
        ax.set(xlabel=f"length scale\n({self.unit})", xscale="log", xlim=ends)
        ax.grid(axis="y", lw=0.5, alpha=0.5)
        if named:
            self._name_inputs(ax, shown)
        if len(self.kernels) > 1:
            legend_beside(ax)

    def _name_inputs(self, ax: Any, shown: int) -> None:
        ax.set_yticks(np.arange(shown), [shortened(name) for name in self.names[:shown]])
        ax.set_ylim(shown - 0.4, -0.6)


def _length_scales(model: Any) -> dict[str, np.ndarray]:
    """The length scales η^(1/ρ) of every kernel that has one for each input, by the name of its parameter."""
    scales, found = model._fitted.basis.scales, {}
    for parameter in dict.fromkeys(each.parameter for each in scales if each.per_input and each.width_power):
        widths = [each.width for each in scales if each.parameter == parameter]
        if len(widths) == model.n_features_in_:
            found[parameter.removesuffix("__gamma")] = np.asarray(widths)
    return found
