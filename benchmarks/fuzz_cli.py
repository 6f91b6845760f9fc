"""Random commands: every subcommand with valid and invalid arguments, on sound and on damaged files.

    python -m benchmarks.fuzz_cli                        # 2000 commands in process, 50 as processes of their own
    python -m benchmarks.fuzz_cli --cases 500 --first 0  # the cases 0 to 499, nothing is written
    python -m benchmarks.fuzz_cli --replay 1234          # one case again, with what it printed

Case k is drawn from `default_rng(k)` in a folder of its own. Its outcome is one of

* done      exit code 0; the output is complete and nothing else new is in the folder; JSON is strict; the predictions
            of a fitted model are those of Python to 1e-9, and finite; denoised columns are those of `denoise`;
* refused   exit code 2; one line `sparsebayes: error: …` or the usage; nothing new in the folder, nothing on standard
            output (with --json one object);
* defect    anything else: an exception, another exit code, a word of NumPy's, more than 30 seconds of the processor.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import contextlib
import io
import json
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import report, table
from benchmarks.fuzz_tables import bent, damaged, image_file, npy_file, parquet_file, rows_of, text_file

LIMIT = 30.0  # seconds of the processor that one command may take
PATIENCE = 600.0  # seconds that a process of its own may take
COMMANDS = ("fit", "predict", "denoise", "export", "compare", "explore", "nonsense")
SHARES = (0.5, 0.19, 0.13, 0.08, 0.03, 0.04, 0.03)
TOLERANCE = 1e-9
FOREIGN = (
    "Traceback",
    "RuntimeWarning",
    "encountered in",
    "object at 0x",
    "pandas.",
    "Errno",
    "pickle",
)  # words of no user's


class TooSlow(BaseException):
    """The time limit of a case; not an Exception, so that nothing on the way catches it."""


@dataclass(frozen=True)
class Case:
    """One command in a folder with files."""

    number: int
    command: str
    argv: list[str]


@dataclass(frozen=True)
class Run:
    """What a command returned and printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    number: int
    command: str
    kind: str
    detail: str
    seconds: float


# the cases


def make_case(number: int, folder: Path) -> Case:
    """The case of this number; its files are written to the folder."""
    rng = np.random.default_rng(number)
    command = str(rng.choice(COMMANDS, p=SHARES))
    makers = {"fit": _fit, "predict": _predict, "denoise": _denoise, "export": _export, "compare": _compare}
    if command in makers:
        words = makers[command](rng, folder)
    elif command == "explore":
        words = ["explore", _table_file(rng, folder)[0], "--port", str(rng.choice([99999, -1, "x", 10**9]))]
    else:
        words = [str(rng.choice(["", "fly", "--json", "fit", "predict m.sbm", "-o", "日本"]))]
    if rng.random() < 0.4:
        words.append("--json")
    if rng.random() < 0.12:
        words.insert(int(rng.integers(len(words) + 1)), str(rng.choice(_WRONG)))
    return Case(number, command, words)


_WRONG = (
    "--unknown", "--target", "extra", "-", "", "-o", "--gamma=0", "--gamma=-1", "--gamma=nan", "--max-vectors=x",
    "--prior=zzz", "--effort=never", "--effort=-1", "--effort=nan", "--degree=0", "--degree=-3", "--max-categories=0",
    "--decimal=", "--separator=;", "--separator=ab", "--decimal=,", "--level=2", "--level=nan", "--folds=-1",
    "--task=both", "--drop=nothing", "--drop=c0", "--noise-variance=-1", "--noise-variance=nan", "--wavelet=none",
    "--wavelet=bior2.2", "--column=zz", "--std=s.txt", "--quiet", "--max-vectors=0", "--max-vectors=-5",
    "--gamma=1e400", "--gamma=evidence", "--output=no/m.sbm", "--output=.", "--output=a\0b", "--degree=9",
    "--separator=\n", "--separator=\"", "--decimal=\n", "--separator=\\", "--separator=.", "--decimal=1",
    "--separator= ", "--decimal=ä", "--separator=ä", "--decimal=-", "--decimal=e",
)  # fmt: skip


def _table_file(rng: np.random.Generator, folder: Path) -> tuple[str, list[str]]:
    """Write a table of some format; its name, and the names of its columns."""
    hostile = bool(rng.random() < 0.45)
    names, rows = rows_of(rng, hostile)
    kind = rng.random()
    if kind < 0.06:
        (folder / "t.npy").write_bytes(npy_file(rng))
        return "t.npy", ["c0", "c1", "c2"]
    if kind < 0.14 and rows and all(names):
        (folder / "t.parquet").write_bytes(parquet_file(rng, names, rows))
        return "t.parquet", [*(f"{name}{k}" for k, name in enumerate(names)), "unusual"]
    separator = str(rng.choice([",", ",", ",", ";", "\t", "|"]))
    data = text_file(rng, names, rows, separator)
    if hostile and rng.random() < 0.3:
        data = damaged(rng, data)
    name = str(rng.choice(["t.csv", "t.tsv", "t.txt", "t.CSV"])) if separator == "\t" or hostile else "t.csv"
    if hostile and rng.random() < 0.03:
        name = "t.csv.gz"
    if rng.random() < 0.02:
        return str(rng.choice(["none.csv", ".", "t", "/dev/null"])), names
    (folder / name).write_bytes(data)
    return name, names


def _model_words(rng: np.random.Generator) -> list[str]:
    words = []
    if rng.random() < 0.55:
        words += ["--kernel", "none", *(["--degree", str(rng.choice([1, 2, 3]))] if rng.random() < 0.3 else [])]
    elif rng.random() < 0.6:
        words += ["--kernel", str(rng.choice(["rbf", "laplacian", "linear-spline", "poly", "matern"]))]
    if rng.random() < 0.2:
        words += ["--gamma", str(rng.choice(["0.5", "scale", "evidence", "ard", "1e-6", "wide"]))]
    if rng.random() < 0.2:
        words += ["--prior", str(rng.choice(["uniform", "aic", "bic", "ric", "auto"]))]
    if rng.random() < 0.1:
        words += ["--max-vectors", str(rng.choice([1, 3, 50]))]
    if rng.random() < 0.1:
        words += ["--effort", str(rng.choice(["fast", "high", "0.5", "0"]))]
    return words


def _fit(rng: np.random.Generator, folder: Path) -> list[str]:
    name, columns = _table_file(rng, folder)
    target = columns[-1] if rng.random() < 0.75 else str(rng.choice(columns))
    words = ["fit", name, f"--target={target}", *_model_words(rng), "-o", "m.sbm"]
    if rng.random() < 0.2:
        words.append(f"--task={rng.choice(['regression', 'classification', 'auto'])}")
    if rng.random() < 0.15:
        words.append(f"--drop={rng.choice(columns)}")
    if rng.random() < 0.1:
        words.append(f"--max-categories={rng.choice([1, 2, 5])}")
    if rng.random() < 0.1:
        words.append(f"--checkpoint={rng.choice(['c.zip', 'c.zip', name, 'm.sbm', '.', 'no/c', ''])}")
    if rng.random() < 0.05:
        words[words.index("m.sbm")] = str(
            rng.choice(["m.pkl", "no/m.sbm", ".", "t.csv", "", "/proc/m.sbm", "日本.sbm"])
        )
    return words


def _stored_model(rng: np.random.Generator, folder: Path) -> str:
    """A model file of a small table, sound or not; its name."""
    import sparsebayes as sb

    names, rows = rows_of(rng, False)
    (folder / "train.csv").write_bytes(text_file(rng, names, rows, ","))
    words = ["fit", "train.csv", "--target", names[-1], "--kernel", str(rng.choice(["none", "rbf"])), "--quiet"]
    found = called([*words, "-o", "m.sbm"])
    kind = rng.random()
    if found.code or kind < 0.1:
        model = sb.SparseBayesRegressor().fit(rng.standard_normal((20, 2)), rng.standard_normal(20))
        sb.save(model if rng.random() < 0.5 else sb.RelevanceVectorRegressor(), folder / "m.sbm")
    elif kind < 0.3:
        (folder / "m.sbm").write_bytes(bent(rng, (folder / "m.sbm").read_bytes()))
    elif kind < 0.35:
        return str(rng.choice(["train.csv", ".", "none.sbm", "/dev/null"]))
    return "m.sbm"


def _predict(rng: np.random.Generator, folder: Path) -> list[str]:
    model = _stored_model(rng, folder)
    name = "train.csv" if rng.random() < 0.5 else _table_file(rng, folder)[0]
    if name == "train.csv" and rng.random() < 0.4:
        (folder / name).write_bytes(damaged(rng, (folder / name).read_bytes()))
    words = ["predict", model, name]
    if rng.random() < 0.6:
        words += [
            "-o",
            str(rng.choice(["p.csv", "p.tsv", "p.parquet", "p.npy", "p.xls", "no/p.csv", name, model, "."])),
        ]
    if rng.random() < 0.2:
        words += ["--level", str(rng.choice([0.5, 0.999999, 1e-9, 0, 1, "nan", "x"]))]
    return [*words, "--with-inputs"] if rng.random() < 0.3 else words


def _denoise(rng: np.random.Generator, folder: Path) -> list[str]:
    kind, name = rng.random(), "s.png"
    if kind < 0.5:
        name, columns = _table_file(rng, folder)
    elif kind < 0.75:
        name = "s.npy"
        (folder / name).write_bytes(npy_file(rng))
    else:
        (folder / name).write_bytes(image_file(rng))
    ending = Path(name).suffix.lower()
    usual = "d" + (ending if ending in (".npy", ".png", ".parquet", ".tsv") else ".csv")
    words = [
        "denoise",
        name,
        "-o",
        usual if rng.random() < 0.85 else str(rng.choice(["d.jpg", "d.tif", "d.bmp", name, "d"])),
    ]
    if rng.random() < 0.2:
        words += ["--wavelet", str(rng.choice(["haar", "db4", "nothing", "bior2.2", "mexh"]))]
    if rng.random() < 0.15:
        words += ["--noise-variance", str(rng.choice([0.1, 1e-300, 1e300, 0, "inf"]))]
    if rng.random() < 0.2:
        words += ["--std", str(rng.choice(["e.npy", "e.png", "e.csv", usual]))]
    return [*words, f"--column={rng.choice(columns)}"] if kind < 0.1 else words


def _export(rng: np.random.Generator, folder: Path) -> list[str]:
    words = [
        "export",
        _stored_model(rng, folder),
        "-o",
        str(rng.choice(["e.onnx", "e.c", "e.json", "e.py", "no/e.c", "m.sbm"])),
    ]
    return [*words, "--float"] if rng.random() < 0.3 else words


def _compare(rng: np.random.Generator, folder: Path) -> list[str]:
    name, columns = _table_file(rng, folder)
    return ["compare", name, f"--target={columns[-1]}", "--folds", str(rng.choice([1, 2, 2, 100])), "--kernel", "none"]


# what is run


def called(argv: list[str]) -> Run:
    """`main(argv)` in this process."""
    from sparsebayes.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    return Run(code, out.getvalue(), err.getvalue())


def as_process(argv: list[str]) -> Run:
    """`python -m sparsebayes` with these arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "sparsebayes", *argv],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Run(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def run_case(number: int, process: bool = False) -> tuple[Case, Run, str]:
    """Run a case in a folder of its own: the case, what it returned, and what is wrong with that."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name), _no_input():
        folder = Path(name)
        case = make_case(number, folder)
        before = _contents(folder)
        if process and any("\0" in word for word in case.argv):
            return case, Run(2, "", ""), ""  # no process can be given such a word
        run = (as_process if process else called)(case.argv)
        return case, run, _wrong(case, run, before, folder)


@contextlib.contextmanager
def _no_input() -> Iterator[None]:
    kept, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b""))
    try:
        yield
    finally:
        sys.stdin = kept


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _wrong(case: Case, run: Run, before: dict[str, bytes], folder: Path) -> str:
    """What is wrong with the outcome; nothing if it is a right answer or a clear error."""
    words = [word for word in FOREIGN if word in run.err or ('"error"' in run.out and word in run.out)]
    if words:
        return f"{words[0]!r} in {run.err.strip()[-300:]!r}"
    after = _contents(folder)
    if run.code == 2:
        return _wrong_refusal(case, run, "changed files" if after != before else "")
    if run.code != 0:
        return f"exit code {run.code}: {run.err[-300:]!r}"
    if any(name.endswith(".tmp") for name in after):
        return "a temporary file is left"
    if any(after.get(name) != data for name, data in before.items() if name not in case.argv):
        return "an input has changed"
    if "--json" in case.argv and "--help" not in case.argv:
        _strict(run.out)
    judges = {"fit": _wrong_fit, "denoise": _wrong_denoised, "predict": _wrong_predictions}
    return judges[case.command](case, run, folder) if case.command in judges else ""


def _wrong_refusal(case: Case, run: Run, changed: str) -> str:
    if changed:
        return changed
    if run.err.startswith("usage:"):
        return ""
    lines = run.err.rstrip("\n").split("\n")
    errors = [line for line in lines if line.startswith("sparsebayes: error: ")]
    if len(errors) != 1 or lines[-1] != errors[0]:
        return f"not one line: {run.err!r}"
    if not 25 < len(errors[0]) < 900 or any(not line.startswith("sparsebayes: ") for line in lines):
        return f"no sentence: {run.err!r}"
    if "--json" in case.argv:
        return "" if "error" in _strict(run.out) else "no error in the JSON"
    return f"output {run.out[:100]!r}" if run.out else ""


def _strict(text: str) -> Any:
    """The only object of a JSON text; ValueError for NaN, infinity, or more than one."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} in JSON")

    return json.loads(text, parse_constant=refuse)


def _wrong_fit(case: Case, run: Run, folder: Path) -> str:
    """Whether the model is there, and predicts on the command line what it predicts in Python."""
    from sparsebayes import load
    from sparsebayes.cli.data import table_of, task_of
    from sparsebayes.cli.fitting import pipeline_of
    from sparsebayes.cli.main import parser

    arguments = parser().parse_args(case.argv)
    if arguments.data == "-":
        return ""
    options = [f"--{name}={value}" for name in ("separator", "decimal") if (value := getattr(arguments, name))]
    found = called(["predict", arguments.output, arguments.data, "-o", "fuzz.npy", "--json", *options])
    task = task_of(arguments, table_of(arguments))
    model = load(arguments.output)
    frame = table_of(arguments)
    if task.classify:
        found = called(["predict", arguments.output, arguments.data, "--json", *options])
    if found.code and not task.dropped:  # rows without a target may hold text that no row of the fit had
        return f"the rows of the fit are not predicted: {found.err!r}"
    if found.code:
        return ""
    with _silent():
        again = pipeline_of(arguments, task).fit(task.frame, task.y)
        expected = again.predict_proba(frame)[:, 0] if task.classify else again.predict(frame)
    if task.classify:
        predictions = _strict(found.out)["predictions"]
        got = np.asarray(predictions[f"p({model[-1].classes_[0]})"], dtype=float)
    else:
        got = np.load("fuzz.npy")[:, 0]
    if not np.isfinite(got).all():
        return f"predictions are not finite: {got[:3]}"
    scale = float(np.abs(expected).max()) + np.finfo(float).tiny
    return (
        ""
        if float(np.abs(got - expected).max()) <= TOLERANCE * scale
        else f"predictions differ: {got[:3]}, {expected[:3]}"
    )


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _wrong_predictions(case: Case, run: Run, folder: Path) -> str:
    """Whether there is one finite prediction per row, in the file that was named."""
    import pandas as pd

    from sparsebayes.cli.main import parser
    from sparsebayes.tables import read_table

    arguments = parser().parse_args(case.argv)
    rows = len(read_table(arguments.data, arguments.separator, arguments.decimal))
    if arguments.output is not None:
        ending = Path(arguments.output).suffix
        if ending == ".npy":
            frame = pd.DataFrame(np.load(arguments.output))
        else:
            frame = pd.read_parquet(arguments.output) if ending == ".parquet" else None
        if frame is None:
            frame = pd.read_csv(arguments.output, sep="\t" if ending == ".tsv" else ",", keep_default_na=False)
    elif arguments.json:
        frame = pd.DataFrame(_strict(run.out)["predictions"])
    elif arguments.quiet:
        return ""
    else:
        frame = pd.read_csv(io.StringIO(run.out), keep_default_na=False)
    if len(frame) != rows:
        return f"{len(frame)} predictions for {rows} rows"
    own = [name for name in frame.columns if name in ("prediction", "std", "low", "high")]
    bad = [name for name in own if frame[name].dtype.kind == "f" and not np.isfinite(frame[name]).all()]
    return f"not finite: {bad}" if bad else ""


def _wrong_denoised(case: Case, run: Run, folder: Path) -> str:
    """Whether the output is there, and the columns of a table are those of `denoise`."""
    from sparsebayes import denoise
    from sparsebayes.cli.main import parser
    from sparsebayes.tables import read_table
    from sparsebayes.tables.columns import numbers

    arguments = parser().parse_args(case.argv)
    output = Path(arguments.output)
    if not output.is_file() or (arguments.std and not Path(arguments.std).is_file()):
        return "no output"
    if output.suffix not in (".csv", ".parquet") or not run.out.startswith("{"):
        return ""
    source, written = read_table(arguments.data, names=False), read_table(output, ",")
    for name in _strict(run.out)["columns"]:
        expected = denoise(numbers(source[name]), wavelet=arguments.wavelet, noise_variance=arguments.noise_variance)
        got = written[str(name).strip()].to_numpy(dtype=float)
        if not np.allclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE * np.abs(expected).max()):
            return f"column {name!r} differs"
    return ""


def outcome_of(number: int, process: bool = False) -> Outcome:
    """Run a case within the time limit."""
    start, command = time.process_time(), "?"

    def stop(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        case, run, wrong = run_case(number, process)
        command, kind = case.command, "defect" if wrong else ("refused" if run.code else "done")
    except TooSlow:
        kind, wrong = "defect", f"slower than {LIMIT:g} s"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind, wrong = "defect", f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return Outcome(number, command, kind, wrong, time.process_time() - start)


def process_outcome_of(number: int) -> Outcome:
    """Run a case as a process of its own."""
    return outcome_of(number, process=True)


def shown(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes; defects are printed as they come."""
    for outcome in outcomes:
        if outcome.kind == "defect":
            print(outcome, file=sys.stderr, flush=True)
        yield outcome


def summary(outcomes: list[Outcome], seconds: float, processes: int) -> list[str]:
    """The counts by command, and every defect."""
    rows = []
    for command in (*COMMANDS, "?"):
        own = [o for o in outcomes if o.command == command]
        counts = Counter(o.kind for o in own)
        if own:
            kinds = [str(counts[kind]) for kind in ("done", "refused", "defect")]
            rows.append([command, *kinds, f"{max(o.seconds for o in own):.1f}"])
    counts = Counter(o.kind for o in outcomes)
    rows.append(["all", *(str(counts[kind]) for kind in ("done", "refused", "defect")), ""])
    first, last = min(o.number for o in outcomes), max(o.number for o in outcomes)
    sections = [
        f"Cases {first} to {last}, the last {processes} of them as processes of their own; {seconds / 60:.1f} minutes.",
        table(["command", "done", "refused", "defect", "slowest, s of the processor"], rows),
    ]
    lines = [f"* case {o.number} ({o.command}): {o.detail[:300]}" for o in outcomes if o.kind == "defect"]
    sections.append("Defects:\n\n" + "\n".join(lines) if lines else "No defect.")
    return sections


def main() -> None:
    """Run the cases of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--processes-of-their-own", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--replay", type=int)
    options = parser.parse_args()
    if options.replay is not None:
        print(*run_case(options.replay), sep="\n")
        return
    start, last = time.perf_counter(), options.first + options.cases
    with ProcessPoolExecutor(options.workers) as pool:
        outcomes = list(shown(pool.map(outcome_of, range(options.first, last), chunksize=10)))
        own = range(last, last + options.processes_of_their_own)
        outcomes += shown(pool.map(process_outcome_of, own, chunksize=2))
    sections = summary(outcomes, time.perf_counter() - start, options.processes_of_their_own)
    report("fuzz_cli", "Random commands", sections, keep=options.cases >= 2000)


if __name__ == "__main__":
    main()
