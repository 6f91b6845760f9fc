"""Reports of fitted models: one page of HTML with all that is known of a model and of its predictions."""

from sparsebayes.reports.page import Report, report

__all__ = ["Report", "report"]
