"""Write a report of a saved model: one HTML page with pictures, tables and what the model does on a table's rows."""

from __future__ import annotations

import argparse
from typing import Any

from sparsebayes.cli.console import Console
from sparsebayes.cli.data import add_table_arguments, it_has, table_of, task_of
from sparsebayes.cli.files import output_path
from sparsebayes.cli.predicting import load_model
from sparsebayes.reports import report


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes report`."""
    command.add_argument("model", help="a model file that sparsebayes fit has written")
    add_table_arguments(command)
    command.add_argument("-o", "--output", required=True, help="the page to write, *.html")
    command.add_argument("--target", help="the column that was predicted (default: the one of the fit)")
    command.add_argument("--held-out", action="store_true", help="the rows played no part in the fit")


def run(arguments: Any, console: Console) -> None:
    """Read model and table, and write the page."""
    import pandas as pd

    output = output_path(arguments.output, (".html", ".htm"), [arguments.data, arguments.model])
    model = load_model(arguments.model)
    frame, known = table_of(arguments), model[0].target
    if arguments.target is None and known not in frame.columns:
        raise ValueError(f"a report needs the target column {known!r}, which the table lacks; {it_has(frame)}.")
    arguments.target = arguments.target or known
    arguments.task = "classification" if hasattr(model[-1], "classes_") else "regression"
    task = task_of(arguments, frame)
    inputs = task.frame.filter(items=[column.name for column in model[0].columns_])  # the target is none of them
    y = pd.Series(task.y, name=task.target)
    report(model, inputs, y, evaluation="held out" if arguments.held_out else None).save(output)
    console.put(output=str(output), rows=len(task.y))
    console.text(f"{output} written ({output.stat().st_size / 1000:.0f} kB)")
