"""The representation of a fitted estimator: scikit-learn's, and one line on the fit."""

import pickle
import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import ARDRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from sparsebayes import (
    RBF,
    Columns,
    GeneralizedNormal,
    LinearSpline,
    NoiseCollapseWarning,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    WaveletDenoiser,
)

MODELS = [
    RelevanceVectorRegressor(gamma=0.5),
    SparseBayesRegressor(prior="bic"),
    RelevanceVectorClassifier(gamma=0.5),
    SparseBayesClassifier(prior="bic"),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


def _fitted(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = 2 * X[:, 0] + 1.5 * rng.standard_normal(60)
    return clone(model).fit(X, y > 0 if hasattr(model, "class_weight") else y)


@every_model
def test_line_of_a_fitted_model(model):
    fitted = _fitted(model)
    plain, line = repr(fitted).split("  # ")
    assert plain == repr(model) == repr(clone(fitted))
    total, kind = (60, "functions") if hasattr(model, "kernel") else (3, "columns")
    start = f"fitted: {len(fitted.relevance_)} of {total} {kind}, log evidence {fitted.log_evidence_:.2f}, "
    if hasattr(fitted, "classes_"):
        assert line == start + "2 classes, certified local maximum"
    else:
        assert line == start + f"noise std {fitted.noise_variance_**0.5:.3g}, certified local maximum"
    assert str(fitted) == repr(fitted)
    assert "\n" not in repr(fitted)


def test_line_of_a_denoiser():
    x = np.random.default_rng(0).standard_normal((2, 64)).cumsum(axis=1)
    single, batch = (WaveletDenoiser("haar", shifts=1) for _ in range(2))
    assert repr(single) == "WaveletDenoiser(shifts=1, wavelet='haar')"
    single.fit(x[0])
    line = (
        f"fitted: {single.n_active_} of {single.coef_.size} coefficients, noise std {single.noise_variance_**0.5:.3g}"
    )
    assert repr(single) == f"WaveletDenoiser(shifts=1, wavelet='haar')  # {line}"
    low, high = sorted(batch.fit(x).n_active_)
    assert f"fitted: {low} to {high} of {single.coef_.size} coefficients" in repr(batch)


def test_line_of_separate_outputs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    model = SparseBayesRegressor(joint=False).fit(X, X[:, :2] + 0.1 * rng.standard_normal((60, 2)))
    assert all(each.certificate_.is_local_maximum for each in model.estimators_)
    assert repr(model).endswith("certified local maximum")


@every_model
def test_unfitted_representation_is_that_of_scikit_learn(model):
    changed = "gamma=0.5" if hasattr(model, "kernel") else "prior='bic'"
    assert repr(model) == f"{type(model).__name__}({changed})"
    with config_context(print_changed_only=False):
        assert "max_iter=10000" in repr(model)
    with config_context(display="diagram"):
        assert "sparsebayes-summary" not in model._repr_html_()


@every_model
def test_line_in_html(model):
    fitted = _fitted(model)
    line = repr(fitted).split("  # ")[1]
    with config_context(display="diagram"):
        shown = fitted._repr_html_()
        bundle = fitted._repr_mimebundle_()
    plain, appended = re.fullmatch(r"(.*</(?:body|div)>)<div[^>]*>([^<]*)</div>", shown, re.S).groups()
    assert appended == line
    assert "sk-container" in plain
    assert line in bundle["text/html"]
    assert bundle["text/plain"] == repr(fitted)
    assert "sk-container" in estimator_html_repr(fitted)
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert fitted._repr_mimebundle_() == {"text/plain": repr(fitted)}


@every_model
def test_copies(model):
    fitted = _fitted(model)
    assert repr(pickle.loads(pickle.dumps(fitted))) == repr(fitted)
    assert "#" not in repr(clone(fitted))


def test_long_representations_are_broken_into_lines_as_before():
    kernel = RBF(gamma=0.5) + Columns(degree=2) + LinearSpline()
    model = RelevanceVectorRegressor(kernel, prior=["bic", "bic", "ric"], solver="active-set", tol=1e-5)
    assert max(map(len, repr(model).split("\n"))) <= 80
    fitted = _fitted(model)
    assert repr(fitted).startswith(repr(model) + "  # fitted: ")
    pipelines = [repr(make_pipeline(StandardScaler(), each)) for each in (model, fitted)]
    assert pipelines[0] == pipelines[1]
    assert pipelines[0].count("\n") >= 6
    other = repr(make_pipeline(StandardScaler(), ARDRegression()))
    assert other.endswith("StandardScaler()),\n                ('ardregression', ARDRegression())])")


def test_noise_that_is_not_gaussian():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    y = X[:, 0] + rng.uniform(-1, 1, 100)
    model = SparseBayesRegressor(likelihood=GeneralizedNormal(4)).fit(X, y)
    assert f"noise std {model.noise_variance_**0.5:.3g} of shape 4, " in repr(model)


def test_fits_that_are_not_certified():
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.warns(NoiseCollapseWarning):
        model = SparseBayesRegressor().fit(X, X[:, 0])
    assert repr(model).endswith(", noise collapsed to its floor")
    model = RelevanceVectorRegressor(callback=lambda progress: True)
    model.fit(X, np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(1).standard_normal(30))
    assert repr(model).endswith(", not converged")


def test_partial_fit_without_a_model_yet():
    model = SparseBayesRegressor()
    model.partial_fit(np.ones((2, 1)), [1.0, 1.0])
    assert repr(model) == "SparseBayesRegressor()"


def test_the_number_of_outputs_is_said():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    Y = np.stack([X.sum(1), X[:, 0] ** 2], axis=1) + 0.1 * np.random.default_rng(1).standard_normal((30, 2))
    assert ", 2 outputs, " in repr(RelevanceVectorRegressor().fit(X, Y))
    assert ", 2 outputs, " in repr(SparseBayesRegressor(joint=False).fit(X, Y))
    assert "outputs" not in repr(RelevanceVectorRegressor().fit(X, Y[:, 0]))
