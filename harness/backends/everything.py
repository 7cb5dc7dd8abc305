"""The dump tree of a run with everything in it, as a device writes it in a mode."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.capture.statistic import ITEMS
from harness.devices import Device
from harness.dump import DumpConfig, parse
from harness.dump.environment import observer_for
from harness.errors import UnsupportedError
from harness.runtime.observer import Observer


def configuration(folder: Path, device: Device, mode: str = "tensor") -> DumpConfig:
    """A dump configuration that selects everything of every step.

    Args:
        folder: where the tree is written. The rules for paths in a configuration file are narrower than a file
            system's; they do not count here.
        device: whose rules count.
        mode: ``tensor``, ``statistic`` or ``full``.
    """
    common: dict[str, Any] = {
        "dump_mode": 0, "path": "/msdump", "net_name": "net", "iteration": "all", "saved_data": mode,
        "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0,
        "statistic_category": [item for item in ITEMS if item != "md5"],
    }  # fmt: skip
    sections: dict[str, Any] = {"common_dump_settings": common}
    if device.sinks:
        common["file_format"] = "bin" if mode == "tensor" else "npy"  # statistics need npy
    else:
        sections["e2e_dump_settings"] = {"enable": True, "trans_flag": True}
    config = parse(json.dumps(sections), device.name, environ={})
    # A hash is no item of every release; a row without it would not show every difference.
    return replace(config, path=str(folder), statistic_category=ITEMS if mode != "tensor" else ())


def dump_everything(folder: Path, device: Device, mode: str = "tensor") -> Observer:
    """An observer that writes the tree of ``configuration``."""
    observer = observer_for(configuration(folder, device, mode), device)
    if observer is None:
        raise UnsupportedError(f"{device.name} writes no dump tree in mode {mode}")
    return observer
