"""Estimators as JSON values and arrays, and back: every object once, and only after those that it holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from sparsebayes import _array
from sparsebayes.export._arrays import from_npy, is_storable, to_npy
from sparsebayes.export._errors import ModelFileError, reason
from sparsebayes.export._foreign import from_skops, is_foreign, to_skops
from sparsebayes.export._registry import registry, words
from sparsebayes.export._scalars import from_scalar, is_plain, scalar

ADVICE = "a model file holds numbers, text and the objects of sparsebayes, but no code"


class Encoder:
    """Values as JSON; objects and arrays go to lists of their own, each once, however often it is held.

    objects : records of objects.  members : the other members of the file, by name.
    """

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.members: dict[str, bytes] = {}
        self._numbers: dict[int, dict[str, int]] = {}
        self._kept: list[Any] = []  # so that no number of an object is given twice
        self._open: set[int] = set()
        self._counts: Counter[str] = Counter()

    def value(self, x: Any, path: str) -> Any:
        """A value as JSON; ValueError or TypeError that names its path if a model file cannot hold it."""
        if x is None or type(x) in (bool, int, float, complex, str, slice) or isinstance(x, np.generic):
            return scalar(x, path)
        if type(x) is list:
            return [self.value(each, f"{path}[{k}]") for k, each in enumerate(x)]
        if type(x) is tuple:
            return {"tuple": [self.value(each, f"{path}[{k}]") for k, each in enumerate(x)]}
        if type(x) is dict:
            return {"dict": [[scalar(key, f"a key of {path}"), self.value(x[key], f"{path}[{key!r}]")] for key in x]}
        if id(x) not in self._numbers:
            own = _array.to_numpy(x) if _array.is_foreign(x) else x  # an array of another library is stored as NumPy's
            self._numbers[id(x)] = self._array(own, path) if isinstance(own, np.ndarray) else self._object(x, path)
            self._kept.append(x)
        return self._numbers[id(x)]

    def _array(self, x: np.ndarray, path: str) -> dict[str, Any]:
        if x.dtype == object:
            if not all(is_plain(each) for each in x.flat):
                raise TypeError(f"{path} must hold text or numbers in a model file, got an array of other objects.")
            items = [scalar(each, path) for each in x.ravel().tolist()]
            return self._added({"class": "ndarray", "shape": list(x.shape), "items": items})
        if type(x) not in (np.ndarray, np.memmap) or not is_storable(x.dtype):
            raise TypeError(f"{path} must be a plain NumPy array in a model file, got {type(x).__name__} of {x.dtype}.")
        return {"array": self._member("arrays", "npy", to_npy(x))}

    def _object(self, x: Any, path: str) -> dict[str, int]:
        if id(x) in self._open:
            raise ValueError(f"{path} must not contain itself.")
        if is_foreign(x):
            return {"foreign": self._member("foreign", "skops", to_skops(x, path))}
        word = words().get(type(x))
        if word is None:
            kind = getattr(x, "__name__", type(x).__name__)
            raise TypeError(f"{path} cannot be stored, got {kind!r} of type {type(x).__name__}: {ADVICE}.")
        self._open.add(id(x))
        fields = registry()[word].apart(x)
        prefix = f"{path}." if path else ""
        record = {"class": word, "fields": {name: self.value(each, prefix + name) for name, each in fields.items()}}
        self._open.remove(id(x))
        return self._added(record)

    def _added(self, record: dict[str, Any]) -> dict[str, int]:
        self.objects.append(record)
        return {"object": len(self.objects) - 1}

    def _member(self, folder: str, suffix: str, data: bytes) -> int:
        number = self._counts[folder]
        self._counts[folder] += 1
        self.members[f"{folder}/{number}.{suffix}"] = data
        return number


class Decoder:
    """Objects from their records, in order; a record may only name objects before it.

    members : the members of the file by name.
    """

    def __init__(self, members: dict[str, bytes], most: int) -> None:
        self.members, self.most = members, most
        self.objects: list[Any] = []
        self._read: dict[str, Any] = {}

    def add(self, record: Any) -> None:
        """One more object."""
        if isinstance(record, dict) and record.keys() == {"class", "shape", "items"} and record["class"] == "ndarray":
            self.objects.append(_object_array(record))
            return
        if (
            not isinstance(record, dict)
            or record.keys() != {"class", "fields"}
            or not isinstance(record["fields"], dict)
        ):
            raise ModelFileError("An object of the model file must have a class and fields.")
        kind = registry().get(record["class"]) if isinstance(record["class"], str) else None
        if kind is None:
            raise ModelFileError(f"The model file names the class {str(record['class'])[:60]!r}, which no model has.")
        values = {name: self.value(each) for name, each in record["fields"].items()}
        try:
            self.objects.append(kind.together(values))
        except ModelFileError:
            raise
        except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
            raise ModelFileError(f"A {record['class']} of the model file cannot be made: {reason(error)}.") from error

    def value(self, x: Any) -> Any:
        """A value from JSON."""
        if isinstance(x, list):
            return [self.value(each) for each in x]
        if not isinstance(x, dict):
            return x
        if len(x) != 1:
            raise ModelFileError(f"A value of the model file must have one key, got {[*x][:5]}.")
        ((tag, inner),) = x.items()
        if tag == "object":
            return self.objects[_number(inner, len(self.objects), tag)]
        if tag == "array":
            return self._member(f"arrays/{_number(inner, len(self.members), tag)}.npy")
        if tag == "foreign":
            return self._member(f"foreign/{_number(inner, len(self.members), tag)}.skops")
        if tag == "tuple" and isinstance(inner, list):
            return tuple(self.value(each) for each in inner)
        if tag == "dict" and isinstance(inner, list):
            return self._dict(inner)
        return from_scalar(tag, inner)

    def _dict(self, pairs: list[Any]) -> dict[Any, Any]:
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFileError("A dict of the model file must be a list of pairs.")
        keys = [from_scalar(*_only(pair[0])) if isinstance(pair[0], dict) else pair[0] for pair in pairs]
        if any(isinstance(key, list | slice) for key in keys):
            raise ModelFileError("The keys of a dict of the model file must be text or numbers.")
        return {key: self.value(pair[1]) for key, pair in zip(keys, pairs, strict=True)}

    def _member(self, name: str) -> Any:
        if name not in self.members:
            raise ModelFileError(f"The model file must have a member {name}.")
        if name not in self._read:
            data = self.members[name]
            self._read[name] = from_npy(data, name) if name.endswith(".npy") else from_skops(data, name, self.most)
        return self._read[name]


def _number(x: Any, count: int, kind: str) -> int:
    if type(x) is not int or not 0 <= x < count:
        raise ModelFileError(f"The model file names {kind} {repr(x)[:60]}, and there are {count} before it.")
    return x


def _only(x: dict[str, Any]) -> tuple[str, Any]:
    if len(x) != 1:
        raise ModelFileError(f"A value of the model file must have one key, got {[*x][:5]}.")
    return next(iter(x.items()))


def _object_array(record: dict[str, Any]) -> np.ndarray:
    """An array of Python objects, all of them text, numbers or None."""
    shape, items = record["shape"], record["items"]
    good = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape) and isinstance(items, list)
    if not good or int(np.prod(shape, dtype=object)) != len(items):
        raise ModelFileError(
            f"An array of objects in the model file must have as many items as its shape {shape} says."
        )
    found = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        if isinstance(item, list):
            raise ModelFileError("An array of objects in the model file must hold text or numbers.")
        found[k] = from_scalar(*_only(item)) if isinstance(item, dict) else item
    try:
        return found.reshape(shape)
    except ValueError as error:
        raise ModelFileError(
            f"An array of objects in the model file has a shape that is none: {reason(error)}."
        ) from error
