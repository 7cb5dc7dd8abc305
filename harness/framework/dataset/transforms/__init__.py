"""``mindspore.dataset.transforms``: transforms of values and types, and of transforms."""

from typing import Any as _Any

from harness.errors import unsupported_name as _unsupported_name
from harness.framework.dataset.transforms.compound import Compose, RandomApply, RandomChoice, RandomOrder
from harness.framework.dataset.transforms.values import (
    Concatenate,
    Duplicate,
    Fill,
    Mask,
    OneHot,
    PadEnd,
    Relational,
    Slice,
    TypeCast,
    Unique,
)

__all__ = [
    "Compose", "Concatenate", "Duplicate", "Fill", "Mask", "OneHot", "PadEnd", "RandomApply", "RandomChoice",
    "RandomOrder", "Relational", "Slice", "TypeCast", "Unique",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise _unsupported_name("dataset.transforms", name, __all__)
