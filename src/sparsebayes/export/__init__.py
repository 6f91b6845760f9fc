"""Fitted models outside this process: model files, and other formats."""

from sparsebayes.export._errors import ModelFileError

__all__ = ["ModelFileError"]
