"""Settings of a kind that MindSpore refuses are refused with its class of error, before anything is made."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from harness.errors import SettingTypeError
from harness.framework import nn
from harness.framework.common import initializer
from harness.framework.names import is_absent
from harness.framework.nn import settings

#: a value of each kind
VALUES: dict[str, Any] = {"None": None, "bool": True, "int": 1, "float": 0.5, "str": "foo", "tuple": (1, 2),
                          "list": [1, 2], "type": object}  # fmt: skip
CLASSES = {
    name: found
    for name in settings.refused_kinds()
    if isinstance(found := getattr(nn, name, None) or getattr(initializer, name, None), type) and not is_absent(found)
}


def test_there_are_rows_for_what_is_here() -> None:
    assert len(CLASSES) > 80


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_kinds_are_refused_by_name(name: str) -> None:
    known = inspect.signature(CLASSES[name]).parameters
    for setting, kinds in settings.refused_kinds()[name].items():
        if setting not in known:
            continue
        for kind in kinds.split():
            with pytest.raises(SettingTypeError) as caught:
                CLASSES[name](**{setting: VALUES[kind]})
            assert str(caught.value)


def test_a_users_subclass_is_held_to_them_too() -> None:
    class Mine(nn.Dense):
        def __init__(self, width: Any) -> None:
            super().__init__(width, 2)

    with pytest.raises(SettingTypeError, match="Mine: in_channels must be an int above 0, got '3'"):
        Mine("3")
    assert Mine(3).in_channels == 3
