"""The classes whose objects a model file may hold, and how each is taken apart and put together.

A file names a class by a word of this table; nothing is ever imported by a name from a file. A class of the package
that a fitted estimator can hold needs a line here: `tests/export/test_registry.py` fails without it.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import pywt
import scipy.sparse
from sklearn.pipeline import Pipeline

from sparsebayes.bases import columns, concatenation, contract, transformed
from sparsebayes.bases.kernels import composed, given, multiscale, periodic, products, splines, stationary
from sparsebayes.bases.kernels.contract import BoundKernel
from sparsebayes.core import greedy, noise, prior, result
from sparsebayes.estimators import _error_bars, _moderation
from sparsebayes.estimators._fitted import Fitted
from sparsebayes.estimators._range import TrainingRange
from sparsebayes.estimators._relevance_vector_classifier import RelevanceVectorClassifier
from sparsebayes.estimators._relevance_vector_regressor import RelevanceVectorRegressor
from sparsebayes.estimators._sparse_bayes_classifier import SparseBayesClassifier
from sparsebayes.estimators._sparse_bayes_regressor import SparseBayesRegressor
from sparsebayes.estimators._sparse_recovery import Recovered, SparseRecovery
from sparsebayes.estimators._wavelet_denoiser import WaveletDenoiser
from sparsebayes.export._errors import ModelFileError
from sparsebayes.export._fields import belongs, types_of
from sparsebayes.export._sparse import sparse_array, sparse_fields
from sparsebayes.joint.complex_result import ComplexResult
from sparsebayes.joint.result import JointResult, SeparateResults
from sparsebayes.laplace import Bernoulli, GeneralizedNormal, Multinomial
from sparsebayes.priors import Automatic, Gamma, Inclusion, Laplace, PerPart, Smoothness
from sparsebayes.rows import triangle
from sparsebayes.rows.known_noise import KnownNoise
from sparsebayes.scale_learning.parts import Part, PartAt
from sparsebayes.scale_learning.variance import GaussianProcessPosterior
from sparsebayes.signals import closed_form, diagonal, sampled, transforms, wavelet_transform
from sparsebayes.signals.wavelet_transform import as_orthogonal
from sparsebayes.solvers import ActiveSet, ActiveSetSettings, FixedPoint, Search, Sequential, Sweep
from sparsebayes.solvers.candidates import CandidateScores
from sparsebayes.solvers.certificate import Certificate
from sparsebayes.solvers.monitor import Move
from sparsebayes.tables.columns import CategoryColumn, NumberColumn
from sparsebayes.tables.encoder import TableEncoder

PRIVATE: dict[str, tuple[type, ...]] = {
    "_fitted": (Fitted, Recovered),
    "_error_bars": (_error_bars.ErrorBars,),
    "_range": (TrainingRange, type(None)),
    "_shared_scale": (bool, float),
    "_output_names": (tuple,),
    "_sklearn_output_config": (dict,),
}

ESTIMATORS = (
    RelevanceVectorClassifier, RelevanceVectorRegressor, SparseBayesClassifier, SparseBayesRegressor, SparseRecovery,
    WaveletDenoiser, TableEncoder, Pipeline,
)  # fmt: skip

# what a user writes: taken apart by the parameters of the constructor
SPECIFICATIONS = (
    columns.Bias, columns.Columns, concatenation.Concatenation, contract.Fixed,
    composed.KernelProduct, composed.KernelSum, given.Kernel, given.Precomputed, multiscale.MultiScale,
    periodic.Periodic, products.Cosine, products.HistogramIntersection, products.Linear, products.Polynomial,
    products.Sigmoid, splines.CubicSpline, splines.LinearSpline, splines.ThinPlateSpline, stationary.Laplacian,
    stationary.Matern, stationary.RBF, stationary.RationalQuadratic, sampled.DCT, sampled.Spike, sampled.Wavelet,
    Automatic, Gamma, Inclusion, Laplace, PerPart, Smoothness, prior.Uniform,
    Bernoulli, GeneralizedNormal, Multinomial, noise.Gaussian,
    ActiveSet, ActiveSetSettings, FixedPoint, Search, Sequential, Sweep, closed_form.Orthonormal, greedy.Greedy,
)  # fmt: skip

# what a fit makes: frozen dataclasses, whose fields must have the types that they are declared with
RECORDS = (
    columns.BoundBias, columns.BoundColumns, concatenation.BoundConcatenation, BoundKernel, given.BoundPrecomputed,
    multiscale.BoundMultiScale, sampled.BoundSamples, transformed.BoundTransformed,
    noise.GaussianNoise, KnownNoise, result.Result, ComplexResult, JointResult, SeparateResults,
    triangle.Moments, triangle.Triangle, CandidateScores, diagonal.OrthonormalScores, Certificate, Move,
    Fitted, Recovered, TrainingRange, _error_bars.AugmentedBars, _error_bars.PosteriorBars, _error_bars.ProcessBars,
    _moderation.Coverage, _moderation.Moderation, _moderation.ProcessOutput,
    GaussianProcessPosterior, wavelet_transform.Band, NumberColumn, CategoryColumn,
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """How objects of one class are taken apart and put together.

    cls : the class.  apart : object -> its fields.  together : fields -> object.
    """

    cls: type
    apart: Callable[[Any], dict[str, Any]]
    together: Callable[[dict[str, Any]], Any]


@cache
def registry() -> dict[str, Kind]:
    """The kinds by the word that a file has for them, which is the name of the class."""
    kinds = [Kind(cls, _parameters, _constructor(cls)) for cls in SPECIFICATIONS]
    kinds += [Kind(cls, _estimator_fields, _estimator(cls)) for cls in ESTIMATORS]
    kinds += [Kind(cls, _record_fields, _record(cls)) for cls in RECORDS]
    kinds += [
        Kind(Part, _held(PART), _holder(Part, PART)),
        Kind(PartAt, _held(PART_AT), _holder(PartAt, PART_AT)),
        Kind(transforms.DCTOperator, lambda each: {"shape": each.signal_shape}, _constructor(transforms.DCTOperator)),
        Kind(
            transforms.SpikeOperator, lambda each: {"shape": each.signal_shape}, _constructor(transforms.SpikeOperator)
        ),
        Kind(
            wavelet_transform.WaveletOperator,
            lambda each: {"shape": each.signal_shape, "wavelet": each.wavelet, "level": each.levels},
            _constructor(wavelet_transform.WaveletOperator),
        ),
        Kind(pywt.Wavelet, _wavelet_fields, _constructor(_wavelet)),
        Kind(scipy.sparse.csr_array, sparse_fields, _constructor(sparse_array)),
    ]
    found = {_word(kind.cls): kind for kind in kinds}
    assert len(found) == len(kinds)
    return found


@cache
def words() -> dict[type, str]:
    """The word that a file has for a class."""
    return {kind.cls: word for word, kind in registry().items()}


def _word(cls: type) -> str:
    return "pywt.Wavelet" if cls is pywt.Wavelet else cls.__name__


def _parameters(each: Any) -> dict[str, Any]:
    """The parameters of a specification, which has nothing else."""
    found = {name: getattr(each, name) for name in _names(type(each))}
    _check_nothing_else(each, found)
    return found


def _estimator_fields(each: Any) -> dict[str, Any]:
    """The parameters of an estimator, then its fitted attributes."""
    found = {name: getattr(each, name) for name in _names(type(each))}
    for name, value in vars(each).items():
        if name not in found and not _is_fitted_attribute(name):
            raise ValueError(
                f"{type(each).__name__} has the attribute {name!r}, which a model file does not hold: delete it first."
            )
        found[name] = value
    return found


def _record_fields(each: Any) -> dict[str, Any]:
    """The fields of a frozen dataclass, which has nothing else but what it computes from them."""
    found = {field.name: getattr(each, field.name) for field in dataclasses.fields(each) if field.init}
    _check_nothing_else(each, found)
    return found


def _check_nothing_else(each: Any, found: Iterable[str]) -> None:
    """ValueError if an object has attributes besides these and the values of cached properties."""
    for name in vars(each).keys() - set(found):
        if not isinstance(inspect.getattr_static(type(each), name, None), cached_property):
            raise ValueError(f"{type(each).__name__} has the attribute {name!r}, which a model file does not hold.")


def _is_fitted_attribute(name: str) -> bool:
    return (name.endswith("_") and not name.startswith("_") and name.isidentifier()) or name in PRIVATE


def _names(cls: type) -> list[str]:
    return [*inspect.signature(cls).parameters]


def _constructor(cls: Any) -> Callable[[dict[str, Any]], Any]:
    """What calls a class or a function with parameters; those that came later than the file have their defaults."""
    return lambda values: cls(**_checked(cls, values))


def _checked(cls: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The values, if they are parameters of the class and none without a default is missing."""
    known = inspect.signature(cls).parameters
    extra = [name for name in values if name not in known]
    missing = [name for name, each in known.items() if each.default is each.empty and name not in values]
    if extra or missing:
        wrong = f"lacks {missing[0]!r}" if missing else f"has {extra[0]!r}, which this version does not know"
        raise ModelFileError(
            f"A {cls.__name__.strip('_')} of the model file {wrong}: it is damaged, or of a later version."
        )
    return values


def _record(cls: type) -> Callable[[dict[str, Any]], Any]:
    """What makes a frozen dataclass, after a look at the types of its fields."""

    def together(values: dict[str, Any]) -> Any:
        for name, value in _checked(cls, values).items():
            if not belongs(value, types_of(cls)[name]):
                raise ModelFileError(
                    f"{name} of a {cls.__name__} of the model file must not be of type {type(value).__name__}."
                )
        return cls(**values)

    return together


def _estimator(cls: Any) -> Callable[[dict[str, Any]], Any]:
    """What makes an estimator, and gives it its fitted attributes."""

    def together(values: dict[str, Any]) -> Any:
        known = inspect.signature(cls).parameters
        state = {name: value for name, value in values.items() if name not in known}
        for name, value in state.items():
            if not _is_fitted_attribute(name) or not isinstance(value, PRIVATE.get(name, (object,))):
                raise ModelFileError(
                    f"The model file has {name!r} of type {type(value).__name__}, not a {cls.__name__}."
                )
        made = cls(**_checked(cls, {name: value for name, value in values.items() if name in known}))
        vars(made).update(state)
        return made

    return together


# objects that are no dataclasses: the attributes that a prediction needs
PART = {"bound": contract.BoundBasis, "numbers": Any, "X": Any, "Z": Any, "jitter": float, "n_scales": int,
        "has_centres": bool, "is_covariance": bool, "spreads": Any, "unit": float}  # fmt: skip
PART_AT = {"part": Part, "bound": contract.BoundBasis, "share": float}


def _held(names: dict[str, Any]) -> Callable[[Any], dict[str, Any]]:
    def apart(each: Any) -> dict[str, Any]:
        _check_nothing_else(each, names)
        return {name: getattr(each, name) for name in names}

    return apart


def _holder(cls: Any, names: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    def together(values: dict[str, Any]) -> Any:
        if values.keys() != names.keys() or not all(belongs(values[name], kind) for name, kind in names.items()):
            raise ModelFileError(f"A {cls.__name__} of the model file must have {[*names]}, got {[*values]}.")
        made = cls.__new__(cls)
        vars(made).update(values)
        return made

    return together


def _wavelet_fields(wavelet: Any) -> dict[str, Any]:
    """The name of a wavelet that PyWavelets knows."""
    if as_orthogonal(wavelet.name).filter_bank != wavelet.filter_bank:
        raise ValueError(f"wavelet must be one of PyWavelets in a model file, got {wavelet.name!r} with other filters.")
    return {"name": wavelet.name}


def _wavelet(name: Any) -> Any:
    """The wavelet of that name."""
    if not isinstance(name, str):
        raise ModelFileError(f"A wavelet of the model file must have a name, got {type(name).__name__}.")
    return pywt.Wavelet(as_orthogonal(name).name)
