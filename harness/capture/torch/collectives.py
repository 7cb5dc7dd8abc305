"""Collectives of ``torch.distributed``: what they read and write, their arguments, and values that come later.

The schemas of ``c10d`` do not say what is written; the names of the arguments do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch

#: namespaces of collectives
SPACES = frozenset({"c10d", "_c10d_functional", "_c10d_functional_autograd", "_dtensor"})
#: They hand on what a collective gave.
SILENT = frozenset({"wait_tensor", "_wrap_tensor_autograd"})
#: When and how something is awaited, or which backend does it: the numbers are the same.
UNSAID = frozenset({"timeout", "async_op", "asyncOp", "wait_all_ranks", "device_ids", "sparse_indices"})
#: Where only one rank's tensors count, or only one rank is given the result: the argument that names it.
_ROOTS = ("root_rank", "root")
_ONE_READS = frozenset({"broadcast_", "broadcast"})
_ONE_GETS = frozenset({"reduce_", "gather_"})


def is_read(plain: str, argument: str) -> bool:
    """Whether ``c10d::plain`` reads the tensors of an argument."""
    if plain in ("recv_", "recv_any_source_", "barrier", "monitored_barrier_"):
        return False
    return "output" not in argument and argument != "sparse_indices"


def is_written(plain: str, argument: str) -> bool:
    """Whether ``c10d::plain`` writes the tensors of an argument."""
    if plain in ("send", "barrier", "monitored_barrier_"):
        return False
    return "output" in argument or argument == "tensors"


def takes_part(plain: str, positions: Mapping[str, int], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether this rank's tensors count: a broadcast reads those of its root, a reduction to one rank writes its
    root's."""
    if plain not in _ONE_READS and plain not in _ONE_GETS:
        return True
    root = next((_of(name, positions, args, kwargs) for name in _ROOTS if name in positions), None)
    named = "process_group" if "process_group" in positions else "group_name"
    group = _group(_of(named, positions, args, kwargs))
    return root is None or group is None or group.rank() == root


def reads_alone(plain: str) -> bool:
    """Whether ``takes_part`` is about what is read."""
    return plain in _ONE_READS


def _of(name: str, positions: Mapping[str, int], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    at = positions.get(name, len(args))
    return args[at] if at < len(args) else kwargs.get(name)


def _group(value: Any) -> Any:
    """The process group that an argument stands for; None if it stands for none that is known."""
    distributed = torch._C._distributed_c10d
    try:
        if isinstance(value, str):
            return distributed._resolve_process_group(value)
        return distributed.ProcessGroup.unbox(value)
    except (AttributeError, RuntimeError, TypeError):
        return None


def spelled(name: str, value: Any) -> tuple[str, str] | None:
    """A group by its ranks, and a reduction by its name, as a name and a text; None for any other argument."""
    if name in ("process_group", "group_name", "group"):
        group = _group(value)
        if group is None:
            return "group", str(value)
        return "group", str(sorted(torch.distributed.get_process_group_ranks(group)))
    if name == "reduce_op":
        return name, value.upper() if isinstance(value, str) else _reduction(value)
    return None


def _reduction(value: Any) -> str:
    try:
        number = int(value.op())
    except (AttributeError, RuntimeError, TypeError):
        return "unknown"
    kinds: Mapping[str, Any] = torch.distributed.ReduceOp.RedOpType.__members__
    return next((name for name, each in kinds.items() if int(each) == number), str(number))


class Pending:
    """The values of one collective that runs on while the program does.

    Args:
        work: what ``c10d`` gave.
        late: records, and the tensors whose values they take once it has ended.
    """

    def __init__(self, work: Any, late: list[tuple[Any, Any]]) -> None:
        self._work, self.late = work, late

    def ended(self, seconds: float = 0.0) -> bool:
        """Whether the values are there, or come within so many seconds."""
        end = time.monotonic() + seconds
        while not self._work.is_completed():
            if time.monotonic() >= end:
                return False
            time.sleep(0.0002)
        return True

    def touches(self, memory: set[int]) -> bool:
        """Whether the values come into one of these storages."""
        return any(tensor.untyped_storage()._cdata in memory for _, tensor in self.late)


def work_of(result: Any) -> Any:
    """The work in what a collective gave; None if there is none."""
    last = result[-1] if isinstance(result, (tuple, list)) and result else result
    if not isinstance(last, torch.ScriptObject):
        return None
    try:
        return torch._C._distributed_c10d.Work.unbox(last)
    except (AttributeError, RuntimeError, TypeError):
        return None


def awaited(result: Any) -> None:
    """Waits for the tensors of a functional collective, so that they can be read."""
    for each in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(each, torch.Tensor):
            torch.ops._c10d_functional.wait_tensor(each)
