"""``mindspore.communication.management``: a run is one process, rank 0 of 1."""

from __future__ import annotations

from harness.errors import SettingError
from harness.framework.communication.group import WORLD, WORLDS, create_group, destroy_group, members
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


class GlobalComm:
    """The result of ``init``."""

    BACKEND = "hccl"
    WORLD_COMM_GROUP = WORLD
    INITED = False
    CHECK_ENVS = True


def init(backend_name: str | None = None) -> None:
    """Takes part in the communication of a group of one; ``SettingError`` for a backend that does not exist.

    Args:
        backend_name: ``hccl``, ``nccl`` or ``mccl``; None for the device's own.
    """
    if backend_name is not None and backend_name not in _BACKENDS:
        raise SettingError(f"init: backend_name must be one of {list(_BACKENDS)} or None, got {backend_name!r}")
    GlobalComm.BACKEND = backend_name or "hccl"
    GlobalComm.WORLD_COMM_GROUP = WORLDS[_BACKENDS.index(GlobalComm.BACKEND)]
    GlobalComm.INITED = True


def release() -> None:
    """Ends what ``init`` began."""
    GlobalComm.INITED = False


def get_rank(group: str = WORLD) -> int:
    """0."""
    members(group)
    return 0


def get_local_rank(group: str = WORLD) -> int:
    """0."""
    members(group)
    return 0


def get_group_size(group: str = WORLD) -> int:
    """1."""
    return len(members(group))


def get_local_rank_size(group: str = WORLD) -> int:
    """1."""
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
