"""MindSpore's dump configuration that corresponds to msprobe's ``config.json``.

msprobe leaves the dump of kernels to MindSpore: it writes such a file into ``dump_path`` and names it in
``MINDSPORE_DUMP_CONFIG`` (public source of mindstudio-probe 26.2.0). A sunk graph, which has no kernel-by-kernel dump,
gets the same without ``e2e_dump_settings``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.devices import Device
from harness.dump.config import DumpConfig, parse
from harness.dump.msprobe.config import ProbeConfig
from harness.dump.msprobe.fields import SUMMARY_ITEMS

FILE = "kernel_kbyk_dump.json"
EXCEPTION_FILE = "kernel_graph_exception_check.json"
_INPUT_OUTPUT = {"all": 0, "input": 1, "output": 2}
_EIGHT = list(range(8))


def file_name(config: ProbeConfig) -> str:
    """msprobe's name for the file."""
    return EXCEPTION_FILE if config.task == "exception_dump" else FILE


def settings(config: ProbeConfig, device: Device) -> dict[str, Any]:
    """The content of the file, for ``device``."""
    exception = config.task == "exception_dump"
    selects = bool(config.names) and not exception
    common: dict[str, Any] = {
        "dump_mode": int(selects),
        "path": config.dump_path,
        "net_name": "Net",
        "iteration": "|".join(map(str, config.steps)) if config.steps and not exception else "all",
        "saved_data": "statistic" if config.task == "statistics" else "tensor",
        "input_output": _INPUT_OUTPUT[config.data_mode],
        "kernels": list(config.names) if selects else [],
        "support_device": list(config.ranks) or _EIGHT,
    }
    if exception:
        common |= {"op_debug_mode": 4, "file_format": "npy"}
    elif config.summary:
        common["statistic_category"] = [_category(item) for item in config.summary]
    if device.sinks:
        return {"common_dump_settings": {"op_debug_mode": 0, "file_format": "npy", **common}}
    e2e: dict[str, Any] = {"enable": not config.async_dump, "trans_flag": True}
    if config.task == "statistics":
        e2e["stat_calc_mode"] = "device" if config.on_device else "host"
        e2e["device_stat_precision_mode"] = config.device_precision
    return {"common_dump_settings": common, "e2e_dump_settings": e2e}


def _category(item: str) -> str:
    return "hash:md5" if item == "md5" else SUMMARY_ITEMS[item]


def text_of(config: ProbeConfig, device: Device) -> str:
    """``settings`` as the text of the file."""
    return json.dumps(settings(config, device), indent=4)


def handed_on(
    config: ProbeConfig,
    device: Device,
    release: str | None,
    environ: Mapping[str, str],
    *,
    device_id: int = 0,
    pynative: bool = False,
) -> DumpConfig:
    """The same configuration, read by MindSpore's rules for ``device``.

    For a sunk graph it only selects kernels, steps and slots; the caller decides how they are written.

    Raises:
        DumpConfigError: MindSpore refuses it; the message uses MindSpore's name of the field.
    """
    content = settings(config, device)
    if device.sinks:
        more = {"support_device": [device_id], "saved_data": "tensor", "statistic_category": []}
        content["common_dump_settings"] |= more
    return parse(json.dumps(content), device.name, release, environ, device_id=device_id, pynative=pynative)
