"""The emulated CPU: MindSpore's graphs as it compiles them for a CPU."""

from __future__ import annotations

from harness.backends.base import BACKENDS
from harness.backends.emulated import Emulated


class Cpu(Emulated):
    """Backend ``cpu``, emulated."""

    name = "cpu"
    device_name = "cpu"


BACKENDS.register("cpu", Cpu())
