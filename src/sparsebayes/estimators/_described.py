"""Names, tables and formulas of a fitted estimator, as methods of the estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes.estimators._names import atom_names, selected_names


class Described:
    """Mixin: what a fitted model is made of, in words."""

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
