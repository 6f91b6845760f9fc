"""Strict JSON: floats that round-trip, no NaN, no repeated keys, integers of 64 bits."""

from __future__ import annotations

import json
import math
from typing import Any

from sparsebayes.export._errors import ModelFileError, reason

LONGEST = 20  # characters of an integer


def to_json_bytes(value: Any) -> bytes:
    """A JSON value as UTF-8, without spaces."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def from_json_bytes(data: bytes, source: str) -> Any:
    """The JSON value of UTF-8 text; ModelFileError if it is none, or not strict."""
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse,
            parse_float=_float,
            parse_int=_integer,
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else reason(error)
        raise ModelFileError(f"{source} is no JSON text: {why}.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelFileError("A JSON object of a model file must have every key once.")
    return found


def _refuse(text: str) -> Any:
    raise ModelFileError(f"A JSON number of a model file must be finite, got {text}.")


def _float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text[:LONGEST])


def _integer(text: str) -> int:
    if len(text) > LONGEST or not -(1 << 63) <= int(text) < 1 << 64:
        raise ModelFileError(f"An integer of a model file must have at most 64 bits, got {text[:LONGEST]}….")
    return int(text)
