"""A Dask cluster: its start and end, its versions, and what each worker sees."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from harness.compare.collector import PausedCollector
from harness.errors import ScaleError, first_line
from harness.scale import forks
from harness.scale.crew import Crew, Sight, unlike
from harness.scale.flights import Flights, Task
from harness.scale.link import TICK, Link, clock
from harness.scale.loop import Loop
from harness.suggest import install
from harness.words import counted

__all__ = ["Cluster", "Task", "cluster", "limit"]

#: Seconds that a worker's files, a worker or the scheduler may be out of reach.
LIMIT_VARIABLE, LIMIT = "MSDUMP_SCALE_LIMIT", 30.0
#: Processes that a command starts at the most: so many, or some for each processor of this machine.
_MOST, _MOST_EACH = 64, 8
#: How many limits the start of processes of this machine may take, and seconds that their end may take.
_START, _END = 4, 10.0
#: How many limits a result may take from its worker to this process; it is asked for again then.
_FETCH = 4
#: Workers of this machine are forks (see ``forks.py``); nobody looks at their profiles.
_SETTINGS = {
    "distributed.admin.tick.limit": "1h",
    "distributed.admin.tick.interval": "10s",  # 50 times a second otherwise, in each of its servers
    "distributed.scheduler.active-memory-manager.start": False,  # nothing is replicated
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.http.routes": [],
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    # Without MALLOC_TRIM_THRESHOLD_, which maps new memory for every array of a measurement (a third of its CPU time).
    "distributed.nanny.pre-spawn-environ": {
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    },
}


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
def cluster(workers: int, address: str, tell: Callable[[str], None] = lambda line: None) -> Iterator[Cluster]:
    """Workers of this machine, or those of an existing scheduler.

    Args:
        workers: number of processes to start; 0 to use ``address``.
        address: address of a scheduler, such as ``tcp://10.0.0.1:8786``.
        tell: called with the dashboard's address, and with messages about unusable workers.

    Raises:
        ScaleError: Dask is not installed, the scheduler cannot be reached, or versions do not fit.
    """
    if workers and address:
        raise ScaleError("--workers starts a cluster and --scheduler uses one: give one of the two")
    if workers < 0:
        raise ScaleError(f"--workers is a number of processes, at least 0; given was {workers}")
    if workers > (most := max(_MOST, _MOST_EACH * (os.cpu_count() or 1))):
        raise ScaleError(f"--workers starts at most {most} processes on this machine; given was {workers}")
    try:
        with PausedCollector():
            import dask

            import_module("distributed")
    except ImportError:
        raise ScaleError(f"more than one process needs Dask: {install('pytest-msdump[scale]')}") from None
    seconds = limit()
    settings = _SETTINGS | {"distributed.comm.timeouts.connect": f"{seconds:g}s"}
    if not _has_pages():
        settings |= {"distributed.scheduler.http.routes": []}
    if workers:
        with dask.config.set(settings):
            forks.serve()
    loop, local, client = Loop(), None, None
    with dask.config.set(settings), _quiet():
        try:
            if workers:
                local = _started(loop, workers, seconds)
            client = _connected(loop, local if local is not None else address, seconds)
            found = Cluster(Link(loop, client, _FETCH * seconds, own=local is not None), seconds, tell)
            found.begin(max(1, workers), _START * seconds if workers else seconds)
            yield found
        finally:
            if client is not None:
                with suppress(Exception):
                    loop.ask(_left(client), _END)
            if local is not None:
                with suppress(Exception):
                    loop.ask(_ended(local), _END)
                gc.unfreeze()
            loop.close()


async def _left(client: Any) -> None:
    try:
        await client.close()
    finally:
        client.status = "closed"  # else its destructor begins to close it once more


async def _ended(local: Any) -> None:
    await local.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences Dask's log of a fault, because this package reports it once."""
    loggers = [
        logging.getLogger(name)
        for name in logging.root.manager.loggerDict
        if name.startswith(("distributed", "tornado"))
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


def _has_pages() -> bool:
    """Whether a scheduler has a dashboard; the rest of its pages nobody looks at."""
    return find_spec("bokeh") is not None


def _started(loop: Loop, workers: int, seconds: float, threads: int = 1) -> Any:
    distributed: Any = import_module("distributed")

    async def start() -> Any:
        return await distributed.LocalCluster(
            n_workers=workers, threads_per_worker=threads, processes=True, memory_limit=0,
            dashboard_address="127.0.0.1:0", asynchronous=True, silence_logs=logging.CRITICAL,
            scheduler_kwargs={"dashboard": _has_pages()},
        )  # fmt: skip

    try:
        return loop.ask(start(), _START * seconds)
    except Exception as error:  # whatever a process that does not start raises
        raise ScaleError(f"{counted(workers, 'worker')} did not start on this machine: {first_line(error)}") from None


def _connected(loop: Loop, where: Any, seconds: float) -> Any:
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
        return loop.ask(connect(), seconds + TICK)
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

    def begin(self, wanted: int, seconds: float) -> None:
        """Waits for workers; versions must be this process's.

        Args:
            wanted: number of workers to wait for.
            seconds: longest time without a new worker.

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
        crew, came, since = self._crew, 0, clock()
        while len(self.seen) < wanted or crew.looking():
            crew.tick()
            for worker, why in crew.unfit.items():
                raise ScaleError(f"{address}: worker {worker}: {why}")
            if len(self.seen) != came:
                came, since = len(self.seen), clock()
            if clock() - since > seconds and len(self.seen) < wanted and not crew.looking():
                some = f"only {came} of {counted(wanted, 'worker')}" if came else "no worker"
                raise ScaleError(f"{address}: {some} came in {seconds:g} s")
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
                why = why or f": {sight}"
                continue
            for rank, stamp in sight.items():
                first, known = stamps.setdefault(rank, (worker, stamp))
                if known != stamp:
                    hosts = " and ".join(sorted({crew.hosts[first], crew.hosts[worker]}))
                    raise ScaleError(f"{place}: rank {rank} lies in two places that are not alike, on {hosts}; "
                                     "a rank is read whole from one place")  # fmt: skip
                ranks.setdefault(rank, []).append(worker)
        if not ranks:
            raise ScaleError(f"{place}: none of {counted(len(self.seen), 'worker')} sees a rank there{why}")
        return dict(sorted(ranks.items()))

    def sees(self, worker: str, needs: Iterable[tuple[str, int]]) -> bool:
        """Whether a worker sees what a task needs."""
        return self._crew.sees(worker, needs)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """See ``Flights.run``."""
        return Flights(self._link, self._crew, self._seconds, self._tell).run(tasks)
