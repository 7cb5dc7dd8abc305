"""PyTorch's switches for reproducible bits, set inside a block and recorded.

The switches hold for the whole process; the end of the block restores them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

#: cuBLAS needs it before its first call; PyTorch refuses to be deterministic without
WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
_WORKSPACE_SIZE = ":4096:8"


@contextmanager
def deterministic(tf32: tuple[bool, bool] = (False, False)) -> Iterator[None]:
    """Deterministic algorithms, cuDNN without trials, float32 products as they are.

    Args:
        tf32: whether matrix products and convolutions on CUDA may read 10 bits of float32 factors.
    """
    cudnn = torch.backends.cudnn
    libraries = torch.backends.cuda.matmul, cudnn
    were = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    trials, precisions = (cudnn.deterministic, cudnn.benchmark), [_allows(each) for each in libraries]
    os.environ.setdefault(WORKSPACE, _WORKSPACE_SIZE)
    # A program that asked for warnings alone has operators that have no such algorithm.
    torch.use_deterministic_algorithms(True, warn_only=all(were))
    cudnn.deterministic, cudnn.benchmark = True, False
    _allow(libraries, precisions, tf32)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(were[0], warn_only=were[1])
        cudnn.deterministic, cudnn.benchmark = trials
        _allow(libraries, precisions, precisions)


def _allows(library: Any) -> bool | None:
    """Whether a library may read 10 bits; None where a program set it by the newer names, which the older ones refuse
    to read."""
    try:
        return bool(library.allow_tf32)
    except RuntimeError:
        return None


def _allow(libraries: Sequence[Any], precisions: Sequence[bool | None], wanted: Sequence[bool | None]) -> None:
    for library, before, now in zip(libraries, precisions, wanted, strict=True):
        if before is not None and now is not None:
            library.allow_tf32 = now


def recorded(device: Any) -> dict[str, Any]:
    """The switches that ``deterministic`` sets, and the device of the kernels; small JSON values."""
    found: dict[str, Any] = {
        "torch": str(torch.__version__),
        "device": str(device),
        "deterministic_algorithms": True,
        "threads": torch.get_num_threads(),
        "mkldnn": bool(torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled),
        "capability": torch.backends.cpu.get_cpu_capability(),
    }
    if torch.device(device).type == "cuda":
        cudnn = torch.backends.cudnn
        found |= {
            "cuda": torch.version.cuda,
            "device_name": torch.cuda.get_device_name(device),
            "cudnn": cudnn.version(),
            "cudnn_deterministic": True,
            "cudnn_benchmark": False,
            WORKSPACE: os.environ.get(WORKSPACE, _WORKSPACE_SIZE),
        }
    return found
