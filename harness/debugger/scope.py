"""Which entries of levels L0, L1 and mix are dumped: ``scope`` and ``list``, by msprobe's rules.

Source: the public source of mindstudio-probe 26.2.0.
"""

from __future__ import annotations

from harness.debugger.config import CallConfig

_CELL = "Cell."


class CallScope:
    """Says of each entry, in the order they come, whether it is dumped."""

    def __init__(self, config: CallConfig) -> None:
        self._mix = config.level == "mix"
        self._scope = config.scope
        self._names = config.names
        self._cells = self._mix or all(name.startswith(_CELL) for name in config.scope)
        self._inside = False
        self._open: set[str] = set()

    def begin_cell(self, entry: str) -> None:
        """A cell's call or gradient begins."""
        if self._cells and self._scope and entry == self._scope[0]:
            self._inside = True
        if self._mix and any(text in entry for text in self._names):
            self._open.add(entry)

    def end_cell(self, entry: str) -> None:
        """It ends."""
        if self._cells and self._scope and entry == self._scope[1]:
            self._inside = False
        self._open.discard(entry)

    def wants(self, entry: str) -> bool:
        """Whether ``entry`` is dumped; asked once for its arguments and once for its results."""
        by_entry = bool(self._scope) and (self._mix or not self._cells)
        if by_entry and entry == self._scope[0]:
            self._inside = True
        found = (not self._scope or self._inside) and (
            bool(self._open) or not self._names or any(text in entry for text in self._names)
        )
        if by_entry and entry == self._scope[1]:
            self._inside = False
        return found
