"""Random commands and tables: a right answer, or one sentence and exit code 2.

`python -m benchmarks.fuzz_cli` runs thousands of such commands; these are few, and the same in every run.
"""

import csv
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz_cli import called, run_case
from benchmarks.fuzz_tables import DATES, NUMBERS, TEXTS
from sparsebayes.tables import TableEncoder, read_table

pd = pytest.importorskip("pandas")

CELLS = st.one_of(st.sampled_from([*NUMBERS, *DATES, *TEXTS]), st.text(max_size=4), st.floats().map(repr))
QUIET = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
few = settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=QUIET)


@pytest.mark.parametrize("number", [k for k in range(42) if k not in (4, 31)])  # comparisons are slow
def test_a_random_command_is_right_or_refused(number):
    case, run, wrong = run_case(number)
    assert wrong == "", (case, run)


@st.composite
def tables(draw):
    """A DataFrame of text: columns of one kind of cell or of any."""
    rows, columns = draw(st.integers(0, 12)), draw(st.integers(1, 4))
    names = draw(st.lists(st.text(max_size=3), min_size=columns, max_size=columns, unique_by=str.strip))
    kinds = st.sampled_from([CELLS, st.floats(-10, 10).map(repr), st.sampled_from(["a", "b", ""])])
    cells = [draw(st.lists(draw(kinds), min_size=rows, max_size=rows)) for _ in range(columns)]
    return pd.DataFrame(dict(zip(names, cells, strict=True)))


@few
@given(tables(), st.sampled_from(",;\t|"))
def test_any_table_is_read_and_encoded_or_refused(tmp_path, frame, separator):
    path = tmp_path / "t.csv"
    # to_csv leaves carriage returns without quotes, which then end lines
    quoting = csv.QUOTE_ALL if "\r" in frame.to_csv(index=False) else csv.QUOTE_MINIMAL
    path.write_bytes(frame.to_csv(index=False, sep=separator, quoting=quoting).encode("utf-8", "surrogatepass"))
    try:
        read = read_table(path, separator)
        encoder = TableEncoder().fit(read)
    except ValueError as error:
        said = str(error)
        assert 20 < len(said) < 900
        return
    except UserWarning:  # a column that is left away
        return
    X = encoder.transform(read)
    assert len(read) <= len(frame)  # rows of one column without a value are blank lines
    assert X.shape == (len(read), len(encoder.get_feature_names_out()))
    assert np.isfinite(X).all()
    assert (X.max(axis=0) > X.min(axis=0)).any()


@few
@given(st.binary(max_size=60), st.sampled_from(["csv", "tsv", "csv.gz", "parquet", "npy"]))
def test_any_bytes_are_a_table_or_refused(tmp_path, content, ending):
    path = tmp_path / f"t.{ending}"
    path.write_bytes(content)
    words = ["fit", str(path), "--target", "y", "--kernel", "none", "-o", str(tmp_path / "m.sbm")]
    run = called(words)
    assert run.code == 2
    assert run.err.count("\n") == 1
    assert run.err.startswith("sparsebayes: error: ")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    path.unlink()


@few
@given(st.lists(st.sampled_from(["fit", "predict", "--json", "-o", "m.sbm", "--target", "y", "x.csv", "", "-", "\0"])))
def test_any_words_are_refused(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    run = called(words)
    assert run.code == 2
    assert "Traceback" not in run.err
    assert list(tmp_path.iterdir()) == []
