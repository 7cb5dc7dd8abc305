"""Whether an engine can run here, found out without importing it: that costs seconds."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from harness.suggest import install

#: paths that show an NVIDIA driver
DRIVER = ("/dev/nvidiactl", "/dev/dxg")
GET_TORCH = install("pytest-msdump[torch]")


@cache
def torch_missing() -> str | None:
    """Says in one line why PyTorch cannot be used, with the command to install it; None if it is installed."""
    return None if find_spec("torch") is not None else f"PyTorch is not installed; get it with: {GET_TORCH}"


def cuda_missing() -> str | None:
    """Says in one line why PyTorch has no CUDA device here; None if it has. Imports PyTorch if there is a driver."""
    why = torch_missing()
    if why is not None:
        return why
    if not any(Path(name).exists() for name in DRIVER):
        return "there is no CUDA device here (no NVIDIA driver shows itself)"
    import torch

    return None if torch.cuda.is_available() else "PyTorch finds no CUDA device here"
