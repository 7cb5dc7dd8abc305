"""The emulated GPU of MindSpore: kernel by kernel, statistics by the host, TF32 for convolutions."""

from __future__ import annotations

from harness.backends.base import BACKENDS
from harness.backends.emulated import Emulated


class Gpu(Emulated):
    """Backend ``gpu``, emulated; no such device was measured."""

    name = "gpu"
    device_name = "gpu"


BACKENDS.register("gpu", Gpu())
