"""A cluster of Dask's, and the watch over what flies on it.

Dask leaves a task that may run on one worker only waiting for ever once that worker is gone, and a client waiting for
a scheduler that went away. Here both end: in another worker that sees the files, or in one error.
"""

from __future__ import annotations

import logging
import os
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from harness import errors
from harness.errors import HarnessError, ScaleError, first_line
from harness.scale.wire import Failed, OutOfReach
from harness.scale.work import versions, visible_ranks

#: Tasks that the scheduler knows at a time.
FLYING = 10_000
#: Seconds between two looks at workers and scheduler.
TICK = 0.5
#: Seconds that a worker's files, or the scheduler, may be out of reach.
LIMIT_VARIABLE, LIMIT = "MSDUMP_SCALE_LIMIT", 30.0
#: Workers that may die over one task before it is taken for the cause.
DEATHS = 3

Sight = dict[str, dict[int, str]]


@dataclass(frozen=True)
class Task:
    """Something to be done on a worker.

    Attributes:
        key: what it is, unique; results are put in order by it.
        function, args: of ``harness.scale.work``.
        needs: places and the rank of each that the worker must see.
        said: how messages call it.
        size: bytes it reads, for those who watch.
    """

    key: Any
    function: Callable[..., Any]
    args: tuple[Any, ...]
    needs: tuple[tuple[str, int], ...] = ()
    said: str = ""
    size: int = 0


@dataclass
class _Flight:
    """A task on its way."""

    task: Task
    pins: frozenset[str] | None
    since: float | None = None
    refused: set[str] = field(default_factory=set)


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
        workers: how many processes to start; 0 to take ``address``.
        address: of a scheduler, such as ``tcp://10.0.0.1:8786``.
        tell: is told the dashboard's address, and of workers that cannot be used.

    Raises:
        ScaleError: Dask is not installed, the scheduler cannot be reached, or versions do not fit.
    """
    if workers and address:
        raise ScaleError("--workers starts a cluster and --scheduler uses one: give one of the two")
    if workers < 0:
        raise ScaleError(f"--workers is a number of processes, at least 0; given was {workers}")
    try:
        import dask

        distributed: Any = import_module("distributed")
    except ImportError:
        raise ScaleError("more than one process needs Dask: pip install 'pytest-msdump[scale]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    seconds = limit()
    settings = {"distributed.comm.timeouts.connect": f"{seconds:g}s", "distributed.admin.tick.limit": "1h"}
    with dask.config.set(settings):
        local: Any = None
        try:
            if workers:
                local = distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=True, memory_limit=0, dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )  # fmt: skip
            client = _client(local if local is not None else address, seconds)
        except BaseException:
            _close(local)
            raise
        try:
            found = Cluster(client, seconds, tell)
            found.begin(workers)
            yield found
        finally:
            _close(client)
            _close(local)


def _client(where: Any, seconds: float) -> Any:
    distributed: Any = import_module("distributed")

    try:
        return distributed.Client(where, timeout=seconds, set_as_default=False)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise ScaleError(f"no scheduler can be reached at {where}: {first_line(error)}") from None
    except Exception as error:  # another protocol, or another version's messages
        raise ScaleError(f"the scheduler at {where} does not answer as Dask's: {first_line(error)}") from None


def _close(what: Any) -> None:
    if what is not None:
        with suppress(Exception):
            what.close(timeout=5)


class Cluster:
    """Runs tasks and gives what comes of them, in any order.

    Attributes:
        seen: of each worker, the ranks of each place it sees.
        hosts: what each worker calls its host.
    """

    def __init__(self, client: Any, seconds: float, tell: Callable[[str], None]) -> None:
        self._client, self._seconds, self._tell = client, seconds, tell
        self._places: list[str] = []
        self._unfit: set[str] = set()
        self._silent: float | None = None
        self.address = str(client.scheduler.address)
        self.seen: dict[str, Sight] = {}
        self.hosts: dict[str, str] = {}

    def begin(self, wanted: int) -> None:
        """Waits for a worker and holds versions against this process's.

        Raises:
            ScaleError: none came, or one is of another version.
        """
        try:
            self._client.wait_for_workers(max(1, wanted), timeout=self._seconds)
            packages = self._client.get_versions()["scheduler"]["packages"]
        except (OSError, TimeoutError, ValueError) as error:
            raise ScaleError(f"{self.address}: no worker came in {self._seconds:g} s: {first_line(error)}") from None
        mine = versions()
        if packages.get("distributed") != mine["distributed"]:
            raise ScaleError(f"{self.address}: {_unlike('the scheduler', 'distributed', packages, mine)}")
        for worker, found in self._look(self._alive()).items():
            if isinstance(found, str):
                raise ScaleError(f"{self.address}: worker {worker}: {found}")
            self._admit(worker, found)
        dashboard = self._client.dashboard_link if packages.get("bokeh") else ""
        self._tell(f"{len(self.seen)} workers at {self.address}" + (f", dashboard {dashboard}" if dashboard else ""))

    # -- workers ---------------------------------------------------------------------------------------------------
    def _alive(self) -> set[str]:
        info = self._client.scheduler_info(n_workers=-1)
        return set(info["workers"])

    def _look(self, workers: Iterable[str]) -> dict[str, Any]:
        """What workers see; a text in place of it for one that cannot be used."""
        asked = sorted(workers)
        if not asked:
            return {}
        found = self._client.run(visible_ranks, tuple(self._places), workers=asked, on_error="return")
        mine = versions()
        for worker, each in found.items():
            if isinstance(each, BaseException):
                found[worker] = f"it cannot run this project's code: {first_line(each)}"
            elif each["versions"] != mine:
                name = next(name for name in mine if each["versions"][name] != mine[name])
                found[worker] = _unlike("it", name, each["versions"], mine)
        return dict(found)

    def _admit(self, worker: str, found: dict[str, Any]) -> None:
        self.seen[worker], self.hosts[worker] = found["seen"], found["host"]

    def discover(self, place: str) -> dict[int, list[str]]:
        """The workers that see each rank of a place.

        Raises:
            ScaleError: nobody sees any, or two hosts have other files of the same rank.
        """
        if place not in self._places:
            self._places.append(place)
            for worker, found in self._look(self._alive() - self._unfit).items():
                if not isinstance(found, str):
                    self._admit(worker, found)
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
                    hosts = " and ".join(sorted({self.hosts[first], self.hosts[worker]}))
                    raise ScaleError(f"{place}: rank {rank} lies in two places that are not alike, on {hosts}; "
                                     "a rank is read whole from one place")  # fmt: skip
                ranks.setdefault(rank, []).append(worker)
        if not ranks:
            raise ScaleError(f"{place}: none of {len(self.seen)} workers sees a rank there{why}")
        return dict(sorted(ranks.items()))

    def sees(self, worker: str, needs: Iterable[tuple[str, int]]) -> bool:
        """Whether a worker sees what a task needs."""
        sight = self.seen.get(worker, {})
        return all(not isinstance(sight.get(place), str) and rank in sight.get(place, {}) for place, rank in needs)

    # -- tasks -----------------------------------------------------------------------------------------------------
    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """Every task and its result, as they come; at most ``FLYING`` are known to the scheduler at a time.

        Raises:
            ScaleError: the scheduler went away, files stayed out of reach, or workers die of a task.
            HarnessError: what a task met; of several the one whose key comes first.
        """
        coming = iter(tasks)
        flying: dict[Any, _Flight] = {}
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        failed: list[tuple[Task, Failed]] = []
        looked = time.monotonic()
        try:
            while True:
                while len(flying) < FLYING and not failed and (task := next(coming, None)) is not None:
                    self._submit(_Flight(task, None), flying, finished)
                if not flying:
                    break
                if time.monotonic() - looked > TICK:
                    self._watch(flying, finished)
                    looked = time.monotonic()
                with suppress(queue.Empty):
                    future = finished.get(timeout=TICK)
                    flight = flying.get(future)
                    if flight is not None and (result := self._landed(future, flight, flying, finished)) is not None:
                        if isinstance(result, Failed):
                            failed.append((flight.task, result))
                        else:
                            yield flight.task, result
        finally:
            if flying:
                with suppress(Exception):
                    self._client.cancel(list(flying), force=True)
        if failed:
            _, first = min(failed, key=lambda each: each[0].key)
            kind = getattr(errors, first.kind, HarnessError)
            raise (kind if issubclass(kind, HarnessError) else HarnessError)(first.message)

    def _submit(self, flight: _Flight, flying: dict[Any, _Flight], finished: Any) -> None:
        task = flight.task
        able = [worker for worker in self.seen if worker not in flight.refused and self.sees(worker, task.needs)]
        # Where all see the files the scheduler chooses; a long list of workers for each task would cost it more.
        shared = len(able) == len(self.seen)
        flight.pins = None if shared else frozenset(able)
        if not able:
            # Nobody now; whoever comes may.
            flight.since = flight.since or time.monotonic()
            flying[object()] = flight
            return
        flight.since = None
        future = self._client.submit(
            task.function, *task.args, pure=False, workers=None if shared else sorted(able),
            allow_other_workers=False, retries=0,
        )  # fmt: skip
        flying[future] = flight
        future.add_done_callback(finished.put)

    def _landed(self, future: Any, flight: _Flight, flying: dict[Any, _Flight], finished: Any) -> Any:
        """A task's result; None where it flies on."""
        from distributed.scheduler import KilledWorker

        status = future.status
        if status == "finished":
            result = future.result()
            del flying[future]
            if isinstance(result, OutOfReach):
                return self._to_another(flight, flying, finished)
            return result
        if status == "error":
            error = future.exception()
            del flying[future]
            if isinstance(error, KilledWorker):
                raise ScaleError(f"{flight.task.said}: {DEATHS} workers died over it; it is not tried again")
            raise ScaleError(f"{flight.task.said}: {type(error).__name__}: {first_line(error)}")
        if self._is_running():  # cancelled or lost with an earlier scheduler
            del flying[future]
            self._submit(flight, flying, finished)
        else:
            del flying[future]
            flying[object()] = flight
        return None

    def _to_another(self, flight: _Flight, flying: dict[Any, _Flight], finished: Any) -> Any:
        """A worker did not see what it said it sees: it is asked again what it sees, once; then who asks is told."""
        if not flight.task.needs or flight.refused:
            return OutOfReach()
        self._look_again()
        flight.refused.add("")
        self._submit(flight, flying, finished)
        return None

    def _look_again(self) -> None:
        for worker, found in self._look(self._alive() - self._unfit).items():
            if not isinstance(found, str):
                self._admit(worker, found)

    # -- the watch -------------------------------------------------------------------------------------------------
    def _is_running(self) -> bool:
        return bool(self._client.status == "running")

    def _watch(self, flying: dict[Any, _Flight], finished: Any) -> None:
        """Looks at the scheduler and its workers; tasks whose workers are gone fly elsewhere."""
        now = time.monotonic()
        alive: set[str] | None = None
        if self._is_running():
            with suppress(OSError, TimeoutError):
                alive = self._alive()
        if alive is None:
            self._silent = self._silent or now
            if now - self._silent > self._seconds or self._client.status == "closed":
                raise ScaleError(f"the scheduler at {self.address} went away")
            return
        self._silent = None
        for worker in [each for each in self.seen if each not in alive]:
            del self.seen[worker]
        with suppress(OSError, TimeoutError):
            self._welcome(alive - self.seen.keys() - self._unfit)
        for future, flight in list(flying.items()):
            if getattr(future, "status", "lost") == "finished":
                continue
            lost = flight.pins is not None and not any(pin in self.seen for pin in flight.pins)
            lost = lost or not self.seen or not hasattr(future, "status")
            if not lost:
                flight.since = None
                continue
            self._move(future, flight, flying, finished, now)

    def _welcome(self, workers: set[str]) -> None:
        """Takes in workers that came; those of other versions are named and left alone."""
        for worker, found in self._look(workers).items():
            if isinstance(found, str):
                self._unfit.add(worker)
                self._tell(f"worker {worker} is not used: {found}")
            else:
                self._admit(worker, found)

    def _move(self, future: Any, flight: _Flight, flying: dict[Any, _Flight], finished: Any, now: float) -> None:
        if any(self.sees(worker, flight.task.needs) for worker in self.seen):
            del flying[future]
            if hasattr(future, "cancel"):
                with suppress(Exception):
                    future.cancel()
            self._submit(flight, flying, finished)
            return
        flight.since = flight.since or now
        if now - flight.since > self._seconds:
            raise ScaleError(f"{flight.task.said} is unreachable: for {self._seconds:g} s no worker is there that "
                             "sees it; --resume goes on from here")  # fmt: skip


def _unlike(who: str, name: str, theirs: dict[str, Any], mine: dict[str, str]) -> str:
    return f"{who} has {name} {theirs.get(name) or 'none'}, this process has {mine[name]}; they must be equal"
