"""Where a capture comes from, beside what is true of the whole session: for manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def facts(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Of a capture of the real MindSpore or of PyTorch's own modules: device, versions, threads; of any other nothing.

    Args:
        rules: of the capture.
    """
    if "ms_version" in rules:
        versions = {"mindspore": rules.get("ms_version"), "numpy": rules.get("numpy"), "python": rules.get("python")}
        device = [rules.get("device_target"), rules.get("machine")]
        return _told(device, versions)
    settings = rules.get("settings")
    if not isinstance(settings, Mapping) or "processor" not in settings:
        return {}
    device = [settings.get("device", "cpu"), settings["processor"], settings.get("capability")]
    return {**_told(device, {"torch": settings.get("torch")}), "threads": settings.get("threads")}


def _told(device: list[Any], versions: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "device": ", ".join(str(each) for each in device if each),
        "versions": {name: version for name, version in versions.items() if version},
    }
