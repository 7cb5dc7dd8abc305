"""Names that scripts import from ``mindspore.parallel._utils``: the number of devices, and this device."""

from __future__ import annotations

from harness.framework import context
from harness.framework.names import fallback as _fallback


def _get_parallel_mode() -> str:
    mode: str = context.get_auto_parallel_context("parallel_mode")
    return mode


def _get_gradients_mean() -> bool:
    mean: bool = context.get_auto_parallel_context("gradients_mean")
    return mean


def _get_device_num() -> int:
    return 1


def _get_global_rank() -> int:
    return 0


def _get_full_batch() -> bool:
    return False


def _get_parameter_broadcast() -> bool:
    return False


def _get_pipeline_stages() -> int:
    return 1


def _get_enable_parallel_optimizer() -> bool:
    return False


__getattr__ = _fallback(__name__)
