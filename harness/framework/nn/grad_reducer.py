"""``DistributedGradReducer``: gradients summed over ranks.

Source of the operators, their order and dtypes: MindSpore 2.10.0 CPU with two and four ranks, measured.
"""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework import context
from harness.framework.communication.group import WORLD, members
from harness.framework.nn.calls import in_graph
from harness.framework.nn.cell import Cell
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Tensor, mutable

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """The sum of gradients over the ranks of a group, or their mean: the sum times ``1 / degree``, rounded to float32.

    Other floating dtypes are summed in float32.

    Args:
        parameters: the parameters that the gradients belong to; those of ``layerwise_parallel`` ones stay as they are.
        mean: whether the sum is divided by ``degree``; None for the context's ``gradients_mean``.
        degree: what the sum is divided by; None for the number of ranks (or the context's ``device_num``).
        fusion_type: shown in the graph; every gradient is summed by itself.
        group: a group of the run.

    Raises:
        SettingError, SettingTypeError: an argument that is not accepted.
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
        if degree is None:
            is_set = context.is_set("device_num")
            degree = context.get_auto_parallel_context("device_num") if is_set else len(members(WORLD))
        self._is_alone = len(members(group)) == 1
        self.mean = context.get_auto_parallel_context("gradients_mean") if mean is None else mean
        self.degree = Tensor(1.0 / degree, dtypes.float32)
        self._summed = tuple(not each.layerwise_parallel for each in parameters)
        self.allreduce = ops.AllReduce("sum", group).add_prim_attr("fusion", fusion_type)

    @in_graph
    def construct(self, grads: Any) -> Any:
        if self._is_alone:
            return grads
        given = grads if isinstance(grads, (tuple, list)) else (grads,)
        if len(given) != len(self._summed):
            raise SettingError(f"{self.cls_name}: {len(given)} gradients of {len(self._summed)} parameters")
        single = [self._cast(grad, dtypes.float32) for grad in given]
        summed = [
            self._reduced(grad) if is_summed else grad for grad, is_summed in zip(single, self._summed, strict=True)
        ]
        out = tuple(self._cast(grad, before.dtype) for grad, before in zip(summed, given, strict=True))
        return out if isinstance(grads, (tuple, list)) else out[0]

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: bool = True
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = super()._bind(args, kwargs, defaults)
        return tuple(map(mutable, args)), kwargs  # the gradients are inputs of the graph (measured)

    def _reduced(self, grad: Any) -> Any:
        total = self.allreduce(grad)
        return ops.mul(total, self.degree) if self.mean else total

    def _cast(self, grad: Any, dtype: Any) -> Any:
        return grad if grad.dtype is dtype else ops.cast(grad, dtype)
