"""Which of several processes a recording belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.errors import RecordingError


@dataclass(frozen=True, slots=True)
class World:
    """The ranks of a run.

    Attributes:
        rank: of this recording, from 0.
        size: number of ranks.
        groups: ranks by the name of their group.

    Raises:
        RecordingError: the rank is negative or beyond ``size``, or a group has a rank that does not exist.

    Examples:
        >>> from harness.recording import World
        >>> World(1, 4, {"tp": (0, 1)}).size
        4
    """

    rank: int = 0
    size: int = 1
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if type(self.rank) is not int or type(self.size) is not int or not 0 <= self.rank < self.size:
            raise RecordingError(f"a rank is a number from 0 to size - 1; given: rank {self.rank!r} of {self.size!r}")
        if not isinstance(self.groups, Mapping):
            raise RecordingError(f"groups are a dict of ranks by name; given: {self.groups!r:.60}")
        for name, ranks in self.groups.items():
            if not isinstance(ranks, (tuple, list)):
                raise RecordingError(f"group {name!r:.60} is a tuple of ranks; given: {ranks!r:.60}")
            if any(type(rank) is not int or not 0 <= rank < self.size for rank in ranks):
                raise RecordingError(f"group {name!r} has ranks {list(ranks)}; there are {self.size}")
