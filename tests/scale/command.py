"""Lets limits pass at once, each alone, in tests and in a ``msdump`` that runs here: no test waits for one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.scale.crew import Crew
from harness.scale.flights import Flights
from harness.scale.link import clock

_LONG, _TURNS = 10_000.0, 10_000

#: ``setattr``, or that of a monkeypatch.
Put = Callable[[Any, str, Any], None]


def long_without_workers(put: Put) -> None:
    """A task has no worker for hours, as soon as the command says that it waits for one."""
    again = Flights._again

    def patched(self: Flights, number: int, flight: Any, now: float) -> None:
        if flight.task.said in self._told:
            flight.since = now - _LONG
        again(self, number, flight, now)

    put(Flights, "_again", patched)


def long_silent(put: Put) -> None:
    """The scheduler says nothing for hours, as soon as it does not answer."""
    silence = Crew._silence

    def patched(self: Crew, since: float) -> None:
        silence(self, since)
        self.silent, self.turns = clock() - _LONG, _TURNS

    put(Crew, "_silence", patched)


def long_cut(put: Put, host: str, cut: Path) -> None:
    """Workers at ``host`` have said nothing for hours, if they say nothing at a few looks while a file is there."""
    heard = Crew._heard

    def patched(self: Crew, workers: dict[str, Any], now: float) -> None:
        for name, worker in self._workers.items():
            if f"//{host}:" in name and cut.exists():
                worker.since = now - _LONG
        heard(self, workers, now)

    put(Crew, "_heard", patched)


def main() -> int:
    """``msdump``; ``--cut HOST FILE`` in front for ``long_cut``, ``--wait`` for no ``long_without_workers``."""
    from harness.cli import main as command

    words = sys.argv[1:]
    if words[0] == "--cut":
        long_cut(setattr, words[1], Path(words[2]))
        words = words[3:]
    if words[0] == "--wait":
        words = words[1:]
    else:
        long_without_workers(setattr)
    return command(words)


if __name__ == "__main__":
    raise SystemExit(main())
