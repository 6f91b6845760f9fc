"""Tables and formulas of fitted models: as text, HTML, LaTeX, Python or a pandas data frame."""

from sparsebayes.summaries.summary import ALL_ROWS, Column, Summary

__all__ = ["ALL_ROWS", "Column", "Summary"]
