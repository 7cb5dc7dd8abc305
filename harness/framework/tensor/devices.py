"""Where a tensor lies: there is one place here."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, UnsupportedError


def check_device(device: Any) -> None:
    """Raises ``SettingError`` unless ``device`` is None, ``"CPU"`` or ``"meta"``, as on a CPU (measured); tensors
    without data (``meta``) are an ``UnsupportedError``."""
    if device is None or (isinstance(device, str) and device == "CPU"):
        return
    if isinstance(device, str) and device == "meta":
        raise UnsupportedError("Tensor(device='meta') is not supported: every tensor has its data here")
    raise SettingError(f"Tensor: device must be None, 'CPU' or 'meta', got {device!r}")
