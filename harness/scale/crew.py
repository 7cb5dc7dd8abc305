"""The workers of a cluster according to its scheduler: which exist, answer and fit, and what each sees.

Nothing here waits: requests are started and their answers read at a later look. A request without an answer delays
nothing; it ends in an error, or without that worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from harness.errors import ScaleError, first_line
from harness.scale import interrupts
from harness.scale.link import Landed, Link, clock
from harness.scale.tasks import TICK, Sight
from harness.scale.work import versions, visible_ranks

#: How often a look may come to nothing before its worker is left alone.
_LOST = 3
#: How many looks must find the same before a worker is taken for silent.
_SAME = 4
#: How often this process must have come to its own messages before a scheduler is taken for silent.
TURNS = 20


@dataclass
class _Worker:
    """A worker that the scheduler knows.

    Attributes:
        pulse: what the scheduler last heard of it, since when that is so, and how many looks found it so.
        looking: its answer to come, where it is asked to look.
        stale: it is to look again, though it has looked already.
    """

    pulse: Any = None
    since: float = 0.0
    same: int = 0
    looking: Future[Landed] | None = None
    stale: bool = True
    lost: int = 0


class Crew:
    """The workers of a cluster.

    Attributes:
        seen: the ranks of each place that each usable worker sees (a text if looking failed).
        hosts: host name of each worker.
        unfit: workers that cannot be used, and why.
        known: number of workers the scheduler knows.
        silent: since when the scheduler gives no answer; None while it does.
        turns: how often this process came to its own messages since the scheduler is silent.
        idle: number of consecutive looks that found no busy worker.
        changed: rises whenever a worker joins, leaves, or sees something else.
    """

    def __init__(self, link: Link, seconds: float, tell: Callable[[str], None]) -> None:
        self._link, self._seconds, self._tell = link, seconds, tell
        self._workers: dict[str, _Worker] = {}
        self._places: list[str] = []
        self._question: tuple[float, Future[Any]] | None = None
        self._turn: Future[None] | None = None
        self.turns = 0
        self.silent: float | None = None
        self._alive = clock()
        self.seen: dict[str, Sight] = {}
        self.hosts: dict[str, str] = {}
        self.unfit: dict[str, str] = {}
        self.mute: set[str] = set()
        self.known = self.changed = self.idle = 0

    # -- what the scheduler says -----------------------------------------------------------------------------------
    def tick(self) -> None:
        """Reads the answers that arrived, and sends new requests.

        Raises:
            ScaleError: the scheduler went away.
            KeyboardInterrupt: see ``interrupts``.
        """
        interrupts.check()
        now = clock()
        asked = self._question[0] if self._question is not None else now
        answer = self._answer(now)
        if answer is not None:
            self.silent, self.turns = None, 0
            self._heard(answer, asked)
        elif self.silent is not None and (self._long_silent(now) or self._link.closed()):
            raise ScaleError(f"the scheduler at {self._link.address} went away")
        self._looks()

    def _long_silent(self, now: float) -> bool:
        """Whether the scheduler said nothing for long, though this process was not too busy to hear it."""
        if self._turn is None or self._turn.done():
            self._turn = self._link.turn()
            self.turns += 1
        return self.silent is not None and now - self.silent > self._seconds and self.turns > TURNS

    def alive(self) -> None:
        """Notes a sign of life of the scheduler: a result came by it."""
        self._alive, self.silent, self.turns = clock(), None, 0

    def _answer(self, now: float) -> Any:
        """The scheduler's answer about its workers; None if there is none yet."""
        answer = None
        if self._question is not None:
            asked, future = self._question
            if not future.done():
                since = max(asked, self._alive)
                if now - since > 4 * TICK:
                    self._silence(since)
                return None
            if not future.cancelled() and future.exception() is None:
                answer = future.result()
            else:
                self._silence(asked)
        self._question = None
        if self._link.running():
            self._question = now, self._link.begin(self._link.identity())
        else:
            self._silence(now)
        return answer

    def _silence(self, since: float) -> None:
        if self.silent is None:
            self.silent = since
            address = self._link.address
            self._tell(f"the scheduler at {address} does not answer; this waits {self._seconds:g} s for it")

    def _heard(self, workers: dict[str, Any], now: float) -> None:
        """Notes the workers and the state of each."""
        self.known, before = len(workers), len(self._workers)
        for gone in self._workers.keys() - workers.keys():
            self._leave(gone)
            del self._workers[gone]
            self.mute.discard(gone)
        busy = False
        for name, facts in workers.items():
            worker = self._workers.setdefault(name, _Worker(since=now))
            executing = facts.get("metrics", {}).get("task_counts", {}).get("executing", 0)
            busy = busy or executing > 0
            alive = facts.get("status", "running") == "running" or executing > 0
            if alive and facts.get("last_seen") != worker.pulse:
                worker.pulse, worker.since, worker.same = facts.get("last_seen"), now, 0
                if name in self.mute:
                    self.mute.discard(name)
                    worker.stale = True
                continue
            worker.same += 1
            if now - worker.since > self._seconds and worker.same >= _SAME and name not in self.mute:
                self._tell(f"worker {name} is silent for {self._seconds:g} s; others do its work")
                self._leave(name)
                self.mute.add(name)
        self.idle = 0 if busy else self.idle + 1
        self.changed += len(workers) != before

    def _leave(self, name: str) -> None:
        worker = self._workers[name]
        self._link.gone += 1
        if worker.looking is not None:
            worker.looking.cancel()
            worker.looking = None
        if self.seen.pop(name, None) is not None:
            self.changed += 1

    # -- what workers see ------------------------------------------------------------------------------------------
    def look_at(self, place: str) -> None:
        """Makes every worker look at a place, from now on."""
        if place not in self._places:
            self._places.append(place)
            self.look_again()

    def look_again(self) -> None:
        """Makes every worker look once more."""
        for worker in self._workers.values():
            worker.stale = True

    def looking(self) -> bool:
        """Whether an answer of a worker is still missing."""
        return any(
            worker.looking is not None or worker.stale
            for name, worker in self._workers.items()
            if name not in self.unfit and name not in self.mute
        )

    def _looks(self) -> None:
        for name, worker in self._workers.items():
            if name in self.unfit or name in self.mute:
                continue
            if worker.looking is not None and worker.looking.done():
                self._looked(name, worker, worker.looking)
            if worker.looking is None and worker.stale and name not in self.unfit:
                worker.stale = False
                # Above all other tasks, because the caller waits for it.
                what = (tuple(self._places),)
                landing = self._link.perform(f"look-{uuid4().hex}", visible_ranks, what, (name,), priority=100)
                worker.looking = self._link.begin(landing)

    def _looked(self, name: str, worker: _Worker, future: Future[Landed]) -> None:
        worker.looking = None
        landed = Landed("lost", "cancelled") if future.cancelled() else future.result()
        if landed.kind == "done":
            worker.lost = 0
            why = unlike("it", landed.value["versions"])
            if not why:
                self.seen[name], self.hosts[name] = landed.value["seen"], landed.value["host"]
                self.changed += 1
                return
        elif landed.kind == "lost" and worker.lost < _LOST:
            worker.lost, worker.stale = worker.lost + 1, True
            return
        else:
            why = f"it cannot run this project's code: {first_line(landed.value)}"
        self.unfit[name] = why
        self._leave(name)
        self._tell(f"worker {name} is not used: {why}")

    def sees(self, worker: str, needs: Iterable[tuple[str, int]]) -> bool:
        """Whether a worker sees all of some ranks."""
        sight = self.seen.get(worker, {})
        return all(not isinstance(sight.get(place, ""), str) and rank in sight[place] for place, rank in needs)


def unlike(who: str, theirs: dict[str, Any]) -> str:
    """Says which of a worker's or scheduler's versions differ from this process's; empty if none does."""
    for name, mine in versions().items():
        if name in theirs and theirs[name] != mine:
            return f"{who} has {name} {theirs[name] or 'none'}, this process has {mine}; they must be equal"
    return ""
