"""How a process that MindSpore's launcher started finds the others.

``msrun`` starts the script once as the scheduler (``MS_ROLE=MS_SCHED``) and once for each rank (``MS_WORKER``); each
knows the scheduler's address (``MS_SCHED_HOST``, ``MS_SCHED_PORT``) and the number of ranks (``MS_WORKER_NUM``).
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import CollectiveError
from harness.framework.communication import wire, world
from harness.framework.communication.client import Client
from harness.framework.communication.coordinator import Coordinator

#: seconds that ranks and scheduler wait for one another, unless ``MS_TOPO_TIMEOUT`` says another number
PATIENCE = 1800.0
#: the variable that says how long a rank may wait in a collective, in seconds
TIMEOUT = "MSDUMP_RANKS_TIMEOUT"


@dataclass(frozen=True, slots=True)
class Launched:
    """What the launcher's variables say.

    Attributes:
        role: ``MS_SCHED`` or ``MS_WORKER``.
        host, port: of the scheduler.
        size: number of ranks.
        rank: this one; -1 if the scheduler is to give it.
        patience: seconds to wait for the others.
    """

    role: str
    host: str
    port: int
    size: int
    rank: int
    patience: float


def launched(environ: Mapping[str, str]) -> Launched | None:
    """What the launcher's variables say; None without ``MS_ROLE``.

    Raises:
        CollectiveError: one of them is missing or wrong.
    """
    role = environ.get("MS_ROLE", "")
    if not role:
        return None
    if role not in ("MS_SCHED", "MS_WORKER"):
        raise CollectiveError(f"MS_ROLE is {role[:60]!r}; accepted: MS_SCHED, MS_WORKER")
    size = _number(environ, "MS_WORKER_NUM", 1, 1 << 16)
    rank = _number(environ, "RANK_ID", 0, size - 1) if environ.get("RANK_ID") else -1
    if rank < 0 and environ.get("MS_NODE_ID", "").isascii() and environ.get("MS_NODE_ID", "").isdigit():
        rank = _number(environ, "MS_NODE_ID", 0, size - 1)
    patience = float(_number(environ, "MS_TOPO_TIMEOUT", 1, 1 << 31)) if environ.get("MS_TOPO_TIMEOUT") else PATIENCE
    host = environ.get("MS_SCHED_HOST") or "127.0.0.1"
    return Launched(role, host, _number(environ, "MS_SCHED_PORT", 1, 65535), size, rank, patience)


def _number(environ: Mapping[str, str], name: str, low: int, high: int) -> int:
    text = environ.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 12 and low <= int(text) <= high):
        raise CollectiveError(f"{name} is {text[:60]!r}; accepted: a number from {low} to {high}")
    return int(text)


def join_launched() -> None:
    """Makes the process a rank if a launcher started it as one; in the scheduler's process, serves and ends it.

    Raises:
        CollectiveError: see ``launched``; the scheduler cannot be reached.
    """
    if world.current().client is not None:
        return
    found = launched(os.environ)
    if found is None:
        return
    if found.role == "MS_SCHED":
        raise SystemExit(serve(found))
    client, rank = connect(found)
    world.join(world.Membership(rank, found.size, client))
    os.environ.update(RANK_ID=str(rank), MSDUMP_DISTRIBUTED="1")
    os.environ.setdefault("DEVICE_ID", str(rank))
    atexit.register(client.leave)


def connect(given: Launched) -> tuple[Client, int]:
    """The connection of a rank, and its number; ``CollectiveError`` if the scheduler cannot be reached in time."""
    end = time.monotonic() + given.patience
    while True:
        try:
            connection = socket.create_connection((given.host, given.port), timeout=5)
            break
        except OSError as error:
            if time.monotonic() > end:
                text = f"no scheduler answers at {given.host}:{given.port} within {given.patience:g} s: {error}"
                raise CollectiveError(text) from error
            time.sleep(0.05)
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reader = wire.Reader()
    try:
        wire.send(connection, {"kind": "join", "rank": given.rank, "size": given.size})
        answer, _ = wire.receive(connection, reader)
    except (OSError, ValueError) as error:
        raise CollectiveError(f"the scheduler at {given.host}:{given.port} does not answer: {error}") from error
    if "over" in answer:
        raise CollectiveError(str(answer["over"]))
    return Client(connection, reader), int(answer["rank"])


def serve(given: Launched) -> int:
    """Brings the ranks of a launcher together until they have ended; gives the exit code, and says why it is not 0."""
    timeout = float(os.environ.get(TIMEOUT) or 0)
    coordinator = Coordinator(given.size, timeout)
    failure = ""
    try:
        with socket.create_server((given.host, given.port)) as server:
            _gather(server, given, coordinator)
        while not coordinator.is_over:
            coordinator.turn(0.2)
            for rank in coordinator.ranks:
                if rank.connection is None and not rank.ended:
                    coordinator.ended(rank.number, "ended" if rank.left else "was lost", not rank.left)
    except (OSError, CollectiveError) as error:
        failure = f"the ranks cannot be brought together: {error}"
    finally:
        coordinator.close()
    if failure := coordinator.failure or failure:
        print(f"msdump: {failure}", file=sys.stderr)
    return int(bool(failure))


def _gather(server: socket.socket, given: Launched, coordinator: Coordinator) -> None:
    """Waits until every rank is there; those without a number get the free ones, in the order of their coming."""
    end = time.monotonic() + given.patience
    named: dict[int, tuple[socket.socket, wire.Reader]] = {}
    others: list[tuple[socket.socket, wire.Reader]] = []
    server.settimeout(0.2)
    while len(named) + len(others) < given.size:
        if time.monotonic() > end:
            raise CollectiveError(f"{len(named) + len(others)} of {given.size} ranks came within {given.patience:g} s")
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        connection.settimeout(10)
        reader = wire.Reader()
        try:
            head, _ = wire.receive(connection, reader)
            rank = int(head["rank"])
        except (OSError, ValueError, KeyError, TypeError):
            connection.close()
            continue
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if head.get("size") != given.size or rank in named:
            wire.send(connection, {"over": f"rank {rank} of {head.get('size')} cannot join: {given.size} ranks, "
                                           f"{sorted(named)} are there"})  # fmt: skip
            connection.close()
        elif rank < 0:
            others.append((connection, reader))
        else:
            named[rank] = connection, reader
    free = [number for number in range(given.size) if number not in named]
    named.update(zip(free, others, strict=True))
    for rank, (connection, reader) in sorted(named.items()):
        wire.send(connection, {"rank": rank})
        coordinator.add(rank, connection, reader)
