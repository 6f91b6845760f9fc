"""docs/notation.md is true: every identifier in its tables exists and has the shape stated there."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import sparsebayes
from sparsebayes.bases import RationalQuadratic, as_operator
from sparsebayes.inference.arguments import make_monitor
from sparsebayes.inference.laplace import LaplaceFit
from sparsebayes.likelihoods import Gaussian, GeneralizedNormal, Multinomial
from sparsebayes.posterior import Problem, Scores
from sparsebayes.priors import Gamma, Laplace, Smoothness, Uniform
from sparsebayes.rows import LaplaceRows, summarise
from sparsebayes.solvers import ActiveSet

PAGE = Path(__file__).parents[1] / "docs" / "notation.md"
N, M, S, D, K = 30, 17, 4, 2, 5
P = D + 1  # a scale for each input, and another
TERMS = [3, 20, 21, 22, 40, 60, 84]  # candidates in the model of the classes


def table_rows():
    """(identifier, shape) for every identifier in a table of the page."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[-1] != "shape" and not cells[-1].startswith("--"):
            for identifier in re.findall(r"`([^`]+)`", " ".join(cells[2:-1])):
                yield identifier, cells[-1]


@pytest.fixture(scope="module")
def live():
    """One object of every class the page names, and how many functions those that have any have."""
    objects, sizes = [], {}
    for part in (regression(), classification()):
        objects += part[0]
        sizes |= part[1]
    return {cls.__name__: each for each in objects for cls in type(each).__mro__}, sizes


def regression():
    """With M, N, S and d all different."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((N, M))
    t = Phi[:, :S] @ np.arange(2.0, 2 + S) + 0.1 * rng.standard_normal(N)
    quadratic, scaling = summarise(as_operator(Phi), t)
    state = Problem(quadratic, Uniform(), Gaussian(100.0), scaling.unit).start(range(S), np.ones(S), 100.0)
    result = sparsebayes.fit(Phi, t, prior="ric")
    X = rng.uniform(-1, 1, (N, D))
    model = sparsebayes.RelevanceVectorRegressor().fit(X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(N))
    objects = [quadratic, scaling, state, state.active, Scores(state), result, result.certificate, model]
    bound = RationalQuadratic([1.0] * D).bind(X)
    objects += [bound, bound.kernel, Smoothness(1.0), Gamma(1.0, 1.0), Laplace(1.0), Gaussian(1.0)]
    objects += [GeneralizedNormal(4.0, 1.0)]
    sizes = {"State": S, "Restriction": S, "Scores": S, "Result": len(result.active)}
    return objects, {**sizes, "RelevanceVectorRegressor": len(model.relevance_)}


def classification():
    """With K and r different from the other sizes too."""
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (N, D)), np.arange(N) % K
    X[:, 0] += y
    Phi = np.exp(-((X[:, :1] - X[None, :M, 0]) ** 2))
    rows = LaplaceRows(as_operator(Phi), np.eye(K)[y], Multinomial(K), None, True)
    loop = LaplaceFit(rows, Uniform(), ActiveSet(), make_monitor(100, 1e-6, 0, 0, None))
    mode = loop.find_mode(np.asarray(TERMS), np.ones(len(TERMS)), np.zeros(len(TERMS)), rows.start())
    linear = rows.linearise(rows.everything(), mode.linear.expansion)
    result = sparsebayes.fit_classes(Phi, y)
    model = sparsebayes.RelevanceVectorClassifier().fit(X, y)
    objects = [rows, rows.likelihood, mode, linear.expansion, linear, result, model]
    sizes = {"Mode": len(TERMS), "ClassificationResult": len(result.mean)}
    return objects, {**sizes, "RelevanceVectorClassifier": len(model.terms_)}


def test_the_page_has_tables():
    assert len(set(table_rows())) > 90


@pytest.mark.parametrize(("identifier", "shape"), sorted(set(table_rows())))
def test_identifier_exists_and_has_its_shape(identifier, shape, live):
    argument = re.fullmatch(r"(fit|fit_classes)\((\w+)\)", identifier)
    if argument:
        assert argument[2] in inspect.signature(getattr(sparsebayes, argument[1])).parameters
        return
    owner, name = identifier.split(".")
    objects, active = live
    value = getattr(objects[owner], name)
    if shape == "method":
        assert callable(value)
    elif shape == "scalar":
        assert np.ndim(value) == 0
        float(value)
    else:
        sizes = {"N": N, "M": M, "S": active.get(owner), "d": D, "2": 2, "K": K, "C": K * M, "r": K - 1}
        sizes["P"] = P
        sizes["V"] = len(getattr(objects[owner], "relevance_", []))
        expected = tuple(sizes[size] for size in re.findall(r"[NMSd2KCrVP]", shape))
        assert np.shape(value) == expected
