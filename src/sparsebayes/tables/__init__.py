"""Tables with named columns: reading them from files, and numbers made of their text, dates and missing values."""

from sparsebayes._checks import MissingValueWarning
from sparsebayes.tables.encoder import TableEncoder
from sparsebayes.tables.reading import read_table

__all__ = ["MissingValueWarning", "TableEncoder", "read_table"]
