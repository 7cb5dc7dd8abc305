"""Operators of PyTorch, run again by the PyTorch that is installed; nothing is registered where there is none."""

from __future__ import annotations

from harness.recording.replayer import REPLAYERS
from harness.replaying import PYTORCH

try:
    import torch as _torch  # noqa: F401
except ImportError:
    pass
else:
    from harness.replaying.aten.replayer import Aten

    REPLAYERS.register(PYTORCH, Aten)
