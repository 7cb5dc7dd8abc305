"""Verdicts whose reasons are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from harness.compare.verdict import SlotVerdict
from harness.records import Record


class DeferredVerdict(SlotVerdict):
    """A verdict whose reason is made when it is first asked for: there may be a hundred thousand, and few are shown.

    Args:
        why: makes the reason, of ``pair``.
        pair: both sides' records.
        given, more: the other arguments of ``SlotVerdict``, without the reason.
    """

    __slots__ = ("_reason", "_why")

    _reason: str | None
    _why: tuple[Callable[[Record, Record], str], Record, Record]

    @classmethod
    def of(cls, why: Callable[[Record, Record], str], pair: tuple[Record, Record], *given: Any, **more: Any) -> Self:
        """The verdict."""
        made = cls(*given, **more)
        made._reason, made._why = None, (why, *pair)
        return made

    @property
    def reason(self) -> str:
        """See ``SlotVerdict``."""
        if self._reason is None:
            why, expected, found = self._why
            self._reason = why(expected, found)
        return self._reason

    @reason.setter
    def reason(self, value: str) -> None:
        self._reason = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SlotVerdict):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in SlotVerdict.__match_args__)

    __hash__ = SlotVerdict.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return SlotVerdict, tuple(getattr(self, name) for name in SlotVerdict.__match_args__)
