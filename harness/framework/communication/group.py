"""The groups of a run. A run is one process: rank 0 of 1.

Source: MindSpore 2.10.0 CPU (what a process that no launcher started gives), measured.
"""

from __future__ import annotations

from harness.errors import SettingError, SettingTypeError

#: MindSpore's names of the group of all processes
WORLD = "hccl_world_group"
WORLDS = (WORLD, "nccl_world_group", "mccl_world_group")

_groups: dict[str, list[int]] = {}


def members(group: str) -> list[int]:
    """The ranks of a group; ``SettingError`` for one that was not created."""
    if not isinstance(group, str):
        raise SettingTypeError(f"a group is given by its name, a str, got {type(group).__name__} {group!r}")
    if group in WORLDS:
        return [0]
    if group not in _groups:
        raise SettingError(f"there is no group {group!r}; known are {[*WORLDS, *_groups]}")
    return _groups[group]


def create_group(group: str, rank_ids: list[int], options: object = None) -> None:
    """Names a group of ranks; in one process that can only be ``[0]``."""
    if group in WORLDS or not isinstance(group, str) or not group:
        raise SettingError(f"create_group: {group!r} cannot be the name of a group")
    if list(rank_ids) != [0]:
        raise SettingError(f"create_group: a run here is one process, of rank 0; got the ranks {rank_ids}")
    _groups[group] = [0]


def destroy_group(group: str) -> None:
    """Forgets a group that was created."""
    if group in WORLDS:
        raise SettingError(f"destroy_group: {group!r} is the group of all processes")
    members(group)
    del _groups[group]
