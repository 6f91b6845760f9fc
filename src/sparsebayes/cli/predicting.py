"""Predict the rows of a table with a saved model."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes.cli.console import Console
from sparsebayes.cli.data import add_table_arguments, table_of
from sparsebayes.cli.files import output_path
from sparsebayes.export import load
from sparsebayes.export._writing import write_bytes
from sparsebayes.tables.reading import NEEDS_PYARROW

ENDINGS = (".csv", ".tsv", ".parquet", ".npy")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes predict`."""
    command.add_argument("model", help="a model file that sparsebayes fit has written")
    add_table_arguments(command)
    command.add_argument("-o", "--output", help="*.csv, *.tsv, *.parquet or *.npy (default: CSV on standard output)")
    command.add_argument("--level", type=float, default=0.95, help="of the interval of a regression (default 0.95)")
    command.add_argument(
        "--encoded",
        metavar="FILE",
        help="also write the numbers that the table is encoded as, which exported models take",
    )
    command.add_argument("--with-inputs", action="store_true", help="put the columns of the table first")


def run(arguments: Any, console: Console) -> None:
    """Read model and table, and write a prediction per row."""
    inputs = [arguments.data, arguments.model]
    output, encoded = (path and output_path(path, ENDINGS, inputs) for path in (arguments.output, arguments.encoded))
    if output is not None and encoded is not None and output.resolve() == encoded.resolve():
        raise ValueError(f"--encoded and --output must be different files, got {arguments.output!r} for both.")
    if not 0 < arguments.level < 1:
        raise ValueError(f"--level must lie between 0 and 1, got {arguments.level}.")
    model = load_model(arguments.model)
    frame = table_of(arguments)
    if not len(frame):
        raise ValueError("the table must have at least one row, got none.")
    predictions = predicted(model, frame, arguments.level)
    if encoded is not None:
        write_table(_encoded(model, frame), encoded)
        console.put(encoded=str(encoded))
    if arguments.with_inputs:
        twice = [name for name in predictions if name in frame]
        if twice:
            raise ValueError(f"--with-inputs: the table has a column {twice[0]!r}, as the predictions have; rename it.")
        predictions = frame.assign(**{name: predictions[name] for name in predictions})
    console.put(rows=len(frame), columns=list(predictions.columns))
    if output is None:
        return _print(predictions, console)
    write_table(predictions, output)
    console.put(output=str(output))
    console.text(f"{output} written: {len(frame)} rows, columns {', '.join(predictions.columns)}")
    if encoded is not None:
        console.text(f"{encoded} written: the numbers that an exported model takes")


def _encoded(model: Any, frame: Any) -> Any:
    """The numbers that the table is encoded as, a DataFrame."""
    import pandas as pd

    return pd.DataFrame(np.asarray(model[0].transform(frame)), columns=model[0].get_feature_names_out())


def load_model(path: str) -> Any:
    """The pipeline in a model file; ValueError if it holds something else."""
    from sklearn.pipeline import Pipeline

    from sparsebayes.tables import TableEncoder

    model = load(path)
    if not (isinstance(model, Pipeline) and isinstance(model[0], TableEncoder)):
        raise ValueError(
            f"{path} must hold a model of a table, as sparsebayes fit writes it, got {type(model).__name__}."
        )
    return model


def predicted(model: Any, frame: Any, level: float) -> Any:
    """A DataFrame of predictions: with error bars and an interval, or with the probability of each class."""
    import pandas as pd

    estimator, X = model[-1], model[0].transform(frame)
    if hasattr(estimator, "classes_"):
        probabilities = estimator.predict_proba(X)
        columns = {f"p({label})": probabilities[:, k] for k, label in enumerate(estimator.classes_)}
        return pd.DataFrame({"prediction": estimator.classes_[np.argmax(probabilities, axis=1)], **columns})
    mean, std = estimator.predict(X, return_std=True)
    low, high = estimator.predict_interval(X, level=level)
    return pd.DataFrame({"prediction": mean, "std": std, "low": low, "high": high})


def write_table(frame: Any, output: Path) -> None:
    """Write a DataFrame to a file whose ending says how."""
    file, ending = io.BytesIO(), output.suffix.lower()
    if ending == ".parquet":
        try:
            frame.to_parquet(file, index=False)
        except ImportError:
            raise ImportError(NEEDS_PYARROW) from None
    elif ending == ".npy":
        if any(frame[name].dtype.kind not in "fiub" for name in frame):
            raise ValueError("an .npy file holds numbers only, got text; write .csv or .parquet.")
        np.save(file, frame.to_numpy(dtype=np.float64))
    else:
        frame.to_csv(file, index=False, sep="\t" if ending == ".tsv" else ",")
    write_bytes(file.getvalue(), output)


def _print(frame: Any, console: Console) -> None:
    if console.json:
        console.put(predictions=frame.to_dict(orient="list"))
        return
    text = io.StringIO()
    frame.to_csv(text, index=False)
    console.result(text.getvalue())
