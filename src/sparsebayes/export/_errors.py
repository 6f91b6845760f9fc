"""What is wrong with a model file."""


class ModelFileError(ValueError):
    """A file is no model file, is damaged, or holds something that a model file must not hold."""
