"""Arguments that are no tensors: what they are in words, and how two of them differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.dtypes import ARGUMENT_FORMAT
from harness.errors import HarnessError
from harness.records import Record

#: Characters of a text that are shown.
_SHOWN = 60


def changed_argument(expected: Record, found: Record) -> str | None:
    """``(eps) 1e-05 -> 0.9``, of two records of which one is an argument; None if both are tensors, or if what they
    are is not known."""
    if ARGUMENT_FORMAT not in (expected.format, found.format):
        return None
    one, other = shown(expected), shown(found)
    if one is None or other is None or one == other:
        return None
    name = found.extra.named or expected.extra.named
    return (f"({name}) " if name else "") + f"{one} -> {other}"


def shown(record: Record) -> str | None:
    """An argument as Python writes it, a tensor by its dtype and shape; None if an argument's value is not known."""
    if record.format != ARGUMENT_FORMAT:
        return f"a tensor {record.dtype}{list(record.shape)}"
    try:
        value: Any = record.load()
    except HarnessError:
        value = None
    if value is None:
        return None
    array = np.asarray(value)
    if record.dtype != "UInt8":
        return repr(array.reshape(-1)[0].item()) if array.size else None
    text = array.tobytes().decode("utf-8", "replace")
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")
