"""Facts about a single capture's origin for the manifests, in addition to those of the whole session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def facts(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Device, versions and threads of a capture made by the real MindSpore or by PyTorch modules; empty for any other.

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
