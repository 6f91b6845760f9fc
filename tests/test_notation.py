"""docs/notation.md is true: every identifier in its tables exists and has the shape stated there."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import sparsebayes
from sparsebayes.bases import as_operator
from sparsebayes.likelihoods import Gaussian
from sparsebayes.posterior import Problem, Scores
from sparsebayes.priors import Gamma, Laplace, Smoothness, Uniform
from sparsebayes.rows import summarise

PAGE = Path(__file__).parents[1] / "docs" / "notation.md"
N, M, S, D = 30, 17, 4, 2


def table_rows():
    """(identifier, shape) for every identifier in a table of the page."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[-1] != "shape" and not cells[-1].startswith("--"):
            for identifier in re.findall(r"`([^`]+)`", " ".join(cells[2:-1])):
                yield identifier, cells[-1]


@pytest.fixture(scope="module")
def live():
    """One object of every class the page names, with M, N, S and d all different."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((N, M))
    t = Phi[:, :S] @ np.arange(2.0, 2 + S) + 0.1 * rng.standard_normal(N)
    quadratic, scaling = summarise(as_operator(Phi), t)
    state = Problem(quadratic, Uniform(), Gaussian(100.0), scaling.unit).start(range(S), np.ones(S), 100.0)
    result = sparsebayes.fit(Phi, t, prior="ric")
    X = rng.uniform(-1, 1, (N, D))
    model = sparsebayes.RelevanceVectorRegressor().fit(X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(N))
    objects = [quadratic, scaling, state, state.active, Scores(state), result, result.certificate, model]
    objects += [Smoothness(1.0), Gamma(1.0, 1.0), Laplace(1.0), Gaussian(1.0)]
    names = {cls.__name__: each for each in objects for cls in type(each).__mro__}
    sizes = {"State": S, "Restriction": S, "Scores": S, "Result": len(result.active)}
    return names, {**sizes, "RelevanceVectorRegressor": len(model.relevance_)}


def test_the_page_has_tables():
    assert len(set(table_rows())) > 50


@pytest.mark.parametrize(("identifier", "shape"), sorted(set(table_rows())))
def test_identifier_exists_and_has_its_shape(identifier, shape, live):
    argument = re.fullmatch(r"fit\((\w+)\)", identifier)
    if argument:
        assert argument[1] in inspect.signature(sparsebayes.fit).parameters
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
        sizes = {"N": N, "M": M, "S": active.get(owner), "d": D, "2": 2}
        expected = tuple(sizes[size] for size in re.findall(r"[NMSd2]", shape))
        assert np.shape(value) == expected
