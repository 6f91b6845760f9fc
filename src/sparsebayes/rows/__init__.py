"""Who reads the data: from an operator and a target to the statistics a solver sees. Nothing here knows α."""

from sparsebayes.rows.chunks import Chunk, RowStatistics
from sparsebayes.rows.laplace import Candidates, Expansion, LaplaceRows, Linearised
from sparsebayes.rows.memory import Scaling, summarise

__all__ = [
    "Candidates",
    "Chunk",
    "Expansion",
    "LaplaceRows",
    "Linearised",
    "RowStatistics",
    "Scaling",
    "summarise",
]
