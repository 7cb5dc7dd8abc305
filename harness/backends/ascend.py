"""The emulated Ascend at its three levels: kernel by kernel, with fused kernels, and as one sunk graph."""

from __future__ import annotations

from harness.backends.base import BACKENDS
from harness.backends.emulated import Emulated


class AscendO0(Emulated):
    """Backend ``ascend-o0``, emulated: kernel by kernel."""

    name = "ascend-o0"
    device_name = "ascend-o0"


class AscendO1(Emulated):
    """Backend ``ascend-o1``, emulated: elementwise chains are one kernel."""

    name = "ascend-o1"
    device_name = "ascend-o1"


class AscendO2(Emulated):
    """Backend ``ascend-o2``, emulated: the whole graph is sunk; tensors lie in the device's formats."""

    name = "ascend-o2"
    device_name = "ascend-o2"


for _backend in (AscendO0, AscendO1, AscendO2):
    BACKENDS.register(_backend.name, _backend())
