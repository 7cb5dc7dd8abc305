"""What msprobe's ``dump.json`` states of a tensor beside its values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.dtypes import DType
from harness.dump.msprobe.entries import KEYS
from harness.dump.msprobe.fields import SUMMARY_ITEMS
from harness.stats.printed import ABSOLUTE, CHECKSUM, SIGNED_NORM, PrintedStatistics

#: Facts of a tensor that no statistic shows, as they are named in ``dump.json``; ``type`` where it is no plain tensor.
_FURTHER = ("placements", "device_mesh", "layout", "hsdp_shard_size", "group_id", "op", "peer", "tag")
_FURTHER_SET = frozenset(_FURTHER)
_PLAIN = frozenset({"torch.Tensor", "mindspore.Tensor", "numpy.ndarray", "mindspore.Parameter", "torch.nn.Parameter"})
_ITEMS = tuple((KEYS.get(item, item), named) for item, named in SUMMARY_ITEMS.items() if item not in ("hash", "md5"))
#: (field of dump.json, item) of an ordinary tensor, of a number, and of a complex tensor
_ORDINARY = _ITEMS
_SCALAR = tuple((field, SIGNED_NORM if item == "l2norm" else item) for field, item in _ITEMS)
_COMPLEX = tuple((field, ABSOLUTE.get(item, item)) for field, item in _ITEMS)
_NUMBERS = frozenset({*KEYS.values()})
_BOOLS = {True: "1", False: "0"}
_DIRECTIONS = ("forward", "backward")
_LARGEST_SIZE = 2**63


def row_of(said: Mapping[str, Any], dtype: DType, shape: tuple[int, ...]) -> PrintedStatistics:
    """The statistics stated of a tensor, with all their digits.

    The norm of a 0-d tensor is its value; numbers of complex tensors are those of absolute values, and the md5 is a
    checksum: these are items of their own.
    """
    texts: dict[str, str] = {}
    for field, item in _COMPLEX if dtype.kind == "c" else _ORDINARY if shape else _SCALAR:
        value = said.get(field)
        if value is not None and (text := _text(value, field in _NUMBERS)):
            texts[item] = text
    check = said.get("md5")
    if isinstance(check, str) and check:
        texts[CHECKSUM] = check
    return PrintedStatistics(texts, dtype.name, whole=True)


def _text(value: Any, number: bool) -> str:
    """A number in as few digits as tell it from all others; empty for anything else."""
    if isinstance(value, bool):
        return _BOOLS[value]
    if isinstance(value, str):  # NaN and infinities, by some releases
        try:
            value = float(value)
        except ValueError:
            return ""
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value or math.isnan(value) else repr(value)
    if not isinstance(value, int):
        return ""
    return str(value) if not number or abs(value) < 10**17 else repr(float(value)) if abs(value) < 2**1000 else ""


def stated(said: Mapping[str, Any]) -> str:
    """What else is stated of a tensor: ``requires_grad``, how it is distributed, what kind of tensor it is; empty for
    nothing."""
    shown = "requires_grad" if said.get("requires_grad") is True else ""
    kind = said.get("type")
    if kind in _PLAIN and _FURTHER_SET.isdisjoint(said):
        return shown
    found = [shown] if shown else []
    if kind not in _PLAIN and isinstance(kind, str):
        found.append(kind)
    found += [f"{name}={said[name]}" for name in _FURTHER if said.get(name) is not None]
    return " ".join(found)


def type_of(key: str) -> str:
    """``conv2d`` of ``Functional.conv2d.0.forward``, ``Dense`` of ``Cell.fc1.Dense.forward.0``, ``mm`` of
    ``Aten.mm.default.0.forward``."""
    if key.startswith("Aten.") and key.count(".") > 1:
        return key.split(".", 2)[1]
    rest = key
    while rest:
        rest, _, last = rest.rpartition(".")
        if last not in _DIRECTIONS and not last.isdecimal():
            return last
    return key


def is_shape(shape: Any) -> bool:
    """Whether it is a list of sizes that int64 holds."""
    if type(shape) is not list:
        return False
    for size in shape:  # noqa: SIM110 (``all`` takes three times as long)
        if type(size) is not int or not 0 <= size < _LARGEST_SIZE:
            return False
    return True
