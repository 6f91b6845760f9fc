"""Who reads the data: from an operator and a target to the statistics a solver sees. Nothing here knows α."""

from sparsebayes.rows.chunks import Chunk, RowStatistics
from sparsebayes.rows.expansion import Candidates, Expansion
from sparsebayes.rows.laplace import LaplaceRows
from sparsebayes.rows.linearised import Linearised
from sparsebayes.rows.memory import Scaling, summarise
from sparsebayes.rows.passes import RowPasses
from sparsebayes.rows.sources import RowSource, SlicedRows, is_chunked, is_too_large, pieces, read_rows
from sparsebayes.rows.targets import Target

__all__ = [
    "Candidates",
    "Chunk",
    "Expansion",
    "LaplaceRows",
    "Linearised",
    "RowPasses",
    "RowSource",
    "RowStatistics",
    "Scaling",
    "SlicedRows",
    "Target",
    "is_chunked",
    "is_too_large",
    "pieces",
    "read_rows",
    "summarise",
]
