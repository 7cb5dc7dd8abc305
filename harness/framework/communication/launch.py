"""Splits a process into several ranks on this machine: a forked process each, this one brings them together.

A forked process has the memory of its parent until it writes to it, so many ranks of a small network need little more
than one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.framework.communication import world
from harness.framework.communication.client import Client
from harness.framework.communication.coordinator import Coordinator

#: seconds that a rank has, after the run was given up, to reach a collective and hear of it
GRACE = 5.0
#: Linux: the signal that a process gets when its parent ends
_PARENT_DEATH = 1


@dataclass(slots=True)
class Run:
    """A run of several ranks, from its start to its end.

    Attributes:
        codes: the exit code of each rank that ended, negative for a signal.
        failure: why the run was given up, in one line; empty if all ranks ended with 0.
        first: the rank that failed first; None if none did, or all wait for one another.
    """

    codes: dict[int, int] = field(default_factory=dict)
    failure: str = ""
    first: int | None = None

    @property
    def code(self) -> int:
        """The exit code of the whole: that of the rank that failed first; 1 if none did and the run was given up."""
        if self.first is None:
            return int(bool(self.failure))
        code = self.codes[self.first]
        return code if code > 0 else 128 - code


def fork_ranks(
    size: int, timeout: float = 0.0, prepared: Callable[[int], None] | None = None, grace: float = GRACE
) -> Run | None:
    """Forks a process for each rank, and waits for all of them.

    Args:
        size: number of ranks.
        timeout: see ``Coordinator``.
        prepared: called in each rank's process with its number, before this function returns there.
        grace: seconds that a rank has, after the run was given up, to hear of it.

    Returns:
        How the run ended; None in the processes of the ranks, which go on from here and end by themselves.
    """
    pairs = [socket.socketpair() for _ in range(size)]
    pids: dict[int, int] = {}
    parent = os.getpid()
    _flush()
    try:
        for rank in range(size):
            pid = os.fork()
            if pid == 0:
                break
            pids[rank] = pid
        else:
            return _served(pids, pairs, timeout, grace)
    except BaseException:
        if os.getpid() == parent:
            _end(pids, signal.SIGKILL)
            _bury(pids)
        raise
    _be(rank, size, pairs, parent)
    if prepared is not None:
        prepared(rank)
    return None


def _served(
    pids: dict[int, int], pairs: list[tuple[socket.socket, socket.socket]], timeout: float, grace: float
) -> Run:
    coordinator = Coordinator(len(pairs), timeout)
    try:
        for rank, (here, there) in enumerate(pairs):
            there.close()
            coordinator.add(rank, here)
        return _watch(coordinator, pids, grace)
    finally:
        coordinator.close()


def variables(rank: int, size: int) -> dict[str, str]:
    """What a rank's process finds in its environment: as MindSpore's launcher sets it."""
    return {
        "RANK_ID": str(rank), "RANK_SIZE": str(size), "DEVICE_ID": str(rank), "MS_WORKER_NUM": str(size),
        "MS_LOCAL_WORKER_NUM": str(size), "MS_NODE_ID": str(rank), "MSDUMP_DISTRIBUTED": "1",
    }  # fmt: skip


def _be(rank: int, size: int, pairs: list[tuple[socket.socket, socket.socket]], parent: int) -> None:
    """Makes this forked process a rank."""
    _end_with(parent)
    for number, (here, there) in enumerate(pairs):
        here.close()
        if number != rank:
            there.close()
    os.environ.update(variables(rank, size))
    os.environ.pop("MS_ROLE", None)
    world.join(world.Membership(rank, size, Client(pairs[rank][1])))


def _end_with(parent: int) -> None:
    """Ends this process when its parent ends, however that does."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _watch(coordinator: Coordinator, pids: dict[int, int], grace: float) -> Run:
    """Serves the ranks until all processes have ended; none is left behind."""
    run, left = Run(), dict(pids)
    given_up = 0.0
    while left:
        coordinator.turn(0.05 if any(coordinator.ranks[r].connection is None for r in left) else 0.2)
        for rank in list(left):
            pid, status = os.waitpid(left[rank], os.WNOHANG)
            if not pid:
                continue
            del left[rank]
            code = run.codes[rank] = os.waitstatus_to_exitcode(status)
            if code and run.first is None and not coordinator.failure:
                run.first = rank
            coordinator.ended(rank, _how(code), bool(code))
        if coordinator.failure:
            given_up = given_up or time.monotonic()
            late = time.monotonic() - given_up
            if late > grace:
                _end(left, signal.SIGKILL if late > grace + GRACE else signal.SIGTERM)
    run.failure = coordinator.failure
    return run


def _how(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"
    return f"failed (exit code {code})" if code else "ended"


def _bury(pids: dict[int, int]) -> None:
    """Waits for processes that were ended."""
    for pid in pids.values():
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _end(pids: dict[int, int], how: Any) -> None:
    for pid in pids.values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)
