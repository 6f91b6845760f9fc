"""Turn a saved model into ONNX, C or JSON for small devices and other languages.

What is exported takes the numbers that the table is encoded as, in the order that is printed;
`sparsebayes predict --encoded FILE` writes them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sparsebayes.cli.console import Console
from sparsebayes.cli.files import output_path
from sparsebayes.cli.predicting import load_model
from sparsebayes.export import export_c, export_onnx, to_json
from sparsebayes.export._writing import write_bytes
from sparsebayes.export.description import has_variance

ENDINGS = (".onnx", ".c", ".json")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes export`."""
    command.add_argument("model", help="a model file that sparsebayes fit has written")
    command.add_argument("-o", "--output", required=True, help="file to write: *.onnx, *.c or *.json")
    command.add_argument("--float", action="store_true", help="single precision (ONNX and C)")


def run(arguments: Any, console: Console) -> None:
    """Read the model, and write it in the format of the ending."""
    output = output_path(arguments.output, ENDINGS, [arguments.model])
    model = load_model(arguments.model)
    said = _exported(model[-1], output, "float" if arguments.float else "double")
    names = list(model[0].get_feature_names_out())
    console.put(output=str(output), inputs=names, bytes=output.stat().st_size)
    console.text(f"{output} written ({output.stat().st_size} bytes)\ninputs in this order: {', '.join(names)}")
    if said:
        outputs, missing = _outputs(model[-1])
        console.put(outputs=outputs)
        console.text(f"outputs: {', '.join(outputs)}{missing}\n{said}")


def _outputs(estimator: Any) -> tuple[list[str], str]:
    """What an exported function computes, and why it lacks the standard deviation if it does."""
    if hasattr(estimator, "classes_"):
        return ["label", "probabilities"], ""
    if has_variance(estimator):
        return ["mean", "std"], ""
    return ["mean"], f"; no std, which with variance={estimator.variance!r} needs all training rows"


def _exported(estimator: Any, output: Path, dtype: str) -> str:
    """Write an estimator; what there is to say of its accuracy."""
    ending = output.suffix.lower()
    if ending == ".json":
        if dtype == "float":
            raise ValueError("--float is for ONNX and C: JSON has every number in full.")
        write_bytes(to_json(estimator, indent=1).encode(), output)
        return ""
    writer = export_onnx if ending == ".onnx" else export_c
    return str(writer(estimator, output, dtype=dtype, std=has_variance(estimator), verbose=False))
