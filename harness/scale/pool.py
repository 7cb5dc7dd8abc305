"""Workers of this machine: a pool of ``concurrent.futures``, whose processes are forks where that is safe."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import Any

from harness.errors import ScaleError, first_line
from harness.scale import interrupts
from harness.scale.tasks import TICK, Sight, Task, raise_first
from harness.scale.wire import Failed
from harness.scale.work import visible_ranks
from harness.words import counted

#: Tasks that the pool knows at a time, for each worker.
_EACH = 4
#: How many workers may die over a task.
_DEATHS = 3


@dataclass
class _Tried:
    """A task, and how many workers died while the pool had it."""

    task: Task
    deaths: int = 0


class Pool:
    """Runs tasks and gives their results, in any order.

    Attributes:
        seen: the ranks of each place that each worker sees; all see the same.
    """

    def __init__(self, workers: int, tell: Callable[[str], None]) -> None:
        self._sight: dict[str, Any] = {}
        self.seen: dict[str, Sight] = dict.fromkeys(map(str, range(workers)), self._sight)
        self._others = set(multiprocessing.active_children())
        gc.freeze()  # looking at what was imported, here or in a worker, would copy its memory
        self._executor = self._started()
        tell(f"{counted(workers, 'worker')} on this machine")

    def _started(self) -> ProcessPoolExecutor:
        # A fork of several threads may hang; each worker of the others imports everything once more.
        ways = multiprocessing.get_all_start_methods()
        alone = sys.platform == "linux" and threading.active_count() == 1
        way = "fork" if alone else "forkserver" if "forkserver" in ways else "spawn"
        try:
            with interrupts.held(), warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", DeprecationWarning
                )  # of the threads of a BLAS, which ends them at a fork
                executor = ProcessPoolExecutor(len(self.seen), multiprocessing.get_context(way), _as_new)
                executor.submit(int)  # starts them
        except OSError as error:
            said = counted(len(self.seen), "worker")
            raise ScaleError(f"{said} did not start on this machine: {first_line(error)}") from None
        return executor

    def discover(self, place: str) -> dict[int, list[str]]:
        """The workers that see each rank of a place.

        Raises:
            ScaleError: there is none.
        """
        found = self._sight[place] = visible_ranks((place,), alone=True)["seen"][place]
        if not found or isinstance(found, str):
            raise nobody(place, len(self.seen), found)
        return {rank: list(self.seen) for rank in sorted(found)}

    def sees(self, worker: str, needs: Iterable[tuple[str, int]]) -> bool:
        """Whether a worker sees what a task needs."""
        return all(rank in self._sight.get(place, {}) for place, rank in needs)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """Gives every task and its result, as they finish.

        A pool one of whose processes dies gives nothing more, and does not say which task it was: what it had is tried
        again, one task at a time.

        Raises:
            ScaleError: workers die of a task.
            HarnessError: what a task met; of several the one whose key comes first.
        """
        coming, suspects = map(_Tried, tasks), deque[_Tried]()
        flying: dict[Future[Any], _Tried] = {}
        failed: list[tuple[Task, Failed]] = []
        try:
            while True:
                interrupts.check()
                if not any(each.deaths for each in flying.values()):
                    room = 0 if failed else _EACH * len(self.seen) - len(flying)
                    some = [suspects.popleft()] if suspects else islice(coming, room)
                    flying |= {self._submit(each.task): each for each in some}
                if not flying:
                    break
                for future in self._done(flying):
                    tried, error = flying.pop(future), future.exception()
                    if isinstance(error, BrokenProcessPool):
                        tried.deaths += 1
                        suspects.append(tried)
                        if tried.deaths > _DEATHS:
                            raise tried.task.deadly()
                    elif error is not None:
                        raise tried.task.raised(error)
                    elif isinstance(found := future.result(), Failed):
                        failed.append((tried.task, found))
                    else:
                        yield tried.task, found
        finally:
            for future in flying:
                future.cancel()
        raise_first(failed)

    def _submit(self, task: Task) -> Future[Any]:
        try:
            return self._executor.submit(task.function, *task.args)
        except BrokenProcessPool as error:
            future = Future[Any]()
            future.set_exception(error)
            return future

    def _done(self, flying: Iterable[Future[Any]]) -> set[Future[Any]]:
        """What is done; all, where a worker died, and then there is a new pool."""
        done = wait(flying, TICK, FIRST_COMPLETED).done
        if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
            done = wait(flying).done
            self._end()
            self._executor = self._started()
        return done

    def _end(self) -> None:
        for process in set(multiprocessing.active_children()) - self._others:
            process.kill()  # it may be at work for long
        self._executor.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Ends the workers."""
        self._end()
        gc.unfreeze()


def nobody(place: str, workers: int, why: object) -> ScaleError:
    """What is said of a place where no worker sees a rank."""
    more = f": {why}" if isinstance(why, str) and why else ""
    return ScaleError(f"{place}: none of {counted(workers, 'worker')} sees a rank there{more}")


def _as_new() -> None:
    """Drops a command's handlers of signals in a worker, and has it end with its command, however that ends."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts all its processes; the command ends these
    threading.Thread(target=_outlived, daemon=True).start()


def _outlived() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
