"""Names that scripts import from ``mindspore.parallel._utils``: the number of devices, and this device."""

from __future__ import annotations

from harness.framework import context
from harness.framework.communication import get_group_size, get_rank
from harness.framework.names import fallback as _fallback


def _get_parallel_mode() -> str:
    mode: str = context.get_auto_parallel_context("parallel_mode")
    return mode


def _get_gradients_mean() -> bool:
    mean: bool = context.get_auto_parallel_context("gradients_mean")
    return mean


def _get_device_num() -> int:
    if context.is_set("device_num"):
        number: int = context.get_auto_parallel_context("device_num")
        return number
    return get_group_size()


def _get_global_rank() -> int:
    if context.is_set("global_rank"):
        rank: int = context.get_auto_parallel_context("global_rank")
        return rank
    return get_rank()


def _get_full_batch() -> bool:
    return False


def _get_parameter_broadcast() -> bool:
    is_broadcast: bool = context.get_auto_parallel_context("parameter_broadcast")
    return is_broadcast


def _get_pipeline_stages() -> int:
    return 1


def _get_enable_parallel_optimizer() -> bool:
    return False


__getattr__ = _fallback(__name__)
