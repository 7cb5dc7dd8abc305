"""``mindspore.communication.management``: ranks and groups of a run."""

from __future__ import annotations

from harness import hooks
from harness.errors import SettingError
from harness.framework.communication import world
from harness.framework.communication.group import WORLD, WORLDS, create_group, destroy_group, members, place
from harness.framework.names import fallback as _fallback

__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "GlobalComm",
    "create_group",
    "destroy_group",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_process_group_ranks",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "release",
]  # fmt: skip

HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP = WORLDS
_BACKENDS = ("hccl", "nccl", "mccl")
_OF_TARGET = {"Ascend": "hccl", "GPU": "nccl", "CPU": "mccl"}


class GlobalComm:
    """The result of ``init``."""

    BACKEND = "hccl"
    WORLD_COMM_GROUP = WORLD
    INITED = False
    CHECK_ENVS = True


def init(backend_name: str | None = None) -> None:
    """Takes part in the communication of the ranks; a process that nothing started as one of several is rank 0 of 1.

    Under MindSpore's launcher (``msrun``) it connects to the scheduler's process; in that one it serves the ranks until
    they have ended, and ends the process.

    Args:
        backend_name: ``hccl``, ``nccl`` or ``mccl``; None for the device's own.

    Raises:
        SettingError: a backend that does not exist.
        CollectiveError: the scheduler cannot be reached, or the launcher's variables are wrong.
    """
    if backend_name is not None and backend_name not in _BACKENDS:
        raise SettingError(f"init: backend_name must be one of {list(_BACKENDS)} or None, got {backend_name!r}")
    from harness.framework.communication import joining  # sockets, which few processes need

    joining.join_launched()
    alone = world.current().size == 1
    GlobalComm.BACKEND = backend_name or ("hccl" if alone else _OF_TARGET[hooks.provided("device").target])
    GlobalComm.WORLD_COMM_GROUP = WORLDS[_BACKENDS.index(GlobalComm.BACKEND)]
    GlobalComm.INITED = True


def release() -> None:
    """Ends what ``init`` began."""
    GlobalComm.INITED = False


def get_rank(group: str = WORLD) -> int:
    """This process's number in a group, from 0."""
    return place(group)


def get_local_rank(group: str = WORLD) -> int:
    """The same: all ranks are on one machine."""
    return place(group)


def get_group_size(group: str = WORLD) -> int:
    """How many ranks a group has."""
    return len(members(group))


def get_local_rank_size(group: str = WORLD) -> int:
    """The same: all ranks are on one machine."""
    return len(members(group))


def get_process_group_ranks(group: str = WORLD) -> list[int]:
    """The ranks of a group."""
    return list(members(group))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The rank of a group's member among all processes."""
    ranks = members(group)
    if group_rank_id not in range(len(ranks)):
        raise SettingError(f"group {group!r} has ranks 0 to {len(ranks) - 1}, got {group_rank_id!r}")
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The rank of a process in a group."""
    ranks = members(group)
    if world_rank_id not in ranks:
        raise SettingError(f"group {group!r} has the processes {ranks}, got {world_rank_id!r}")
    return ranks.index(world_rank_id)


__getattr__ = _fallback(__name__)
