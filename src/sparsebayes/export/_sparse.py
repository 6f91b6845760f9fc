"""SciPy's sparse matrices and arrays: taken apart, and put together with every index checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from sparsebayes.export._errors import ModelFileError

COMPRESSED = (scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix)
DIAGONAL = (scipy.sparse.dia_array, scipy.sparse.dia_matrix)
SPARSE = (*COMPRESSED, *DIAGONAL)


def sparse_fields(matrix: Any) -> dict[str, Any]:
    """The shape and the arrays of a sparse matrix."""
    found = {"shape": tuple(int(n) for n in matrix.shape), "data": matrix.data}
    if isinstance(matrix, DIAGONAL):
        return found | {"offsets": matrix.offsets}
    return found | {"indices": matrix.indices, "indptr": matrix.indptr}


def sparse_matrix(cls: Any) -> Callable[[dict[str, Any]], Any]:
    """What makes a sparse matrix of a class; ModelFileError if an index is out of range."""
    names = {"shape", "data", "offsets"} if cls in DIAGONAL else {"shape", "data", "indices", "indptr"}

    def together(values: dict[str, Any]) -> Any:
        arrays = [value for name, value in values.items() if name != "shape"]
        plain = values.keys() == names and all(isinstance(each, np.ndarray) for each in arrays)
        shape = values.get("shape")
        if not plain or not (isinstance(shape, tuple) and len(shape) == 2 and all(type(n) is int for n in shape)):
            raise ModelFileError(f"A {cls.__name__} of the model file must have {sorted(names)}, got {[*values]}.")
        try:
            if cls in DIAGONAL:
                return cls((values["data"], values["offsets"]), shape=shape)
            made = cls((values["data"], values["indices"], values["indptr"]), shape=shape)
            made.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise ModelFileError(
                f"A {cls.__name__} of the model file has indices or a shape that are wrong."
            ) from error
        return made

    return together
