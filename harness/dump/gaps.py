"""Slots that a runtime could not give, so that no file holds them."""

from __future__ import annotations

from collections import Counter
from logging import Logger

from harness.recording import Value

_SHOWN = 3


class Gaps:
    """Counts them."""

    def __init__(self) -> None:
        self._found: Counter[tuple[str, str]] = Counter()

    def add(self, operator: str, io: str, value: Value) -> None:
        """Notes a slot of one launch."""
        self._found[f"{operator} {io}.{value.index}", value.gap or ""] += 1

    def report(self, log: Logger) -> None:
        """Says once how many there were, and why of the first ones."""
        if not self._found:
            return
        shown = "; ".join(f"{slot}: {why}" for slot, why in list(self._found)[:_SHOWN])
        more = f"; {len(self._found) - _SHOWN} more" if len(self._found) > _SHOWN else ""
        log.warning("dump: %d tensors could not be read and are not dumped: %s%s", self._found.total(), shown, more)
        self._found.clear()
