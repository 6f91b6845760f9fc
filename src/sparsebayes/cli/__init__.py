"""The command `sparsebayes`: fit, predict, denoise and compare."""

from sparsebayes.cli.main import main

__all__ = ["main"]
