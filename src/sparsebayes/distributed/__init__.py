"""Rows that are Dask collections: statistics by tree reductions, predictions that stay lazy.

The only package that imports Dask; it is imported when a Dask collection is given to `fit` or `predict`. Read
`dask_rows` first (passes over the parts of a collection, each of which returns one small result), then `triangles`
(regression), `remote_laplace` (labels), `kernel_path` and `kernel_labels` (kernel machines); `lazy_predictions` is what
a fitted model makes of lazy rows.
"""

try:
    import dask
except ImportError as error:
    raise ImportError(
        "X is a Dask collection, but dask cannot be imported: install it with pip install 'sparsebayes[dask]'."
    ) from error

from sparsebayes.distributed.dask_rows import DaskRows
from sparsebayes.distributed.kernel_labels import KernelLabels
from sparsebayes.distributed.kernel_path import KernelRows
from sparsebayes.distributed.labels import LabelRows
from sparsebayes.distributed.lazy_predictions import predict_lazily, transform_lazily
from sparsebayes.distributed.points import PointRows, first_rows
from sparsebayes.distributed.progress import PassWatch
from sparsebayes.distributed.remote_design import alike_rows
from sparsebayes.distributed.remote_fit import fit_together
from sparsebayes.distributed.remote_laplace import ColumnRows
from sparsebayes.distributed.settings import DISTRIBUTED, DistributedSettings
from sparsebayes.distributed.triangles import read_triangle

__all__ = [
    "DISTRIBUTED",
    "ColumnRows",
    "DaskRows",
    "DistributedSettings",
    "KernelLabels",
    "KernelRows",
    "LabelRows",
    "PassWatch",
    "PointRows",
    "alike_rows",
    "first_rows",
    "fit_together",
    "predict_lazily",
    "read_triangle",
    "transform_lazily",
]
