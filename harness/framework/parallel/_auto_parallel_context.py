"""Names that scripts import from ``mindspore.parallel._auto_parallel_context``."""

from __future__ import annotations

from harness.framework.names import fallback as _fallback


class _AutoParallelContext:
    """The settings of a training on many devices; a run here has one."""

    def get_device_num_is_set(self) -> bool:
        """Whether a script set the number of devices."""
        return False

    def get_device_num(self) -> int:
        """1."""
        return 1

    def get_global_rank(self) -> int:
        """0."""
        return 0

    def set_all_reduce_fusion_split_indices(self, indices: list[int], group: str = "") -> None:
        """Has no effect: nothing is reduced over devices."""

    def set_all_reduce_fusion_split_sizes(self, sizes: list[int], group: str = "") -> None:
        """Has no effect: nothing is reduced over devices."""

    def set_enable_all_reduce_fusion(self, enable_all_reduce_fusion: bool) -> None:
        """Has no effect: nothing is reduced over devices."""


_THE_ONE = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """The settings of this process."""
    return _THE_ONE


__getattr__ = _fallback(__name__)
