"""Sparse covariances: taken apart, and put together with every index checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes.export._errors import ModelFileError


def sparse_fields(matrix: Any) -> dict[str, Any]:
    """The shape and the arrays of a sparse array in compressed rows."""
    shape = tuple(int(n) for n in matrix.shape)
    return {"shape": shape, "data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}


def sparse_array(shape: Any, data: Any, indices: Any, indptr: Any) -> scipy.sparse.csr_array:
    """A sparse array in compressed rows; ModelFileError if an index is out of range, which SciPy would follow."""
    arrays = (data, indices, indptr)
    sized = isinstance(shape, tuple) and len(shape) == 2 and all(type(n) is int for n in shape)
    if not sized or not all(isinstance(each, np.ndarray) and each.ndim == 1 for each in arrays):
        raise ModelFileError("A csr_array of the model file must have a shape of two integers and three vectors.")
    try:
        made = scipy.sparse.csr_array(arrays, shape=shape)
        made.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ModelFileError("A csr_array of the model file must have indices within its shape.") from error
    return made
