"""The default solver: `solver` tells the whole story, `pruning` and `exchange` are its moves."""

from sparsebayes.solvers.active_set.settings import ActiveSetSettings
from sparsebayes.solvers.active_set.solver import ActiveSet

__all__ = ["ActiveSet", "ActiveSetSettings"]
