"""The description of a tensor in ``dump.json``.

Source: the public source of mindstudio-probe 26.2.0 (the output of its data processor for MindSpore): the numbers of a
0-d tensor are its value, a bool tensor has only maximum and minimum, those of a complex one refer to absolute values,
the md5 is a CRC-32 (bfloat16 as float32). Where a device calculates in float32, this code uses float64.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.dump import npy
from harness.dump.msprobe.fields import BASIC, MD5, SUMMARY_ITEMS
from harness.recording.value import Array
from harness.stats import describe
from harness.stats.printed import ATTRIBUTES

KEYS = {"max": "Max", "min": "Min", "mean": "Mean", "l2norm": "Norm"}
"""The key of each item of ``summary_mode``; other items keep their name."""
HALVES = (dtypes.float16, dtypes.bfloat16)
TENSOR = "mindspore.Tensor"


def describe_tensor(array: Array, dtype: DType, items: Sequence[str] = BASIC, *, high: bool = False) -> dict[str, Any]:
    """Describes a tensor as in ``dump.json``.

    Args:
        array: array of any shape, also empty, with elements of ``dtype``.
        dtype: MindSpore's.
        items: items from ``fields.SUMMARY_ITEMS``.
        high: whether numbers of float16 and bfloat16 stay unrounded.
    """
    leaf: dict[str, Any] = {"type": TENSOR, "dtype": dtype.name, "shape": list(array.shape)}
    numbers = _numbers(array, dtype, [item for item in items if item != MD5], high)
    leaf.update((KEYS.get(item, item), value) for item, value in numbers.items())
    if MD5 in items:
        leaf[MD5] = crc32(array, dtype)
    return leaf


def crc32(array: Array, dtype: DType) -> str:
    """The "md5" of ``dump.json``: eight hexadecimal digits."""
    plain = npy.widen_bfloat16(array) if dtype is dtypes.bfloat16 else np.ascontiguousarray(array)
    return f"{zlib.crc32(plain.reshape(-1).view(np.uint8).data):08x}"


def _numbers(array: Array, dtype: DType, items: Sequence[str], high: bool) -> dict[str, Any]:
    if not array.size or not items:
        return dict.fromkeys(items)
    basic = [item for item in items if item in KEYS]
    counts = {item: SUMMARY_ITEMS[item] for item in items if item not in KEYS}
    found: dict[str, Any] = {}
    if dtype.kind == "b":
        known = {"max": bool(array.max()), "min": bool(array.min())}
        found = {item: known.get(item) for item in basic}
    elif array.ndim == 0 and dtype.kind != "c":
        found = dict.fromkeys(basic, array.item() if dtype is not dtypes.bfloat16 else float(array))
    elif basic:
        found = _floats(array, dtype, basic, high)
    if counts:
        statistics = describe(array, dtype.name)
        found.update({item: getattr(statistics, ATTRIBUTES[named]) for item, named in counts.items()})
    return {item: found[item] for item in items}


def _floats(array: Array, dtype: DType, items: Sequence[str], high: bool) -> dict[str, Any]:
    if dtype.kind == "c":
        array, dtype = np.abs(array).astype(np.float64), dtypes.float64
    statistics = describe(array, dtype.name)
    result = dtype if not high and dtype in HALVES else dtypes.float64
    with np.errstate(all="ignore"):
        return {
            item: float(np.float64(getattr(statistics, ATTRIBUTES[SUMMARY_ITEMS[item]])).astype(result.numpy))
            for item in items
        }
