"""The weights of a fitted model one by one: error bars, and what the evidence loses without each of them.

Given the precisions and the noise the log evidence is a quadratic's, and deletion of a weight with posterior mean μ and
variance Σ_mm takes from it

    ½ [log(α/(α+s)) + q²/(α+s)] = ½ [log(αΣ_mm) + μ²/Σ_mm],      s = 1/Σ_mm − α,   q = μ/Σ_mm      [TF03, eq. 16]

(twice that of a complex weight). With outputs that share their precisions a deletion from one of them takes that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.core.result import Result
from sparsebayes.joint.result import SeparateResults


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights (S,) of a fitted model, and its intercepts (K,).

    term : the names of their functions.  output : the number of the output that each belongs to.
    mean, std, gamma : posterior means, standard deviations, and γ = 1 − αΣ_mm.
    loss : what the log evidence loses, in nats, if the weight is deleted; NaN if it has no prior.
    intercept, intercept_std : of every output; the standard deviation is 0 without an intercept.
    """

    term: list[str]
    output: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    gamma: np.ndarray
    loss: np.ndarray
    intercept: np.ndarray
    intercept_std: np.ndarray

    @classmethod
    def of_result(cls, result: Any, names: Sequence[str]) -> Self:
        """The weights of one result; names : of the function of each of its weights."""
        mean, several = to_numpy(result.mean), np.ndim(result.mean) == 2
        covariance: Any = result.covariance if hasattr(result.covariance, "tocsc") else to_numpy(result.covariance)
        variance, gamma = np.maximum(covariance.diagonal().real, 0.0), to_numpy(result.gamma)
        outputs = result.outputs
        scales = to_numpy(result.output_scales) if several else np.ones(outputs)
        half = 1.0 if np.iscomplexobj(mean) else 0.5
        mean = mean.T.ravel() if several else mean
        copies = outputs if several else 1
        std = np.sqrt(variance) if not several else np.outer(scales, np.sqrt(variance)).ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            fit = np.abs(mean / std) ** 2
            shrinkage = np.tile(np.log(to_numpy(result.alpha)) + np.log(variance), copies)
            loss = np.where(np.isfinite(shrinkage), half * (shrinkage + fit), np.nan)
        return cls(
            term=list(names) * copies,
            output=np.repeat(np.arange(outputs), len(variance)) if several else np.asarray(result.output),
            mean=mean,
            std=std,
            gamma=np.tile(gamma, copies),
            loss=loss,
            intercept=to_numpy(result.intercept),
            intercept_std=scales * _intercept_std(result, covariance),
        )

    @classmethod
    def joined(cls, models: Sequence[Weights], outputs: Sequence[np.ndarray]) -> Weights:
        """The weights of several models; outputs : the numbers of the outputs of each."""
        places = np.argsort(np.concatenate(outputs))

        def all_of(name: str) -> np.ndarray:
            return np.concatenate([getattr(each, name) for each in models])

        return cls(
            term=[term for each in models for term in each.term],
            output=np.concatenate([own[each.output] for each, own in zip(models, outputs, strict=True)]),
            mean=all_of("mean"),
            std=all_of("std"),
            gamma=all_of("gamma"),
            loss=all_of("loss"),
            intercept=all_of("intercept")[places],
            intercept_std=all_of("intercept_std")[places],
        )

    @classmethod
    def of(cls, model: Any, input_features: Sequence[str] | None = None) -> Weights:
        """The weights of a fitted regressor, classifier or sparse recovery."""
        if hasattr(model, "estimators_"):  # models of several outputs
            return cls.joined([cls.of(each, input_features) for each in model.estimators_], model.outputs_)
        names = model.get_feature_names_out(input_features)
        result = model._fitted.result
        if isinstance(result, SeparateResults):
            places = [np.searchsorted(result.active, each.active) for each in result.results]
            each = [cls.of_result(one, names[J].tolist()) for one, J in zip(result.results, places, strict=True)]
            return cls.joined(each, [np.asarray([t]) for t in range(result.outputs)])
        position = getattr(model._fitted, "position", np.arange(len(names)))  # of atoms: each has its weight
        return cls.of_result(result, names[position].tolist())


def _intercept_std(result: Result, covariance: Any) -> np.ndarray:
    """The standard deviation of f where all functions are zero: that of the intercept, (K,), of outputs of scale 1."""
    centre, own = to_numpy(result.centre), to_numpy(result.intercept_covariance)
    moved = np.einsum("ks,ks->k", centre @ covariance, centre.conj()).real
    return np.sqrt(np.maximum(moved + own.diagonal(), 0.0))
