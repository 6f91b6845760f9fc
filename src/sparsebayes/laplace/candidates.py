"""The Laplace loop among all candidates: on their true columns or, for a kernel of low rank, through K ≈ LLᵀ.

B moves with f, so no statistics can be had once and for all; but column m is L ℓ_m, so that a pass over all
candidates costs N·r, not N². The model found in that way is then fitted again with the true columns of its
functions, of their best substitutes and of the best additions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.bases.operators import DenseOperator, Operator
from sparsebayes.laplace.loop import LaplaceFit, LaplaceSolution
from sparsebayes.laplace.mode import Model
from sparsebayes.laplace.settings import LaplaceSettings
from sparsebayes.solvers.active_set.exchange import substitutes

FitOf = Callable[[Operator, np.ndarray | None], LaplaceFit]


class AllCandidates:
    """The functions of an operator: through a factor of low rank if there is one, else by their columns."""

    def __init__(self, operator: Operator, settings: LaplaceSettings) -> None:
        self.settings, self.low_rank = settings, operator.low_rank(settings.low_rank_tolerance)
        self.operator = operator.held() if self.low_rank is None else operator

    def run(self, fit_of: FitOf, start: Model | None = None) -> LaplaceSolution:
        """The solution on true columns.

        fit_of : the loop over the rows of an operator, whose columns have these numbers (None for 0, 1, …).
        start : a model to go on from.
        """
        if self.low_rank is None:
            return fit_of(self.operator, None).run(start)
        rough = replace(fit_of(self.low_rank, None), polished=False).run(start)
        functions = self._selected(rough)
        solution = fit_of(DenseOperator(self.operator.columns(functions)), functions).run(rough.model)
        rows = rough.fit.rows
        J, alpha, _, _ = solution.model.on(rows)
        scores = rough.fit.modes.state(solution.mode.expansion, J, alpha).scores
        others = ~np.isin(rows.numbers(np.arange(len(scores.gain))), functions)
        theta = float(to_numpy(scores.theta)[others].max(initial=-np.inf))
        gain = float(to_numpy(scores.gain)[others].max(initial=0.0))
        return replace(solution, others=(theta, gain))

    def _selected(self, rough: LaplaceSolution) -> np.ndarray:
        """The functions of the model, of its best substitutes and of the best additions, ascending."""
        state, rows, settings = rough.among_all, rough.fit.rows, self.settings
        gain = to_numpy(state.scores.gain)
        additions = np.argsort(-gain, kind="stable")[: settings.additions]
        others = substitutes(state, settings.substitutes)
        chosen = np.concatenate([state.J, additions[gain[additions] > 0], others])
        return np.unique(rows.numbers(chosen))
