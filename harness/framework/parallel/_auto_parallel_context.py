"""Names that scripts import from ``mindspore.parallel._auto_parallel_context``."""

from __future__ import annotations

from harness.framework import context
from harness.framework.names import fallback as _fallback


class _AutoParallelContext:
    """The settings of a training on many devices."""

    def get_device_num_is_set(self) -> bool:
        """Whether a script set the number of devices."""
        return context.is_set("device_num")

    def get_device_num(self) -> int:
        """The number that a script set, or 1."""
        number: int = context.get_auto_parallel_context("device_num")
        return number

    def get_global_rank(self) -> int:
        """The rank that a script set, or 0."""
        rank: int = context.get_auto_parallel_context("global_rank")
        return rank

    def set_all_reduce_fusion_split_indices(self, indices: list[int], group: str = "") -> None:
        """Has no effect: every gradient is reduced by itself."""

    def set_all_reduce_fusion_split_sizes(self, sizes: list[int], group: str = "") -> None:
        """Has no effect: every gradient is reduced by itself."""

    def set_enable_all_reduce_fusion(self, enable_all_reduce_fusion: bool) -> None:
        """Has no effect: every gradient is reduced by itself."""


_THE_ONE = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """The settings of this process."""
    return _THE_ONE


__getattr__ = _fallback(__name__)
