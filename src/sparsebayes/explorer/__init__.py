"""A page on this machine for trying models of a table: columns, kernel and prior are picked, and the fit is seen."""

from sparsebayes.explorer.server import Explorer, serve

__all__ = ["Explorer", "serve"]
