"""What counts as rows on disk, what as chunks, and how both are read."""

import mmap

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sliced_rows import Dataset

from sparsebayes.rows.chunks import Chunk, slices
from sparsebayes.rows.passes import RowPasses
from sparsebayes.rows.sources import (
    RowSource,
    SlicedRows,
    is_chunked,
    is_on_disk,
    is_too_large,
    read_rows,
    release,
)
from sparsebayes.rows.triangle import Triangle

X = np.random.default_rng(0).standard_normal((100, 4))
Y = X[:, 0] + 1.0


def _mapped(tmp_path, values=X, mode="r"):
    path = tmp_path / "values.npy"
    np.save(path, values)
    return np.load(path, mmap_mode=mode)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_maps_and_their_views_are_on_disk(tmp_path, mode):
    mapped = _mapped(tmp_path, mode=mode)
    for view in (mapped, mapped[3:], mapped[:, ::2], np.asarray(mapped), mapped.T):
        assert is_on_disk(view)
    assert not is_on_disk(mapped + 1)
    assert not is_on_disk(np.array(mapped))
    assert is_on_disk(Dataset(X))


@pytest.mark.parametrize(
    "array",
    [
        X,
        X.tolist(),
        scipy.sparse.csr_array(X),
        pd.DataFrame(X),
        pl.DataFrame(X),
        pd.Series(Y),
        array_api_strict.asarray(X),
        iter([]),
    ],
    ids=lambda array: type(array).__name__,
)
def test_what_is_in_memory_is_not_on_disk(array):
    assert not is_on_disk(array)


def test_small_arrays_on_disk_are_simply_read():
    assert not is_too_large(Dataset(X))
    with sklearn.config_context(working_memory=0.01):
        assert is_too_large(Dataset(X))
        assert not is_too_large(X)
        assert not is_too_large(Dataset(X[:20]))
        assert not is_too_large(Dataset(np.arange(1000.0)))


def test_what_counts_as_chunks():
    assert is_chunked(iter([(X, Y)]), None)
    assert is_chunked((pair for pair in [(X, Y)]), None)
    assert is_chunked([(X, Y), (X, Y)], None)
    assert is_chunked(SlicedRows(X, Y), None)
    assert not is_chunked([(X, Y), (X, Y)], Y)
    for other in (X, X.tolist(), [(1.0, 2.0)], [], (), "words", pd.DataFrame(X), {"a": X}, None, 3):
        assert not is_chunked(other, None)


def test_slices_are_bounded_by_the_working_memory():
    with sklearn.config_context(working_memory=0.004):  # 131 numbers: 26 rows of 5
        parts = list(SlicedRows(Dataset(X, most=26), Y, Y))
        np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), X)
        assert all(len(part) == 3 for part in parts)
        whole = Dataset(X, most=32)
        np.testing.assert_array_equal(np.concatenate([whole[part] for part in slices(*X.shape)]), X)
    assert len(next(iter(SlicedRows(X, Y)))) == 2
    with sklearn.config_context(working_memory=1e-9):  # a row at a time is the least
        assert len(list(SlicedRows(Dataset(X, most=1), Y))) == 100


def test_arrays_that_can_be_held_are_one_slice():
    assert [len(X[part]) for part in slices(*X.shape)] == [len(X)]


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_releasing_pages_changes_nothing(tmp_path, mode):
    mapped = _mapped(tmp_path, mode=mode)
    if mode != "r":
        mapped[5] = 7.0
    kept = np.array(mapped)
    release(mapped)
    release(mapped[3:, 1])
    np.testing.assert_array_equal(mapped, kept)
    for other in (X, Dataset(X), [1.0], None, mapped + 1):
        release(other)


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="no way to give back pages on this system")
def test_rows_that_were_read_do_not_stay_in_memory(tmp_path):
    """Resident pages of the map, by the kernel's own count."""
    mapped = _mapped(tmp_path, np.zeros((40_000, 100)))

    def resident():
        with open("/proc/self/smaps", encoding="utf-8") as file:
            lines = iter(file)
            for line in lines:
                if "values.npy" in line:
                    return int(next(each for each in lines if each.startswith("Rss:")).split()[1]) / 1024
        return 0.0

    with sklearn.config_context(working_memory=16):
        peak = 0.0
        for chunk in RowSource(SlicedRows(mapped, np.zeros(40_000)), lambda chunk: Chunk(*chunk, None)):
            chunk.Phi.sum()
            peak = max(peak, resident())
    assert peak < 8  # MiB, of 30; the kernel may read ahead of a slice of 4
    assert resident() < 1


def _source(width, once=False):
    rng = np.random.default_rng(1)
    chunks = [(rng.standard_normal((9, width)), rng.standard_normal(9)) for _ in range(3)]
    return RowSource(iter(chunks) if once else chunks, lambda chunk: Chunk(*chunk, None))


def test_a_triangle_where_it_fits_else_passes():
    assert isinstance(read_rows(_source(10)), Triangle)
    assert read_rows(_source(10)).rows == 27
    assert read_rows(_source(10, once=True)).rows == 27
    assert read_rows(RowSource([], tuple)) is None
    with sklearn.config_context(working_memory=0.003):  # 98 numbers: less than 11 by 11
        assert isinstance(read_rows(_source(10)), RowPasses)
        assert isinstance(read_rows(_source(8)), Triangle)
        with pytest.raises(ValueError, match=r"^X has 10 columns, whose statistics need .* allows 0.003 MiB: "):
            read_rows(_source(10, once=True))
