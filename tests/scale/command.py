"""Lets limits pass at once, each alone, in tests and in a ``msdump`` that runs here: no test waits for one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from harness.scale.crew import Crew, clock
from harness.scale.flights import Flights

_LONG = 10_000.0

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
        self.silent = clock() - _LONG

    put(Crew, "_silence", patched)


def main() -> int:
    from harness.cli import main as command

    long_without_workers(setattr)
    return command(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
