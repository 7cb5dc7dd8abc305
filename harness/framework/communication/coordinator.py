"""Brings the ranks of a run together: each sends what the others are to have, and gets what they sent.

The coordinator moves bytes and computes nothing, so no number depends on who was first. A rank waits in at most one
call at a time. It knows who waits for whom, so it says at once that nobody can go on.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.framework.communication import wire


@dataclass(slots=True, eq=False)
class Rank:
    """What the coordinator knows of one rank.

    Attributes:
        number: the rank.
        connection: to its process; None before and after.
        reader: what arrived from it.
        call: the message it waits in; None while it computes.
        blocks: the blocks of that message.
        since: when it began to wait.
        ended: how it ended, in words; empty while it runs.
        done: how many calls it had answered.
        left: whether it said that it ends as it should.
    """

    number: int
    connection: socket.socket | None = None
    reader: wire.Reader = field(default_factory=wire.Reader)
    call: dict[str, Any] | None = None
    blocks: list[bytes] = field(default_factory=list)
    since: float = 0.0
    ended: str = ""
    done: int = 0
    left: bool = False


def described(call: dict[str, Any]) -> str:
    """A call in words: what, and in which group."""
    if call["kind"] == "receive":
        return f"Receive from rank {call['peer']} (tag {call['tag']})"
    group = call["group"]
    return str(call["what"]) + ("" if group == "world" else f" of group {group!r}")


class Coordinator:
    """Serves the ranks of one run.

    Args:
        size: number of ranks.
        timeout: seconds after which a rank that still waits ends the run; 0 for no limit.

    Attributes:
        ranks: by number.
    """

    def __init__(self, size: int, timeout: float = 0.0) -> None:
        self.ranks = [Rank(number) for number in range(size)]
        self._why, self._failed = "", False
        self._wait_for_nothing: dict[int, str] = {}
        self._timeout = timeout
        self._selector = selectors.DefaultSelector()
        self._sent: defaultdict[tuple[str, int, int, int], deque[tuple[str, bytes]]] = defaultdict(deque)

    def add(self, number: int, connection: socket.socket, reader: wire.Reader | None = None) -> None:
        """Serves rank ``number``, too."""
        rank = self.ranks[number]
        rank.connection, rank.reader = connection, reader or wire.Reader()
        self._selector.register(connection, selectors.EVENT_READ, rank)
        self._take(rank)

    @property
    def failure(self) -> str:
        """Why the run was given up, and who waited in vain, in one line; empty while it goes on."""
        return self._why + (f"; {_waiting(self._wait_for_nothing)}" if self._wait_for_nothing else "")

    @property
    def is_over(self) -> bool:
        """Whether every rank ended."""
        return all(rank.ended for rank in self.ranks)

    # --- one turn -----------------------------------------------------------------------------------------------------

    def turn(self, seconds: float) -> None:
        """Handles what arrives within ``seconds``, then looks whether somebody can still go on."""
        for key, _events in self._selector.select(seconds) if self._selector.get_map() else ():
            rank = key.data
            try:
                piece = rank.connection.recv(wire.PIECE)
            except OSError:
                piece = b""
            if not piece:
                self._forget(rank)
                continue
            rank.reader.add(piece)
            self._take(rank)
        if not self._why:
            self._look()

    def ended(self, number: int, how: str, failed: bool) -> None:
        """Rank ``number`` ended: ``how`` in words (``ended with exit code 1``)."""
        rank = self.ranks[number]
        if rank.connection is not None:
            self._take_the_rest(rank)
        rank.call, rank.ended = None, how
        if failed:
            self.give_up(f"rank {number} {how}", failed=True)

    def give_up(self, why: str, told: bool = True, failed: bool = False) -> None:
        """Ends the run: everyone who waits is told ``why``, and everyone who will; ``told``: the message says who;
        ``failed``: the reason is one rank's failure."""
        if self._why:
            return
        self._why, self._failed = why, failed
        waiting = [rank for rank in self.ranks if rank.call is not None]
        if told:
            self._wait_for_nothing = {rank.number: described(rank.call or {}) for rank in waiting}
        for rank in waiting:
            self._answer(rank, {"over": self.failure, "of_another": self._failed})

    def close(self) -> None:
        """Closes every connection."""
        for rank in self.ranks:
            if rank.connection is not None:
                self._forget(rank)
        self._selector.close()

    # --- messages -----------------------------------------------------------------------------------------------------

    def _forget(self, rank: Rank) -> None:
        if rank.connection is not None:
            self._selector.unregister(rank.connection)
            rank.connection.close()
            rank.connection = None
            rank.call = None

    def _take_the_rest(self, rank: Rank) -> None:
        """What a rank sent before it ended."""
        assert rank.connection is not None
        rank.connection.setblocking(False)
        try:
            while piece := rank.connection.recv(wire.PIECE):
                rank.reader.add(piece)
        except OSError:
            pass
        connection = rank.connection
        self._take(rank)
        if rank.connection is connection:
            self._forget(rank)

    def _take(self, rank: Rank) -> None:
        while (message := rank.reader.take()) is not None:
            head, blocks = message
            if head["kind"] == "leave":
                rank.left = True
                continue
            if head["kind"] == "send":
                key = head["group"], rank.number, head["peer"], head["tag"]
                self._sent[key].append((head["what"], blocks[0]))
                rank.done += 1
                self._deliver(self.ranks[head["peer"]])
                continue
            if self._why:
                self._wait_for_nothing.setdefault(rank.number, described(head))
                rank.call = head
                self._answer(rank, {"over": self._why, "of_another": self._failed})
                continue
            rank.call, rank.blocks, rank.since = head, blocks, time.monotonic()
            if head["kind"] == "receive":
                self._deliver(rank)
            else:
                self._complete(head)

    def _answer(self, rank: Rank, head: dict[str, Any], blocks: Sequence[bytes] = ()) -> None:
        rank.call, rank.blocks = None, []
        rank.done += 1
        if rank.connection is not None:
            try:
                wire.send(rank.connection, head, blocks)
            except OSError:
                self._forget(rank)

    def _deliver(self, rank: Rank) -> None:
        """Gives a rank that waits in ``receive`` what was sent to it."""
        call = rank.call
        if call is None or call["kind"] != "receive":
            return
        waiting = self._sent.get((call["group"], call["peer"], rank.number, call["tag"]))
        if not waiting:
            return
        what, block = waiting[0]
        if what != call["what"]:
            self.give_up(f"rank {call['peer']} sent {what} and rank {rank.number} expects {call['what']}")
            return
        waiting.popleft()
        self._answer(rank, {}, [block])

    def _complete(self, call: dict[str, Any]) -> None:
        """Gives each member of a group what is its own, once all are there."""
        members = [self.ranks[number] for number in call["ranks"]]
        for rank in members:
            if rank.call is None or rank.call["kind"] == "receive":
                return
            if (rank.call["group"], rank.call["ranks"]) != (call["group"], call["ranks"]):
                return
        if len({(rank.call or call)["what"] for rank in members}) > 1:
            calls = {rank.number: described(rank.call or call) for rank in members}
            self.give_up(f"the ranks of a group do not call the same: {_in_calls(calls)}", told=False)
            return
        given = [rank.blocks for rank in members]
        for at, rank in enumerate(members):
            # one block is for everybody, none for nobody
            blocks = [b"" if not own else own[0] if len(own) == 1 else own[at] for own in given]
            self._answer(rank, {}, blocks)

    # --- who waits for ever -------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Gives up if somebody waits for a rank that ended, if all wait, or if it takes too long."""
        now = time.monotonic()
        for rank in self.ranks:
            if rank.call is None:
                continue
            gone = [other for other in self._awaited(rank) if other.ended]
            if gone:
                self.give_up(f"rank {gone[0].number} {gone[0].ended} without {_kind(rank.call)}")
                return
            if self._timeout and now - rank.since > self._timeout:
                late = [other.number for other in self._awaited(rank) if other.call is None]
                self.give_up(f"{_ranks(late)} called no {_kind(rank.call)} within {self._timeout:g} s")
                return
        if all(rank.call is not None or rank.ended for rank in self.ranks) and not self.is_over:
            self.give_up("all ranks wait for one another")

    def _awaited(self, rank: Rank) -> list[Rank]:
        """The ranks that a rank waits for: those of its call that are not in the same one."""
        call = rank.call
        assert call is not None
        if call["kind"] == "receive":
            return [self.ranks[call["peer"]]]
        return [
            other
            for other in (self.ranks[number] for number in call["ranks"])
            if other.call is None or other.call["kind"] == "receive" or other.call["group"] != call["group"]
        ]


def _kind(call: dict[str, Any]) -> str:
    return "Send" if call["kind"] == "receive" else str(call["what"]).partition("(")[0].partition(" ")[0]


def _waiting(calls: dict[int, str]) -> str:
    """``rank 0 waits in AllReduce(sum) of Float32[2]``."""
    return f"waiting: {_in_calls(calls)}"


def _in_calls(calls: dict[int, str]) -> str:
    """``ranks 0 and 2 in AllReduce(sum) of Float32[2] and rank 1 in Barrier``; four calls at most."""
    found: dict[str, list[int]] = {}
    for rank, call in sorted(calls.items()):
        found.setdefault(call, []).append(rank)
    shown = [f"{_ranks(ranks)} in {call}" for call, ranks in found.items()]
    return listed(shown[:4] + ([f"{len(shown) - 4} more calls"] if len(shown) > 4 else []))


def _ranks(ranks: Sequence[int]) -> str:
    """``rank 1``, ``ranks 0 and 2``, ``ranks 0, 1, 2, 3 and 60 more``."""
    shown = [str(rank) for rank in ranks[:8]] + ([f"{len(ranks) - 8} more"] if len(ranks) > 8 else [])
    return f"rank{'s' * (len(ranks) != 1)} {listed(shown)}"


def listed(items: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
