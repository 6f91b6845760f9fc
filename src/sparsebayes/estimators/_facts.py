"""What a summary says of a fitted model as a whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsebayes._array import to_numpy
from sparsebayes.estimators._representation import noise_of_model, selection, status
from sparsebayes.estimators._validation import is_gaussian
from sparsebayes.estimators._weights import Weights
from sparsebayes.fit import AUTO
from sparsebayes.priors import NAMED
from sparsebayes.summaries.numbers import nats, rounded, significant

OF_INPUT = re.compile(r"\[(\d+)\]$")  # how the name of a scale ends that belongs to one input
MOST = 6  # intercepts or scales that are listed

Facts = tuple[tuple[str, str], ...]


def facts_of(model: Any, weights: Weights, inputs: Sequence[str]) -> Facts:
    """Names and values: rows, functions, prior, noise, evidence, scales, intercepts, and what the solver came to.

    inputs : the names of the inputs, for scales that belong to one of them.
    """
    classes = getattr(model, "classes_", None)
    found = {
        "rows": _rows(model),
        "selected": selection(model),
        "classes": None if classes is None else listed([str(each) for each in to_numpy(classes).tolist()]),
        "prior": _prior(model),
        "likelihood": _likelihood(model),
        "noise": None if classes is not None else ", ".join(noise_of_model(model)).removeprefix("noise ") or None,
        "error bars": _error_bars(model),
        "log evidence": nats(model.log_evidence_),
        "degrees of freedom": significant(float(weights.gamma.sum())),
        "length scales": _length_scales(model, inputs),
        "scales": _other_scales(model, inputs),
        "inputs": _relevance(model, inputs),
        "intercept": _intercepts(weights),
        "solver": f"{status(model)}, {model.n_iter_} iteration{'s' * (model.n_iter_ != 1)}",
    }
    return tuple((name, value) for name, value in found.items() if value is not None)


def listed(texts: Sequence[str]) -> str:
    """The texts, the first few if they are many."""
    rest = len(texts) - MOST
    return ", ".join([*texts[:MOST], *([f"… and {rest} more"] if rest > 0 else [])])


def _rows(model: Any) -> str | None:
    """How many rows counted in the fit; None if that was not kept."""
    if hasattr(model, "support_"):
        return str(len(model._fitted.y))
    rows = model._fitted.n_rows
    return None if rows is None else str(rows)


def _prior(model: Any) -> str:
    """The prior as it was given; with "auto" also the one that it came to."""
    if not isinstance(model.prior, str):
        return repr(model.prior)
    found = getattr(model._fitted.result, "prior", None)  # models of single outputs have one each
    if model.prior != AUTO or found is None:
        return model.prior
    rows = float(_rows(model) or 0)
    named = [name for name, each in NAMED.items() if each.resolve(rows) == found]
    return f"{AUTO}: {(named or [type(found).__name__])[0]}"


def _error_bars(model: Any) -> str | None:
    """What error bars count beside the posterior of the weights; None if that is the noise alone."""
    excess = float(getattr(model, "excess_variance_", 0.0) or 0.0)
    if not excess > 0 or np.ndim(model.noise_variance_):
        return None
    noise = float(model.noise_variance_)
    own, more, both = (significant(value**0.5, 3) for value in (noise, excess, noise + excess))
    return f"noise {own}, functions not selected {more}, together {both} (standard deviations)"


def _likelihood(model: Any) -> str | None:
    """A likelihood that is not the usual one."""
    likelihood = getattr(model, "likelihood", "gaussian")
    return None if is_gaussian(likelihood) else repr(likelihood)


def _length_scales(model: Any, inputs: Sequence[str]) -> str | None:
    """The widths of the functions, and whether they were learned; None without, or if each output has its own."""
    widths: dict[str, list[str]] = {}
    for each in _scales_of(model):
        if each.width_power:
            own = OF_INPUT.search(each.name) if each.per_input else None
            text = f"{inputs[int(own[1])]} " if own else ""
            widths.setdefault(each.parameter.rpartition("__")[0], []).append(text + significant(each.width))
    parts = [(f"{part}: " if part else "") + listed(texts) for part, texts in widths.items()]
    shared = getattr(model, "_shared_scale", False)
    if shared and parts:
        one = "; ".join(parts) if shared is True else f"{significant(shared)} of their standard deviations"
        return f"one width for all inputs (own widths gained too little): {one}"
    return "; ".join(parts) + _learned(model) if parts else None


def _other_scales(model: Any, inputs: Sequence[str]) -> str | None:
    """The scales that are no widths, such as periods; None without, or if each output has its own."""
    values = [(each, significant(float(np.exp(each.log_value)))) for each in _scales_of(model) if not each.width_power]
    named = [f"{_of_input(each.name, inputs) if each.per_input else each.name} = {value}" for each, value in values]
    return listed(named) + _learned(model) if named else None


def _scales_of(model: Any) -> tuple[Any, ...]:
    """The scales of the functions; none if each output has its own."""
    return model._fitted.basis.scales if hasattr(model, "kernel") and not hasattr(model, "estimators_") else ()


def _learned(model: Any) -> str:
    return " (learned)" if hasattr(model, "scales_") and model.n_iter_ else ""


def _relevance(model: Any, inputs: Sequence[str]) -> str | None:
    """The inputs by how much they matter, the most relevant first; None if that is not known, or if there is one."""
    relevance = getattr(model, "input_relevance_", None)
    if relevance is None or relevance.ndim != 1 or relevance.shape[0] < 2:
        return None
    values = to_numpy(relevance)
    order = np.argsort(-values, kind="stable")
    return listed([f"{inputs[k]} {values[k]:.2f}" for k in order.tolist()]) + " (relevance)"


def _of_input(scale: str, inputs: Sequence[str]) -> str:
    """The name of a scale, such as "gamma[2]", with that of the input in place of its number."""
    return OF_INPUT.sub(lambda found: f"[{inputs[int(found[1])]}]", scale)


def _intercepts(weights: Weights) -> str | None:
    """The intercepts with their standard deviations; None if there are none."""
    pairs = zip(weights.intercept.tolist(), weights.intercept_std.tolist(), strict=True)
    texts = [f"{_written(value, std)} (std {rounded(std, std)})" for value, std in pairs]
    return listed(texts) if weights.intercept_std.any() else None


def _written(value: complex, std: float) -> str:
    """A number, or a complex one as its real and imaginary parts, rounded by its standard deviation."""
    if not isinstance(value, complex):
        return rounded(value, std)
    return f"{rounded(value.real, std)} {'−' if value.imag < 0 else '+'} {rounded(abs(value.imag), std)}i"
