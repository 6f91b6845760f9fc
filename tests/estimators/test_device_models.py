"""Models fitted to arrays of every library, in the hands of what works on the host: texts, pictures, exports."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from sparsebayes._array import to_numpy
from sparsebayes.export import export_c, to_json, to_onnx
from sparsebayes.inspection import PartialDependenceDisplay, PITDisplay, ReliabilityDisplay, WeightsDisplay
from sparsebayes.reports import report

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
F = 2 * X[:, 2] - X[:, 1]
Y = F + 0.3 * RNG.standard_normal(60)
LABELS = (F + RNG.logistic(size=60) > 0).astype(np.int64)
REGRESSORS = [
    (SparseBayesRegressor(), Y),
    (SparseBayesRegressor(), np.column_stack([Y, F + 0.3 * RNG.standard_normal(60)])),
    (SparseBayesRegressor(joint=False), np.column_stack([Y, X[:, 0] + Y])),
    (RelevanceVectorRegressor(gamma=0.1), Y),
]
CLASSIFIERS = [
    (SparseBayesClassifier(), LABELS),
    (SparseBayesClassifier(prior="bic"), np.digitize(Y, [-1.0, 1.0])),
    (RelevanceVectorClassifier(gamma=0.1), LABELS),
]
not_jax = pytest.mark.parametrize("backend", ["numpy", "array-api-strict", "torch", "cupy"], indirect=True)


@pytest.fixture(autouse=True)
def _dispatch():
    with sklearn.config_context(array_api_dispatch=True):
        yield
    plt.close("all")


def _fitted(model, y, backend):
    """The model of arrays of a library, and that of NumPy arrays."""
    return clone(model).fit(backend.asarray(X), backend.asarray(y)), clone(model).fit(X, y)


@not_jax
@pytest.mark.parametrize(("model", "y"), REGRESSORS + CLASSIFIERS)
def test_texts_are_those_of_the_host(backend, model, y):
    mine, plain = _fitted(model, y, backend)
    assert repr(mine) == repr(plain)
    assert str(mine.summary()) == str(plain.summary())
    assert mine.formula(precision=5) == plain.formula(precision=5)
    assert to_json(mine)[:300] == to_json(plain)[:300]


@not_jax
@pytest.mark.parametrize(("model", "y"), REGRESSORS[:3] + CLASSIFIERS[:1])
def test_exports_agree_with_the_model(backend, model, y, tmp_path):
    mine, _ = _fitted(model, y, backend)
    assert export_c(mine, tmp_path / "model.c", X_sample=backend.asarray(X), verbose=False).error < 1e-9
    pytest.importorskip("onnx")
    assert to_onnx(mine, verbose=False).graph.node


@not_jax
def test_pictures_of_a_regression(backend):
    mine, plain = _fitted(*REGRESSORS[0], backend)
    rows, y = backend.asarray(X), backend.asarray(Y)
    np.testing.assert_allclose(
        PITDisplay.from_estimator(mine, rows, y).pit, PITDisplay.from_estimator(plain, X, Y).pit, atol=1e-9
    )
    found, expected = (PartialDependenceDisplay.from_estimator(*each) for each in ((mine, rows), (plain, X)))
    np.testing.assert_allclose(np.stack(found.mean), np.stack(expected.mean), atol=1e-9)


@not_jax
@pytest.mark.parametrize("steps", [(), ("passthrough",)])
def test_pictures_of_a_classification(backend, steps):
    mine, plain = _fitted(make_pipeline(*steps, CLASSIFIERS[0][0]), LABELS, backend)
    rows, y = backend.asarray(X), backend.asarray(LABELS)
    found, expected = (ReliabilityDisplay.from_estimator(*each) for each in ((mine, rows, y), (plain, X, LABELS)))
    np.testing.assert_allclose(found.probability, expected.probability, atol=1e-9)
    WeightsDisplay.from_estimator(mine)


@not_jax
@pytest.mark.parametrize(("model", "y"), [REGRESSORS[0], CLASSIFIERS[0]])
def test_reports(backend, model, y):
    mine, _ = _fitted(model, y, backend)
    assert len(report(mine, backend.asarray(X), backend.asarray(y)).html) > 10_000


@not_jax
@pytest.mark.parametrize("chunked", [False, True])
def test_rows_in_pieces_keep_their_kind(backend, chunked):
    pieces = [(backend.asarray(X[part]), backend.asarray(Y[part])) for part in (slice(20), slice(20, None))]
    plain = SparseBayesRegressor().fit(X, Y)
    mine = SparseBayesRegressor()
    if chunked:
        mine.fit(iter(pieces))
    else:
        for rows, targets in pieces:
            mine.partial_fit(rows, targets)
    assert mine.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
    predicted = mine.predict(backend.asarray(X))
    assert backend.is_own(predicted)
    assert backend.is_own(mine.coef_)
    np.testing.assert_allclose(to_numpy(predicted), plain.predict(X), rtol=1e-8)


@not_jax
def test_rows_in_pieces_are_of_one_kind(backend):
    if backend.name == "numpy":
        pytest.skip("one kind")
    model = SparseBayesRegressor().partial_fit(backend.asarray(X), backend.asarray(Y))
    with pytest.raises(ValueError, match=r"partial_fit\(\) must use the same namespace and device"):
        model.partial_fit(X, Y)


@pytest.mark.parametrize("rows", [X.tolist(), X])
def test_labels_of_pandas(rows):
    labels = np.where(LABELS > 0, "yes", "no")
    model = SparseBayesClassifier().fit(rows, pd.Categorical(labels))
    assert model.classes_.tolist() == ["no", "yes"]


class TestTensors:
    """What only torch has: derivatives, 16 bits without a NumPy type, sparse tensors, tensors without values."""

    torch = pytest.importorskip("torch")

    @pytest.fixture(autouse=True, params=[False, True])
    def _with_and_without(self, request):
        with sklearn.config_context(array_api_dispatch=request.param):
            yield

    @pytest.mark.parametrize("model", [SparseBayesRegressor(), RelevanceVectorRegressor(gamma=0.1)])
    def test_targets_and_weights_with_derivatives(self, model):
        rows, y = self.torch.as_tensor(X), self.torch.as_tensor(Y)
        weights = self.torch.ones(60, requires_grad=True)
        found = clone(model).fit(rows, y.clone().requires_grad_(), weights)
        assert found.log_evidence_ == pytest.approx(clone(model).fit(X, Y).log_evidence_, rel=1e-8)

    def test_sixteen_bits(self):
        rows, y = self.torch.as_tensor(X), self.torch.as_tensor(Y).to(self.torch.bfloat16)
        found = SparseBayesRegressor().fit(rows, y)
        expected = SparseBayesRegressor().fit(X, y.to(self.torch.float64).numpy())
        assert found.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-8)
        labels = self.torch.as_tensor(LABELS).to(self.torch.bfloat16)
        assert to_numpy(SparseBayesClassifier().fit(rows, labels).classes_).tolist() == [0, 1]

    @pytest.mark.parametrize("place", ["X", "y"])
    @pytest.mark.parametrize("convert", ["to_sparse", "meta"])
    def test_tensors_without_values_are_refused(self, convert, place):
        columns = self.torch.as_tensor(np.column_stack([Y, Y]))
        given = {"X": self.torch.as_tensor(X), "y": columns}
        given[place] = given[place].to("meta") if convert == "meta" else getattr(given[place], convert)()
        with pytest.raises(TypeError, match=f"^{place} must be a dense array that holds its values, got a tensor"):
            SparseBayesRegressor().fit(**given)

    def test_complex_labels_are_refused(self):
        with pytest.raises(ValueError, match=r"y must hold real numbers|Complex data not supported"):
            SparseBayesClassifier().fit(self.torch.as_tensor(X), self.torch.as_tensor(LABELS + 0j))
