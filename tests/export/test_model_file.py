"""Model files: what `load` gives is what `save` was given, to the last bit."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
import pywt
import scipy.sparse
from sklearn.base import clone
from stored_models import EXAMPLES, example

import sparsebayes
from sparsebayes.export._foreign import is_foreign

METHODS = {
    "predict": [{}, {"return_std": True}, {"return_cov": True}, {"parts": [0]}],
    "predict_proba": [{}],
    "predict_log_proba": [{}],
    "decision_function": [{}],
    "predict_interval": [{"level": 0.8}],
    "sample_y": [{"n_samples": 3, "random_state": 5}],
    "transform": [{}, {"return_std": True}],
    "get_feature_names_out": [{}],
    "summary": [{}],
    "formula": [{}],
}
WITHOUT_ROWS = ("get_feature_names_out", "summary", "formula")


def stored(model):
    file = io.BytesIO()
    sparsebayes.save(model, file)
    return file.getvalue()


def reloaded(model):
    return sparsebayes.load(io.BytesIO(stored(model)))


def assert_identical(a, b, path=""):
    """Equal types, values, dtypes and orders in memory, all the way down."""
    assert type(a) is type(b), path
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), path
        if min(a.strides, default=1) > 0 and a.size > 1 and (a.flags.c_contiguous or a.flags.f_contiguous):
            assert (a.flags.c_contiguous, a.flags.f_contiguous) == (b.flags.c_contiguous, b.flags.f_contiguous), path
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes(), path
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), path
        for k, pair in enumerate(zip(a, b, strict=True)):
            assert_identical(*pair, f"{path}[{k}]")
    elif isinstance(a, dict):
        assert [*a] == [*b], path
        for key in a:
            assert_identical(a[key], b[key], f"{path}[{key!r}]")
    elif isinstance(a, pywt.Wavelet):
        assert a.filter_bank == b.filter_bank
    elif hasattr(a, "__dict__") and not isinstance(a, np.generic):
        cached = {name for name in vars(a) if hasattr(getattr(type(a), name, None), "func")}
        assert vars(a).keys() - cached == vars(b).keys() - cached, path
        for name in vars(a).keys() - cached:
            assert_identical(vars(a)[name], vars(b)[name], f"{path}.{name}")
    else:
        assert a == b or (a != a and b != b), path


def outcome(model, method, X, arguments):
    """What a method returns, or the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = getattr(model, method)(*([] if method in WITHOUT_ROWS else [X]), **arguments)
            if method in ("summary", "formula"):
                return str(found)
            return found.toarray() if scipy.sparse.issparse(found) else found
        except (AttributeError, TypeError, ValueError) as error:
            return type(error), str(error)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_stored_model_is_the_model(name):
    model, X = example(name).model, example(name).X
    same = reloaded(model)
    assert repr(same) == repr(model)
    if "transformer" not in name:  # those of skops are rebuilt by skops
        assert_identical(model, same)
    for method, calls in METHODS.items():
        for arguments in calls:
            expected = outcome(model, method, X, arguments)
            assert_identical(expected, outcome(same, method, X, arguments), f"{method} {arguments}")


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ("pipeline", "transformer")])
def test_a_loaded_model_is_stored_in_the_same_bytes(name):
    data = stored(example(name).model)
    assert stored(sparsebayes.load(io.BytesIO(data))) == data


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_model_that_is_not_fitted(name):
    model = clone(example(name).model)
    same = reloaded(model)
    assert repr(same) == repr(model)
    assert is_foreign(model) == is_foreign(same)
    assert not hasattr(same, "_fitted")


def test_objects_that_are_shared_stay_shared():
    same = reloaded(example("variance posterior None").model)
    assert same._fitted.result is same._error_bars.result
    assert same.alpha_ is same._fitted.result.alpha
