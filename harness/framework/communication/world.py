"""Which rank this process is, of how many, and its connection to the others.

A process is rank 0 of 1 unless something started it as one of several: ``msdump run --ranks``, ``msdump.run(ranks=)``,
or MindSpore's own launcher, whose variables ``init`` reads (``joining``). A thread may be a rank of its own
(``as_rank``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from harness.recording import World

if TYPE_CHECKING:
    from harness.framework.communication.client import Client


class Membership:
    """One rank's place in a run.

    Attributes:
        rank, size: as MindSpore counts them.
        client: its connection; None for a run of one.
        groups: the ranks of each group that it made, by name.
    """

    def __init__(self, rank: int = 0, size: int = 1, client: Client | None = None) -> None:
        self.rank, self.size, self.client = rank, size, client
        self.groups: dict[str, list[int]] = {}


_process = Membership()
_of_thread: ContextVar[Membership] = ContextVar("membership")


def current() -> Membership:
    """The place of this thread, or else of the process."""
    return _of_thread.get(_process)


def join(membership: Membership) -> None:
    """Makes the process a rank."""
    global _process
    _process = membership


@contextmanager
def as_rank(membership: Membership) -> Iterator[Membership]:
    """Makes the thread a rank within the block."""
    token = _of_thread.set(membership)
    try:
        yield membership
    finally:
        _of_thread.reset(token)


def recorded() -> World:
    """The ranks as a recording states them."""
    here = current()
    groups = {name: tuple(ranks) for name, ranks in here.groups.items()}
    return World(here.rank, here.size, groups)
