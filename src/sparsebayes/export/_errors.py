"""What is wrong with a model file."""

LONGEST = 120  # characters of another library's message


class ModelFileError(ValueError):
    """A file is no model file, is damaged, or holds something that a model file must not hold."""


def reason(error: BaseException) -> str:
    """The message of another library's error, as a part of a sentence: one line, not too long, without its stop."""
    text = " ".join(str(error).split())[:LONGEST].rstrip(". ")
    return text or type(error).__name__
