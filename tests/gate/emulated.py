"""Backends and modes of the gate, and how near each backend's numbers stand to the CPU's.

A convolution on a GPU reads its float32 factors with 10 bits (TF32), on Ascend with 11 (HF32): a product is off by
2**-10 or 2**-11 of its size at most, and what training makes of that is judged by the size of each tensor. Everything
else differs only where the CPU has no kernel in float16 and computes in float32.
"""

from __future__ import annotations

from typing import Any

SUNK = ("tensor", "statistic", "full", "overflow", "exception", "async-npy", "async-bin")
KERNEL_BY_KERNEL = (
    "tensor", "statistic", "full", "sample", "overflow", "exception", "kernel-args", "async-npy", "async-bin",
)  # fmt: skip
BACKENDS = {
    "cpu": ("tensor",),
    "gpu": ("tensor", "statistic", "full", "kernel-args"),
    "ascend-o0": KERNEL_BY_KERNEL,
    "ascend-o1": KERNEL_BY_KERNEL,
    "ascend-o2": SUNK,
}


def near_cpu(bits: int) -> dict[str, Any]:
    """Tolerances of a device whose convolutions read float32 with so many bits."""
    unit = 2.0**-bits
    return {"default": "default", "float32": {"rtol": 4 * unit, "scaled": 4 * unit, "max_ulp": 1}}


AGAINST_CPU = {
    "gpu~cpu": near_cpu(10),
    "ascend-o0~cpu": near_cpu(11),
    "ascend-o1~cpu": near_cpu(11),
    "ascend-o2~cpu": near_cpu(11),
}
