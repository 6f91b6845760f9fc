"""Parameter objects keep scikit-learn's conventions."""

from dataclasses import dataclass, field

import pytest
from sklearn.base import clone

from sparsebayes.core.noise import Gaussian
from sparsebayes.core.prior import Uniform
from sparsebayes.core.specification import Specification


@dataclass
class Example(Specification):
    width: float = 1.0
    names: tuple = ()
    cached: int = field(default=7, init=False)


def test_parameters_are_the_fields():
    assert Example(2.0).get_params() == {"width": 2.0, "names": ()}
    assert Example(2.0).get_params(deep=False) == {"width": 2.0, "names": ()}
    assert Uniform().get_params() == {}
    assert Gaussian((1.0, 2.0)).get_params() == {"prior": (1.0, 2.0), "variance": None}


def test_parameters_can_be_set_by_name():
    example = Example()
    assert example.set_params(width=3.0, names=("a",)) is example
    assert (example.width, example.names) == (3.0, ("a",))
    with pytest.raises(ValueError, match=r"'height' is no parameter of Example, which has \['width', 'names'\]"):
        example.set_params(height=1.0)
    with pytest.raises(ValueError, match="'cached' is no parameter"):
        example.set_params(cached=1)


def test_a_clone_is_another_object_with_equal_parameters():
    original = Example(2.0, ("a",))
    copy = clone(original)
    assert copy is not original
    assert copy == original


def test_nothing_is_checked_by_default():
    assert Example().check() is None
