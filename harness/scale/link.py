"""The connection to a Dask scheduler: each request is a coroutine that its caller watches."""

from __future__ import annotations

import asyncio
import ctypes
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from harness.scale.tasks import TICK
from harness.scale.wire import Folded, OutOfReach
from harness.scale.work import versions

#: Results that are fetched at a time.
_FETCHING = 32
#: The clock of all limits.
clock: Callable[[], float] = time.monotonic


class Landed(NamedTuple):
    """The outcome of a task.

    Attributes:
        kind: ``done``; ``error``, which the task raised; ``lost``, where neither it nor its result is to be had.
        value: the result, the exception, or what is known of the loss.
    """

    kind: str
    value: Any


class Link:
    """A client of a scheduler.

    Args:
        loop: Dask's, in which the client's coroutines run.
        seconds: that a result may take once it is there.

    Attributes:
        address: of the scheduler.
        gone: rises whenever a worker dies or falls silent.
    """

    def __init__(self, loop: Any, client: Any, seconds: float) -> None:
        self._seconds, self.gone = seconds, 0
        self._loop, self._client = loop, client
        self._gate = asyncio.Semaphore(_FETCHING)
        self.address = str(client.scheduler.address)

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Starts a coroutine; to be watched, or cancelled."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop.asyncio_loop)

    def turn(self) -> Future[None]:
        """Done as soon as the loop has come to all that was begun before: it may be busy."""
        return self.begin(asyncio.sleep(0))

    def ask(self, coroutine: Coroutine[Any, Any, Any], seconds: float) -> Any:
        """Waits for a coroutine and returns its result.

        Raises:
            TimeoutError: it gives nothing for so many seconds; it is cancelled.
            Exception: its own.
        """
        return self.begin(asyncio.wait_for(coroutine, seconds)).result(seconds + TICK)

    def running(self) -> bool:
        """Whether the scheduler is connected."""
        return bool(self._client.status == "running")

    def closed(self) -> bool:
        """Whether Dask gave the scheduler up."""
        return self._client.status in ("closed", "closing")

    async def identity(self) -> dict[str, Any]:
        """The scheduler's workers by address: when each was heard of, its state, what it executes."""
        found = await self._client.scheduler.identity(n_workers=-1)
        return dict(found["workers"])

    async def packages(self) -> dict[str, Any]:
        """Versions of the scheduler's packages by name."""
        return dict((await self._client.scheduler.versions())["packages"])

    def dashboard(self) -> str:
        """Where the scheduler shows what it does."""
        return str(self._client.dashboard_link)

    async def _watched(self, fetching: Coroutine[Any, Any, Any]) -> Any:
        """What is fetched; None where it does not come in time, or a worker went away that may have had it: Dask, which
        does not watch this, may ask such a worker again and again."""
        task, begun, gone = asyncio.ensure_future(fetching), clock(), self.gone
        try:
            while not task.done() and clock() - begun <= self._seconds and gone == self.gone:
                await asyncio.wait({task}, timeout=TICK)
            return task.result() if task.done() else None
        finally:
            task.cancel()

    async def held_by(self, workers: Sequence[str]) -> set[str]:
        """Names of tasks that workers work on, or whose results they hold."""
        scheduler = self._client.scheduler
        working = await scheduler.processing(workers=list(workers))
        holding = await scheduler.has_what(workers=list(workers))
        return {str(key) for found in (working, holding) for keys in found.values() for key in keys}

    async def perform(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], workers: Sequence[str] | None,
        priority: int = 0,
    ) -> Landed:  # fmt: skip
        """Runs a function on one of some workers and fetches its result; ``name`` is the task's, unique.

        ``Client.gather`` is not used: where the worker is gone that has the result, it waits for ever for another one.
        """
        future: Any = None
        try:
            future = self._client.submit(
                fitting, versions(), function, *args, key=name, pure=False, retries=0,
                workers=None if workers is None else list(workers), allow_other_workers=False, priority=priority,
            )  # fmt: skip
            error = await future.exception()  # waits, but fetches no result
            if future.status == "error":
                return Landed("error", error)
            async with self._gate:
                answer = await self._watched(self._client.scheduler.gather(keys=[future.key]))
            if answer is None or answer["status"] != "OK":
                return Landed("lost", "the worker that had the result is gone")
            value = answer["data"][future.key]
            return Landed("done", value.open() if isinstance(value, Packed) else value)
        except (Exception, asyncio.CancelledError) as why:  # whatever Dask raises when something of it is gone
            return Landed("lost", why)
        finally:
            if future is not None:
                future.release()


class Packed(NamedTuple):
    """What a part gave as one text of bytes, which the scheduler hands on without building it: half the price here."""

    content: bytes

    def open(self) -> Any:
        """What was packed, by Dask's own serialization."""
        protocol: Any = import_module("distributed.protocol")
        return protocol.deserialize_bytes(self.content)


#: Of mallopt(3): from which size memory is mapped alone, and how much of what is free is kept.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = (-3, 32 << 20), (-1, 64 << 20)


@cache
def _keep_memory() -> None:
    """Has this process use freed memory again: workers that users start have ``MALLOC_TRIM_THRESHOLD_`` from Dask, with
    which the system gives each array of a measurement new pages, up to two thirds of its CPU time."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if "MALLOC_TRIM_THRESHOLD_" in os.environ else None
    if mallopt is not None:
        mallopt(*_MMAP_THRESHOLD)
        mallopt(*_TRIM_THRESHOLD)


def fitting(theirs: dict[str, str], function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function where versions are the driver's; a worker that joined may be another."""
    if function.__name__ != "visible_ranks" and versions() != theirs:
        return OutOfReach()
    _keep_memory()
    result = function(*args)
    if not isinstance(result, Folded):
        return result
    protocol: Any = import_module("distributed.protocol")
    return Packed(protocol.serialize_bytes(result))
