"""The default solver: `solver` tells the whole story, `moves` are its moves, `search` looks for higher maxima."""

from sparsebayes.solvers.active_set.search import Search, Sweep
from sparsebayes.solvers.active_set.settings import ActiveSetSettings
from sparsebayes.solvers.active_set.solver import ActiveSet

__all__ = ["ActiveSet", "ActiveSetSettings", "Search", "Sweep"]
