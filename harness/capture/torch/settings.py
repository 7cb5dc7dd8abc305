"""The settings of PyTorch that decide whether a run gives the same bits again."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from typing import Any

import torch


@cache
def processor() -> str:
    """The processor's own name."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "Hardware") and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()


def _precision() -> Any:
    """The precision of float32 products: one word, or one of each library where a program set them apart."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:  # set by the newer names, which the older call does not read
        backends = torch.backends
        places = {"cuda.matmul": backends.cuda.matmul, "mkldnn.matmul": getattr(backends.mkldnn, "matmul", None)}
        return {name: getattr(each, "fp32_precision", "unknown") for name, each in places.items()}


def _tf32(library: Any) -> Any:
    try:
        return library.allow_tf32
    except RuntimeError:  # likewise
        return getattr(library, "fp32_precision", "unknown")


def settings() -> dict[str, Any]:
    """The current versions, seeds and switches; small JSON values."""
    found = {
        "torch": str(torch.__version__),
        "seed": torch.initial_seed(),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "deterministic_warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "fill_uninitialized_memory": torch.utils.deterministic.fill_uninitialized_memory,
        "float32_matmul_precision": _precision(),
        "default_dtype": str(torch.get_default_dtype()),
        "threads": torch.get_num_threads(),
        "processor": processor(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "mkldnn": torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled,
    }
    if torch.cuda.is_available():
        cudnn = torch.backends.cudnn
        found |= {
            "cuda": torch.version.cuda,
            "device": torch.cuda.get_device_name(),
            "cudnn": cudnn.version(),
            "cudnn_deterministic": cudnn.deterministic,
            "cudnn_benchmark": cudnn.benchmark,
            "allow_tf32": {"matmul": _tf32(torch.backends.cuda.matmul), "cudnn": _tf32(cudnn)},
            "CUBLAS_WORKSPACE_CONFIG": os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
        }
    return found


def compiled_modules(module: torch.nn.Module) -> list[str]:
    """The paths of what ``torch.compile`` has wrapped in a module, ``""`` being the module itself."""
    return [
        path
        for path, each in module.named_modules()
        if hasattr(each, "_orig_mod") or getattr(each, "_compiled_call_impl", None) is not None
    ]
