"""``mint.distributed``: communication with PyTorch's names, outside of graphs.

Source: MindSpore 2.10.0 CPU, measured with two and four ranks: there are ``all_reduce`` (of every op), ``broadcast``,
``barrier``, ``all_gather``, ``gather``, ``scatter`` and ``all_gather_object`` after ``communication.init``; the others
run on other backends. Objects are sent as JSON, so nothing that arrives can run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha1
from typing import Any

import numpy as np

from harness import hooks
from harness.errors import KernelError, SettingError, SettingTypeError, StateError
from harness.framework.communication import management, world
from harness.framework.communication.group import WORLD, WORLDS, create_group, members, place
from harness.framework.communication.management import GlobalComm
from harness.framework.names import fallback as _fallback
from harness.framework.ops.group_sums import REDUCTIONS, reduced
from harness.framework.ops.primitives.collective import AllGather, AllReduce, Reduce, ReduceScatter
from harness.framework.tensor import Tensor

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "barrier", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "get_backend", "get_global_rank", "get_group_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group", "is_available", "is_initialized",
    "new_group", "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "send",
]  # fmt: skip


#: dtypes that a CPU reduces here; ``ops.AllReduce`` has fewer
_REDUCED_ON_CPU = frozenset({"Float16", "Float32", "BFloat16", "Int8", "Int32", "Int64"})


class CommHandle:
    """What a call with ``async_op=True`` gives: it is over already."""

    def wait(self) -> None:
        """Returns at once."""


def init_process_group(
    backend: str = "hccl", init_method: Any = None, timeout: Any = None, world_size: int = -1, rank: int = -1,
    store: Any = None, group_name: str = "", pg_options: Any = None, device_id: Any = None,
) -> None:  # fmt: skip
    """Takes part in the run's communication, see ``communication.init``.

    Raises:
        SettingError: another backend than ``hccl``, which alone MindSpore accepts.
        StateError: the device is no Ascend, or a rank or number of ranks that are not this process's.
    """
    if backend != "hccl":
        raise SettingError(f"init_process_group: backend must be 'hccl', got {backend!r}")
    if hooks.provided("device").target != "Ascend":
        raise StateError("init_process_group: its backend 'hccl' is Ascend's; mindspore.communication.init() begins "
                         "communication on a CPU or GPU")  # fmt: skip
    management.init(backend)
    here = world.current()
    if world_size not in (-1, here.size) or rank not in (-1, here.rank):
        raise StateError(f"init_process_group: this process is rank {here.rank} of {here.size}, got rank {rank} of "
                         f"{world_size}")  # fmt: skip


def destroy_process_group(group: str | None = None) -> None:
    """Forgets a group, or all of them."""
    if group is None:
        world.current().groups.clear()
        management.release()
    else:
        management.destroy_group(group)


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """Whether ``init_process_group`` or ``init`` was called."""
    return GlobalComm.INITED


def get_rank(group: str | None = None) -> int:
    """This process's number in a group; -1 if it is not of it."""
    return place(_named(group)) if world.current().rank in members(_named(group)) else -1


def get_world_size(group: str | None = None) -> int:
    """How many ranks a group has."""
    return len(members(_named(group)))


def new_group(
    ranks: list[int] | None = None, timeout: Any = None, backend: str | None = None, pg_options: Any = None,
    use_local_synchronization: bool = False, group_desc: str | None = None,
) -> str:  # fmt: skip
    """Makes a group, and gives its name; an empty one where this process is not of it, or cannot be.

    Raises:
        SettingTypeError: ``ranks`` is no list, or another backend than ``hccl`` and ``mccl``.
        SettingError: a rank is there twice.
    """
    if ranks is None:
        return GlobalComm.WORLD_COMM_GROUP
    if not isinstance(ranks, list):
        raise SettingTypeError(f"new_group: ranks must be a list, got {type(ranks).__name__}")
    if backend not in (None, "hccl", "mccl"):
        raise SettingTypeError(f"new_group: backend must be 'hccl' or 'mccl', got {backend!r}")
    given = sorted(ranks)
    if len(set(given)) < len(given):
        raise SettingError(f"new_group: each rank is in it once, got {given}")
    name = f"{backend or 'hccl'}_{len(given)}_{sha1('_'.join(map(str, given)).encode()).hexdigest()}"
    if world.current().rank not in given or given[-1] >= world.current().size:
        return ""
    create_group(name, given)
    return name


def get_backend(group: str | None = None) -> str:
    """Name of the backend; ``hccl`` for the group of all, whatever the device (measured)."""
    members(_named(group))
    return "hccl" if group is None or "hccl" in group else "mccl" if "mccl" in group else str(GlobalComm.BACKEND)


def get_global_rank(group: str | None, group_rank: int) -> int:
    """A member's rank among all."""
    return management.get_world_rank_from_group_rank(_named(group), group_rank)


def get_group_rank(group: str | None, global_rank: int) -> int:
    """A rank's number in a group."""
    return management.get_group_rank_from_world_rank(global_rank, _named(group))


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The ranks of a group."""
    return list(members(_named(group)))


# --- tensors ----------------------------------------------------------------------------------------------------------


def all_reduce(tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Makes ``tensor`` the sum (``max``, ``min``, ``prod``, ``avg``) over the group.

    Raises:
        SettingTypeError: an argument of another kind, or another ``op``.
        KernelError: on a CPU, another dtype than Float16, Float32, BFloat16, Int8, Int32, Int64.
    """
    if not isinstance(tensor, Tensor):
        raise SettingTypeError(f"all_reduce: tensor must be a Tensor, got {type(tensor).__name__}")
    if op not in (*REDUCTIONS, "avg"):
        raise SettingTypeError(f"all_reduce: op must be one of {[*REDUCTIONS, 'avg']}, got {op!r}")
    if not isinstance(async_op, bool):
        raise SettingTypeError(f"all_reduce: async_op must be a bool, got {async_op!r}")
    name, how = _named(group), "sum" if op == "avg" else op
    count = len(members(name))
    if hooks.provided("device").target != "CPU":
        found = AllReduce(how, name)(tensor).asnumpy()
    elif tensor.dtype.name in _REDUCED_ON_CPU:
        blocks = _exchange(name, f"all_reduce({op}) of {tensor.dtype}{list(tensor.shape)}", _bytes(tensor))
        parts = [_array(block, tensor) for block in blocks]
        found = reduced(parts, how, tensor.dtype)
    else:
        raise KernelError(f"all_reduce: MindSpore's CPU has no kernel for {tensor.dtype}; cast it (ops.cast)")
    if op == "avg":
        found = np.trunc(found / count) if tensor.dtype.kind in "iu" else found / np.asarray(count, found.dtype)
    return _give(tensor, Tensor(np.asarray(found), tensor.dtype), async_op)


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Makes ``tensor`` that of rank ``src`` (among all)."""
    name = _named(group)
    root = _root(src, name)
    blocks = _exchange(name, f"broadcast from {src} of {tensor.dtype}{list(tensor.shape)}", _bytes(tensor)
                       if world.current().rank == src else [])  # fmt: skip
    return _give(tensor, _like(blocks[root], tensor), async_op)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> CommHandle | None:
    """Waits for all of the group."""
    _exchange(_named(group), "barrier", [])
    return CommHandle() if async_op else None


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Fills ``tensor_list`` with the tensors of the group."""
    name = _named(group)
    blocks = _exchange(name, f"all_gather of {tensor.dtype}{list(tensor.shape)}", _bytes(tensor))
    _fill("all_gather", tensor_list, blocks, tensor)
    return CommHandle() if async_op else None


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None, dst: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Fills ``gather_list`` of rank ``dst`` (among all) with the tensors of the group; the others' stay."""
    name = _named(group)
    root = _root(dst, name)
    given = [_bytes(tensor)[0] if at == root else b"" for at in range(len(members(name)))]
    blocks = _exchange(name, f"gather to {dst} of {tensor.dtype}{list(tensor.shape)}", given)
    if world.current().rank == dst:
        _fill("gather", gather_list or [], blocks, tensor)
    return CommHandle() if async_op else None


def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None, src: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Makes ``tensor`` this process's of the list that rank ``src`` (among all) has."""
    name = _named(group)
    root = _root(src, name)
    given = _each("scatter", scatter_list or [], name) if world.current().rank == src else []
    blocks = _exchange(name, f"scatter from {src} of {tensor.dtype}{list(tensor.shape)}", given)
    return _give(tensor, _like(blocks[root], tensor), async_op)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Gives each rank its tensor of a list, and takes theirs, in the shapes of the other list; not on a CPU."""
    _refuse_on_cpu("all_to_all")
    name = _named(group)
    blocks = _exchange(name, "all_to_all", _each("all_to_all", input_tensor_list, name))
    for target, block in zip(output_tensor_list, blocks, strict=True):
        if len(block) != target.nbytes:
            raise SettingError(f"all_to_all: {len(block)} bytes came for {target.dtype}{list(target.shape)}")
        _give(target, _like(block, target), False)
    return CommHandle() if async_op else None


def reduce(
    tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Makes ``tensor`` of rank ``dst`` (among all) the reduction over the group; the others' stay. Not on a CPU."""
    _refuse_on_cpu("reduce")
    name = _named(group)
    found = Reduce(_root(dst, name), op, name)(tensor)
    return _give(tensor, found, async_op) if world.current().rank == dst else CommHandle() if async_op else None


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Makes ``output`` the reduction of this process's place in the lists of the group; not on a CPU."""
    _refuse_on_cpu("reduce_scatter")
    name = _named(group)
    _each("reduce_scatter", input_list, name)
    whole = Tensor(np.concatenate([np.atleast_1d(each.asnumpy()) for each in input_list]), output.dtype)
    return _give(output, ReduceScatter(op, name)(whole).reshape(output.shape), async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Makes ``output_tensor`` the tensors of the group along the first axis; not on a CPU."""
    _refuse_on_cpu("all_gather_into_tensor")
    return _give(output_tensor, AllGather(_named(group))(input_tensor), async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Makes ``output`` this process's part of the reduction of ``input``; not on a CPU."""
    _refuse_on_cpu("reduce_scatter_tensor")
    return _give(output, ReduceScatter(op, _named(group))(input), async_op)


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Sends a tensor to rank ``dst`` (among all); gives 0. Not on a CPU."""
    _refuse_on_cpu("send")
    _client().send(_shown(_named(group)), dst, tag, f"{tensor.dtype}{list(tensor.shape)}", _bytes(tensor)[0])
    return 0


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Makes ``tensor`` what rank ``src`` (among all) sent; gives 0. Not on a CPU."""
    _refuse_on_cpu("recv")
    block = _client().receive(_shown(_named(group)), src, tag, f"{tensor.dtype}{list(tensor.shape)}")
    _give(tensor, _like(block, tensor), False)
    return 0


# --- objects ----------------------------------------------------------------------------------------------------------


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """Fills ``object_list`` with the objects of the group: what JSON can say."""
    name = _named(group)
    if len(object_list) != len(members(name)):
        raise SettingError(f"all_gather_object: object_list needs {len(members(name))} places, got {len(object_list)}")
    object_list[:] = [json.loads(block) for block in _exchange(name, "all_gather_object", [_json(obj)])]


def broadcast_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Makes ``object_list`` that of rank ``src`` (among all): what JSON can say; not on a CPU."""
    _refuse_on_cpu("broadcast_object_list")
    name = _named(group)
    root = _root(src, name)
    given = [_json(object_list)] if world.current().rank == src else []
    object_list[:] = json.loads(_exchange(name, f"broadcast_object_list from {src}", given)[root])


def _json(value: Any) -> bytes:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError) as error:
        raise SettingTypeError(f"objects go as JSON (numbers, texts, None, lists, dicts): {error}") from None
    return text.encode()


def _named(group: str | None) -> str:
    name = WORLD if group is None else group
    members(name)
    return name


def _shown(name: str) -> str:
    return "world" if name in WORLDS else name


def _root(src: int, name: str) -> int:
    ranks = members(name)
    if type(src) is not int or src not in ranks:
        raise SettingError(f"src must be one of the ranks {ranks}, got {src!r}")
    return ranks.index(src)


def _client() -> Any:
    here = world.current()
    if here.client is None:
        raise KernelError(f"this process is rank {here.rank} of {here.size}; there is nobody to communicate with")
    return here.client


def _exchange(name: str, what: str, blocks: Sequence[bytes]) -> list[bytes]:
    if len(members(name)) == 1:
        return list(blocks)
    place(name)
    found: list[bytes] = _client().exchange(_shown(name), members(name), what, blocks)
    return found


def _fill(owner: str, targets: list[Tensor], blocks: Sequence[bytes], like: Tensor) -> None:
    if len(targets) != len(blocks):
        raise SettingError(f"{owner}: the list needs {len(blocks)} tensors, got {len(targets)}")
    for target, block in zip(targets, blocks, strict=True):
        _give(target, _like(block, like), False)


def _each(owner: str, given: list[Tensor], name: str) -> list[bytes]:
    """A tensor for each rank of a group."""
    if len(given) != len(members(name)):
        raise SettingError(f"{owner}: the list needs {len(members(name))} tensors, got {len(given)}")
    return [_bytes(each)[0] for each in given]


def _bytes(tensor: Tensor) -> list[bytes]:
    return [np.ascontiguousarray(tensor.asnumpy()).tobytes()]


def _array(block: bytes, tensor: Tensor) -> Any:
    array = tensor.asnumpy()
    return np.frombuffer(block, array.dtype).reshape(array.shape)


def _like(block: bytes, tensor: Tensor) -> Tensor:
    return Tensor(_array(block, tensor), tensor.dtype)


def _give(target: Tensor, value: Tensor, async_op: bool) -> CommHandle | None:
    """Changes ``target`` in place."""
    if target.shape != value.shape or target.dtype is not value.dtype:
        raise SettingError(f"a tensor of {value.dtype}{list(value.shape)} does not fit {target.dtype}"
                           f"{list(target.shape)}")  # fmt: skip
    target.assign_value(value)
    return CommHandle() if async_op else None


def _refuse_on_cpu(name: str) -> None:
    if hooks.provided("device").target == "CPU":
        raise KernelError(f"mint.distributed.{name}: MindSpore's CPU has no kernel for it; run on another backend "
                          "(--backend ascend-o0)")  # fmt: skip


__getattr__ = _fallback(__name__)
