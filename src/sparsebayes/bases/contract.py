"""The contract of a basis: a specification that `bind` turns into functions of x.

A `Basis` only holds parameters; scikit-learn's `clone`, `get_params` and `set_params` work on it. Bound to
data it becomes a `BoundBasis`: M functions φ_1 … φ_M whose parameters are numbers, for any rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, Self, cast

import numpy as np
from sklearn.base import BaseEstimator

from sparsebayes._array import Array
from sparsebayes.bases.arguments import as_indices, split
from sparsebayes.bases.names import Product, numbered
from sparsebayes.bases.operators import DenseOperator, Operator


class Scale(NamedTuple):
    """One positive number η of a basis that can be learned.

    Parameters
    ----------
    name : str
        "gamma", or "gamma[2]" for the scale of the third input.
    log_value : float
        log η.
    per_input : bool
        Whether the scale belongs to a single input.
    width_power : float
        ρ: functions c times as wide have the scale c^ρ η. 0 for a parameter that is no width.
    parameter : str
        "gamma" also for the scale of a single input: the parameter that the scale is a number of.
    """

    name: str
    log_value: float
    per_input: bool
    width_power: float
    parameter: str

    @property
    def width(self) -> float:
        """η^(1/ρ), the length scale of the functions; NaN of a parameter that is no width."""
        return float(np.exp(self.log_value / self.width_power)) if self.width_power else np.nan


class BoundBasis(ABC):
    """M functions of x. Calling it on X (n, d) gives Φ (n, M) with φ_m(x_n) in row n, column m.

    The result may share memory with X and must not be written to.

    Attributes
    ----------
    by_row : bool
        Whether function m is centred at training row m; where it is True it is a field of a dataclass.
    in_gaussian_process : bool
        Whether the Gaussian process that scales are learned from includes these functions. False for a
        complete orthonormal set, which that process cannot tell from noise.
    is_one_kernel : bool
        Whether all functions are one kernel at different centres, which may be too narrow for its rows.
    is_local : bool
        Whether the functions vanish far from their centres.
    """

    by_row: bool = False
    in_gaussian_process: bool = True
    is_one_kernel: bool = False
    is_local: bool = False

    @property
    @abstractmethod
    def n_functions(self) -> int:
        """M, the number of functions."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Φ (n, M): the functions at the rows of X (n, d)."""

    @abstractmethod
    def select(self, J: Sequence[int]) -> BoundBasis:
        """The functions with the numbers J, in that order."""

    @abstractmethod
    def names(self, inputs: Sequence[str] | None = None) -> list[str]:
        """A name for each of the M functions.

        A function has the same name whatever other functions are selected beside it.

        Parameters
        ----------
        inputs : sequence of str, optional
            The names of the inputs; x0, x1, … if they are None.

        Returns
        -------
        list of str
            In the order of the functions.
        """

    def products(self, inputs: Sequence[str]) -> list[Product | None]:
        """What the M functions are products of, for a formula; None for those that are no products of columns.

        Parameters
        ----------
        inputs : sequence of str
            The names of the inputs.

        Returns
        -------
        list of (list of (str, float)), or None
            The factors x − o of each function: the name of x, as often as it is a factor, and o.
        """
        return [None] * self.n_functions

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """The names of the M functions; if several have the same name, the later ones are numbered.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the inputs, such as the columns of a data frame; x0, x1, … if they are None.

        Returns
        -------
        ndarray of str
            In the order of the functions.
        """
        return np.asarray(numbered(self.names(input_features)), dtype=object)

    @property
    def families(self) -> frozenset[str]:
        """What kinds of functions there are: parts of a concatenation that have one in common are told apart."""
        return frozenset([type(self).__name__])

    def at_rows(self, rows: np.ndarray) -> BoundBasis:
        """The same functions; those centred at training rows are named by these numbers of the rows, (M,)."""
        return self

    def beside(self, X: Array) -> BoundBasis:
        """The same functions, for rows in the library and on the device of X.

        A basis that holds arrays which are computed with rows of X, such as centres, overrides it: a fitted model is
        kept on the host, and its functions are put beside the queries of each prediction.

        Parameters
        ----------
        X : array
            What the arrays of the functions are to be beside.

        Returns
        -------
        BoundBasis
            With `_array.beside(own, X)` in place of every such array.
        """
        return self

    def operator(self, X: Array) -> Operator:
        """Φ at the rows of X (n, d) as an operator, which need not store it as a dense array."""
        return DenseOperator(self(X))

    def weighted(self, X: Array, weights: Array) -> Array:
        """Φw (n,) at the rows of X (n, d), with w = weights (M,)."""
        return self(X) @ weights

    def contributions(self, X: Array, weights: Array) -> Array | None:
        """What each part adds to Φw at the rows of X, (parts, n); None for a basis without parts."""
        return None

    @property
    def few_batches(self) -> bool:
        """Whether a call is expensive even for few rows, so that batches of rows should be large."""
        return False

    @property
    def vectors(self) -> Array | None:
        """The centres z_m of the functions, (M, d); None if any function has no centre."""
        return None

    def known_centres(self, n_features: int) -> Array:
        """The centres (K, d) of the functions that have one, part after part; d = n_features."""
        return np.empty((0, n_features)) if self.vectors is None else self.vectors

    def centred_at(self, X: Array) -> BoundBasis | None:
        """The same functions with the rows of X (n, d) as centres; None for functions without centres."""
        return None

    def numbers(self, rows: np.ndarray, n: int) -> tuple[np.ndarray, int]:
        """Numbers of these functions in the list that binding to all training rows would have given.

        Parameters
        ----------
        rows : ndarray of int
            The training rows that the basis is bound to, out of `n`.
        n : int
            The number of training rows.

        Returns
        -------
        numbers : ndarray of shape (M,)
            A function centred at a training row is counted by that row, any other by its own position.
        count : int
            The length of the list.
        """
        return (rows, n) if self.by_row else (np.arange(self.n_functions), self.n_functions)

    def detached(self) -> BoundBasis:
        """The same functions, counted by their own position instead of by training row."""
        return replace(cast(Any, self), by_row=False) if self.by_row else self

    @property
    def positive_semidefinite(self) -> bool:
        """Whether Φ at the centres of the functions is certain to be symmetric and positive semi-definite."""
        return False

    @property
    def scale_groups(self) -> tuple[BoundBasis, ...]:
        """The parts that have scales of their own, in the order of their functions; without parts, itself."""
        return (self,)

    @property
    def scales(self) -> tuple[Scale, ...]:
        """The P scales that can be learned."""
        return ()

    @property
    def log_scales(self) -> np.ndarray:
        """log η (P,), the logarithms of the scales."""
        return np.asarray([scale.log_value for scale in self.scales], dtype=np.float64)

    @property
    def scale_names(self) -> tuple[str, ...]:
        """The names of the P scales."""
        return tuple(scale.name for scale in self.scales)

    @property
    def scale_per_input(self) -> np.ndarray:
        """Which of the scales belong to single inputs, (P,) of bool."""
        return np.asarray([scale.per_input for scale in self.scales], dtype=bool)

    def with_log_scales(self, values: Any) -> BoundBasis:
        """The same functions, at the same centres, with the scales η = exp(values); values (P,)."""
        split(values, [])
        return self

    def with_scale_per_input(self) -> BoundBasis:
        """The same functions, with one scale per input wherever the inputs share one."""
        return self

    def scale_gradient(self, X: Array, D: Array) -> np.ndarray:
        """Σ_nm D_nm ∂φ_m(x_n)/∂ log η_p for the P scales, with D (n, M) = ∂L/∂Φ: (P,)  [T01, app. C]."""
        return np.zeros(0)

    def log_scale_bounds(self, X: Array, reach: float = 1.0, narrowest: float = 0.0) -> np.ndarray:
        """Bounds of log η from the distances in X.

        Distances are those along an input for a scale per input, and those between rows for a shared scale.
        Where X does not vary both bounds are the present value.

        Parameters
        ----------
        X : array of shape (n, d)
            Rows whose distances bound the widths.
        reach : float
            The largest width, as a multiple of the largest distance.
        narrowest : float
            No width is less than this share of the largest distance, nor than the smallest distance.

        Returns
        -------
        ndarray of shape (P, 2)
            The lowest and the highest log η.
        """
        return np.zeros((0, 2))


@dataclass(frozen=True, eq=False)
class ListedBasis(BoundBasis):
    """Functions that are described by the rows of an array.

    Parameters
    ----------
    functions : ndarray of shape (M,) or (M, k)
        What distinguishes the functions, such as their numbers among others.
    """

    functions: np.ndarray

    @property
    def n_functions(self) -> int:
        """M, the number of functions."""
        return len(self.functions)

    def select(self, J: Sequence[int]) -> Self:
        """The functions with the numbers J, in that order."""
        return replace(self, functions=self.functions[as_indices(J, self.n_functions)])


class Basis(BaseEstimator, ABC):
    """The specification of a set of basis functions. `a + b` puts the functions of both side by side."""

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """The names of the parameters, looked up once: scikit-learn reads the signature every time."""
        return super()._get_param_names()

    @abstractmethod
    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """The functions that this specification gives on training data.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows.
        sample_weight : array of shape (n,), optional
            Row n counts `sample_weight[n]` times in whatever is estimated from X.
        centres : array of shape (M, d), optional
            Centres of the functions of kernels, by default the rows of X. Other bases ignore them.

        Returns
        -------
        BoundBasis
            The functions, with every parameter a number.
        """

    @property
    def pairwise(self) -> bool:
        """Whether X is a kernel matrix instead of rows of inputs."""
        return False

    def __add__(self, other: Basis) -> Basis:
        # a concatenation is a basis itself, so its module needs this one
        from sparsebayes.bases.concatenation import Concatenation

        if not isinstance(other, Basis):
            return NotImplemented
        return Concatenation.joined(self, other)


class Fixed(Basis):
    """Functions that are bound already: `bind` ignores its arguments and gives them as they are.

    Estimators accept a bound basis in place of a basis and wrap it in this class.

    Parameters
    ----------
    bound : BoundBasis
        The functions, such as `RBF(0.5).bind(Z)`.
    """

    def __init__(self, bound: BoundBasis) -> None:
        self.bound = bound

    def bind(self, X: Array, sample_weight: Array | None = None, centres: Array | None = None) -> BoundBasis:
        """The functions given, counted by their own position."""
        return self.bound.detached()
