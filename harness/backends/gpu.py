"""The GPU of MindSpore: emulated, or computed by PyTorch on a CUDA device.

``MSDUMP_GPU`` chooses. By default it is emulated everywhere: goldens of an emulated GPU are exact, and the machine must
not decide silently which numbers they are compared with.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.backends.base import BACKENDS
from harness.backends.emulated import Emulated, EmulatedProcess
from harness.backends.torch import TorchProcess, deterministic_from_now_on
from harness.errors import SettingError
from harness.framework.engines.available import cuda_missing
from harness.framework.runtime import session

if TYPE_CHECKING:
    from harness.capture.recorder import RecorderCapture

VARIABLE = "MSDUMP_GPU"
#: PyTorch's name of the device a real GPU is
DEVICE = "cuda"
_CHOICES = ("emulated", "cuda", "auto")


def chosen() -> str:
    """The value of ``MSDUMP_GPU``: ``emulated``, ``cuda``, or ``auto`` (the device if there is one)."""
    name = os.environ.get(VARIABLE) or _CHOICES[0]
    if name not in _CHOICES:
        raise SettingError(f"{VARIABLE}: {', '.join(_CHOICES)} are accepted, got {name!r}")
    return name


class Gpu(Emulated):
    """Backend ``gpu``: kernel by kernel, statistics by the host, TF32 for convolutions."""

    name = "gpu"
    device_name = "gpu"

    @property
    def emulated(self) -> bool:
        """See ``Emulated.emulated``."""
        choice = chosen()
        return choice == "emulated" or (choice == "auto" and cuda_missing() is not None)

    def available(self) -> str | None:
        """See ``Backend.available``."""
        return cuda_missing() if chosen() == "cuda" else None

    def process(
        self, network: str, mode: str, rootdir: str | None, recorder: RecorderCapture | None
    ) -> EmulatedProcess:
        """See ``Emulated.process``."""
        if self.emulated:
            return super().process(network, mode, rootdir, recorder)
        return TorchProcess(DEVICE, self.name, self.device, network, mode, rootdir, recorder)

    def stand_in(self) -> str | None:
        """See ``Backend.stand_in``."""
        why = super().stand_in()
        if why is None and not self.emulated:
            deterministic_from_now_on(session.current(), DEVICE)
        return why


BACKENDS.register("gpu", Gpu())
