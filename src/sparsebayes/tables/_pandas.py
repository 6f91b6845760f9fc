"""Pandas, which only tables need."""

from __future__ import annotations

from typing import Any


def pandas_module() -> Any:
    """The module pandas; ImportError that says what to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError('tables need the package pandas: pip install "sparsebayes[cli]".') from error
    return pandas
