"""Kinds of data: sparse, on disk, in chunks, by `partial_fit`, of other array libraries; and `select`."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import api
import array_api_strict
import numpy as np
import pandas as pd
import scipy.sparse
import sklearn
from cases import (
    QUERIES,
    Record,
    add,
    classes,
    columns,
    fits_columns,
    of_classifier,
    of_regressor,
    of_result,
    sinc,
    two_classes,
    wide,
)

from sparsebayes import RBF, Columns, LinearSpline

FEW, FEWER = 0.1, 0.02  # MiB: room for the statistics of the columns, and not even that


def tall(n=240, m=25):
    """Rows for several chunks."""
    return columns(n, m, seed=12)


COUNTS = np.random.default_rng(13).integers(0, 3, 240).astype(float)


def chunks(X, y, weights=None, size=70):
    """The rows in chunks."""
    arrays = [X, y] if weights is None else [X, y, weights]
    return [tuple(array[start : start + size] for array in arrays) for start in range(0, len(y), size)]


def zeros(m=40, density=0.15, sparse=scipy.sparse.csr_array):
    """Columns of mostly zeros."""
    rng = np.random.default_rng(14)
    X, queries = (rng.standard_normal((n, m)) * (rng.random((n, m)) < density) for n in (160, QUERIES))
    y = X[:, [1, 7, 20]] @ [3.0, -2.0, 2.5] + 1 + 0.2 * rng.standard_normal(160)
    return sparse(X), y, sparse(queries)


def hard(kind):
    """Columns that repeat one another, are constant, vary next to a large mean, or differ in scale."""
    X, y, queries = columns(90, 12, seed=15)
    for rows in (X, queries):
        if kind == "repeated":
            rows[:, 5:9] = rows[:, :4] * [1.0, -1.0, 3.0, 1 + 1e-12]
        if kind == "constant":
            rows[:, [2, 6]] = [4.0, 0.0]
        if kind == "offset":
            rows += 1e5
        if kind == "units":
            rows *= 10.0 ** np.arange(-6, 6)
    return X, y, queries


def exact():
    """Targets without noise."""
    X, _, queries = columns()
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 1.0, queries


def framed():
    """Tables with names."""
    X, y, queries = columns()
    names = [f"x{k}" for k in range(20)]
    return pd.DataFrame(X, columns=names), pd.Series(y), pd.DataFrame(queries, columns=names)


def chunked(name, source, **options):
    """A `SparseBayesRegressor` of chunks."""

    def record() -> Record:
        X, y, queries = tall()
        return of_regressor(api.linear_regressor(**options).fit(source(X, y)), queries)

    add(name, record)


def streamed(name, weights=None, **options):
    """A `SparseBayesRegressor` by `partial_fit`."""

    def record() -> Record:
        X, y, queries = tall()
        model = api.linear_regressor(**options)
        for chunk in chunks(X, y, weights):
            model.partial_fit(*chunk)
        return of_regressor(model, queries)

    add(name, record)


def mapped(name, memory, dtype=np.float64, functional=False, weights=None, **options):
    """Rows on disk, with so much working memory."""

    def record() -> Record:
        X, y, queries = tall()
        with tempfile.TemporaryDirectory() as folder, sklearn.config_context(working_memory=memory):
            path = Path(folder) / "X.npy"
            np.save(path, X.astype(dtype))
            rows = np.load(path, mmap_mode="r")
            if functional:
                return of_result(api.fit(rows, y, sample_weight=weights, **options), queries)
            return of_regressor(api.linear_regressor(**options).fit(rows, y, weights), queries)

    add(name, record)


def functional(name, data, convert, **options):
    """`fit` on another kind of array."""

    def record() -> Record:
        Phi, t, queries = data()
        return of_result(api.fit(convert(Phi), convert(t) if convert is strict else t, **options), convert(queries))

    add(name, record)


def strict(values):
    """An array that allows nothing but the standard."""
    return array_api_strict.asarray(values)


fits_columns("columns dense", columns)
fits_columns("columns dense, no intercept", columns, fit_intercept=False)
fits_columns("columns by columns", lambda: (np.asfortranarray(columns()[0]), *columns()[1:]))
fits_columns("columns float32", lambda: (columns()[0].astype(np.float32), *columns()[1:]))
fits_columns("columns table", framed)
fits_columns("columns weights", columns, weights=np.arange(150) % 3 * 1.0)
fits_columns("columns fewer rows, no intercept", partial(wide, 40, 125), fit_intercept=False, prior="ric")
fits_columns("columns two rows", partial(columns, 2, 5))
fits_columns("columns that reproduce the targets, noise collapses", exact)
fits_columns("columns five", partial(columns, 50, 5, seed=16))
for kind in ("repeated", "constant", "offset", "units"):
    fits_columns(f"columns {kind}", partial(hard, kind))
    fits_columns(f"columns {kind}, bic, no intercept", partial(hard, kind), prior="bic", fit_intercept=False)
for sparse in (scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.coo_matrix):
    fits_columns(f"columns {sparse.__name__}", partial(zeros, sparse=sparse))
fits_columns("columns sparse, no intercept", zeros, fit_intercept=False, prior="bic")
fits_columns("columns sparse, weights", zeros, weights=np.arange(160) % 3 * 1.0)
fits_columns("columns sparse, many", partial(zeros, 700, 0.03), prior="bic")
fits_columns("columns sparse, sequential", zeros, solver="sequential")

chunked("chunks list", chunks)
chunked("chunks iterator, weights", lambda X, y: iter(chunks(X, y, COUNTS)))
chunked("chunks sparse", lambda X, y: [(scipy.sparse.csr_array(part), t) for part, t in chunks(X, y)])
chunked("chunks list, no intercept, ric", chunks, fit_intercept=False, prior="ric")
chunked("chunks list, noise prior, mackay", chunks, noise_prior=(2.0, 0.3), solver="mackay")
streamed("partial_fit")
streamed("partial_fit, weights, bic", COUNTS, prior="bic")
streamed("partial_fit, no intercept", fit_intercept=False)
mapped("on disk, statistics", FEW)
mapped("on disk, passes", FEWER)
mapped("on disk, passes, weights, bic", FEWER, weights=COUNTS, prior="bic")
mapped("on disk, passes, no intercept, sequential", FEWER, fit_intercept=False, solver="sequential")
mapped("on disk, float32", FEW, np.float32)
mapped("on disk, held", 100.0)
mapped("on disk, functional, statistics", FEW, functional=True, fit_intercept=True)
mapped("on disk, functional, passes", FEWER, functional=True, fit_intercept=False, prior="bic")
for name, convert in {"strict": strict, "sparse": scipy.sparse.csr_array}.items():
    functional(f"functional {name}", columns, convert, fit_intercept=True)
    functional(f"functional {name}, no intercept, bic", columns, convert, prior="bic")
    functional(f"functional {name}, more columns than rows", wide, convert, prior="ric")
functional("functional strict, mackay", columns, strict, solver="mackay", fit_intercept=True)
functional("functional strict, sequential", columns, strict, solver="sequential", fit_intercept=True)
functional("functional strict, noise shape", partial(columns, 120, 6), strict, noise_shape=4.0, fit_intercept=True)


def functional_chunks() -> Record:
    """`fit` on an iterable of chunks."""
    X, y, queries = tall()
    return of_result(api.fit(chunks(X, y, COUNTS), fit_intercept=True), queries)


add("functional chunks, weights", functional_chunks)


def chosen(X, y, candidates, by, queries, record) -> Record:
    """What `select` finds: the order of the candidates, their scores, and the model that is first."""
    best, order, scores = api.select(X, y, candidates, by)
    return record(best, queries) | {f"select_{key}": scores[key] for key in scores} | {"order": order}


def regressors(by) -> Record:
    """`select` among regressors."""
    X, y, queries = sinc()
    bases = [RBF(0.1), LinearSpline(), RBF(0.1) + Columns(degree=2), RBF(3.0)]
    candidates = [api.regressor(basis, prior=prior) for basis in bases for prior in ("uniform", "bic")]
    candidates.append(("shaped", api.regressor(gamma=0.1, noise_shape=4.0)))
    return chosen(X, y, candidates, by, queries, of_regressor)


def classifiers(by, k) -> Record:
    """`select` among classifiers."""
    X, y, queries = two_classes() if k == 2 else classes(k)
    candidates = [api.classifier(gamma=gamma) for gamma in (0.3, 1.0, 10.0)]
    candidates.append(api.classifier("linear-spline", class_weight="balanced"))
    return chosen(X, y, candidates, by, queries, of_classifier)


for by in ("evidence", "loo"):
    add(f"select regressors by {by}", partial(regressors, by))
    for k in (2, 3):
        add(f"select classifiers by {by}, {k} classes", partial(classifiers, by, k))
add(
    "select linear regressors",
    lambda: chosen(
        *columns()[:2],
        [api.linear_regressor(prior=prior) for prior in ("uniform", "aic", "ric")],
        "evidence",
        columns()[2],
        of_regressor,
    ),
)
