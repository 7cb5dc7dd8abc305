"""Asynchronous dump files and configurations made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness import dtypes
from harness.devices.formats import FORMATS
from harness.dtypes import DType
from harness.dump import DumpConfig, parse
from harness.dump.asynchronous.dump_data import Array, Entry, Header, Payload, encode, entry_of
from harness.dump.rules import FIRST

LATEST = "2.4-2.6"
"""The last generation whose dump is asynchronous without asking."""


def config(path: Path, generation: str = LATEST, backend: str = "ascend-o2", **changes: Any) -> DumpConfig:
    """A configuration of the asynchronous dump of everything; ``changes`` go to the common section."""
    common = {
        "dump_mode": 0, "path": str(path), "net_name": "Net", "iteration": "all", "input_output": 0, "kernels": [],
        "support_device": [0], "op_debug_mode": 0,
    }  # fmt: skip
    sections: dict[str, Any] = {"common_dump_settings": common | changes}
    if generation == FIRST:
        common["iteration"] = 0
        sections = {"common_dump_settings": common | changes}
        sections["async_dump_settings"] = {"enable": True, "op_debug_mode": changes.get("op_debug_mode", 0)}
    found = parse(json.dumps(sections), backend=backend, generation=generation)
    assert found.method == "async"
    return found


def values(dtype: DType, shape: Sequence[int], seed: int = 0) -> Array:
    """Small numbers of both signs."""
    rng = np.random.default_rng(seed)
    return rng.integers(-9, 10, tuple(shape)).astype(dtype.numpy)


def entry(
    array: Array,
    dtype: DType | None = None,
    format_name: str = "ND",
    original: Sequence[int] | None = None,
    groups: int = 0,
) -> tuple[Entry, Payload]:
    """An array as it lies in a file; without ``original`` the host's shape is its own."""
    kind = dtypes.from_numpy(array.dtype) if dtype is None else dtype
    return entry_of(array, kind, format_name, array.shape if original is None else original, groups)


def device_entry(host: Array, format_name: str, groups: int = 0) -> tuple[Entry, Payload]:
    """A host tensor laid out in ``format_name``."""
    device = FORMATS.get(format_name).to_device(host, groups=max(1, groups))
    return entry(device, dtypes.from_numpy(host.dtype), format_name, host.shape, groups)


Given = Sequence[tuple[Entry, Payload]]


def content(inputs: Given = (), outputs: Given = (), op_name: str = "Default/Add-op0") -> bytes:
    """The bytes of a file."""
    header = Header(op_name, 1623124369613540, tuple(e for e, _ in inputs), tuple(e for e, _ in outputs))
    return b"".join([encode(header), *(bytes(payload) for _, payload in (*inputs, *outputs))])


def write(
    directory: Path, name: str, inputs: Given = (), outputs: Given = (), op_name: str = "Default/Add-op0"
) -> Path:
    """Writes a file; ``name`` gets task, stream and time."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.2.7.1623124369613540"
    path.write_bytes(content(inputs, outputs, op_name))
    return path
