"""Models fitted to arrays of other libraries are exported, stored and used as those fitted to NumPy's."""

import io

import numpy as np
import pytest
import sklearn

import sparsebayes
from sparsebayes import RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor
from sparsebayes.export import export_c, export_onnx, to_json

# JAX compiles every operation anew for every size, which takes long on a processor
not_jax = pytest.mark.parametrize("backend", ["array-api-strict", "torch", "cupy"], indirect=True)
MODELS = [
    RelevanceVectorRegressor(),
    RelevanceVectorRegressor(gamma=0.3, variance="augmented"),
    SparseBayesRegressor(),
    RelevanceVectorClassifier(),
    RelevanceVectorClassifier(gamma=0.5),
    SparseBayesClassifier(),
]


@not_jax
@pytest.mark.parametrize("dispatch", [True, False])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_models_of_devices(model, dispatch, backend, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    y = y if isinstance(model, (RelevanceVectorRegressor, SparseBayesRegressor)) else (y > 0).astype(np.int64)
    with sklearn.config_context(array_api_dispatch=True):
        model = sklearn.base.clone(model).fit(backend.asarray(X), backend.asarray(y))
    with sklearn.config_context(array_api_dispatch=dispatch):
        assert export_c(model, tmp_path / "model.c", verbose=False).error < 1e-9
        assert export_onnx(model, tmp_path / "model.onnx", verbose=False).error < 1e-9
        assert "weights" in to_json(model)
        described = f"{model!r} {model.summary()} {model.formula()}"
    assert type(backend.asarray(X)).__name__.lower() + "(" not in described
    file = io.BytesIO()
    sparsebayes.save(model, file)
    np.testing.assert_array_equal(sparsebayes.load(io.BytesIO(file.getvalue())).predict(X), model.predict(X))
