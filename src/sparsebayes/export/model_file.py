"""Model files: `save` and `load`, without pickle. The format is described in docs/model-files.md."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from sparsebayes.export._codec import Decoder, Encoder
from sparsebayes.export._errors import ModelFileError
from sparsebayes.export._members import pack, unpack
from sparsebayes.export._registry import ESTIMATORS
from sparsebayes.export._text import from_json_bytes, to_json_bytes
from sparsebayes.export._writing import read_bytes, write_bytes

MODEL = "model.json"
MAX_BYTES = 1 << 32


def save(model: Any, path: Any) -> None:
    """Store an estimator in a file, without pickle.

    The file is a zip archive of JSON and .npy arrays, which any language can read; `load` reads it without executing
    anything. A file that is there is replaced only when the new one is complete.

    Parameters
    ----------
    model : estimator
        One of the estimators of this package, fitted or not, or a `Pipeline` of scikit-learn that contains one; the
        other steps of a pipeline are stored by skops (extra `export`). Callables, such as a kernel that is a function,
        cannot be stored.
    path : str, path or binary file object
        Where to write. The usual suffix is ".sbm".

    See Also
    --------
    load : Read the file.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> import sparsebayes
    >>> X = np.linspace(-8, 8, 50)[:, None]
    >>> model = sparsebayes.RelevanceVectorRegressor().fit(X, np.sinc(X[:, 0] / np.pi))
    >>> file = io.BytesIO()
    >>> sparsebayes.save(model, file)
    >>> _ = file.seek(0)
    >>> same = sparsebayes.load(file)
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    write_bytes(model_bytes(model), path)


def load(path: Any, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read an estimator from a file that `save` wrote; nothing in the file is executed.

    Predictions, parameters and attributes are those of the estimator that was stored, to the last bit on the same
    machine with the same versions of NumPy and SciPy.

    Parameters
    ----------
    path : str, path or binary file object
        The file.
    max_bytes : int, default=4294967296
        The most bytes that the contents of the file may have; a file that claims more is refused before it is read.

    Returns
    -------
    estimator
        The estimator, fitted if it was fitted.

    Raises
    ------
    ModelFileError
        A `ValueError`: the file is no model file, of a later format, damaged, or holds what a model file must not hold.

    See Also
    --------
    save : Write the file.
    """
    data, source = read_bytes(path, max_bytes)
    members = unpack(data, source, max_bytes)
    try:
        return _model(members, source, max_bytes)
    except RecursionError as error:
        raise ModelFileError(f"{source} is nested too deeply.") from error


def model_bytes(model: Any) -> bytes:
    """The bytes of the file of an estimator; ValueError or TypeError if it holds what cannot be stored."""
    from sparsebayes import __version__

    if type(model) not in ESTIMATORS:
        names = ", ".join(sorted(each.__name__ for each in ESTIMATORS))
        advice = ": store its best_estimator_" if hasattr(model, "best_estimator_") else ""
        raise TypeError(f"model must be one of {names} to be stored, got {type(model).__name__}{advice}.")
    if isinstance(model, Pipeline) and not _contains_own(model):
        raise TypeError("model must contain an estimator of sparsebayes to be stored, got a Pipeline without one.")
    encoder = Encoder()
    try:
        root = encoder.value(model, "")
    except RecursionError as error:
        raise ValueError("model is nested too deeply to be stored.") from error
    text = to_json_bytes({"model": root, "objects": encoder.objects})
    return pack({MODEL: text, **encoder.members}, __version__)


def _contains_own(model: Any) -> bool:
    """Whether a step of a pipeline, or of a pipeline in it, is an estimator of this package."""
    steps = (step for _, step in model.steps)
    return any(_contains_own(each) if type(each) is Pipeline else type(each) in ESTIMATORS for each in steps)


def _model(members: dict[str, bytes], source: str, most: int) -> Any:
    content = from_json_bytes(members.pop(MODEL, b""), f"{MODEL} of {source}")
    if not isinstance(content, dict) or content.keys() != {"model", "objects"} or type(content["objects"]) is not list:
        raise ModelFileError(f"{MODEL} of {source} must have a model and objects.")
    decoder = Decoder(members, most)
    for record in content["objects"]:
        decoder.add(record)
    model = decoder.value(content["model"])
    if type(model) not in ESTIMATORS:
        raise ModelFileError(f"{source} must hold an estimator, got {type(model).__name__}.")
    return model
