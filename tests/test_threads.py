"""Few rows are fitted with one thread of BLAS, and the number of threads is as before afterwards."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesRegressor
from sparsebayes._threads import FEW_ROWS


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


def test_many_rows_are_fitted_with_all_threads():
    seen, rng = [], np.random.default_rng(0)
    X = rng.standard_normal((FEW_ROWS + 1, 3))
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        SparseBayesRegressor(callback=lambda progress: seen.append(threads()) and None).fit(X, X[:, 0] + X[:, 1] ** 2)
    assert all(each == before for each in seen)
    assert seen
