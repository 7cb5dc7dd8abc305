"""Writes values as short texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType

_ROOM = 60
#: what numbers stand for in arguments of that name: MindSpore's enumerations
_MEANT = {
    "reduction": {0: "sum", 1: "mean", 2: "none"}, "pad_mode": {0: "pad", 1: "same", 2: "valid"},
}  # fmt: skip


def setting_text(name: str, value: Any) -> str:
    """A constant or an attribute in few characters; a number of an enumeration by its name."""
    meant = _MEANT.get(name, {}).get(value) if isinstance(value, int) and not isinstance(value, bool) else None
    return value_text(value) if meant is None else meant


def value_text(value: Any) -> str:
    """A constant or attribute in a few characters: ``0.05``, ``same``, ``(2, 2)``, ``Float32[5]`` of a larger array."""
    if value is ...:
        return "(not there)"
    if isinstance(value, np.ndarray):
        if value.size > 6:
            return f"{dtypes.from_numpy(value.dtype).name}{list(value.shape)}"
        texts = [number(each, value.dtype).removesuffix(".0") for each in value.reshape(-1)]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(value_text, value))})"[:_ROOM]
    if isinstance(value, DType):
        return value.name
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))[:_ROOM]


def number(value: Any, dtype: np.dtype[Any]) -> str:
    """An element with enough digits to tell it from its neighbours."""
    if dtype.kind in "fcV":
        return str(dtype.type(value))
    return str(value)


def short_operator(name: str) -> str:
    """The last two parts of a full name: ``fc1-Dense/MatMul-op0``."""
    return "/".join(name.split("/")[-2:])


def printable(text: str, room: int) -> str:
    """``text`` without its middle if it is longer than ``room``; control characters made visible."""
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) <= room:
        return text
    keep = (room - 3) // 2
    return f"{text[:keep]}...{text[-keep:]}"


def changed_cell(expected: str, found: str) -> str:
    """The cell whose type changed, if two names differ only in that: ``optimizer: Adam -> SGD``.

    Cells are ``name-Type`` in a full name; below the changed cell, names may differ.
    """
    for one, other in zip(expected.split("/")[:-1], found.split("/")[:-1], strict=False):
        if one == other:
            continue
        (name, _, old), (other_name, _, new) = one.rpartition("-"), other.rpartition("-")
        return f"{name}: {old} -> {new}" if name and name == other_name else ""
    return ""
