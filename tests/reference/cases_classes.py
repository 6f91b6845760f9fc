"""Classification: two classes and more, kernels and columns, solvers, priors, weights."""

from __future__ import annotations

from functools import partial

import api
import array_api_strict
import numpy as np
import scipy.sparse
from cases import (
    QUERIES,
    Record,
    add,
    classes,
    fits_labelled_columns,
    fits_labels,
    labelled_columns,
    of_classes,
    of_probabilities,
    two_classes,
)
from cases_kernels import inverse_multiquadric

from sparsebayes import RBF, Columns, Gamma, Laplace, LinearSpline, Matern, MultiScale, Smoothness


def precomputed():
    """The kernel matrix in place of the points."""
    X, y, queries = two_classes()
    return inverse_multiquadric(X, X), y, inverse_multiquadric(queries, X)


def named():
    """Labels that are words."""
    X, y, queries = classes(3)
    return X, np.asarray(["ash", "birch", "cedar"])[y], queries


def separable():
    """Two classes that a line divides."""
    X, y, queries = two_classes(60)
    X[:, 0] += 4.0 * y
    return X, y, queries


def unequal():
    """One class in ten."""
    X, y, queries = two_classes(200)
    keep = (y == 0) | (np.arange(200) % 9 == 0)
    return X[keep], y[keep], queries


def with_repeats():
    """Every row several times, on a coarse grid."""
    X, y, queries = two_classes(150)
    return X.round(1), y, queries


def sparse_columns(k=2):
    """Columns of mostly zeros."""
    rng = np.random.default_rng(21)
    X, queries = (rng.standard_normal((n, 30)) * (rng.random((n, 30)) < 0.3) for n in (200, QUERIES))
    y = (3 * X[:, :k] + rng.gumbel(size=(200, k))).argmax(axis=1)
    return scipy.sparse.csr_array(X), y, scipy.sparse.csr_array(queries)


def with_constant_column():
    """A column that does not vary and one that repeats the first."""
    X, y, queries = labelled_columns()
    for rows in (X, queries):
        rows[:, 5], rows[:, 6] = 2.0, -rows[:, 0]
    return X, y, queries


for name in (
    "rbf",
    "laplacian",
    "matern",
    "rational-quadratic",
    "poly",
    "linear",
    "sigmoid",
    "linear-spline",
    "cosine",
):
    fits_labels(f"classes kernel {name}", two_classes, name)
fits_labels("classes kernel precomputed", precomputed, "precomputed")
fits_labels("classes kernel callable", two_classes, inverse_multiquadric)
fits_labels("classes RBF + Columns", two_classes, RBF(1.0) + Columns(degree=2))
fits_labels("classes MultiScale", two_classes, MultiScale(RBF(1.0)))
fits_labels("classes LinearSpline * RBF, three", partial(classes, 3), LinearSpline() * RBF(0.1))
for k in (2, 3, 4):
    fits_labels(f"classes {k}", partial(classes, k), gamma=0.5)
    fits_labels(f"classes {k}, no intercept", partial(classes, k), gamma=0.5, fit_intercept=False)
    fits_labelled_columns(f"classes {k}, columns", partial(labelled_columns, k))
    fits_labelled_columns(
        f"classes {k}, columns, bic, no intercept",
        partial(labelled_columns, k),
        prior="bic",
        fit_intercept=False,
    )
for word in ("scale", "auto", [1.0, 0.2], "evidence", "ard"):
    fits_labels(f"classes gamma {word}", two_classes, gamma=word)
fits_labels("classes gamma ard, three", partial(classes, 3, d=3), gamma="ard")
fits_labels("classes gamma evidence, Matern, three", partial(classes, 3), "matern", gamma="evidence")
fits_labels("classes gamma ard, RBF + Columns", two_classes, RBF() + Columns(), gamma="ard")
fits_labels(
    "classes gamma evidence, weights",
    two_classes,
    gamma="evidence",
    class_weight="balanced",
    weights=np.arange(150) % 3 + 0.5,
)
for solver in ("thorough", "sequential", "mackay", "em"):
    fits_labels(f"classes solver {solver}", two_classes, gamma=1.0, solver=solver)
    fits_labels(f"classes solver {solver}, three", partial(classes, 3, 60), gamma=0.5, solver=solver)
fits_labels("classes solver one by one", two_classes, gamma=1.0, solver=api.solver("ActiveSet", batch=1, pool=0))
fits_labels("classes solver annealed", two_classes, gamma=1.0, solver=api.solver("ActiveSet", stages=3, rebuilds=1))
fits_labels("classes solver loose tolerance", two_classes, gamma=1.0, tol=1e-2)
fits_labels("classes solver few iterations", two_classes, gamma=1.0, max_iter=3)
PRIORS = {
    "aic": "aic",
    "bic": "bic",
    "ric": "ric",
    "Smoothness": Smoothness(0.5),
    "Gamma": Gamma(0.01, 0.001),
    "Laplace": Laplace(3.0),
}
for label, prior in PRIORS.items():
    fits_labels(f"classes prior {label}", two_classes, gamma=3.0, prior=prior)
    fits_labelled_columns(f"classes prior {label}, columns, three", partial(labelled_columns, 3), prior=prior)
fits_labels("classes names", named, gamma=0.5)
fits_labels("classes not moderated", partial(classes, 3), gamma=0.5, moderated=False)
fits_labels("classes balanced", unequal, gamma=1.0, class_weight="balanced")
fits_labels("classes weights by class", partial(classes, 3), gamma=0.5, class_weight={0: 2.0, 1: 0.5, 2: 1.0})
fits_labels("classes sample weights", two_classes, gamma=1.0, weights=np.arange(150) % 3 * 1.0)
fits_labels("classes sample weights, three", partial(classes, 3), gamma=0.5, weights=np.linspace(0.2, 2, 120))
fits_labels("classes separable", separable, gamma=1.0)
fits_labels("classes separable, linear", separable, "linear")
fits_labels("classes unequal", unequal, gamma=1.0)
fits_labels("classes repeated rows", with_repeats, gamma=1.0)
fits_labels("classes eight rows", partial(two_classes, 8, 6), gamma=1.0)
fits_labels("classes Matern, nu", two_classes, Matern(1.0, nu=1.5))
fits_labelled_columns("classes sparse columns", sparse_columns)
fits_labelled_columns("classes sparse columns, three, bic", partial(sparse_columns, 3), prior="bic")
fits_labelled_columns("classes constant and repeated columns", with_constant_column)
fits_labelled_columns("classes more columns than rows", partial(labelled_columns, 2, 50, 120), prior="bic")
fits_labelled_columns(
    "classes columns, weights", labelled_columns, class_weight="balanced", weights=np.arange(120) % 2 + 0.5
)
fits_labelled_columns("classes columns, sequential", labelled_columns, solver="sequential")
fits_labelled_columns("classes columns, mackay", labelled_columns, solver="mackay")


def one_against_the_rest(name, data, *args, **options):
    """Every class against the rest: the probabilities alone."""

    def record() -> Record:
        X, y, queries = data()
        return of_probabilities(api.one_vs_rest(*args, **options).fit(X, y), queries)

    add(name, record)


one_against_the_rest("one against the rest, three", partial(classes, 3), gamma=0.5)
one_against_the_rest("one against the rest, four, bic", partial(classes, 4), gamma=0.5, prior="bic")
one_against_the_rest("one against the rest, not moderated", partial(classes, 3), gamma=0.5, moderated=False)
one_against_the_rest("one against the rest, columns", partial(labelled_columns, 3), linear=True)


def functional(name, k, data, convert=np.asarray, **options):
    """The functional fit to labels."""

    def record() -> Record:
        Phi, y, queries = data()
        labels = convert(y) if convert is array_api_strict.asarray else y
        result = api.fit_classes(convert(Phi), labels, n_classes=k, **options)
        return of_classes(result, convert(queries) if convert is array_api_strict.asarray else np.asarray(queries))

    add(name, record)


for k in (2, 3):
    data = partial(labelled_columns, k)
    functional(f"functional {k} classes", k, data, fit_intercept=True)
    functional(f"functional {k} classes, no intercept, bic", k, data, fit_intercept=False, prior="bic")
    functional(f"functional {k} classes, strict", k, data, array_api_strict.asarray, fit_intercept=True)
    functional(f"functional {k} classes, sparse", k, data, scipy.sparse.csr_array, fit_intercept=True)
functional(
    "functional 4 classes, weights",
    4,
    partial(labelled_columns, 4),
    fit_intercept=True,
    sample_weight=np.arange(120) % 3 + 0.5,
)
functional(
    "functional 2 classes, more columns than rows",
    2,
    partial(labelled_columns, 2, 50, 120),
    fit_intercept=True,
    prior="aic",
)
