"""``DistributedGradReducer``: gradients summed over processes; a run has one."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.communication.group import WORLD, members
from harness.framework.nn.cell import Cell

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """The mean (or sum) of gradients over a group of one: the gradients themselves.

    Args:
        parameters: the parameters that the gradients belong to.
        mean: whether the sum is divided by ``degree``; None for the context's setting.
        degree: the number of processes; None for the group's.
        fusion_type: kept.
        group: a group of the run.
    """

    def __init__(
        self, parameters: Any, mean: bool | None = None, degree: int | None = None, fusion_type: int = 1,
        group: str = WORLD,
    ) -> None:  # fmt: skip
        super().__init__(auto_prefix=False)
        if degree is not None and (not isinstance(degree, int) or isinstance(degree, bool) or degree <= 0):
            raise SettingError(f"{self.cls_name}: degree must be an int above 0, got {degree!r}")
        if mean is not None and not isinstance(mean, bool):
            raise SettingTypeError(f"{self.cls_name}: mean must be a bool or None, got {type(mean).__name__}")
        self.degree = len(members(group)) if degree is None else degree
        self.mean = bool(mean)
        if self.mean and self.degree != 1:
            raise SettingError(f"{self.cls_name}: a run here is one process, so degree must be 1, got {degree}")

    def construct(self, grads: Any) -> Any:
        return grads
