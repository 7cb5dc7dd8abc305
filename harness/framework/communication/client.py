"""A rank's side of the coordinator: waits until the others of a group have called the same."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from harness.errors import CollectiveError
from harness.framework.communication import wire


class Client:
    """The connection of one rank.

    Args:
        connection: to the coordinator.
        reader: what arrived already.
    """

    def __init__(self, connection: socket.socket, reader: wire.Reader | None = None) -> None:
        self._connection = connection
        self._reader = reader or wire.Reader()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._over, self._of_another = "", False

    def exchange(self, group: str, ranks: Sequence[int], what: str, blocks: Sequence[wire.Block]) -> list[bytes]:
        """Gives each member of a group its block, and gets theirs, in the order of ``ranks``.

        Args:
            group: name of the group; ``world`` for that of all.
            ranks: its members, of which this is one.
            what: what is called, in words; all members must say the same.
            blocks: for each member its own; one for all; none for nobody.

        Raises:
            CollectiveError: the run was given up, because a rank failed, ended or waits for ever.
        """
        head: dict[str, object] = {"kind": "exchange", "group": group, "ranks": list(ranks), "what": what}
        return self._ask(head, blocks)

    def send(self, group: str, peer: int, tag: int, what: str, block: wire.Block) -> None:
        """Sends a block to rank ``peer`` without waiting for it."""
        with self._lock:
            self._give({"kind": "send", "group": group, "peer": peer, "tag": tag, "what": what}, [block])

    def receive(self, group: str, peer: int, tag: int, what: str) -> bytes:
        """Waits for a block from rank ``peer``; ``CollectiveError`` as of ``exchange``."""
        return self._ask({"kind": "receive", "group": group, "peer": peer, "tag": tag, "what": what}, [])[0]

    def leave(self) -> None:
        """Says that this rank ends as it should."""
        if os.getpid() == self._process and not self._over:
            with self._lock, suppress(OSError):
                wire.send(self._connection, {"kind": "leave"})

    def _ask(self, head: Mapping[str, object], blocks: Sequence[wire.Block]) -> list[bytes]:
        with self._lock:
            self._give(head, blocks)
            try:
                answer, found = wire.receive(self._connection, self._reader)
            except OSError:
                answer, found = {"over": "the process that brings the ranks together is gone"}, []
        if "over" in answer:
            self._over, self._of_another = str(answer["over"]), bool(answer.get("of_another"))
            raise self._error()
        return found

    def _give(self, head: Mapping[str, object], blocks: Sequence[wire.Block]) -> None:
        if os.getpid() != self._process:
            raise CollectiveError("a process that a rank forked is no rank: only the rank itself communicates")
        if self._over:
            raise self._error()
        try:
            wire.send(self._connection, dict(head), blocks)
        except OSError as error:
            self._over = "the process that brings the ranks together is gone"
            raise CollectiveError(self._over) from error

    def _error(self) -> CollectiveError:
        error = CollectiveError(self._over)
        error.of_another = self._of_another
        return error
