"""One line that says what a fit came to, in the text and the HTML representation of a fitted estimator."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

from sparsebayes.estimators._fitted import model_on_host

try:  # how scikit-learn breaks a long representation into lines: it looks that up by the method `__repr__`
    from sklearn.utils._pprint import _EstimatorPrettyPrinter

    PRINTERS = _EstimatorPrettyPrinter._dispatch
except (ImportError, AttributeError):  # a private module: without it, a long representation is one line
    PRINTERS = {}

STYLE = "font-family: monospace; margin: 0.3em 0 0 0.3em"


class FittedRepresentation:
    """Mixin: scikit-learn's representation, and after a fit one line with its outcome; before BaseEstimator."""

    def __repr__(self, *args: Any, **kwargs: Any) -> str:
        text = super().__repr__(*args, **kwargs)
        return f"{text}  # {outcome(self)}" if _is_fitted(self) else text

    def _repr_html_inner(self) -> str:
        """What `_repr_html_` returns if scikit-learn is set to display diagrams."""
        diagram: str = estimator_html_repr(self)
        if not _is_fitted(self):
            return diagram
        return f'{diagram}<div class="sparsebayes-summary" style="{STYLE}">{html.escape(outcome(self))}</div>'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What a notebook displays."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle


if BaseEstimator.__repr__ in PRINTERS:
    PRINTERS[FittedRepresentation.__repr__] = PRINTERS[BaseEstimator.__repr__]


def _is_fitted(estimator: Any) -> bool:
    return hasattr(estimator, "_fitted") or hasattr(estimator, "bands_")


def outcome(estimator: Any) -> str:
    """How many functions were selected, the evidence, the noise, and whether the solution is certified."""
    if hasattr(estimator, "bands_"):
        return ", ".join([f"fitted: {kept(estimator)}", *noise_of_model(estimator)])
    estimator = model_on_host(estimator)
    words = [
        f"fitted: {selection(estimator)}",
        *_outputs(estimator),
        f"log evidence {estimator.log_evidence_:.2f}",
        *([f"{estimator.classes_.shape[0]} classes"] if hasattr(estimator, "classes_") else noise_of_model(estimator)),
        status(estimator),
    ]
    return ", ".join(words)


def _outputs(estimator: Any) -> list[str]:
    """How many outputs a regression has, such as "2 outputs"; nothing for one, or for classes."""
    mean = estimator._fitted.result.mean
    number = sum(map(len, estimator.outputs_)) if hasattr(estimator, "outputs_") else np.shape(mean)[1:]
    number = number if isinstance(number, int) else (number or (1,))[0]
    return [f"{number} outputs"] if number > 1 else []


def selection(estimator: Any) -> str:
    """How many functions were selected, such as "7 of 10 columns"."""
    fitted = estimator._fitted
    if hasattr(estimator, "support_"):
        selected, kind = len(estimator.support_), "atoms"
    else:
        selected = int(estimator.relevance_.shape[0]) if hasattr(estimator, "estimators_") else fitted.basis.n_functions
        kind = "functions" if hasattr(estimator, "kernel") else "columns"
    return f"{selected} of {fitted.n_candidates} {kind}"


def kept(denoiser: Any) -> str:
    """How many coefficients a denoiser has kept, such as "76 of 1152 coefficients"; of a batch, of each signal."""
    number, total = np.atleast_1d(denoiser.n_active_), denoiser.bands_[-1].where.stop
    size = str(number[0]) if len(number) == 1 else f"{number.min()} to {number.max()}"
    return f"{size} of {total} coefficients"


def noise_of_model(estimator: Any) -> list[str]:
    """The standard deviation of the noise, and its shape if it is not Gaussian; nothing if there is no such thing."""
    std, shape = np.sqrt(np.atleast_1d(estimator.noise_variance_)), getattr(estimator, "noise_shape_", 2.0)
    if not std.any():
        return []
    size = f"{std[0]:.3g}" if len(std) == 1 else f"{std.min():.3g} to {std.max():.3g}"
    return [f"noise std {size}" + ("" if shape == 2 else f" of shape {shape:.3g}")]


def status(estimator: Any) -> str:
    """What the certificate says."""
    certificates = _certificates(estimator)
    if any(each.at_noise_floor for each in certificates):
        return "noise collapsed to its floor"
    if certificates and all(each.is_local_maximum for each in certificates):
        return "certified local maximum"
    return "converged, not certified" if estimator.converged_ else "not converged"


def _certificates(estimator: Any) -> tuple[Any, ...]:
    """The certificate of each of the models that an estimator is made of; nothing if one of them has none."""
    if hasattr(estimator, "estimators_"):  # models of several outputs
        each = [_certificates(model) for model in estimator.estimators_]
        return tuple(one for found in each for one in found) if all(each) else ()
    known = getattr(estimator, "certificate_", None) or ()
    return known if isinstance(known, tuple) else (known,)
