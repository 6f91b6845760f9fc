"""Models as ONNX: `to_onnx` and `export_onnx`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from sparsebayes.estimators._fitted import model_on_host
from sparsebayes.export._writing import write_bytes
from sparsebayes.export.description import Classification, Regressions, describe
from sparsebayes.export.onnx_graph import IR_VERSION, OPSET, OnnxBackend, graph_outputs, label_values
from sparsebayes.export.report import ExportReport, checked_dtype, report
from sparsebayes.export.tensors import Tensor


def to_onnx(model: Any, X_sample: Any = None, dtype: str = "double", *, std: bool = False, verbose: bool = True) -> Any:
    """A fitted model as an ONNX model, which runtimes evaluate without Python.

    Its input is "X" (n, d). A regression has the output "mean" (n, T), and "std" (n, T) if it is wanted; a
    classification "label" (n,) and "probabilities" (n, classes).

    Parameters
    ----------
    model : RelevanceVectorRegressor, SparseBayesRegressor, RelevanceVectorClassifier or SparseBayesClassifier
        A fitted estimator. Kernels need a formula: a function of yours, a kernel matrix and wavelets have none.
    X_sample : array-like of shape (n, d), optional
        Rows at which the error of the export is measured, such as training rows; the relevance vectors by default.
    dtype : "double" or "float"
        The numbers of the ONNX model. Those of double precision agree with `predict` to 1e-9.
    std : bool
        Whether the standard deviation of a new target is a second output.
    verbose : bool
        Whether size and error are printed.

    Returns
    -------
    onnx.ModelProto
        With the operators of the default domain alone.
    """
    model = model_on_host(model)
    proto, description = _proto(model, dtype, std)
    if verbose:
        print(report(model, description, "ONNX model", len(proto.SerializeToString()), dtype, X_sample))
    return proto


def export_onnx(
    model: Any, path: Any, X_sample: Any = None, dtype: str = "double", *, std: bool = False, verbose: bool = True
) -> ExportReport:
    """Write a fitted model to an ONNX file, which is there as a whole or not at all.

    Parameters
    ----------
    model : RelevanceVectorRegressor, SparseBayesRegressor, RelevanceVectorClassifier or SparseBayesClassifier
        A fitted estimator.
    path : str or path-like
        The file.
    X_sample : array-like of shape (n, d), optional
        Rows at which the error of the export is measured; the relevance vectors by default.
    dtype : "double" or "float"
        The numbers of the ONNX model.
    std : bool
        Whether the standard deviation of a new target is a second output.
    verbose : bool
        Whether size and error are printed.

    Returns
    -------
    ExportReport
        Size and error.
    """
    model = model_on_host(model)
    proto, description = _proto(model, dtype, std)
    content = proto.SerializeToString()
    found = report(model, description, str(path), len(content), dtype, X_sample)
    write_bytes(content, path)
    if verbose:
        print(found)
    return found


def _proto(model: Any, dtype: str, std: bool) -> tuple[Any, Regressions | Classification]:
    """The ONNX model and the description it was made from."""
    numbers, description = checked_dtype(dtype), describe(model, std)
    return model_of(description, numbers, type(model).__name__), description


def model_of(description: Regressions | Classification, numbers: Any, name: str) -> Any:
    """The ONNX model of a description.

    Parameters
    ----------
    description : Regressions or Classification
        A described model.
    numbers : type
        float64 or float32.
    name : str
        The name of the graph.

    Returns
    -------
    onnx.ModelProto
        Checked.
    """
    onnx, counts = _onnx(), Counter[str]()

    def unique(kind: str) -> str:
        counts[kind] += 1
        return f"{kind}{counts[kind]}"

    backend = OnnxBackend(numbers, unique)
    outputs, names = graph_outputs(description, Tensor(backend, "X")), output_names(description)
    for each, output in zip(names, outputs, strict=True):
        backend.nodes.append(("Identity", [output.value], [each], {}))
    h, real = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(numbers))
    graph = h.make_graph(
        [h.make_node(op, ins, outs, **attributes) for op, ins, outs, attributes in backend.nodes],
        name,
        [h.make_tensor_value_info("X", real, [None, description.n_inputs])],
        [_value_info(onnx, description, each, real) for each in names],
        [onnx.numpy_helper.from_array(value, each) for each, value in backend.constants.items()],
    )
    proto = h.make_model(graph, opset_imports=[h.make_opsetid("", OPSET)], producer_name="sparsebayes")
    proto.ir_version = IR_VERSION
    onnx.checker.check_model(proto)
    return proto


def output_names(description: Regressions | Classification) -> list[str]:
    """The names of the outputs of an ONNX model."""
    if isinstance(description, Classification):
        return ["label", "probabilities"]
    return ["mean", "std"] if description.has_std else ["mean"]


def _value_info(onnx: Any, description: Regressions | Classification, name: str, real: int) -> Any:
    h = onnx.helper
    if name == "label":
        assert isinstance(description, Classification)
        text = label_values(description.classes).dtype.kind == "O"
        return h.make_tensor_value_info(name, onnx.TensorProto.STRING if text else onnx.TensorProto.INT64, [None])
    return h.make_tensor_value_info(name, real, [None, output_count(description)])


def output_count(description: Regressions | Classification) -> int:
    """The number of outputs of a regression, of classes of a classification."""
    return len(description.places) if isinstance(description, Regressions) else len(description.classes)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "ONNX models need the package onnx, which is not installed: pip install 'sparsebayes[export]'."
        ) from error
    return onnx
