"""Fitted models outside this process: model files, and other formats."""

from sparsebayes.export._errors import ModelFileError
from sparsebayes.export.c_file import export_c
from sparsebayes.export.json_export import to_json
from sparsebayes.export.model_file import load, save
from sparsebayes.export.onnx_converter import register_converters
from sparsebayes.export.onnx_file import export_onnx, to_onnx
from sparsebayes.export.report import ExportReport

__all__ = [
    "ExportReport",
    "ModelFileError",
    "export_c",
    "export_onnx",
    "load",
    "register_converters",
    "save",
    "to_json",
    "to_onnx",
]
