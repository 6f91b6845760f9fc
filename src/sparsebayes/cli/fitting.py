"""Fit a model to a table and save it.

Text, dates and missing values become numbers as `sparsebayes.tables.TableEncoder` says.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from sparsebayes.bases import KERNEL_NAMES, Columns
from sparsebayes.cli.console import Console
from sparsebayes.cli.data import Task, add_table_arguments, add_target_arguments, table_of, task_of
from sparsebayes.cli.files import output_path
from sparsebayes.estimators import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from sparsebayes.export import save
from sparsebayes.tables import TableEncoder

MODEL_ENDING = ".sbm"
SCALED = ("rbf", "laplacian", "matern", "rational-quadratic")  # kernels whose widths are learned
PRIORS = ("uniform", "aic", "bic", "ric", "auto")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes fit`."""
    add_table_arguments(command)
    add_target_arguments(command)
    command.add_argument("-o", "--output", required=True, help="the model file to write, *.sbm")
    command.add_argument("--checkpoint", metavar="FILE", help="file from which the same command resumes the fit")
    add_model_arguments(command)


def add_model_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments that say which model is fitted."""
    kernels = [name for name in KERNEL_NAMES if name != "precomputed"]
    command.add_argument(
        "--kernel", choices=["none", *kernels], default="rbf", help="kernel; none: a linear model of columns"
    )
    command.add_argument("--degree", type=int, default=1, help="with --kernel none: products of so many columns")
    command.add_argument("--gamma", default=None, help="width of the kernel: a number, evidence, or ard (default)")
    command.add_argument("--prior", choices=PRIORS, default=None, help="how sparse; bic and ric keep fewest functions")
    command.add_argument("--max-vectors", type=int, default=None, help="largest number of functions (regression)")
    command.add_argument("--effort", default=None, help="fast, default, high or seconds (regression)")


def run(arguments: Any, console: Console) -> None:
    """Read the table, fit, save, and print what was found."""
    output = output_path(arguments.output, [MODEL_ENDING], [arguments.data])
    _check_checkpoint(arguments.checkpoint, (arguments.output, arguments.data))
    task = task_of(arguments, table_of(arguments))
    model = pipeline_of(arguments, task)
    began = time.perf_counter()
    fit_pipeline(model, task, console, arguments.checkpoint)
    seconds = time.perf_counter() - began
    save(model, output)
    describe(model, task, console)
    console.put(model=str(output), seconds=seconds)
    console.text(f"\n{output} written ({output.stat().st_size} bytes, fitted in {seconds:.2f} s)")


def fit_pipeline(model: Pipeline, task: Task, console: Console, checkpoint: str | None = None) -> None:
    """Fit with a progress bar and a checkpoint, which are no parts of the model afterwards."""
    if task.dropped:
        console.note(f"sparsebayes: {task.dropped} row(s) without a value of {task.target!r} are dropped")
    with console.progress("fit") as callback:
        model.set_params(model__callback=callback, model__checkpoint=checkpoint).fit(task.frame, task.y)
    model.set_params(model__callback=None, model__checkpoint=None)


def _check_checkpoint(path: str | None, others: tuple[str, str]) -> None:
    """ValueError if the checkpoint would be the table or the model."""
    if path is not None and any(Path(path).resolve() == Path(other).resolve() for other in others):
        raise ValueError(f"--checkpoint must be a file of its own, got {path!r}, which is the table or the model.")


def pipeline_of(arguments: Any, task: Task) -> Pipeline:
    """The model that the arguments ask for: the encoding of the table, then the estimator."""
    encoder = TableEncoder(task.target, tuple(arguments.drop), arguments.max_categories)
    encoder.set_output(transform="pandas")  # so that the model knows the names of its inputs
    return Pipeline([("table", encoder), ("model", estimator_of(arguments, task.classify))])


def estimator_of(arguments: Any, classify: bool) -> Any:
    """The estimator that the arguments ask for; ValueError for arguments that do not go together."""
    given: dict[str, Any] = {} if arguments.prior is None else {"prior": arguments.prior}
    for name in ("max_vectors", "effort"):
        value = getattr(arguments, name)
        if value is not None and classify:
            raise ValueError(f"--{name.replace('_', '-')} is for regression, got a classification.")
        if value is not None:
            given[name] = _number_or_name(value)
    if arguments.kernel != "none":
        if arguments.degree != 1:
            raise ValueError(f"--degree needs --kernel none, got --kernel {arguments.kernel}.")
        kernel = RelevanceVectorClassifier if classify else RelevanceVectorRegressor
        return kernel(arguments.kernel, **_width(arguments), **given)
    if arguments.gamma is not None:
        raise ValueError("--gamma needs a kernel, got --kernel none.")
    if arguments.degree == 1:
        return (SparseBayesClassifier if classify else SparseBayesRegressor)(**given)
    columns = Columns(degree=arguments.degree)
    return (RelevanceVectorClassifier if classify else RelevanceVectorRegressor)(columns, **given)


def describe(model: Pipeline, task: Task, console: Console) -> None:
    """Print the summary of a fitted pipeline, and put its figures into the JSON object."""
    encoder, estimator = model[0], model[-1]
    summary = estimator.summary().for_readers()
    console.text(str(summary))
    console.put(
        task=task.name,
        target=task.target,
        rows=len(task.y),
        rows_without_target=task.dropped,
        inputs=encoder.get_feature_names_out(),
        unused=list(encoder.unused_),
        estimator=type(estimator).__name__,
        log_evidence=estimator.log_evidence_,
        functions=len(estimator.relevance_),
        noise_variance=getattr(estimator, "noise_variance_", None),
    )


def _width(arguments: Any) -> dict[str, Any]:
    """The parameter gamma; by default an own width for each input, as tables have inputs that do not matter."""
    if arguments.gamma is not None:
        return {"gamma": _number_or_name(arguments.gamma)}
    return {"gamma": "ard"} if arguments.kernel in SCALED else {}


def _number_or_name(value: Any) -> Any:
    """A number if the text is one, else the text, which the estimator knows or refuses."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
