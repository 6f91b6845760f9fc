"""Solvers and fits of few rows have one thread of BLAS, and the number of threads is as before afterwards."""

from contextlib import nullcontext

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes._threads import FEW_ROWS, few_threads, threads_of_rows
from sparsebayes.rows.memory import ScaledRows


def threads():
    """How many threads BLAS has now."""
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


@pytest.mark.parametrize(
    "model", [RelevanceVectorRegressor(), RelevanceVectorClassifier(), SparseBayesRegressor()], ids=repr
)
def test_few_rows_are_fitted_with_one_thread(model):
    seen, rng = [], np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        model.set_params(callback=lambda progress: seen.append(threads()) and None).fit(X, X[:, 0] > 0.1 * X[:, 1])
        assert threads() == before
    assert seen
    assert {count for each in seen for count in each} == {1}


def test_passes_over_many_rows_have_all_threads_and_the_solver_has_one(monkeypatch):
    in_callbacks, in_passes, rng = [], [], np.random.default_rng(0)
    rows = ScaledRows.rows
    monkeypatch.setattr(ScaledRows, "rows", lambda self, J: in_passes.append(threads()) or rows(self, J))
    X, y = rng.standard_normal((FEW_ROWS + 1, 300)), rng.standard_normal(FEW_ROWS + 1)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        SparseBayesRegressor(callback=lambda progress: in_callbacks.append(threads()) and None).fit(X, X[:, 0] + y)
        assert threads() == before
    assert in_passes
    assert all(each == before for each in in_passes)
    assert {count for each in in_callbacks for count in each} == {1}


def test_passes_over_few_rows_have_one_thread():
    with threadpool_limits(2, user_api="blas"), few_threads(), few_threads(), threads_of_rows():
        assert set(threads()) == {1}


def test_threads_are_as_before_after_an_error():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        for context in (nullcontext, threads_of_rows):
            with pytest.raises(ZeroDivisionError), few_threads(), context():
                _ = 1 / 0
            assert threads() == before


def test_nothing_changes_outside():
    before = threads()
    with threads_of_rows():
        assert threads() == before
