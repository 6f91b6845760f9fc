"""Every class that a fitted estimator can hold is one that a model file can hold, and is tested."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import pkgutil
import zipfile

from sklearn.base import BaseEstimator
from stored_models import EXAMPLES, example

import sparsebayes
from sparsebayes.bases import Basis, BoundBasis
from sparsebayes.core.prior import Prior
from sparsebayes.core.result import Result
from sparsebayes.core.solver import Solver
from sparsebayes.core.specification import Specification
from sparsebayes.estimators._error_bars import ErrorBars
from sparsebayes.export._registry import registry, words
from sparsebayes.laplace import LaplaceLikelihood
from sparsebayes.signals.transforms import TransformOperator

KINDS = (Basis, BoundBasis, Prior, Solver, LaplaceLikelihood, Specification, Result, ErrorBars, TransformOperator,
         BaseEstimator)  # fmt: skip

# classes that are made anew for each prediction or each fit, and are nothing that an estimator holds
PASSING = {"BarsOfParts", "HostBars", "Multiplied", "Sized"}
# mixins and bases that nobody makes objects of
BASES = {"HasParts", "SparseClassification", "SparseModel", "SparseRegression", "Specification"}
NO_BYTES = {"Kernel"}  # a function; a file only says so


def classes():
    """The classes of the package that can be made, of the kinds of which an estimator holds some."""
    found = {}
    for module in pkgutil.walk_packages(sparsebayes.__path__, "sparsebayes."):
        if module.name.startswith("sparsebayes.integrations."):
            continue  # each needs a package that need not be there
        for name, value in vars(importlib.import_module(module.name)).items():
            own = inspect.isclass(value) and value.__module__.startswith("sparsebayes.")
            if own and issubclass(value, KINDS) and not inspect.isabstract(value) and not name.startswith("_"):
                found[value.__name__] = value
    return found


def test_every_class_is_registered():
    unknown = {name for name, cls in classes().items() if cls not in words()} - BASES - PASSING
    assert not unknown, f"give these a line in sparsebayes.export._registry: {sorted(unknown)}"


def test_no_exception_is_stale():
    assert (BASES | PASSING) - classes().keys() == set()
    assert NO_BYTES - registry().keys() == set()


def test_every_registered_class_is_in_an_example():
    seen = set()
    for name in EXAMPLES:
        file = io.BytesIO()
        sparsebayes.save(example(name).model, file)
        with zipfile.ZipFile(file) as archive:
            seen |= {each["class"] for each in json.loads(archive.read("model.json"))["objects"]}
    assert registry().keys() - seen - NO_BYTES == set()
