"""Running tasks, and the watch over them.

In Dask, a task that may run on only one worker waits for ever after that worker is gone, and so does a client whose
scheduler is gone. Here both end: on another worker that sees the files, or in one error.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import uuid4

from harness.errors import ScaleError
from harness.scale.crew import Crew
from harness.scale.link import Landed, Link, clock
from harness.scale.tasks import TICK, Task, raise_first
from harness.scale.wire import Failed, OutOfReach

#: Tasks that the scheduler knows at a time: so many, or some for each worker, but never more than the last.
FLYING, FLYING_EACH, FLYING_MOST = 1_000, 4, 10_000
#: Tasks that are begun before what came is looked at.
BEGUN = 250
#: How often a task's result may be lost, and all workers that may run it, before the task is taken for the cause.
LOSSES, DESERTIONS = 5, 20
#: How many limits may pass in which no worker executes anything while tasks wait.
_IDLE = 10


@dataclass
class _Flight:
    """A submitted task.

    Attributes:
        attempt: what is awaited; None while no worker is there for it, ``since`` when.
        name: how the scheduler calls it.
        pins: the workers it may run on; None for any.
        elsewhere: a worker did not see what it said it sees.
    """

    task: Task
    attempt: Future[Landed] | None = None
    name: str = ""
    pins: frozenset[str] | None = None
    since: float | None = None
    losses: int = 0
    desertions: int = 0
    elsewhere: bool = False


class Flights:
    """Runs one set of tasks on a crew."""

    def __init__(self, link: Link, crew: Crew, seconds: float, tell: Callable[[str], None]) -> None:
        self._link, self._crew, self._seconds, self._tell = link, crew, seconds, tell
        self._flying: dict[int, _Flight] = {}
        self._landed: queue.SimpleQueue[tuple[int, Future[Landed]]] = queue.SimpleQueue()
        self._held: Future[set[str]] | None = None
        self._changed = -1
        self._number = 0
        self._told: set[str] = set()
        self._turn: Future[None] | None = None
        self._coming: Iterator[Task] = iter(())

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Any]]:
        """Gives every task and its result, as they finish.

        Raises:
            ScaleError: the scheduler went away, files stayed out of reach, or workers die of a task.
            HarnessError: what a task met; of several the one whose key comes first.
        """
        self._coming, self._turn = iter(tasks), None
        self._crew.idle = 0
        failed: list[tuple[Task, Failed]] = []
        looked = clock()
        try:
            while True:
                if failed:
                    self._coming = iter(())
                coming = self._begin()
                if not self._flying and not coming:
                    break
                if not 0 <= clock() - looked < TICK:
                    self._watch()
                    looked = clock()
                with suppress(queue.Empty):
                    number, attempt = self._landed.get(timeout=TICK / 50 if coming else TICK)
                    flight_ = self._flying.get(number)
                    if flight_ is None or flight_.attempt is not attempt:
                        continue  # it flies elsewhere by now
                    result = self._result(number, flight_, attempt)
                    if isinstance(result, Failed):
                        failed.append((flight_.task, result))
                    elif result is not None:
                        yield flight_.task, result
        finally:
            for flight in self._flying.values():
                if flight.attempt is not None:
                    flight.attempt.cancel()
        raise_first(failed)

    def _begin(self) -> bool:
        """Begins some tasks, if Dask has come to those that were begun before; whether more may follow at once."""
        most = min(FLYING_MOST, max(FLYING, FLYING_EACH * len(self._crew.seen)))
        room = max(0, min(BEGUN, most - len(self._flying)))
        if not room or (self._turn is not None and not self._turn.done()):
            return bool(room)
        tasks = list(islice(self._coming, room))
        for task in tasks:
            self._number += 1
            self._flying[self._number] = flight = _Flight(task)
            self._send(self._number, flight)
        self._turn = self._link.turn() if tasks else None
        return bool(tasks)

    def _send(self, number: int, flight: _Flight) -> None:
        """Has a task flown by those who see what it needs; where nobody does it waits."""
        crew = self._crew
        able = [worker for worker in crew.seen if crew.sees(worker, flight.task.needs)]
        if not able or not self._link.running():
            flight.attempt, flight.since = None, flight.since or clock()
            return
        # Where all see the files the scheduler chooses; a long list of workers for each task would cost it more.
        shared = len(able) == crew.known and not flight.elsewhere
        flight.pins = None if shared else frozenset(able)
        flight.since, flight.name = None, f"part-{uuid4().hex}"
        attempt = self._link.begin(
            self._link.perform(
                flight.name, flight.task.function, flight.task.args, None if shared else sorted(able)
            )
        )  # fmt: skip
        flight.attempt = attempt
        attempt.add_done_callback(lambda done: self._landed.put((number, done)))

    def _result(self, number: int, flight: _Flight, attempt: Future[Landed]) -> Any:
        """A task's result; None where it flies on."""
        landed = Landed("lost", "cancelled") if attempt.cancelled() else attempt.result()
        if landed.kind == "error":
            from distributed.scheduler import KilledWorker

            dead = isinstance(landed.value, KilledWorker)
            raise flight.task.deadly() if dead else flight.task.raised(landed.value)
        if landed.kind == "lost":
            if self._link.running():  # else the scheduler is lost, which is not a fault of the task's
                flight.losses += 1
            if flight.losses > LOSSES:
                raise ScaleError(f"{flight.task.said}: its result was lost {LOSSES} times; it is not tried again")
            self._ground(flight)
            return None
        if isinstance(landed.value, OutOfReach) and flight.task.needs and not flight.elsewhere:
            # A worker does not see what it reported: all look once more, then the caller gets an error.
            flight.elsewhere = True
            self._crew.look_again()
            self._ground(flight)
            return None
        del self._flying[number]
        self._crew.idle = 0
        self._crew.alive()
        return landed.value

    def _ground(self, flight: _Flight) -> None:
        if flight.attempt is not None:
            flight.attempt.cancel()
        flight.attempt, flight.since, self._changed = None, clock(), -1

    # -- the watch -------------------------------------------------------------------------------------------------
    def _watch(self) -> None:
        """Looks at the scheduler and its workers; tasks whose workers are gone fly elsewhere."""
        crew = self._crew
        crew.tick()
        self._ask_for_held()
        now = clock()
        if crew.silent is not None:
            return
        if crew.idle * TICK > _IDLE * self._seconds and not self._waiting():
            raise ScaleError(f"{self._link.address}: for {_IDLE * self._seconds:g} s no worker executes anything, "
                             f"though {len(self._flying)} tasks wait")  # fmt: skip
        if self._changed == crew.changed and not self._waiting():
            return
        self._changed = crew.changed
        for number, flight in list(self._flying.items()):
            if flight.attempt is not None and not flight.attempt.done() and self._deserted(flight):
                flight.desertions += 1
                if flight.desertions > DESERTIONS:
                    raise ScaleError(f"{flight.task.said}: its workers died {DESERTIONS} times; it is not tried again")
                self._ground(flight)
            if flight.attempt is None and not (flight.elsewhere and crew.looking()):
                self._again(number, flight, now)

    def _waiting(self) -> bool:
        return any(flight.attempt is None for flight in self._flying.values())

    def _deserted(self, flight: _Flight) -> bool:
        seen = self._crew.seen
        return not seen if flight.pins is None else not any(pin in seen for pin in flight.pins)

    def _again(self, number: int, flight: _Flight, now: float) -> None:
        since = flight.since or now
        self._send(number, flight)
        if flight.attempt is not None or not self._link.running():
            return
        said = flight.task.said
        if now - since > self._seconds:
            raise ScaleError(f"{said} is unreachable: for {self._seconds:g} s no worker is there that "
                             "sees it; --resume goes on from here")  # fmt: skip
        if said not in self._told:
            self._told.add(said)
            self._tell(f"{said}: no worker is there that sees it; this waits {self._seconds:g} s for one")

    def _ask_for_held(self) -> None:
        """Takes from silent workers what they have: to Dask they are still at work."""
        if self._held is not None and self._held.done():
            names: set[str] = set()
            if not self._held.cancelled() and self._held.exception() is None:
                names = self._held.result()
            self._held = None
            for flight in self._flying.values():
                if flight.attempt is not None and flight.name in names:
                    self._ground(flight)
        # Asked again at every look: a scheduler may still give such a worker more.
        if self._held is None and self._crew.mute:
            self._held = self._link.begin(self._link.held_by(sorted(self._crew.mute)))
