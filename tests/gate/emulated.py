"""Backends and modes of the gate, and how close each backend's numbers are to the CPU's.

All devices run the same kernels, so that what they compute in one dtype has the same bits: exact, but where a network
convolves in float32 or computes in float16.

* A convolution on a GPU reads its float32 factors with 10 bits (TF32), on Ascend with 11 (HF32): each is off by half a
  unit of that many bits at most, a product by one, and so a sum by one unit of the sum of its terms' sizes. What
  training makes of that is judged by the size of each tensor; measured at most 1.6 units of its largest element.
* Kernels the CPU lacks in float16 compute in float32 there: those results are rounded to float16 before they are
  compared, and what follows is off by units of float16.
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


DEVICES = {"gpu": 10, "ascend-o0": 11, "ascend-o1": 11, "ascend-o2": 11}
"""Device -> bits its convolutions read of float32 factors."""
HALF_BITS = 11
"""Bits of a float16."""


def within(bits: int) -> dict[str, Any]:
    """Float32 within two units of so many bits, of the tensor's largest element; by its statistics where no values are
    kept."""
    return {"default": "default", "float32": {"scaled": 2 * 2.0**-bits, "max_ulp": 1}, "statistics": True}


TORCH = {"torch~cpu": {"default": "default", "float32": {"rtol": 1e-5, "scaled": 1e-5, "max_ulp": 1}}}
"""PyTorch computes in the graph's dtypes, in another order: float32 within 1e-5 of the tensor's largest element. It has
no goldens of its own here, as its bits are the machine's."""
#: for networks without such kernels
SAME = {f"{device}~cpu": "exact" for device in DEVICES} | TORCH
CONVOLVING = {f"{device}~cpu": within(bits) for device, bits in DEVICES.items()} | TORCH
HALVES = {f"{device}~cpu": within(HALF_BITS) for device in DEVICES} | TORCH
