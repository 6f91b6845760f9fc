"""Regression with kernels whose matrix is too large to form.

Read `path` first, which decides how a kernel is fitted, then `working_set`, the search. What the search needs
to know of the data comes from `columns` (true kernel columns), `low_rank` (K ≈ LLᵀ) or `sampled_curvature`.
"""

from sparsebayes.large_kernels.path import KernelPath
from sparsebayes.large_kernels.settings import Pace, WorkingSetSettings

__all__ = ["KernelPath", "Pace", "WorkingSetSettings"]
