"""Solvers and fits of few rows have one thread of BLAS, and the number of threads is as before afterwards."""

import threading
import time
from contextlib import nullcontext

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes._threads import FEW_ROWS, few_threads, in_parallel, threads_of_rows
from sparsebayes.datasets import make_sinc2d
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


def test_fits_at_once_leave_the_threads_as_they_were():
    inside, left, seen = threading.Event(), threading.Event(), []

    def other():
        with few_threads():
            inside.set()
            assert left.wait(10)
            seen.append(set(threads()))
            with threads_of_rows():
                seen.append(set(threads()))

    with threadpool_limits(2, user_api="blas"):
        before, thread = threads(), threading.Thread(target=other)
        with few_threads():
            thread.start()
            assert inside.wait(10)
            with threads_of_rows():
                seen.append(set(threads()))
        left.set()
        thread.join()
        assert threads() == before
    assert seen == [{1}, {1}, set(before)]


def test_limits_of_other_threads_are_heeded_after_a_fit():
    seen = []

    def other():
        with threadpool_limits(1, user_api="blas"):
            seen.append(set(threads()))

    with few_threads():
        pass
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [{1}]


def test_nothing_changes_outside():
    before = threads()
    with threads_of_rows():
        assert threads() == before


def test_pieces_in_parallel_are_used_in_order_and_leave_one_thread_to_each():
    used, seen = [], []

    def work(piece):
        seen.append(set(threads()))
        in_parallel(lambda inner: seen.append(threading.get_ident()), range(2), lambda nothing: None)
        time.sleep(0.01 * (piece % 3))
        return threading.get_ident(), piece

    with threadpool_limits(2, user_api="blas"):
        for context in (nullcontext, few_threads):
            with context():
                in_parallel(work, range(20), used.append)
        assert threads() == [2] * len(threads())
    assert [piece for _, piece in used] == [*range(20), *range(20)]
    assert all(each == {1} for each in seen if isinstance(each, set))
    assert len({ident for ident, _ in used}) > 1


def test_an_error_in_a_piece_is_that_of_the_whole():
    def work(piece):
        return 1 / (piece - 3)

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with pytest.raises(ZeroDivisionError):
            in_parallel(work, range(20), lambda found: None)
        assert threads() == before


def test_a_kernel_machine_does_not_depend_on_the_number_of_threads():
    X, y, _ = make_sinc2d(6000, 0.1, random_state=0)
    evidence = []
    for number in (1, 2):
        with threadpool_limits(number, user_api="blas"):
            evidence.append(RelevanceVectorRegressor(gamma=0.16).fit(X, y).log_evidence_)
    assert evidence[0] == pytest.approx(evidence[1], rel=1e-12)
