"""Denoise the columns of a table, an image or an array, with nothing to tune."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes.cli.console import Console
from sparsebayes.cli.files import output_path
from sparsebayes.cli.images import IMAGES, Picture
from sparsebayes.cli.predicting import write_table
from sparsebayes.estimators import denoise
from sparsebayes.export._writing import write_bytes
from sparsebayes.tables import read_table
from sparsebayes.tables.columns import numbers
from sparsebayes.tables.reading import read_array

TABLES, ARRAYS = (".csv", ".tsv", ".txt", ".parquet"), (".npy",)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes denoise`."""
    command.add_argument("data", help="signals as columns of a table, an image, or an .npy array of one to three axes")
    command.add_argument("-o", "--output", required=True, help="file to write, of the kind of the input")
    command.add_argument("--column", action="append", help="a column to denoise (default: all that hold numbers)")
    command.add_argument("--std", help="image or .npy file for the error bars; tables have them as columns NAME_std")
    command.add_argument("--wavelet", default="sym8", help="an orthogonal wavelet of PyWavelets (default sym8)")
    command.add_argument("--noise-variance", type=float, help="of the noise, if it is known")
    command.add_argument("--channel-axis", type=int, help="the axis of an .npy array that holds channels, such as -1")


def run(arguments: Any, console: Console) -> None:
    """Read, denoise, write."""
    ending = Path(arguments.data).suffix.lower()
    inputs = [arguments.data]
    if arguments.channel_axis is not None and ending not in ARRAYS:
        raise ValueError(f"--channel-axis is for .npy arrays, got {arguments.data!r}.")
    if ending in IMAGES or ending in ARRAYS:
        endings = IMAGES if ending in IMAGES else ARRAYS
        if arguments.column is not None:
            raise ValueError(f"--column is for tables, got {arguments.data!r}.")
        output = output_path(arguments.output, endings, inputs)
        std = None if arguments.std is None else output_path(arguments.std, (*endings, ".npy"), inputs)
        if std is not None and std.resolve() == output.resolve():
            raise ValueError(f"--std and --output must be different files, got {arguments.std!r} for both.")
        denoised, bars = (_denoised_image if ending in IMAGES else _denoised_array)(arguments, output, std)
        write_bytes(denoised, output)
        if std is not None:
            write_bytes(bars, std)
            console.put(std=str(std))
    else:
        if arguments.std is not None:
            raise ValueError("--std is for images and arrays: a table has its error bars as columns NAME_std.")
        output = output_path(arguments.output, TABLES, inputs)
        console.put(columns=_denoise_table(arguments, output))
    console.put(output=str(output))
    console.text(f"{output} written")


def _denoised(signal: np.ndarray, arguments: Any, channel_axis: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    if arguments.noise_variance is not None and not arguments.noise_variance > 0:
        raise ValueError(f"--noise-variance must be positive, got {arguments.noise_variance}.")
    options = {"wavelet": arguments.wavelet, "noise_variance": arguments.noise_variance, "channel_axis": channel_axis}
    return denoise(signal, **options, return_std=True)


def _denoise_table(arguments: Any, output: Path) -> list[str]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    frame = read_table(arguments.data, names=False)
    columns = arguments.column
    if columns is None:
        columns = [
            name for name in frame if is_numeric_dtype(frame[name].dtype) and not is_bool_dtype(frame[name].dtype)
        ]
    if not columns:
        raise ValueError(f"{arguments.data} must have a column of numbers, got none.")
    found: dict[str, np.ndarray] = {}
    for name in columns:
        if name not in frame:
            raise ValueError(f"--column must name a column of {arguments.data}, got {name!r}.")
        found[name], found[f"{name}_std"] = _denoised(numbers(frame[name]), arguments)
    write_table(frame.iloc[:, :0].assign(**found), output)
    return list(columns)


def _denoised_array(arguments: Any, output: Path, std: Path | None) -> tuple[bytes, bytes]:
    """The files of the denoised array and of its error bars."""
    denoised, bars = _denoised(read_array(arguments.data), arguments, arguments.channel_axis)
    return _array_file(denoised), _array_file(bars)


def _array_file(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def _denoised_image(arguments: Any, output: Path, std: Path | None) -> tuple[bytes, bytes]:
    """The files of the denoised image, each channel on its own and alpha as it is, and of its error bars."""
    picture = Picture.read(arguments.data)
    colours = picture.pixels[:, :, : picture.colours].astype(np.float64)
    mean, bars = _denoised(colours, arguments, channel_axis=-1)
    denoised = picture.with_colours(mean).file(output)
    if std is None or std.suffix.lower() == ".npy":
        return denoised, _array_file(bars.squeeze(axis=2) if picture.colours == 1 else bars)
    return denoised, picture.in_gray(np.mean(bars, axis=2)).file(std)
