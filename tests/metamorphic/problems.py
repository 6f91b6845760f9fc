"""Random data sets, and the models that the transformations are tried on."""

from __future__ import annotations

import numpy as np

from sparsebayes import (
    RBF,
    Columns,
    Gamma,
    Gaussian,
    GeneralizedNormal,
    Laplace,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Smoothness,
    SparseBayesClassifier,
    SparseBayesRegressor,
)


def surface(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A smooth function of two inputs with noise; rows, targets and queries."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    y = np.sin(0.6 * X[:, 0] + 1.2 * X[:, 1]) + 0.5 * X[:, 0] + 0.15 * rng.standard_normal(n)
    return X, y, rng.uniform(-4, 4, (25, 2))


def table(seed: int, n: int = 50) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three of eight columns matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    y = X[:, :3] @ [1.0, -2.0, 0.5] + 1 + 0.3 * rng.standard_normal(n)
    return X, y, rng.standard_normal((25, 8))


def classes(seed: int, K: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlapping classes in two inputs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    f = np.column_stack([np.sin(X[:, 0] + 2 * k) + 0.6 * X[:, 1] * np.cos(2 * k) for k in range(K)])
    return X, (1.5 * f + rng.gumbel(size=f.shape)).argmax(axis=1), rng.uniform(-4, 4, (25, 2))


def class_table(seed: int, K: int, n: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each class has a column of its own out of six."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    return X, (2 * X[:, :K] + rng.gumbel(size=(n, K))).argmax(axis=1), rng.standard_normal((25, 6))


KERNEL_MACHINES = {
    'gamma="scale"': RelevanceVectorRegressor(gamma="scale", prior="bic"),
    "rbf": RelevanceVectorRegressor(gamma=0.3),
    "laplacian": RelevanceVectorRegressor("laplacian", gamma=0.4, prior="bic"),
    "matern": RelevanceVectorRegressor("matern", gamma=0.2),
    "rational-quadratic": RelevanceVectorRegressor("rational-quadratic", gamma=0.2, prior="aic"),
    "poly": RelevanceVectorRegressor("poly"),
    "poly, coef0=1": RelevanceVectorRegressor("poly", gamma=0.2, coef0=1.0),
    "linear": RelevanceVectorRegressor("linear"),
    "cosine": RelevanceVectorRegressor("cosine"),
    "sigmoid": RelevanceVectorRegressor("sigmoid", gamma=0.1),
    "histogram-intersection": RelevanceVectorRegressor("histogram-intersection"),
    "linear-spline": RelevanceVectorRegressor("linear-spline"),
    "cubic-spline": RelevanceVectorRegressor("cubic-spline", prior="bic"),
    "thin-plate-spline": RelevanceVectorRegressor("thin-plate-spline"),
    "RBF() + Columns(2)": RelevanceVectorRegressor(RBF(gamma=0.3) + Columns(2), prior="bic"),
    "RBF() * RBF()": RelevanceVectorRegressor(RBF(gamma=0.3) * RBF(gamma=0.1), prior="bic"),
    'gamma="evidence"': RelevanceVectorRegressor(gamma="evidence"),
    'gamma="ard"': RelevanceVectorRegressor(gamma="ard"),
    'variance="augmented"': RelevanceVectorRegressor(gamma=0.3, variance="augmented"),
    'solver="mackay"': RelevanceVectorRegressor(gamma=0.3, solver="mackay"),
    'solver="sequential"': RelevanceVectorRegressor(gamma=0.3, solver="sequential"),
    "GeneralizedNormal(4)": RelevanceVectorRegressor(gamma=0.3, likelihood=GeneralizedNormal(4)),
    "Gaussian(prior=(2, 0.1))": RelevanceVectorRegressor(gamma=0.3, likelihood=Gaussian(prior=(2.0, 0.1))),
    "noise_variance=0.02": RelevanceVectorRegressor(gamma=0.3, noise_variance=0.02),
    "Gamma(1, 0.01)": RelevanceVectorRegressor(gamma=0.3, prior=Gamma(1, 0.01)),
    "Laplace(1)": RelevanceVectorRegressor(gamma=0.3, prior=Laplace(1.0)),
    "Smoothness(1)": RelevanceVectorRegressor(gamma=0.3, prior=Smoothness(1.0)),
    "fit_intercept=False": RelevanceVectorRegressor(gamma=0.3, fit_intercept=False),
}
LINEAR_MODELS = {
    "columns": SparseBayesRegressor(),
    "columns, bic": SparseBayesRegressor(prior="bic"),
    "columns, ric": SparseBayesRegressor(prior="ric"),
    "columns, Gamma(1, 0.01)": SparseBayesRegressor(prior=Gamma(1, 0.01)),
    "columns, Laplace(1)": SparseBayesRegressor(prior=Laplace(1.0)),
    "columns, Smoothness(1)": SparseBayesRegressor(prior=Smoothness(1.0)),
    'columns, solver="greedy"': SparseBayesRegressor(solver="greedy"),
    'columns, solver="em"': SparseBayesRegressor(solver="em"),
    "columns, GeneralizedNormal(4)": SparseBayesRegressor(likelihood=GeneralizedNormal(4)),
    "columns, fit_intercept=False": SparseBayesRegressor(fit_intercept=False),
}
KERNEL_CLASSIFIERS = {
    'gamma="scale"': RelevanceVectorClassifier(gamma="scale"),
    "rbf": RelevanceVectorClassifier(gamma=0.3, prior="bic"),
    "laplacian": RelevanceVectorClassifier("laplacian", gamma=0.4, prior="bic"),
    "matern": RelevanceVectorClassifier("matern", gamma=0.2),
    "poly": RelevanceVectorClassifier("poly"),
    "RBF() + Columns(2)": RelevanceVectorClassifier(RBF(gamma=0.3) + Columns(2), prior="bic"),
    'class_weight="balanced"': RelevanceVectorClassifier(gamma=0.3, class_weight="balanced"),
    "moderated=False": RelevanceVectorClassifier(gamma=0.3, moderated=False),
    'gamma="evidence"': RelevanceVectorClassifier(gamma="evidence"),
}
LINEAR_CLASSIFIERS = {
    "columns": SparseBayesClassifier(),
    "columns, bic": SparseBayesClassifier(prior="bic"),
    "columns, Gamma(1, 0.01)": SparseBayesClassifier(prior=Gamma(1, 0.01)),
    "columns, Smoothness(1)": SparseBayesClassifier(prior=Smoothness(1.0)),
    "columns, fit_intercept=False": SparseBayesClassifier(fit_intercept=False),
}
