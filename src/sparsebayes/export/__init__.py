"""Fitted models outside this process: model files, and other formats."""

from sparsebayes.export._errors import ModelFileError
from sparsebayes.export.model_file import load, save

__all__ = ["ModelFileError", "load", "save"]
