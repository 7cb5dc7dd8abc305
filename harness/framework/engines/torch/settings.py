"""PyTorch's switches for reproducible bits, set inside a block and recorded.

The switches hold for the whole process; the end of the block restores them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    were = (
        torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(),
        cudnn.deterministic, cudnn.benchmark, cudnn.allow_tf32, matmul.allow_tf32,
    )  # fmt: skip
    os.environ.setdefault(WORKSPACE, _WORKSPACE_SIZE)
    torch.use_deterministic_algorithms(True)
    cudnn.deterministic, cudnn.benchmark = True, False
    matmul.allow_tf32, cudnn.allow_tf32 = tf32
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(were[0], warn_only=were[1])
        cudnn.deterministic, cudnn.benchmark, cudnn.allow_tf32, matmul.allow_tf32 = were[2:]


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
