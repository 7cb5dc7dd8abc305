"""Writes the complete dump tree of a run, as a device writes it in a mode."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.backends.modes import MODES, RAW_RELEASE
from harness.capture.statistic import ITEMS
from harness.devices import Device
from harness.dump import DumpConfig, parse
from harness.dump.environment import observer_for
from harness.errors import UnsupportedError
from harness.recording import Observer


def sections(path: str, device: Device, mode: str = "tensor") -> dict[str, Any]:
    """The content of a dump configuration file that selects everything of every step.

    Args:
        path: directory of the tree, within MindSpore's rules for paths: absolute, of letters, digits, ``_-./``.
        device: device of the configuration.
        mode: a name of ``modes.MODES``.
    """
    chosen = MODES[mode]
    common: dict[str, Any] = {
        "dump_mode": 0, "path": path, "net_name": "net", "iteration": "all", "saved_data": "tensor",
        "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0, **chosen.common,
    }  # fmt: skip
    found: dict[str, Any] = {"common_dump_settings": common}
    if device.sinks:
        statistics = common["saved_data"] != "tensor"  # need npy
        common.setdefault("file_format", "npy" if statistics else "bin")
    elif not chosen.raw:
        found["e2e_dump_settings"] = {"enable": not chosen.asynchronous, "trans_flag": True, **chosen.e2e}
    return found


def configuration(folder: Path, device: Device, mode: str = "tensor") -> DumpConfig:
    """A dump configuration that selects everything of every step.

    Args:
        folder: directory of the tree. The stricter rules for paths in a configuration file do not apply here.
        device: device whose rules apply: those of the newest release that has it, or, for files in the DumpData framing
            kernel by kernel, of ``modes.RAW_RELEASE``.
        mode: a name of ``modes.MODES``.
    """
    release = RAW_RELEASE if MODES[mode].raw and not device.sinks else None
    config = parse(json.dumps(sections("/msdump", device, mode)), device.name, release, environ={})
    # Not every release has a hash; a row without one would not show every difference.
    return replace(config, path=str(folder), statistic_category=ITEMS if config.keeps_statistics else ())


def dump_everything(folder: Path, device: Device, mode: str = "tensor") -> Observer:
    """An observer that writes the tree of ``configuration``."""
    observer = observer_for(configuration(folder, device, mode), device)
    if observer is None:
        raise UnsupportedError(f"{device.name} writes no dump tree in mode {mode}")
    return observer
