"""What a search for scales ends with: the functions at these scales, and the Gaussian process that found them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._array import rows_on_host, to_numpy
from sparsebayes.bases import BoundBasis
from sparsebayes.scale_learning.leave_one_out import LeaveOneOutPredictions, excess_of_outputs, excess_variance
from sparsebayes.scale_learning.process import GaussianProcess


@dataclass(frozen=True, eq=False)
class LearnedScales:
    """A basis at the scales that were learned, and the Gaussian process they were learned from.

    Attributes
    ----------
    bound : BoundBasis
        The whole basis at these scales.
    log_evidence : float
        The GP log marginal likelihood of the rows that were used.
    noise_variance : float
        σ² of the Gaussian process; NaN if there is no noise to estimate. The variance of parts that are not
        in the process is in it.
    first_noise_variance : float or None
        Where the noise variance of a sparse fit may start; None if the Gaussian process does not estimate it.
    irrelevant : ndarray of int
        Numbers of the functions that were screened out: they need not be candidates.
    process, theta : GaussianProcess and ndarray
        The Gaussian process with exact covariance on up to `rows` rows, on the host, and its parameters θ.
    most : GaussianProcess
        The Gaussian process on up to `many_rows` rows: `process` if these are all rows, else by inducing centres,
        on the device of the rows.
    rows : ndarray of int
        The rows that `most` is given.
    """

    bound: BoundBasis
    log_evidence: float
    noise_variance: float
    first_noise_variance: float | None
    irrelevant: np.ndarray
    process: GaussianProcess
    theta: np.ndarray
    most: GaussianProcess
    rows: np.ndarray

    def excess_variance(
        self, result: Any, columns: np.ndarray, y: np.ndarray, counts: np.ndarray | None, scales: Any = None
    ) -> float:
        """What the error bars of a sparse regression at these scales lack, by the Gaussian process.

        Parameters
        ----------
        result : Result
            The sparse model.
        columns : array of shape (N, S)
            Its functions at the training rows.
        y : array of shape (N,) or (N, T)
            Training targets; T outputs that share their functions as the process was given them.
        counts : ndarray of shape (N,) or None
            How often each row counts; None for once each.
        scales : ndarray of shape (T,), optional
            What T outputs were divided by for the process, besides √T.

        Returns
        -------
        float
            A variance to be added to that of every prediction; 0 unless the process has all parts.
        """
        if not self.most.all_parts:
            return 0.0
        counts = None if counts is None else counts[self.rows]
        with np.errstate(all="ignore"):
            y, columns = (rows_on_host(each, self.rows) for each in (y, columns))
            if y.ndim == 1:
                process = LeaveOneOutPredictions.of_process(self.most, self.theta)
                sparse = LeaveOneOutPredictions.of_result(result, columns, y, counts)
                excess = excess_variance(process, sparse, counts)
            else:
                known = (result.alpha, result.noise_variance, counts, result.has_intercept)
                sparse = LeaveOneOutPredictions.of_weights(columns, y, *known)
                ratio = scales / to_numpy(result.output_scales)
                excess = excess_of_outputs(self.most, self.theta, sparse, counts, ratio)
        return excess if math.isfinite(excess) else 0.0  # a kernel beyond floating point says nothing
