"""Primitives of communication: what the ranks of a group give one another."""

from __future__ import annotations

from typing import Any

from harness import hooks
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError
from harness.framework.communication import world
from harness.framework.communication.group import WORLD, WORLDS, members
from harness.framework.communication.management import GlobalComm
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import call

__all__ = [
    "AllGather", "AllReduce", "AlltoAll", "Barrier", "Broadcast", "CollectiveGather", "CollectiveScatter", "Receive",
    "Reduce", "ReduceOp", "ReduceScatter", "Send",
]  # fmt: skip


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


def named(group: str) -> str:
    """A group as the operators' attributes show it: that of all ranks has the name of the device's own (measured)."""
    members(group)
    return GlobalComm.WORLD_COMM_GROUP if group in WORLDS and world.current().size > 1 else group


def _number(owner: str, name: str, value: Any, group: str) -> int:
    """A rank's number in a group."""
    if type(value) is not int:
        raise SettingTypeError(f"{owner}: {name} must be an int, got {type(value).__name__} {value!r}")
    if not 0 <= value < len(members(group)):
        raise SettingError(f"{owner}: {name} must be from 0 to {len(members(group)) - 1}, got {value}")
    return value


class AllReduce(Primitive):
    """The reduction of a tensor over a group."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        settings = {"group": named(group), "fusion": 0, "op": _checked("AllReduce", op), "index": 0}
        super().__init__(attrs={**settings, "no_eliminate": True})


class ReduceScatter(Primitive):
    """This process's part of the reduction of a tensor over a group."""

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        settings = {"group": named(group), "op": _checked("ReduceScatter", op), "rank_size": len(members(group))}
        super().__init__(attrs={**settings, "no_eliminate": True, "fusion": 0})


class AllGather(Primitive):
    """The tensors of a group, along the first axis."""

    def __init__(self, group: str = WORLD) -> None:
        settings = {"group": named(group), "fusion": 0, "rank_size": len(members(group))}
        super().__init__(attrs={**settings, "no_eliminate": True, "mean_flag": False})


class Broadcast(Primitive):
    """The tensors (a tuple) of one rank of a group, for all of it."""

    def __init__(self, root_rank: int, group: str = WORLD) -> None:
        root = _number("Broadcast", "root_rank", root_rank, group)
        super().__init__(attrs={"root_rank": root, "group": named(group), "no_eliminate": True})

    def __call__(self, *args: Any) -> Any:
        group = self.attrs["group"]
        refused = hooks.provided("device").target == "CPU" and world.current().size > 1  # see the operator
        if len(members(group)) == 1 and not refused:
            return args[0] if len(args) == 1 else args
        given = tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        return call("Broadcast", given, dyn_input_sizes=(len(given),), **{**self.attrs, **self.marks})


class Reduce(Primitive):
    """The reduction of a tensor over a group, for rank ``dest_rank`` of it."""

    def __init__(self, dest_rank: int, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        dest = _number("Reduce", "dest_rank", dest_rank, group)
        super().__init__(attrs={"dest_rank": dest, "op": _checked("Reduce", op), "group": named(group)})


class CollectiveScatter(Primitive):
    """This process's part of the tensor of rank ``src_rank`` of a group."""

    def __init__(self, src_rank: int = 0, group: str = WORLD) -> None:
        source = _number("CollectiveScatter", "src_rank", src_rank, group)
        super().__init__(attrs={"src_rank": source, "group": named(group)})


class CollectiveGather(Primitive):
    """The tensors of a group along the first axis, for rank ``dest_rank`` of it."""

    def __init__(self, dest_rank: int, group: str = WORLD) -> None:
        dest = _number("CollectiveGather", "dest_rank", dest_rank, group)
        super().__init__(attrs={"dest_rank": dest, "group": named(group)})


class AlltoAll(Primitive):
    """Pieces along ``split_dim``, one for each rank; those that come are joined along ``concat_dim``."""

    def __init__(self, split_count: int, split_dim: int, concat_dim: int, group: str = WORLD) -> None:
        settings = {"split_count": split_count, "split_dim": split_dim, "concat_dim": concat_dim}
        for name, value in settings.items():
            if type(value) is not int:
                raise SettingTypeError(f"AlltoAll: {name} must be an int, got {type(value).__name__} {value!r}")
        super().__init__(attrs={**settings, "group": named(group)})


class Barrier(Primitive):
    """Waits for all ranks of a group."""

    def __init__(self, group: str = WORLD) -> None:
        super().__init__(attrs={"group": named(group)})


class Send(Primitive):
    """Sends a tensor to rank ``dest_rank`` of a group."""

    def __init__(self, sr_tag: int, dest_rank: int, group: str = WORLD, group_back: str = WORLD) -> None:
        dest = _number("Send", "dest_rank", dest_rank, group)
        settings = {"sr_tag": _tag("Send", sr_tag), "dest_rank": dest, "group": named(group)}
        super().__init__(attrs={**settings, "no_eliminate": True, "group_back": named(group_back)})


class Receive(Primitive):
    """The tensor that rank ``src_rank`` of a group sends with the same tag."""

    def __init__(
        self, sr_tag: int, src_rank: int, shape: list[int], dtype: DType, group: str = WORLD, group_back: str = WORLD
    ) -> None:
        source = _number("Receive", "src_rank", src_rank, group)
        if not isinstance(shape, (list, tuple)) or any(type(n) is not int or n < 0 for n in shape):
            raise SettingTypeError(f"Receive: shape must be a list of ints of at least 0, got {shape!r}")
        if not isinstance(dtype, DType):
            raise SettingTypeError(f"Receive: dtype must be a dtype of MindSpore, got {dtype!r}")
        settings = {"sr_tag": _tag("Receive", sr_tag), "src_rank": source, "group": named(group)}
        more = {"no_eliminate": True, "shape": tuple(shape), "dtype": dtype, "group_back": named(group_back)}
        super().__init__(attrs={**settings, **more})

    def __call__(self, *_inputs: Any) -> Any:
        return call("Receive", **{**self.attrs, **self.marks})


def _tag(owner: str, value: Any) -> int:
    if type(value) is not int:
        raise SettingTypeError(f"{owner}: sr_tag must be an int, got {type(value).__name__} {value!r}")
    return value
