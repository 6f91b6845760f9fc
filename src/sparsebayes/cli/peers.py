"""Models of scikit-learn that `sparsebayes compare` fits beside its own, each tuned as its users would."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_ROWS = 1000  # for the Gaussian process, whose time grows with their cube; it gets so many drawn at random
FOLDS = 3  # of inner cross-validations
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}


@dataclass(frozen=True)
class Competitor:
    """One model of a comparison.

    name : in the table.  fit : X (n, d), y (n,) -> a fitted model, whose `predict` takes return_std, or which has
    `predict_proba`.  size : a fitted model -> the bytes of it when stored.
    """

    name: str
    fit: Callable[[np.ndarray, np.ndarray], Any]
    size: Callable[[Any], int]


class WithResiduals:
    """A regressor with one standard deviation for all predictions, that of its residuals in a cross-validation."""

    def __init__(self, model: Any, X: np.ndarray, y: np.ndarray) -> None:
        from sklearn.base import clone
        from sklearn.model_selection import cross_val_predict

        self.model = model.fit(X, y)
        best = clone(getattr(model, "best_estimator_", model))
        residuals = y - cross_val_predict(best, X, y, cv=FOLDS)
        self.std = max(float(np.sqrt(np.mean(residuals**2))), 1e-12 * (float(np.abs(y).max()) + 1e-300))

    def predict(self, X: np.ndarray, return_std: bool = False) -> Any:
        """Mean, and with `return_std` the same standard deviation for every row."""
        mean = self.model.predict(X)
        return (mean, np.full(len(mean), self.std)) if return_std else mean


def competitors(classify: bool) -> list[Competitor]:
    """A support vector machine, a Gaussian process and boosting."""
    if classify:
        return [
            Competitor("SVM, tuned, Platt", _svm_classifier, _bytes),
            Competitor("Gaussian process", _process_classifier, _bytes),
            Competitor("gradient boosting", _boosting_classifier, _bytes),
        ]
    return [
        Competitor("SVM, tuned", _svm_regressor, _bytes),
        Competitor("Gaussian process", _process_regressor, _bytes),
        Competitor("gradient boosting", _boosting_regressor, _bytes),
    ]


def _bytes(model: Any) -> int:
    """The bytes of scikit-learn's usual form of storage."""
    return len(pickle.dumps(model))


def _scaled(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def _some(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    chosen = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[chosen], y[chosen]


def _svm_regressor(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    model = TransformedTargetRegressor(_scaled(SVR()), transformer=StandardScaler())
    grid = {f"regressor__svr__{name}": values for name, values in GRID.items()}
    return WithResiduals(GridSearchCV(model, grid | {"regressor__svr__epsilon": [0.01, 0.1, 0.3]}, cv=FOLDS), X, y)


def _svm_classifier(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    search = GridSearchCV(_scaled(SVC()), {f"svc__{name}": values for name, values in GRID.items()}, cv=FOLDS)
    return CalibratedClassifierCV(search.fit(X, y).best_estimator_, method="sigmoid", cv=FOLDS).fit(X, y)


def _process_regressor(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel() * RBF(np.ones(X.shape[1])) + WhiteKernel()
    return _scaled(GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)).fit(*_some(X, y))


def _process_classifier(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    return _scaled(GaussianProcessClassifier(ConstantKernel() * RBF(), random_state=0)).fit(*_some(X, y))


def _boosting_regressor(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return WithResiduals(HistGradientBoostingRegressor(random_state=0), X, y)


def _boosting_classifier(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0).fit(X, y)
