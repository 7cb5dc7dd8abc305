"""Primitives of communication, for a run that is one process."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.communication.group import WORLD, members
from harness.framework.ops.primitive import Primitive

__all__ = ["AllGather", "AllReduce", "Broadcast", "ReduceOp", "ReduceScatter"]


class ReduceOp:
    """How a collective operator combines the tensors of a group."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


_REDUCTIONS = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD)


def _checked(owner: str, op: Any) -> str:
    if not isinstance(op, str):
        raise SettingTypeError(f"{owner}: op must be a str, got {type(op).__name__}")
    if op not in _REDUCTIONS:
        raise SettingError(f"{owner}: op must be one of {list(_REDUCTIONS)}, got {op!r}")
    return op


class AllReduce(Primitive):
    """The reduction of a tensor over a group."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        members(group)
        super().__init__(attrs={"op": _checked("AllReduce", op), "group": group})


class ReduceScatter(Primitive):
    """This process's part of the reduction of a tensor over a group."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        members(group)
        super().__init__(attrs={"op": _checked("ReduceScatter", op), "group": group})


class AllGather(Primitive):
    """The tensors of a group, along the first axis."""

    def __init__(self, group: str = WORLD) -> None:
        members(group)
        super().__init__(attrs={"group": group})


class Broadcast(Primitive):
    """The tensors of one process of a group, for all of it."""

    def __init__(self, root_rank: int, group: str = WORLD) -> None:
        if root_rank not in members(group):
            raise SettingError(f"Broadcast: root_rank must be one of {members(group)}, got {root_rank!r}")
        super().__init__(attrs={"root_rank": root_rank, "group": group})

    def __call__(self, *args: Any) -> Any:
        return args[0] if len(args) == 1 else args
