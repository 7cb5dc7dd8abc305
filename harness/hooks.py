"""Callbacks by which upper rooms wire themselves to lower ones without being imported by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

#: called with the session before its first graph is compiled; what it raises is raised by the compile, and it is
#: called again at the next one
first_compile: list[Callable[[Any], None]] = []


class DumpSwitches(Protocol):
    """What a script may ask of the dump of its process."""

    def set_initial_iteration(self, value: int) -> None:
        """From now on the label of a step is ``value``."""

    def step(self, count: int) -> None:
        """Adds ``count`` to the label."""

    def set_dynamic(self) -> None:
        """``start_dump`` and ``stop_dump`` say which steps are dumped."""

    def start_dump(self) -> None:
        """Dumps every step from the next on."""

    def stop_dump(self) -> None:
        """Dumps no step any more."""


def _no_dump() -> DumpSwitches:
    raise RuntimeError("this process has no dump: import harness first")


#: gives the dump of this process; ``harness`` sets it
dump_switches: Callable[[], DumpSwitches] = _no_dump
