"""Tables from files."""

import bz2
import gzip
import io
import lzma
import sys
from decimal import Decimal

import numpy as np
import pytest

from sparsebayes.tables import TableEncoder, read_table

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame({"a": [1.5, -2.0, 3e-7], "b": ["u", "v w", None], "c": [1, 2, 3]})


@pytest.mark.parametrize("ending", ["csv", "npy", "parquet"])
def test_without_pandas_a_message_says_what_to_install(tmp_path, monkeypatch, ending):
    (tmp_path / f"t.{ending}").write_bytes(b"a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for use in (lambda: read_table(tmp_path / f"t.{ending}"), lambda: TableEncoder().fit([[1.0]])):
        with pytest.raises(ImportError, match=r'tables need the package pandas: pip install "sparsebayes\[cli\]"'):
            use()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_guessed(tmp_path, separator):
    FRAME.to_csv(tmp_path / "t.csv", index=False, sep=separator)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), FRAME, check_dtype=False)


def test_tsv_parquet_and_packed_files(tmp_path):
    FRAME.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    FRAME.to_parquet(tmp_path / "t.parquet")
    text = FRAME.to_csv(index=False).encode()
    for ending, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
        (tmp_path / f"t.csv{ending}").write_bytes(pack(text))
    for path in sorted(tmp_path.iterdir()):
        pd.testing.assert_frame_equal(read_table(path), FRAME, check_dtype=False)


def test_arrays_of_numpy_have_columns_by_number_or_by_name(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(3, 2))
    assert list(read_table(tmp_path / "a.npy")) == ["c0", "c1"]
    np.save(tmp_path / "b.npy", np.array([(1.0, 2), (3.0, 4)], dtype=[("x", float), ("n", int)]))
    pd.testing.assert_frame_equal(read_table(tmp_path / "b.npy"), pd.DataFrame({"x": [1.0, 3.0], "n": [2, 4]}))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("a,b\n1,2\n"))
    pd.testing.assert_frame_equal(read_table("-"), pd.DataFrame({"a": [1], "b": [2]}))


def test_marks_of_missing_values_and_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;?\n;NA\n", encoding="utf-8")
    pd.testing.assert_frame_equal(
        read_table(path, decimal=","), pd.DataFrame({"a": [1.5, np.nan], "b": [np.nan, np.nan]})
    )


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n")
    pd.testing.assert_frame_equal(read_table(path), pd.DataFrame({"a": [1], "b": [2]}))


def test_a_signal_needs_no_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1.5\n1.5\n2\n", encoding="utf-8")
    pd.testing.assert_frame_equal(read_table(path, names=False), pd.DataFrame({"c0": [1.5, 1.5, 2.0]}))
    path.write_text("ecg\n1.5\n", encoding="utf-8")
    pd.testing.assert_frame_equal(read_table(path, names=False), pd.DataFrame({"ecg": [1.5]}))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv", b"", "first line with the names of the columns"),
        ("t.csv", b"\n\n", "first line with the names of the columns"),
        ("t.csv", b"a,a\n1,2\n", "differently, got 'a' twice"),
        ("t.csv", b"a,\n1,2\n", "no name for column 2"),
        ("t.csv", b"1.5,2\n1,2\n", "must name the columns, got numbers"),
        ("t.csv", b"a,b\n1,2,3\n", "cannot be read as a table"),
        ("t.csv", b'a,b\n"1,2\n', "cannot be read as a table"),
        ("t.csv", b"a,b\n\xff\xfe,2\n", "must be text in UTF-8"),
        ("t.csv", b"a,b\n\0,2\n", "binary data"),
        ("t.csv.gz", b"a,b\n1,2\n", "cannot be unpacked"),
        ("t.parquet", b"a,b\n1,2\n", "cannot be read as a Parquet file"),
        ("t.npy", b"a,b\n1,2\n", "cannot be read as an .npy file"),
        ("t.xls", b"", "must end in .csv"),
        ("t", b"", "must end in .csv"),
    ],
)
def test_files_that_hold_no_table_are_refused(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        read_table(tmp_path / name)


def test_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="got a folder"):
        read_table(tmp_path)


def test_objects_in_npy_files_are_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"cannot be read as an \.npy file"):
        read_table(tmp_path / "t.npy")


def test_the_decimal_mark_must_differ_from_the_separator(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="must differ"):
        read_table(tmp_path / "t.csv", decimal=",")


def test_damaged_headers_of_npy_files_are_one_sentence(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.ones((3, 2)))
    sound, said = path.read_bytes(), []
    for place in range(len(sound) - 48):
        path.write_bytes(sound[:place] + b"a" + sound[place + 1 :])
        try:
            read_table(path)
        except ValueError as error:
            said.append(str(error))
    assert len(said) > 30
    assert all(text.startswith(str(path)) and "object at" not in text for text in said)


@pytest.mark.parametrize("mark", [",", "."])
def test_the_decimal_mark_is_guessed(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n1.5;2.5e-3;x,y\n-3;4.25;1".replace(".", mark))
    expected = pd.DataFrame({"a": [1.5, -3.0], "b": [2.5e-3, 4.25], "c": ["x,y", "1"]})
    pd.testing.assert_frame_equal(read_table(path), expected, check_dtype=False)


def test_a_table_with_both_marks_has_decimal_points(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.5;2,5\n")
    pd.testing.assert_frame_equal(read_table(path), pd.DataFrame({"a": [1.5], "b": ["2,5"]}), check_dtype=False)


def test_lines_may_end_as_on_any_system(tmp_path):
    path = tmp_path / "t.csv"
    for end in ("\n", "\r\n", "\r"):
        path.write_bytes(end.join(["a;b", "1,5;2", "3,5;4", ""]).encode())
        pd.testing.assert_frame_equal(read_table(path), pd.DataFrame({"a": [1.5, 3.5], "b": [2, 4]}))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"separator": "\n"}, "the separator must not be a line end"),
        ({"separator": '"'}, "the separator must not be a line end or a quotation mark"),
        ({"decimal": "e"}, "the decimal mark must be a character such as"),
        ({"decimal": "-"}, "the decimal mark must be a character such as"),
        ({"separator": ";"}, "rows have more fields than there are names in the first line"),
    ],
)
def test_marks_that_cannot_be_and_rows_that_are_too_long_are_refused(tmp_path, arguments, sentence):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2;3;4\n")
    with pytest.raises(ValueError, match=sentence):
        read_table(path, **arguments)


def test_a_first_line_may_say_the_separator_as_spreadsheets_do(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=;\r\na,b;c\r\n1,5;2\r\n", encoding="utf-8")
    assert read_table(path).columns.tolist() == ["a,b", "c"]
    assert read_table(path)["a,b"].tolist() == [1.5]


def test_lines_that_end_in_a_separator_have_no_column_more(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;;\n1;2;;\n3;4;;\n", encoding="utf-8")
    assert read_table(path).columns.tolist() == ["a", "b"]
    path.write_text("a;b;;\n1;2;;\n3;4;;5\n", encoding="utf-8")
    with pytest.raises(ValueError, match="must name every column, got no name for column 3"):
        read_table(path)


def test_points_that_may_separate_thousands_are_warned_of(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.234;x\n5.678;y\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"1\.234 are read with a decimal point; if it separates thousands"):
        assert read_table(path)["a"].tolist() == [1.234, 5.678]
    assert read_table(path, decimal=".")["a"].tolist() == [1.234, 5.678]
    path.write_text("a;b\n1.234;x\n0.678;y\n", encoding="utf-8")
    assert read_table(path)["a"].tolist() == [1.234, 0.678]


def test_values_that_no_text_file_has_are_read_as_one_would_give_them(tmp_path):
    frame = pd.DataFrame(
        {
            "price": [Decimal("1.50"), None, Decimal("2")],
            "list": [[1, 2], None, [3]],
            "record": [{"a": "u"}, {"a": "v"}, None],
            "bytes": [b"ab", b"\xff", None],
            "lasted": pd.to_timedelta([12, 24, 36], unit="h"),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet")
    np.testing.assert_array_equal(found["price"].to_numpy(), [1.5, np.nan, 2.0])
    np.testing.assert_array_equal(found["lasted"].to_numpy(), [0.5, 1.0, 1.5])
    assert found["list"].dropna().tolist() == ["[1, 2]", "[3]"]
    assert found["record"].dropna().tolist() == ["{'a': 'u'}", "{'a': 'v'}"]
    assert found["bytes"].dropna().tolist() == ["ab", r"\xff"]
    assert found.isna().sum().tolist() == [1, 1, 1, 1, 0]


def test_arrays_of_either_byte_order_and_of_bytes(tmp_path):
    np.save(tmp_path / "a.npy", np.array([(1.5, b"u"), (2.5, b"v")], dtype=[("x", ">f8"), ("b", "S3")]))
    found = read_table(tmp_path / "a.npy")
    assert found["x"].nunique() == 2
    assert found["b"].tolist() == ["u", "v"]
    np.save(tmp_path / "b.npy", np.arange(4.0).reshape(2, 2).astype(">f8"))
    assert read_table(tmp_path / "b.npy").nunique().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (np.ones((2, 2)) + 1j, "dtype complex128 in column 'c0'"),
        (np.zeros(2, dtype=[("a", float, (3,))]), r"shape \(2, 3\)"),
        (np.zeros(2, dtype=[("a", [("b", float)])]), "in column 'a'"),
        (np.zeros((2, 3), dtype=[("a", float)]), r"shape \(2, 3\)"),
    ],
)
def test_arrays_whose_columns_hold_no_plain_values_are_refused(tmp_path, values, got):
    np.save(tmp_path / "a.npy", values)
    with pytest.raises(ValueError, match=f"must hold one real number, date or text in each row of .*{got}"):
        read_table(tmp_path / "a.npy")
