"""Ranks of a test: threads of this process, brought together by a coordinator."""

from __future__ import annotations

import contextvars
import socket
import threading
from collections.abc import Callable
from typing import Any

from harness.framework.communication import world
from harness.framework.communication.client import Client
from harness.framework.communication.coordinator import Coordinator
from harness.framework.communication.management import GlobalComm
from harness.framework.runtime import session


def together(size: int, function: Callable[[int], Any], timeout: float = 0.0) -> tuple[list[Any], str]:
    """Calls ``function(rank)`` in a thread for each rank; gives the results (an exception in its place), and why the
    run was given up."""
    coordinator = Coordinator(size, timeout)
    results: list[Any] = [None] * size

    def live(rank: int, connection: socket.socket) -> None:
        place = world.Membership(rank, size, Client(connection))
        try:
            with world.as_rank(place), session.fresh(hooked=False):
                results[rank] = function(rank)
        except Exception as error:
            results[rank] = error
        finally:
            connection.close()

    threads = []
    for rank in range(size):
        here, there = socket.socketpair()
        coordinator.add(rank, here)
        thread = threading.Thread(target=contextvars.Context().run, args=(live, rank, there))
        threads.append(thread)
    for thread in threads:
        thread.start()
    while not coordinator.is_over:
        coordinator.turn(0.05)
        for rank, thread in enumerate(threads):
            if not thread.is_alive() and not coordinator.ranks[rank].ended:
                failed = isinstance(results[rank], Exception)
                coordinator.ended(rank, "failed" if failed else "ended", failed)
    failure = coordinator.failure
    coordinator.close()
    GlobalComm.INITED = False
    return results, failure
