"""The groups of a run.

Source: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

from harness import log
from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.communication import world

#: MindSpore's names of the group of all processes
WORLD = "hccl_world_group"
WORLDS = (WORLD, "nccl_world_group", "mccl_world_group")
_log = log.get("communication")


def members(group: str) -> list[int]:
    """The ranks of a group; ``StateError`` for one that was not created."""
    if not isinstance(group, str):
        raise SettingTypeError(f"a group is given by its name, a str, got {type(group).__name__} {group!r}")
    here = world.current()
    if group in WORLDS:
        return list(range(here.size))
    if group not in here.groups:
        raise StateError(f"there is no group {group!r}; known are {[*WORLDS, *here.groups]}")
    return here.groups[group]


def place(group: str) -> int:
    """This process's number in a group; ``StateError`` if it is not of it."""
    ranks, own = members(group), world.current().rank
    if own not in ranks:
        raise StateError(f"rank {own} is not of group {group!r}, whose ranks are {ranks}")
    return ranks.index(own)


def create_group(group: str, rank_ids: list[int], options: object = None) -> None:
    """Names a group of ranks. Every rank of it calls this.

    Args:
        group: its name.
        rank_ids: its ranks among all; their order is their numbering in it.
        options: kept for MindSpore's signature.

    Raises:
        SettingTypeError, SettingError: the name or the ranks are not accepted, or the group has other ranks already.
        StateError: this rank is not one of them.
    """
    if not isinstance(group, str):
        raise SettingTypeError(f"create_group: group must be a str, got {type(group).__name__} {group!r}")
    if group in WORLDS or not group:
        raise SettingError(f"create_group: {group!r} cannot be the name of a group")
    here = world.current()
    if group in here.groups:
        if here.groups[group] != rank_ids:
            raise SettingError(f"create_group: group {group!r} has the ranks {here.groups[group]}, got {rank_ids}")
        _log.warning("create_group: group %r exists", group)
        return
    if not isinstance(rank_ids, list):
        raise SettingTypeError(f"create_group: rank_ids must be a list, got {type(rank_ids).__name__} {rank_ids!r}")
    wrong = [rank for rank in rank_ids if type(rank) is not int or not 0 <= rank < here.size]
    if wrong or not rank_ids or len(set(rank_ids)) < len(rank_ids):
        raise SettingError(f"create_group: rank_ids must be different ranks from 0 to {here.size - 1}, got {rank_ids}")
    if here.rank not in rank_ids:
        raise StateError(f"create_group: rank {here.rank} is not of group {group!r}, whose ranks are {rank_ids}")
    here.groups[group] = list(rank_ids)


def destroy_group(group: str) -> None:
    """Forgets a group that was created."""
    if group in WORLDS:
        raise SettingError(f"destroy_group: {group!r} is the group of all processes")
    members(group)
    del world.current().groups[group]
