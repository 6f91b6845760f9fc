"""What a fitted estimator has learned, as values that can be compared."""

from dataclasses import replace


def learned(model: object) -> dict[str, object]:
    """The fitted attributes by name; the scores of candidates one by one, the trace without its seconds."""
    values = {name: value for name, value in vars(model).items() if name.endswith("_") and name[0] != "_"}
    candidates, trace = values.pop("candidates_", None), values.pop("trace_", None)
    if candidates is not None:
        values |= {f"candidates_.{name}": value for name, value in vars(candidates).items()}
    if trace is not None:
        values["trace_"] = [replace(move, seconds=0.0) for move in trace]
    return values
