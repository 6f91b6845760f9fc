"""Converters for skl2onnx, so that pipelines with an estimator of the package export too."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.estimators._fitted import on_host
from sparsebayes.export.description import CLASSIFIERS, REGRESSORS, describe
from sparsebayes.export.onnx_graph import OPSET, OnnxBackend, graph_outputs, label_values
from sparsebayes.export.tensors import Tensor

TEXT = 8  # onnx.TensorProto.STRING
REGRESSOR_OPTIONS: dict[str, Any] = {"return_std": [True, False]}
CLASSIFIER_OPTIONS: dict[str, Any] = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "nocl": [True, False],
    "raw_scores": [True, False],
}


def register_converters() -> None:
    """Make the estimators known to skl2onnx: `skl2onnx.to_onnx` then exports them, alone and in a Pipeline.

    A regressor takes the option `return_std=True`, which gives a second output, a classifier those of skl2onnx such
    as `zipmap=False`; `raw_scores=True`, which `CalibratedClassifierCV` asks for, gives what `decision_function` does
    in place of probabilities. Numbers are of double precision if the inputs are, else of single precision. Calling it
    more than once does no harm.
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError(
            "register_converters needs the package skl2onnx: pip install 'sparsebayes[export]'."
        ) from error
    for each in REGRESSORS:
        name, options = f"SparseBayes{each.__name__}", REGRESSOR_OPTIONS
        update_registered_converter(each, name, _regressor_shapes, _convert, parser=_parsed_regressor, options=options)
    for each in CLASSIFIERS:
        name, options = f"SparseBayes{each.__name__}", CLASSIFIER_OPTIONS
        update_registered_converter(each, name, _classifier_shapes, _convert, options=options)


def _parsed_regressor(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """The outputs of a regressor: one, or two if the standard deviation is wanted."""
    operator = scope.declare_local_operator(f"SparseBayes{type(model).__name__}", model)
    operator.inputs = inputs
    wanted = scope.get_options(model, {"return_std": False})["return_std"]
    for name in ("variable", "std") if wanted else ("variable",):
        operator.outputs.append(scope.declare_local_variable(name, _real(operator)()))
    return operator.outputs


def _real(operator: Any) -> Any:
    """The type of the numbers: double precision if the inputs have it."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return DoubleTensorType if isinstance(operator.inputs[0].type, DoubleTensorType) else FloatTensorType


def _regressor_shapes(operator: Any) -> None:
    for output in operator.outputs:
        output.type = _real(operator)([None, int(np.size(operator.raw_operator.intercept_))])


def _classifier_shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    labels = label_values(on_host(operator.raw_operator.classes_))
    operator.outputs[0].type = (StringTensorType if labels.dtype.kind == "O" else Int64TensorType)([None])
    operator.outputs[1].type = _real(operator)([None, len(labels)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes and constants of a model to those of a pipeline."""
    from onnx.helper import np_dtype_to_tensor_dtype
    from skl2onnx.common.data_types import DoubleTensorType

    model, kind = operator.raw_operator, np.float64 if _real(operator) is DoubleTensorType else np.float32
    if isinstance(model, CLASSIFIERS) and kind is np.float64:
        _refuse_zipmap(model, operator, scope)
    description = describe(model, std=isinstance(model, REGRESSORS) and len(operator.outputs) == 2)
    scores = (
        container.get_options(model, {"raw_scores": False})["raw_scores"] if isinstance(model, CLASSIFIERS) else False
    )
    backend, (given,) = OnnxBackend(kind, scope.get_unique_variable_name), operator.inputs
    X = backend.apply("Cast", (given.full_name,), {"to": np_dtype_to_tensor_dtype(np.dtype(kind))})
    for value, output in zip(graph_outputs(description, Tensor(backend, X), scores), operator.outputs, strict=True):
        backend.nodes.append(("Identity", [value.value], [output.full_name], {}))
    for name, table in backend.constants.items():
        text = table.dtype.kind == "O"
        element = TEXT if text else np_dtype_to_tensor_dtype(table.dtype)
        content: Any = [each.encode() for each in table.tolist()] if text else table.ravel()
        container.add_initializer(name, element, list(table.shape), content)
    for op, ins, outs, attributes in backend.nodes:
        node = scope.get_unique_operator_name(op)
        container.add_node(op, ins, outs, op_version=OPSET, name=node, **attributes)


def _refuse_zipmap(model: Any, operator: Any, scope: Any) -> None:
    """ValueError if the probabilities go to the operator ZipMap; those of a classifier inside another do not."""
    maps = [each for each in scope.operators.values() if each.type == "SklearnZipMap"]
    if any(operator.outputs[1] in each.inputs for each in maps):
        raise ValueError(
            f"options must have zipmap=False for {type(model).__name__} with inputs of double precision, which the "
            "operator ZipMap does not take: options={id(model): {'zipmap': False}}."
        )
