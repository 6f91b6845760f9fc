"""Predictions of a fitted model of labels, from the functions of its weights at new rows."""

from __future__ import annotations

import numpy as np

from sparsebayes._array import Array, asfloat64, namespace, to_numpy
from sparsebayes.core.result import Result

SMALLER = 1e-60  # factor of columns whose squares overflow


def f_covariance(result: Result, columns: Array) -> Array:
    """Posterior covariance of the outputs at each row.

    Parameters
    ----------
    result : Result
        A fitted model with K outputs.
    columns : array of shape (n, S)
        The function of each weight at the rows.

    Returns
    -------
    array of shape (n, K, K)
        The covariances.
    """
    xp, spread = namespace(columns), []
    root = asfloat64(np.linalg.cholesky(to_numpy(result.covariance)), like=columns)
    for k in range(result.outputs):
        mine = slice(*np.searchsorted(result.output, [k, k + 1]).tolist())
        spread.append(columns[:, mine] @ root[mine, :] - (result.centre[k, :] @ root)[None, :])
    stacked = xp.stack(spread, axis=1)
    return stacked @ xp.matrix_transpose(stacked) + result.intercept_covariance[None, :, :]


def link_inputs(result: Result, columns: Array, moderated: bool = True) -> Array:
    """The outputs that the link turns into probabilities.

    Parameters
    ----------
    result : Result
        A fitted model with K outputs and a likelihood of classes.
    columns : array of shape (n, S)
        The function of each weight at the rows.
    moderated : bool
        Whether they are those of the probabilities averaged over the posterior of the weights; else f of the
        mean weights.

    Returns
    -------
    array of shape (n, K)
        The outputs.
    """
    if not moderated:
        return result.f_mean(columns)
    if result.averaged is not None:
        return link_inputs(result.averaged, columns)
    f = result.f_mean(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        V, xp = f_covariance(result, columns), namespace(columns)
        far = ~(xp.all(xp.isfinite(V), axis=(1, 2)) & xp.all(xp.isfinite(f), axis=1))
    if bool(xp.any(far)) and bool(xp.any(far[:, None] & (xp.abs(columns) > 1.0))):
        # there only the ratio of f and its standard deviation matters: it is the same for smaller columns
        ones = xp.ones_like(columns[:, :1])
        return link_inputs(result, columns * xp.where(far[:, None], SMALLER * ones, ones))
    return result.likelihood.moderated_output(f, V)


def log_probabilities(result: Result, columns: Array, moderated: bool = True) -> Array:
    """Logarithms of the probabilities of the classes, finite however small those are.

    Parameters
    ----------
    result : Result
        A fitted model with a likelihood of classes.
    columns : array of shape (n, S)
        The function of each weight at the rows.
    moderated : bool
        Whether to average them over the posterior of the weights; else those of the mean weights.

    Returns
    -------
    array of shape (n, number of classes)
        log p(class | x).
    """
    return result.likelihood.log_probabilities(link_inputs(result, columns, moderated))
