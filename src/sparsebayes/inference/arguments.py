"""What every fit accepts, else one sentence that names the argument; and what it says when it did not end."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from sparsebayes._array import Array, asfloat64, namespace, require_real
from sparsebayes._checks import is_number, require_whole
from sparsebayes.bases.operators import Operator, as_operator
from sparsebayes.rows.sources import in_memory
from sparsebayes.solvers import Monitor

LEAST_ROWS = 2  # rows, or the sum of their weights, that a fit needs
NOT_COUNTS = "sample_weight must not be negative, and not all zero."


def check_data(Phi: Any, t: Any, sample_weight: Any, name: str = "t") -> tuple[Operator, Array, Array | None]:
    """The operator, the targets and the row counts, all finite float64 of one namespace."""
    Phi = check_design(Phi)
    t, weights = check_rows(Phi, t, sample_weight, name)
    if weights is not None:
        check_total(float(namespace(weights).sum(weights)))
    return as_operator(Phi), t, weights


def check_design(Phi: Any) -> Any:
    """An operator as it is; else a finite float64 matrix, dense or SciPy-sparse."""
    if isinstance(Phi, Operator):
        return Phi
    if hasattr(Phi, "tocsc"):
        Phi = Phi.tocsc()
        require_real(Phi.data, "Phi")
        require_finite(Phi.data, "Phi")
        return Phi
    Phi = in_memory(Phi)
    require_real(Phi, "Phi")
    Phi = asfloat64(Phi)
    if Phi.ndim != 2 or 0 in Phi.shape:
        raise ValueError(f"Phi must be a matrix with rows and columns, got shape {tuple(Phi.shape)}.")
    require_finite(Phi, "Phi")
    return Phi


def check_rows(Phi: Any, t: Any, sample_weight: Any, name: str = "t") -> tuple[Array, Array | None]:
    """The targets and the row counts (None for once each) of a design that was checked."""
    own = isinstance(Phi, Operator) or hasattr(Phi, "tocsc")
    t, sample_weight = in_memory(t), in_memory(sample_weight)
    require_real(t, name)
    require_real(sample_weight, "sample_weight")
    t = asfloat64(t) if own else asfloat64(t, like=Phi)
    if t.ndim != 1 or t.shape[0] != Phi.shape[0]:
        raise ValueError(
            f"{name} must be a vector of {Phi.shape[0]} values, one a row of Phi, got {tuple(t.shape)}."
        )
    require_finite(t, name)
    if sample_weight is None:
        return t, None
    weights = asfloat64(sample_weight, like=t)
    if tuple(weights.shape) != tuple(t.shape):
        raise ValueError(f"sample_weight must have {t.shape[0]} values, got shape {tuple(weights.shape)}.")
    require_finite(weights, "sample_weight")
    if float(namespace(weights).min(weights)) < 0:
        raise ValueError(NOT_COUNTS)
    return t, weights


def check_total(total: float) -> None:
    """Refuse weights that do not add up to the rows a fit needs."""
    if total <= 0:
        raise ValueError(NOT_COUNTS)
    if total < LEAST_ROWS:
        raise ValueError(
            f"sample_weight sums to {total:.3g}; weights count rows (2: a row that occurs twice): their sum "
            f"must be at least {LEAST_ROWS}: multiply weights that were normalised by the number of rows."
        )


def require_finite(x: Array, name: str) -> None:
    """Refuse NaN and infinity."""
    xp = namespace(x)
    if not bool(xp.all(xp.isfinite(x))):
        raise ValueError(f"{name} contains NaN or infinity; every value must be finite.")


def make_monitor(
    max_iter: int,
    tol: float,
    seed: Any,
    verbose: int,
    callback: Any,
    offset: float = 0.0,
    factor: float = 1.0,
) -> Monitor:
    """The monitor of a fit; offset and factor turn the objective and the noise into the user's units."""
    require_whole(max_iter, "max_iter", 1)
    if not is_number(tol) or tol <= 0:
        raise ValueError(f"tol must be a finite number > 0, got {tol!r}.")
    if not isinstance(verbose, int | np.integer):
        raise ValueError(f"verbose must be an integer >= 0, got {verbose!r}.")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable or None, got {callback!r}.")
    rng = np.random.default_rng(check_random_state(seed).randint(2**31))
    return Monitor(int(max_iter), float(tol), rng, int(verbose), callback, offset, factor)


def warn_unless_converged(converged: bool, monitor: Monitor) -> None:
    """A `ConvergenceWarning` where the iterations did not suffice."""
    if not converged and not monitor.stopped:
        warnings.warn(
            f"The fit stopped at max_iter={monitor.max_iter} iterations before it converged; raise max_iter "
            "or tol.",
            ConvergenceWarning,
            stacklevel=5,
        )
