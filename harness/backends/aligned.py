"""Aligns captures of two emulated devices, slot by slot.

Their graphs differ only in known ways: casts that a device's kernels need, fused kernels, outputs and parameters that a
device's dump omits, the directory of a graph that control flow split off. Slots explained by these are removed;
everything else stays, so that a missing slot is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from harness.backends.base import get
from harness.capture.contents import is_dumped
from harness.capture.sample import sample_of
from harness.capture.statistic import row_of
from harness.devices import DEVICES, Device
from harness.dtypes import by_name
from harness.dump.names import PARAMETER
from harness.records import Record, RecordExtra, SlotKey


def aligned(
    expected: Iterable[Record],
    found: Iterable[Record],
    expected_backend: str,
    found_backend: str,
    *,
    samples: bool = False,
) -> tuple[list[Record], list[Record]]:
    """The records of both sides for the same slot of the network, under the same key.

    A fused kernel's results take the place of its last member's. If ``found`` has a slot in a narrower float (a kernel
    that the other device lacks in float16), the expected values are rounded to it; other slots with different dtypes
    are left out on both sides. If ``found`` has rows of statistics instead of values, so has the expected side.

    Args:
        expected, found: records of the two captures.
        expected_backend, found_backend: names of the emulated backends that made them.
        samples: ``found`` holds samples, ``expected`` whole tensors.
    """
    devices = _device(expected_backend), _device(found_backend)
    expected, found = list(expected), list(found)
    if devices[0] is devices[1]:  # another engine computed the same graphs
        rows = {record.key for record in found if record.values is None}
        return [_row(record) if record.key in rows else record for record in expected], found
    gone = _inner(found) | _inner(expected)
    sides = [_shown(side, devices, gone) for side in (expected, found)]
    dtypes = [{record.key: record.dtype for record in side} for side in sides]
    unlike = {key for key in dtypes[0].keys() & dtypes[1].keys() if dtypes[0][key] != dtypes[1][key]}
    narrower = {key: dtypes[1][key] for key in unlike if _rounds(dtypes[0][key], dtypes[1][key])}
    sides[0] = [_rounded(record, narrower) for record in sides[0]]
    other = unlike - narrower.keys()
    # A device leaves parameters out, or those that are data inputs.
    one_sided = dtypes[0].keys() ^ dtypes[1].keys()
    left, right = ([record for record in side if not _is_left_out(record, other, one_sided)] for side in sides)
    if samples:
        left = [sample_of(record) for record in left]
    rows = {record.key for record in right if record.values is None}
    return [_row(record) if record.key in rows else record for record in left], right


def _rounds(wide: str, narrow: str) -> bool:
    """Whether values of one dtype are rounded to another one's: both are floats, and that has fewer bits."""
    left, right = by_name(wide), by_name(narrow)
    return left.is_floating and right.is_floating and right.itemsize < left.itemsize


def _rounded(record: Record, narrower: Mapping[SlotKey, str]) -> Record:
    name = narrower.get(record.key)
    if name is None:
        return record
    array = record.load()
    if array is not None:
        with np.errstate(over="ignore"):
            array = array.astype(by_name(name).numpy)
    return replace(record, dtype=name, values=array, digest=None)


def _is_left_out(record: Record, other: Set[SlotKey], one_sided: Set[SlotKey]) -> bool:
    return record.key in other or (record.op_type == PARAMETER and record.key in one_sided)


def _row(record: Record) -> Record:
    array = record.load()
    if array is None:
        return record
    content, statistics = row_of(array, record.dtype)
    extra = copy(record.extra)
    extra.statistics = statistics
    return _with(record, record.key, None, content, extra)


def _device(backend: str) -> Device:
    return DEVICES.get(getattr(get(backend), "device_name", "cpu"))


def _inner(records: list[Record]) -> dict[str, bool]:
    """Members of fused kernels -> whether they give the result."""
    fused = {record.key.operator: record.extra.members for record in records if record.extra.members}
    return {name: name == members[-1] for members in fused.values() for name in members}


def _shown(records: list[Record], devices: tuple[Device, Device], gone: dict[str, bool]) -> list[Record]:
    return [shown for record in records if (shown := _one(record, devices, gone)) is not None]


def _one(record: Record, devices: tuple[Device, Device], gone: dict[str, bool]) -> Record | None:
    """``record`` as it is compared, or None."""
    key, members = record.key, record.extra.members
    alone = record.extra.alone
    if alone is not None and alone != key.operator:
        key = key._replace(operator=alone)
    operator, is_output = key.operator, key.io == "output"
    if not members and record.op_type.endswith("_fusion"):
        return None
    if operator in gone and not (gone[operator] and is_output):
        return None
    if operator.rpartition("/")[2].startswith("Cast-op"):
        return None
    if is_output and not is_dumped(record.op_type, key.slot):
        return None
    if key.graph and any(device.target == "Ascend" for device in devices):
        key = key._replace(graph=0)
    if key == record.key:
        return record
    return _with(record, key, record.values, record.digest, record.extra)


def _with(record: Record, key: SlotKey, values: Any, content: bytes | None, extra: RecordExtra) -> Record:
    """A record with another key or content; ``dataclasses.replace`` takes five times as long."""
    return Record(
        key, record.op_type, record.dtype, record.shape, record.format, values, record.source, content, extra
    )  # fmt: skip
