"""The dump modes a capture can be made of: the observer that collects a run in each, and the configuration that writes
its tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from harness.capture import CaptureObserver
from harness.capture.kernel_args import KernelArgsObserver
from harness.capture.sample import SAMPLE, SampleObserver
from harness.capture.statistic import ITEMS, FullObserver, StatisticObserver
from harness.capture.watching import ExceptionObserver, OverflowObserver
from harness.devices import Device
from harness.errors import UnsupportedError

RAW_RELEASE = "2.2"
"""Release whose rules apply to a kernel-by-kernel dump in the DumpData framing: the last one whose tree holds graphs,
without which names stay mangled."""
_STATISTICS = {"statistic_category": [item for item in ITEMS if item != "md5"]}


@dataclass(frozen=True, slots=True)
class Mode:
    """One dump mode.

    Attributes:
        feature: feature the device must have, a name of ``devices.capabilities.FEATURES``.
        observer: collects in memory what a tree of this mode holds.
        common, e2e: fields of the configuration's two sections that differ from a dump of everything.
        asynchronous: whether files are written in parallel to the run (kernel by kernel: ``enable`` false).
        raw: whether files use the DumpData framing.
        watches: whether only what goes wrong is kept, so that a run may leave nothing.
        beside_tensors: whether comparing a run with another device's mode ``tensor`` is useful; not if it only holds
            the tensors of its own mode ``tensor`` in other files.
    """

    feature: str
    observer: Callable[..., CaptureObserver] = CaptureObserver
    common: Mapping[str, Any] = field(default_factory=dict)
    e2e: Mapping[str, Any] = field(default_factory=dict)
    asynchronous: bool = False
    raw: bool = False
    watches: bool = False
    beside_tensors: bool = True


MODES: Mapping[str, Mode] = MappingProxyType(
    {
        "tensor": Mode("tensor"),
        "statistic": Mode("statistic", StatisticObserver, {"saved_data": "statistic", **_STATISTICS}),
        "full": Mode("full", FullObserver, {"saved_data": "full", **_STATISTICS}),
        "sample": Mode("sample", SampleObserver, e2e={"sample_mode": 1, "sample_num": SAMPLE}),
        "overflow": Mode("overflow", OverflowObserver, {"op_debug_mode": 3}, watches=True, beside_tensors=False),
        "exception": Mode("exception", ExceptionObserver, {"op_debug_mode": 4}, watches=True, beside_tensors=False),
        "kernel-args": Mode("kernel_args", KernelArgsObserver, e2e={"save_kernel_args": True}, beside_tensors=False),
        "async-npy": Mode("asynchronous", common={"file_format": "npy"}, asynchronous=True, beside_tensors=False),
        "async-bin": Mode(
            "asynchronous",
            partial(CaptureObserver, raw=True),
            {"file_format": "bin"},
            asynchronous=True,
            raw=True,
            beside_tensors=False,
        ),
    }
)
"""Every mode by its name in test ids and goldens."""


def modes_of(device: Device) -> tuple[str, ...]:
    """Names of the modes ``device`` has."""
    return tuple(name for name, mode in MODES.items() if device.capabilities.has(mode.feature))


def refusal(device: Device, name: str) -> str | None:
    """Says why ``device`` lacks the mode ``name``, as documented or measured; None if it has it.

    Raises:
        UnsupportedError: no device has such a mode.
    """
    mode = MODES.get(name)
    if mode is None:
        raise UnsupportedError(f"there is no dump mode {name!r}; there are {', '.join(MODES)}")
    answer = device.capabilities[mode.feature]
    return None if answer else answer.gist or str(answer)
