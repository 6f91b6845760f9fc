"""Denoise the columns of a table, an image or an array, with nothing to tune."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes.cli.console import Console
from sparsebayes.cli.data import it_has
from sparsebayes.cli.files import output_path
from sparsebayes.cli.images import IMAGES, Picture
from sparsebayes.cli.predicting import write_table
from sparsebayes.estimators import WaveletDenoiser
from sparsebayes.export._writing import write_bytes
from sparsebayes.summaries.numbers import significant
from sparsebayes.tables import read_table
from sparsebayes.tables.columns import numbers
from sparsebayes.tables.reading import read_array

TABLES, ARRAYS = (".csv", ".tsv", ".txt", ".parquet"), (".npy",)
EVEN = 0.05  # of the step of a column that increases evenly: how far rounding may move its values
FEWEST = 3  # values of such a column

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # denoised, its error bars, the noise variance of each channel


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `sparsebayes denoise`."""
    command.add_argument("data", help="signals as columns of a table, an image, or an .npy array of one to three axes")
    command.add_argument("-o", "--output", required=True, help="file to write, of the kind of the input")
    command.add_argument("--column", action="append", help="a column to denoise (default: all of numbers)")
    command.add_argument(
        "--std",
        help="file for the error bars: .npy, or of an image a grey one whose "
        "white is the largest of them; tables have them as columns NAME_std",
    )
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
        said = (_denoise_image if ending in IMAGES else _denoise_array)(arguments, output, std, console)
        if std is not None:
            console.put(std=str(std))
    else:
        if arguments.std is not None:
            raise ValueError("--std is for images and arrays: a table has its error bars as columns NAME_std.")
        output = output_path(arguments.output, TABLES, inputs)
        said = _denoise_table(arguments, output, console)
    console.put(output=str(output))
    console.text("\n".join([f"{output} written", *said]))


def _denoised(signal: np.ndarray, arguments: Any, channel_axis: int | None = None) -> Arrays:
    if arguments.noise_variance is not None and not arguments.noise_variance > 0:
        raise ValueError(f"--noise-variance must be positive, got {arguments.noise_variance}.")
    axes = signal.ndim - (channel_axis is not None)
    options = {"noise_variance": arguments.noise_variance, "ndim": axes, "channel_axis": channel_axis}
    denoiser = WaveletDenoiser(arguments.wavelet, **options)
    mean, std = denoiser.fit_transform(signal, return_std=True)
    return mean, std, np.atleast_1d(denoiser.noise_variance_)


def _found(variance: np.ndarray, missing: int) -> str:
    """What was found in a signal, as text."""
    stds = ", ".join(significant(float(each)) for each in np.sqrt(variance))
    return f"noise std {stds}" + (f", {missing} missing filled" if missing else "")


def _denoise_table(arguments: Any, output: Path, console: Console) -> list[str]:
    """Write the table with its signals denoised; a line about each of its columns."""
    frame = read_table(arguments.data, names=False)
    kept = {name: reason for name in frame if (reason := _why_kept(frame[name]))}
    columns = [name for name in frame if name not in kept] if arguments.column is None else arguments.column
    absent = [name for name in columns if name not in frame]
    if absent:
        raise ValueError(f"--column must name a column of {arguments.data}, got {absent[0]!r}; {it_has(frame)}.")
    if not columns:
        raise ValueError(f"{arguments.data} must have a column of numbers to denoise, got none{_reasons(kept)}.")
    found, lines, noise = {}, [], {}
    for name in frame:
        found[name] = frame[name]
        if name not in columns:
            lines.append(f"{name}: left as it is" + (f", {kept[name]}" if name in kept else ""))
            continue
        if f"{name}_std" in frame:
            raise ValueError(f"{arguments.data} has a column '{name}_std', as the error bars of {name!r}; rename it.")
        values = numbers(frame[name])
        found[name], found[f"{name}_std"], variance = _denoised(values, arguments)
        noise[name] = float(np.sqrt(variance[0]))
        lines.append(f"{name}: {_found(variance, int(np.isnan(values).sum()))}")
    write_table(frame.iloc[:, :0].assign(**found), output)
    console.put(columns=list(noise), noise_std=noise, kept=kept)
    return lines


def _reasons(kept: dict[str, str]) -> str:
    """Why columns are no signals, the first of them, for a message."""
    return "".join(f": {name!r} is left as it is, {reason}" for name, reason in list(kept.items())[:1])


def _why_kept(values: Any) -> str | None:
    """Why a column is no signal; None if it may be one."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_bool_dtype(values.dtype) or not is_numeric_dtype(values.dtype):
        return "it holds no numbers"
    x = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if len(x) < FEWEST or not np.isfinite(x).all() or not x[-1] > x[0]:
        return None
    line, step = np.linspace(x[0], x[-1], len(x)), (x[-1] - x[0]) / (len(x) - 1)
    return "it increases evenly, as times do" if np.abs(x - line).max() <= EVEN * step else None


def _denoise_array(arguments: Any, output: Path, std: Path | None, console: Console) -> list[str]:
    """Write the denoised array and its error bars; what was found."""
    values = read_array(arguments.data)
    denoised, bars, variance = _denoised(values, arguments, arguments.channel_axis)
    _write(output, _array_file(denoised), std, _array_file(bars))
    console.put(noise_std=np.sqrt(variance))
    return [_found(variance, int(np.isnan(values).sum())), *([] if std is None else [f"{std} written"])]


def _write(output: Path, denoised: bytes, std: Path | None, bars: bytes) -> None:
    write_bytes(denoised, output)
    if std is not None:
        write_bytes(bars, std)


def _array_file(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def _denoise_image(arguments: Any, output: Path, std: Path | None, console: Console) -> list[str]:
    """Write the denoised image, each channel on its own and alpha as it is, and its error bars; what was found."""
    picture = Picture.read(arguments.data)
    colours = picture.pixels[:, :, : picture.colours].astype(np.float64)
    mean, bars, variance = _denoised(colours, arguments, channel_axis=-1)
    denoised, said = picture.with_colours(mean).file(output), [_found(variance, 0)]
    console.put(noise_std=np.sqrt(variance))
    if std is None or std.suffix.lower() == ".npy":
        _write(output, denoised, std, _array_file(bars.squeeze(axis=2) if picture.colours == 1 else bars))
        return said + ([] if std is None else [f"{std} written"])
    gray = np.mean(bars, axis=2)
    _write(output, denoised, std, picture.in_gray(gray).file(std))
    white = float(gray.max())
    console.put(std_of_white=white)
    means = ", the mean over the channels" if picture.colours > 1 else ""
    return [*said, f"{std} written: 0 is 0, 255 is a standard deviation of {significant(white)}{means}"]
