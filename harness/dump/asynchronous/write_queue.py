"""The bounded queue between a run and the disk.

A task counts with all the memory it keeps alive until it is written. If the sum would exceed the bound, the run waits:
nothing is dropped. A disk failure is reported once, at the run's next call.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

DEFAULT_BOUND = 256 * 2**20
"""Largest number of waiting bytes."""
_MOST_TASKS = 1 << 16
"""Largest number of waiting tasks, because each also costs memory itself."""


class _Task(NamedTuple):
    """A task; with ``always`` it runs even after a failure."""

    action: Callable[[], object]
    cost: int
    always: bool


class WriteQueue:
    """Runs actions one after the other in a separate thread, in the given order.

    One thread submits, one writes. A forked process starts with an empty queue: waiting tasks belong to its parent.

    Attributes:
        bound: largest number of waiting bytes.
        peak: largest number of bytes that ever waited.

    Raises:
        ValueError: ``bound`` is not positive.
    """

    def __init__(self, bound: int = DEFAULT_BOUND) -> None:
        if bound < 1:
            raise ValueError(f"a queue holds at least 1 byte, got a bound of {bound}")
        self.bound = bound
        self.peak = 0
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._waiting: deque[_Task] = deque()
        self._bytes = 0
        self._busy = False
        self._closing = False
        self._error: BaseException | None = None
        self._reported = False
        self._thread: threading.Thread | None = None
        lock = threading.Lock()
        self._work = threading.Condition(lock)
        self._room = threading.Condition(lock)

    def submit(self, action: Callable[[], object], cost: int = 0) -> None:
        """Queues ``action``; waits for room.

        An action that costs more than the bound runs here, after all waiting ones: its memory is never kept.

        Args:
            action: writes something; an exception it raises ends all writing.
            cost: bytes it keeps alive.

        Raises:
            BaseException: the error of an earlier action, once; after that nothing is accepted.
        """
        if self.make_room(cost):
            with self._work:
                self._enqueue(_Task(action, cost, False))
        else:
            self.drain()
            self._attempt(_Task(action, cost, False))
            self.check()

    def make_room(self, cost: int) -> bool:
        """Waits until ``submit`` of this cost would not wait; call it before copying for the queue.

        Returns:
            False if it never will, because ``cost`` is more than the bound.

        Raises:
            BaseException: see ``submit``.
        """
        self._own()
        if cost <= self.bound:
            with self._room:
                while self._error is None and (self._bytes + cost > self.bound or len(self._waiting) >= _MOST_TASKS):
                    self._room.wait()
        self.check()
        return cost <= self.bound

    def afterwards(self, action: Callable[[], object]) -> None:
        """Queues ``action`` after all waiting ones, even if they fail; neither waits nor raises."""
        self._own()
        with self._work:
            self._enqueue(_Task(action, 0, True))

    def _own(self) -> None:
        if self._process != os.getpid():
            self._begin()

    def _enqueue(self, task: _Task) -> None:
        if self._error is not None and not task.always:
            return
        self._waiting.append(task)
        self._bytes += task.cost
        self.peak = max(self.peak, self._bytes)
        if self._thread is None:
            # A daemon, because the interpreter joins other threads before it calls the code that closes this queue.
            self._closing = False
            self._thread = threading.Thread(target=self._serve, name="msdump-writer", daemon=True)
            self._thread.start()
        elif len(self._waiting) == 1:
            self._work.notify()

    def check(self) -> None:
        """Raises the error of a failed action at the first call."""
        if self._error is not None and not self._reported:
            self._reported = True
            raise self._error

    def drain(self) -> None:
        """Waits until every task is written, or writing failed; raises nothing."""
        self._own()
        with self._room:
            while self._waiting or self._busy:
                self._room.wait()

    def close(self) -> None:
        """``drain``, then ends the thread; the queue may be used again.

        Raises:
            BaseException: see ``check``.
        """
        self.drain()
        with self._work:
            self._closing = True
            self._work.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        self.check()

    def _serve(self) -> None:
        while True:
            with self._work:
                while not self._waiting and not self._closing:
                    self._work.wait()
                if not self._waiting:
                    return
                task = self._waiting.popleft()
                self._busy = True
            self._attempt(task)
            cost = task.cost
            del task  # its memory is freed before its bytes are released
            with self._room:
                self._busy = False
                self._bytes -= cost
                self._room.notify_all()

    def _attempt(self, task: _Task) -> None:
        """Runs a task; after a failure it is dropped."""
        if self._error is not None and not task.always:
            return
        try:
            task.action()
        except BaseException as error:  # raised again in the run's own thread
            self._error = self._error or error
