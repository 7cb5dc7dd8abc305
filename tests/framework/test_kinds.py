"""Arguments of a kind that MindSpore refuses are refused with its class of error, before anything is made."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.errors import HarnessError, SettingTypeError
from harness.framework import dataset, kinds, nn, ops, train
from harness.framework.common import initializer
from harness.framework.names import is_absent
from harness.framework.tensor import Tensor

#: a value of each kind
VALUES: dict[str, Any] = {"None": None, "bool": True, "int": 1, "float": 0.5, "str": "foo", "tuple": (1, 2),
                          "list": [1, 2], "dict": {"foo": 1}, "Tensor": Tensor(1.5), "ndarray": np.ones(2),
                          "dtype": dtypes.float32, "type": object, "object": object()}  # fmt: skip
SPACES = {"nn": nn, "initializer": initializer, "ops": ops, "train": train, "ds": dataset,
          "transforms": dataset.transforms, "vision": dataset.vision, "Tensor": Tensor,
          "Dataset": dataset.Dataset}  # fmt: skip


def found(name: str) -> Any:
    """What a row is about; None for what is not here, and for calls of what was made."""
    space, _, member = name.partition(".")
    thing = getattr(SPACES[space], member, None) if space in SPACES and member.isidentifier() else None
    return None if thing is None or is_absent(thing) else thing


ROWS = {name: found(name) for name in kinds.refused_kinds() if found(name) is not None}


def test_there_are_rows_for_what_is_here() -> None:
    assert len(ROWS) > 80


@pytest.mark.sampled(3)
@pytest.mark.parametrize("space", sorted(SPACES))
def test_kinds_are_refused_by_name(space: str) -> None:
    for name in ROWS:
        if name.partition(".")[0] == space:
            refuses(name)


def refuses(name: str) -> None:
    """Tries a value of each kind that is refused."""
    is_method = name.startswith(("Tensor.", "Dataset."))
    parameters = list(inspect.signature(ROWS[name]).parameters.values())[is_method:]
    known = [each.name if each.kind is not each.VAR_POSITIONAL else "" for each in parameters]
    owner = {"Tensor": Tensor([[1.5, 2.5]]), "Dataset": dataset.NumpySlicesDataset([1, 2])}.get(name.partition(".")[0])
    act = getattr(owner, name.partition(".")[2]) if is_method else ROWS[name]
    for place, words in kinds.refused_kinds()[name].items():
        argument = known[int(place)] if place.isdecimal() and int(place) < len(known) else place
        if argument not in known or "" in known:
            continue
        for word in words.split():
            kind = word.removesuffix("/A")
            with pytest.raises(TypeError if kind == word else AttributeError) as caught:
                act(**{argument: VALUES[kind]})
            assert isinstance(caught.value, HarnessError), name
            assert "\n" not in str(caught.value), name


def test_a_users_subclass_is_held_to_them_too() -> None:
    class Mine(nn.Dense):
        def __init__(self, width: Any) -> None:
            super().__init__(width, 2)

    with pytest.raises(SettingTypeError, match="Mine: in_channels must be an int above 0, got '3'"):
        Mine("3")
    assert Mine(3).in_channels == 3
