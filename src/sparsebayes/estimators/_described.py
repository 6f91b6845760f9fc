"""Names, tables and formulas of a fitted estimator, as methods of the estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes.estimators._formulas import formula_of
from sparsebayes.estimators._names import atom_names, selected_names
from sparsebayes.estimators._summaries import LEVEL, MOST_ROWS, summary_of
from sparsebayes.summaries import Summary


class Described:
    """Mixin: what a fitted model is made of, in words and numbers."""

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """The names of the selected functions, such as "x1·x2" or "RBF at row 17".

        They are in the order of `relevance_`, and of the atoms of a sparse recovery in that of `support_`. Rows are
        counted from 0, as they were given to `fit`.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the inputs, of a sparse recovery those of the atoms. By default those of the data frame that
            the model was fitted to, else x0, x1, …

        Returns
        -------
        ndarray of str
            One name per selected function.
        """
        check_is_fitted(self)
        model: Any = self
        names = atom_names if hasattr(model, "support_") else selected_names
        return np.asarray(names(model, input_features), dtype=object)

    def summary(
        self,
        level: float = LEVEL,
        max_rows: int | None = MOST_ROWS,
        sort: str = "evidence",
        input_features: Sequence[str] | None = None,
    ) -> Summary:
        """A table of the selected functions: weights, error bars, and what the evidence loses without each.

        A row is a weight: of several outputs or classes, a function has one for each. Standard deviations and
        intervals are those of the posterior N(μ, Σ) at the precisions and the noise that were estimated. "Δ evidence"
        is what the log evidence loses, in nats, if the weight is deleted and all else stays as it is,
        ½ (log αΣ_mm + μ_m²/Σ_mm); exact for Gaussian noise, else by Laplace's approximation at its mode. γ = 1 − αΣ_mm
        is how well the data determine the weight.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of the intervals.
        max_rows : int or None, default=30
            How many rows are shown, those of the largest Δ evidence; None for all. `to_frame` always has all.
        sort : {"evidence", "weight", "model"}, default="evidence"
            The order of the rows of an output: by Δ evidence, by size of the weight, or that of `relevance_`.
        input_features : array-like of str, optional
            The names of the inputs, as in `get_feature_names_out`.

        Returns
        -------
        Summary
            A text if printed, a table in a notebook; `to_latex()`, `to_html()` and `to_frame()`.
        """
        check_is_fitted(self)
        return summary_of(self, level, max_rows, sort, input_features)

    def to_frame(
        self, level: float = LEVEL, sort: str = "evidence", input_features: Sequence[str] | None = None
    ) -> Any:
        """The table of `summary` as a pandas data frame, with unrounded numbers.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of the intervals.
        sort : {"evidence", "weight", "model"}, default="evidence"
            The order of the rows of an output: by Δ evidence, by size of the weight, or that of `relevance_`.
        input_features : array-like of str, optional
            The names of the inputs, as in `get_feature_names_out`.

        Returns
        -------
        pandas.DataFrame
            A row per weight.
        """
        return self.summary(level, None, sort, input_features).to_frame()


class WithFormula(Described):
    """Mixin: what a fitted model is made of, and its prediction as a formula."""

    def formula(
        self, precision: int | None = None, style: str = "text", input_features: Sequence[str] | None = None
    ) -> str:
        """The prediction as a formula, such as "y ≈ 1.23 + 2·x1·x2 − 0.31·x3²".

        Of a regression it is `predict`; of two classes the log odds of the second at the most probable weights, of
        more classes the output of each, as `decision_function` with `moderated=False`. A function that is no product of
        columns has its name in square brackets.

        Parameters
        ----------
        precision : int, optional
            Significant digits of the numbers; None for 3, and with style="python" for all of them.
        style : {"text", "latex", "python"}, default="text"
            "latex" is for mathematics mode. "python" is an expression without the left side, in which an input is a
            variable with its name, or X["name"] if not every name can be that of a variable; of several outputs or
            classes, a list of expressions. It needs functions that are columns of X or products of them.
        input_features : array-like of str, optional
            The names of the inputs, as in `get_feature_names_out`.

        Returns
        -------
        str
            One line per output or class.
        """
        check_is_fitted(self)
        return formula_of(self, precision, style, input_features)
