"""Models as JSON: a reader in plain Python, from the documented schema alone, predicts what the model predicts."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from stored_models import EXAMPLES, example

from sparsebayes import RelevanceVectorRegressor, SparseRecovery
from sparsebayes.bases import Kernel
from sparsebayes.bases.kernels.contract import CentredBasis
from sparsebayes.export import to_json
from sparsebayes.export._registry import words
from sparsebayes.export.json_export import PARAMETERS

NO_FORMULA = ("signals", "orthonormal", "matrix", "matrix by name", "transformer")
OTHER = ("pipeline", "pipeline of own", "pipeline of a table")
READABLE = [
    name
    for name in EXAMPLES
    if name not in (*NO_FORMULA, *OTHER) and not name.startswith(("recovery", "denoiser", "likelihoods"))
]


# -- a reader


def kernel(k, x, z):
    """The value of a kernel at two points, both lists of numbers."""
    name, pairs = k["name"], list(zip(x, z, strict=True))
    squares = sum(g * (a - b) ** 2 for g, (a, b) in zip(k.get("gamma", []), pairs, strict=False))
    dot = sum(g * a * b for g, (a, b) in zip(k.get("gamma", [1.0] * len(x)), pairs, strict=True))
    if name == "RBF":
        return math.exp(-squares)
    if name == "Laplacian":
        return math.exp(-sum(g * abs(a - b) for g, (a, b) in zip(k["gamma"], pairs, strict=True)))
    if name == "Matern":
        s = math.sqrt(4 * k["nu"] * squares)
        return (1 + s if k["nu"] == 1.5 else 1 + s + s * s / 3) * math.exp(-s)
    if name == "RationalQuadratic":
        return (1 + squares / k["alpha"]) ** -k["alpha"]
    if name == "Periodic":
        each = zip(pairs, k["period"], k["width"], strict=True)
        return math.exp(-2 * sum((math.sin(math.pi * (a - b) / p) / r) ** 2 for (a, b), p, r in each))
    if name == "Polynomial":
        each = zip(k["gamma"], pairs, k["origin"], strict=True)
        return (sum(g * (a - o) * (b - o) for g, (a, b), o in each) + k["coef0"]) ** k["degree"]
    if name == "Sigmoid":
        return math.tanh(dot + k["coef0"])
    if name == "Linear":
        return dot
    if name == "Cosine":
        return dot / (math.hypot(*x) * math.hypot(*z))
    if name == "HistogramIntersection":
        return sum(min(a, b) for a, b in pairs)
    if name == "ThinPlateSpline":
        q = sum(((a - b) / r) ** 2 for (a, b), r in zip(pairs, k["width"], strict=True))
        return 0.5 * q * math.log(q) if q > 0 else 0.0
    if name in ("LinearSpline", "CubicSpline"):
        value = 1.0
        for (a, b), r, o in zip(pairs, k["width"], k["origin"], strict=True):
            value *= spline(name, (a - o) / r, (b - o) / r)
        return value
    values = [kernel(part, x, z) for part in k["parts"]]
    if name == "KernelProduct":
        return math.prod(values)
    assert name == "KernelSum"
    return sum(w * value for w, value in zip(k["weights"], values, strict=True))


def spline(name, a, b):
    low, c = min(a, b), abs(a - b)
    if name == "LinearSpline":
        return 1 + a * b + a * b * low - (a + b) / 2 * low**2 + low**3 / 3
    polynomial = 1 + a * b + (a * b) ** 2 + (a * b) ** 3
    return polynomial + low**4 * (low**3 / 7 + low**2 * c / 2 + 3 * low * c**2 / 5 + c**3 / 4)


def functions(content, x):
    """The values of all functions at a point."""
    values = []
    for part in content["parts"]:
        if part["kind"] == "kernel":
            values += [kernel(part["kernel"], x, z) for z in part["centres"]]
        else:
            values += [math.prod(x[k] - origin for k, origin in term) for term in part["terms"]]
    return [values[k] for k in content["order"]]


def outputs(content, x):
    """Φw + b of every output."""
    phi = functions(content["functions"], x)
    rows = zip(content["weights"], content["intercept"], strict=True)
    return [sum(w * v for w, v in zip(weights, phi, strict=True)) + b for weights, b in rows]


def standard_deviations(content, x):
    phi = functions(content["functions"], x)
    u = [v - c for v, c in zip(phi, content["centre"], strict=True)]
    spread = sum(a * row[k] * u[k] for a, row in zip(u, content["covariance"], strict=True) for k in range(len(u)))
    total = content["noise_variance"] + content["excess_variance"] + content["intercept_variance"] + spread
    return [s * math.sqrt(total) for s in content["output_scales"]]


def probabilities(content, x):
    f = outputs(content, x)
    if content["link"] == "logistic":
        p = 1 / (1 + math.exp(-f[0]))
        return [1 - p, p]
    powers = [math.exp(each - max(f)) for each in f]
    return [each / sum(powers) for each in powers]


# -- what it reads


def first_rows(X):
    """The first rows as the model takes them, and as lists of numbers."""
    rows = X.iloc[:5] if hasattr(X, "iloc") else X[:5]
    return rows, (rows.toarray() if scipy.sparse.issparse(rows) else np.asarray(rows)).tolist()


def of_outputs(content, function, x):
    """What a function says of each output, in the order of the outputs."""
    pairs = (zip(each["outputs"], function(each, x), strict=True) for each in content["models"])
    return np.asarray([value for _, value in sorted(pair for each in pairs for pair in each)])


@pytest.mark.parametrize("name", READABLE)
def test_a_reader_in_plain_python_predicts_the_same(name):
    model, X = copy.copy(example(name).model), example(name).X
    content = json.loads(to_json(model))
    rows, lists = first_rows(X)
    if content["kind"] == "classification":
        model.moderated = False
        found = [probabilities(content, x) for x in lists]
        np.testing.assert_allclose(found, model.predict_proba(rows), rtol=1e-9, atol=1e-12)
        return
    mean, std = model.predict(rows, return_std=True)
    scale = np.abs(mean).max()
    found = [of_outputs(content, outputs, x) for x in lists]
    np.testing.assert_allclose(np.reshape(found, mean.shape), mean, rtol=1e-9, atol=1e-9 * scale)
    if all(each["error_bars"] == "posterior" for each in content["models"]):
        found = [of_outputs(content, standard_deviations, x) for x in lists]
        np.testing.assert_allclose(np.reshape(found, std.shape), std, rtol=1e-7)


def test_every_kernel_has_its_parameters_listed():
    kernels = {cls for cls in words() if issubclass(cls, CentredBasis)} - {Kernel}
    assert kernels == set(PARAMETERS)
    for cls, names in PARAMETERS.items():
        known = {name for name in cls._get_param_names() if not name.endswith("_bounds")}
        radial = {"width"} if "gamma" in names else set()  # it is gamma once the kernel is bound
        assert set(names) == known - radial, cls


@pytest.mark.parametrize("name", NO_FORMULA)
def test_functions_without_a_formula_are_refused(name):
    with pytest.raises(ValueError, match="no formula for JSON"):
        to_json(example(name).model)


def test_other_estimators_are_refused():
    with pytest.raises(TypeError, match="model must be one of"):
        to_json(SparseRecovery())
    with pytest.raises(NotFittedError):
        to_json(RelevanceVectorRegressor())


def test_numbers_survive():
    model = example("variance posterior None").model
    content = json.loads(to_json(model, indent=2))
    assert content["models"][0]["covariance"] == model.covariance_.tolist()
    assert content["models"][0]["weights"] == [model._fitted.result.mean.tolist()]
