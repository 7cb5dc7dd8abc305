"""Who does a command's tasks: processes of this machine, or a Dask cluster, its versions, and what each worker sees."""

from __future__ import annotations

import asyncio
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from typing import Any

from harness.compare.collector import PausedCollector
from harness.errors import ScaleError, first_line
from harness.scale.crew import Crew, unlike
from harness.scale.flights import Flights
from harness.scale.link import Link, clock
from harness.scale.pool import Pool, nobody
from harness.scale.tasks import TICK, Sight, Task
from harness.suggest import install
from harness.words import counted

__all__ = ["Cluster", "Pool", "Task", "cluster", "limit"]

#: Seconds that a worker's files, a worker or the scheduler may be out of reach.
LIMIT_VARIABLE, LIMIT = "MSDUMP_SCALE_LIMIT", 30.0
#: Processes that a command starts at the most: so many, or some for each processor of this machine.
_MOST, _MOST_EACH = 64, 8
#: Seconds that the end of a connection may take.
_END = 10.0
#: How many limits a result may take from its worker to this process; it is asked for again then.
_FETCH = 4


def limit() -> float:
    """Seconds that something may be out of reach."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    try:
        seconds = float(text) if text else LIMIT
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e6:
        raise ScaleError(f"{LIMIT_VARIABLE} is a number of seconds above 0; given was {text!r}")
    return seconds


@contextmanager
def cluster(workers: int, address: str, tell: Callable[[str], None] = lambda line: None) -> Iterator[Cluster | Pool]:
    """Workers of this machine, or those of an existing scheduler.

    Args:
        workers: number of processes to start; 0 to use ``address``.
        address: address of a scheduler, such as ``tcp://10.0.0.1:8786``.
        tell: called with who works, and with messages about unusable workers.

    Raises:
        ScaleError: processes do not start; Dask is not installed, the scheduler cannot be reached, or versions do not
            fit.
    """
    if workers and address:
        raise ScaleError("--workers starts a cluster and --scheduler uses one: give one of the two")
    if workers < 0:
        raise ScaleError(f"--workers is a number of processes, at least 0; given was {workers}")
    if workers > (most := max(_MOST, _MOST_EACH * (os.cpu_count() or 1))):
        raise ScaleError(f"--workers starts at most {most} processes on this machine; given was {workers}")
    seconds = limit()
    if workers:
        with closing(Pool(workers, tell)) as pool:
            yield pool
        return
    try:
        with PausedCollector():
            import dask

            utils: Any = import_module("distributed.utils")
    except ImportError:
        raise ScaleError(f"--scheduler needs Dask: {install('pytest-msdump[scale]')}") from None
    loop, client = utils.LoopRunner(), None
    with dask.config.set({"distributed.comm.timeouts.connect": f"{seconds:g}s"}), _quiet():
        loop.start()
        try:
            client = _connected(loop, address, seconds)
            found = Cluster(Link(loop.loop, client, _FETCH * seconds), seconds, tell)
            found.begin(seconds)
            yield found
        finally:
            with suppress(Exception):
                if client is not None:
                    utils.sync(loop.loop, _left, client, callback_timeout=_END)
            with suppress(Exception):
                loop.stop(_END)


async def _left(client: Any) -> None:
    try:
        await client.close()
    finally:
        client.status = "closed"  # else its destructor begins to close it once more


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences Dask's log of a fault, because this package reports it once."""
    loggers = [
        logging.getLogger(name)
        for name in logging.root.manager.loggerDict
        if name.startswith(("asyncio", "distributed", "tornado"))
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _connected(loop: Any, where: str, seconds: float) -> Any:
    distributed: Any = import_module("distributed")

    async def connect() -> Any:
        client = distributed.Client(where, asynchronous=True, timeout=seconds, set_as_default=False)
        try:
            return await client
        except BaseException:
            with suppress(Exception):
                await asyncio.wait_for(_left(client), _END)
            raise

    try:
        return distributed.utils.sync(loop.loop, connect, callback_timeout=seconds + TICK)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise ScaleError(f"no scheduler can be reached at {where}: {first_line(error)}") from None
    except Exception as error:  # another protocol, or another version's messages
        raise ScaleError(f"the scheduler at {where} does not answer as Dask's: {first_line(error)}") from None


class Cluster:
    """Runs tasks and gives their results, in any order."""

    def __init__(self, link: Link, seconds: float, tell: Callable[[str], None]) -> None:
        self._link, self._seconds, self._tell = link, seconds, tell
        self._crew = Crew(link, seconds, tell)

    @property
    def seen(self) -> dict[str, Sight]:
        """The ranks of each place that each usable worker sees."""
        return self._crew.seen

    def begin(self, seconds: float) -> None:
        """Waits for a worker so long, and for what those that are there see; versions must be this process's.

        Raises:
            ScaleError: none came in that time, or one is of another version.
        """
        address = self._link.address
        try:
            packages = self._link.ask(self._link.packages(), self._seconds)
        except Exception as error:  # whatever a scheduler of another version answers
            raise ScaleError(f"the scheduler at {address} does not answer as Dask's: {first_line(error)}") from None
        if why := unlike("the scheduler", {"distributed": packages.get("distributed")}):
            raise ScaleError(f"{address}: {why}")
        crew, since = self._crew, clock()
        while not self.seen or crew.looking():
            crew.tick()
            for worker, why in crew.unfit.items():
                raise ScaleError(f"{address}: worker {worker}: {why}")
            if clock() - since > seconds and not self.seen and not crew.looking():
                raise ScaleError(f"{address}: no worker came in {seconds:g} s")
            time.sleep(TICK / 10)
        dashboard = self._link.dashboard() if packages.get("bokeh") else ""
        self._tell(
            f"{counted(len(self.seen), 'worker')} at {address}" + (f", dashboard {dashboard}" if dashboard else "")
        )

    def discover(self, place: str) -> dict[int, list[str]]:
        """The workers that see each rank of a place.

        Raises:
            ScaleError: nobody sees any, or two hosts have other files of the same rank.
        """
        crew = self._crew
        crew.look_at(place)
        while crew.looking():
            crew.tick()
            time.sleep(TICK / 10)
        ranks: dict[int, list[str]] = {}
        stamps: dict[int, tuple[str, str]] = {}
        why = ""
        for worker in sorted(self.seen):
            sight = self.seen[worker].get(place, {})
            if isinstance(sight, str):
                why = why or sight
                continue
            for rank, stamp in sight.items():
                first, known = stamps.setdefault(rank, (worker, stamp))
                if known != stamp:
                    hosts = " and ".join(sorted({crew.hosts[first], crew.hosts[worker]}))
                    raise ScaleError(f"{place}: rank {rank} lies in two places that are not alike, on {hosts}; "
                                     "a rank is read whole from one place")  # fmt: skip
                ranks.setdefault(rank, []).append(worker)
        if not ranks:
            raise nobody(place, len(self.seen), why)
        return dict(sorted(ranks.items()))

    def sees(self, worker: str, needs: Iterable[tuple[str, int]]) -> bool:
        """Whether a worker sees what a task needs."""
        return self._crew.sees(worker, needs)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """See ``Flights.run``."""
        return Flights(self._link, self._crew, self._seconds, self._tell).run(tasks)
