"""Parameter objects: priors, solvers and likelihoods hold parameters and nothing else."""

from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass
class Specification:
    """A dataclass whose fields are its parameters, by scikit-learn's conventions.

    `sklearn.base.clone` copies it, and an estimator that holds it as `prior` takes `prior__c=2.0` in
    `set_params`.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool
            Ignored: parameters of a specification have no parameters of their own.

        Returns
        -------
        dict
            Name to value.
        """
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name.

        Parameters
        ----------
        **params
            New values of parameters that exist.

        Returns
        -------
        Specification
            Itself.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name!r} is no parameter of {type(self).__name__}, which has {[*known]}.")
            setattr(self, name, value)
        return self

    def check(self) -> None:
        """Raise ValueError, in one sentence, for parameters that make no sense; called before any work."""
