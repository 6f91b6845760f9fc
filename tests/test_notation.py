"""docs/notation.md is true: every identifier in its tables exists and has the shape stated there."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import sparsebayes
from sparsebayes import Gamma, GeneralizedNormal, Laplace, Multinomial, RationalQuadratic, Smoothness, Uniform
from sparsebayes.bases import as_operator
from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.laplace.mode import Modes
from sparsebayes.laplace.rows import LaplaceRows
from sparsebayes.rows.known_noise import KnownNoise
from sparsebayes.rows.memory import summarise

PAGE = Path(__file__).parents[1] / "docs" / "notation.md"
N, M, S, D, K = 30, 17, 4, 2, 5
P = D + 1  # a scale for each input, and another
CANDIDATES = [3, 20, 21, 22, 40, 60, 84]  # those that are active in the model of the classes


def table_rows():
    """(identifier, shape) for every identifier in a table of the page."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[-1] != "shape" and not cells[-1].startswith("--"):
            for identifier in re.findall(r"`([^`]+)`", " ".join(cells[2:-1])):
                yield identifier, cells[-1]


@pytest.fixture(scope="module")
def live():
    """For the name of every class on the page, its objects, each with the sizes that are special to it."""
    found = {}
    for each, sizes in [*regression(), *classification()]:
        for cls in type(each).__mro__:
            found.setdefault(cls.__name__, []).append((each, sizes))
    return found


def regression():
    """Objects of a regression with M, N, S and d all different, and one output."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((N, M))
    t = Phi[:, :S] @ np.arange(2.0, 2 + S) + 0.1 * rng.standard_normal(N)
    quadratic, units = summarise(as_operator(Phi), t, center=True)
    state = Problem(quadratic, Uniform(), GaussianNoise(100.0), units.unit).start(range(S), np.ones(S), 100.0)
    result = sparsebayes.fit(Phi, t, prior="ric")
    X = rng.uniform(-1, 1, (N, D))
    model = sparsebayes.RelevanceVectorRegressor().fit(X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(N))
    bound = RationalQuadratic([1.0] * D).bind(X)
    one = {"K": 1, "C": M, "r": 1}
    for each in (quadratic, units, state, state.active, state.scores):
        yield each, {"S": S, **one}
    for each in (result, result.certificate, result.candidates):
        yield each, {"S": len(result.active), **one}
    yield model, {"S": len(model.relevance_)}
    columns = sparsebayes.SparseBayesRegressor(prior="ric").fit(Phi, t)
    yield columns, {"S": len(columns.relevance_)}
    specifications = (Smoothness(1.0), Gamma(1.0, 1.0), Laplace(1.0), GaussianNoise(1.0), GeneralizedNormal(4.0, 1.0))
    for each in (KnownNoise(np.ones(N), np.ones(N)), bound, bound.kernel, *specifications):
        yield each, one


def classification():
    """Objects of a classification with K and r different from the other sizes too."""
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (N, D)), np.arange(N) % K
    X[:, 0] += y
    Phi = np.exp(-((X[:, :1] - X[None, :M, 0]) ** 2))
    rows = LaplaceRows(as_operator(Phi), np.eye(K)[y], Multinomial(K), None, True)
    start = np.ones(len(CANDIDATES)), np.zeros(len(CANDIDATES)), rows.start()
    mode = Modes(rows, Uniform()).find(np.asarray(CANDIDATES), *start)
    linear = rows.linearise(rows.everything(), mode.expansion)
    result = sparsebayes.fit(Phi, y, likelihood="multinomial")
    model = sparsebayes.RelevanceVectorClassifier().fit(X, y)
    several = {"K": K, "C": K * M, "r": K - 1}
    for each in (rows, rows.likelihood, mode, linear.expansion, linear):
        yield each, {"S": len(CANDIDATES), **several}
    for each in (result, result.certificate, result.candidates):
        yield each, {"S": len(result.mean), **several}
    yield model, {"S": len(model.terms_), "V": len(model.relevance_), **several}
    columns = sparsebayes.SparseBayesClassifier().fit(Phi, y)
    yield columns, {"S": len(columns.terms_), "V": len(columns.relevance_), **several}


def test_the_page_has_tables():
    assert len(set(table_rows())) > 130


def test_no_identifier_is_listed_twice_in_a_table_or_with_two_shapes():
    identifiers = [identifier for identifier, _ in table_rows()]
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize(("identifier", "shape"), sorted(set(table_rows())))
def test_identifier_exists_and_has_its_shape(identifier, shape, live):
    argument = re.fullmatch(r"fit\((\w+)\)", identifier)
    if argument:
        assert argument[1] in inspect.signature(sparsebayes.fit).parameters
        return
    owner, name = identifier.split(".")
    for each, special in live[owner]:
        value = getattr(each, name)
        if shape == "method":
            assert callable(value)
        elif shape == "scalar":
            assert np.ndim(value) == 0
            float(value)
        else:
            sizes = {"N": N, "M": M, "d": D, "2": 2, "P": P, **special}
            assert np.shape(value) == tuple(sizes[size] for size in re.findall(r"[NMSd2KCrVP]", shape))
