"""Values of calls as ``dump.json`` describes them, for levels L0, L1 and mix.

Source: the public source of mindstudio-probe 26.2.0, and its runs beside MindSpore 2.10.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.dump.msprobe.entries import describe_tensor
from harness.framework.nn.watching import Array, Seen, seen
from harness.framework.tensor import Tensor

_NUMPY = (np.integer, np.floating, np.bool_, np.complexfloating, np.str_)


def taken(value: Any, before: bool = False) -> Any:
    """A value as it is now: tensors become ``Seen`` (``before`` as ``seen`` takes it), all else what JSON can
    hold; None for what msprobe leaves out."""
    if isinstance(value, Tensor):
        return seen(value, before)
    if isinstance(value, (bool, int, float, str)):
        return {"type": type(value).__name__, "value": value}
    if isinstance(value, _NUMPY):
        return {"type": type(value).__name__, "value": str(value) if np.iscomplexobj(value) else value.item()}
    if isinstance(value, DType):
        return {"type": "mindspore.dtype", "value": value.name}
    if value is Ellipsis:
        return {"type": "ellipsis", "value": "..."}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return {"type": "slice", "value": [None if part is None else int(part) for part in parts]}
    if isinstance(value, np.ndarray):
        return Seen(Tensor(value).dtype, value.copy()) if value.dtype.kind in "biufc" else None
    if isinstance(value, (list, tuple)):
        return [taken(member, before) for member in value]
    if isinstance(value, dict):
        return {key: taken(member, before) for key, member in value.items()}
    return None


def described(
    value: Any, name: str, write: Callable[[str, Array, DType], None] | None, items: tuple[str, ...], high: bool
) -> Any:
    """What ``dump.json`` says of a value from ``taken``.

    Args:
        value: the value; a ``Seen`` without an array (its gradient never ran) gives None.
        name: name of its file, without the positions within ``value`` and the suffix.
        write: writes a tensor; None if tensors are not kept.
        items, high: as ``describe_tensor`` takes them.
    """
    if isinstance(value, Seen):
        if value.array is None:
            return None
        leaf = describe_tensor(value.array, value.dtype, items, high=high)
        if write is not None:
            leaf["data_name"] = f"{name}.npy"
            write(leaf["data_name"], value.array, value.dtype)
        return leaf
    if isinstance(value, list):
        return [described(member, f"{name}.{at}", write, items, high) for at, member in enumerate(value)]
    if isinstance(value, dict) and set(value) != {"type", "value"}:
        return {key: described(member, f"{name}.{key}", write, items, high) for key, member in value.items()}
    return value
