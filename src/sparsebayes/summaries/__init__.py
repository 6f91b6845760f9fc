"""Tables and formulas of fitted models: as text, HTML, LaTeX, Python or a pandas data frame."""

from sparsebayes.summaries.summary import Column, Summary

__all__ = ["Column", "Summary"]
