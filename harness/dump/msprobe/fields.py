"""Fields of msprobe's ``config.json``: each is looked up, checked, and refused with one message that names it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from harness import log
from harness.errors import DumpConfigError

MOST = 1_000_000
"""Largest rank and step, and the most entries such a list may have."""
SUMMARY_ITEMS: Mapping[str, str] = {
    "max": "max",
    "min": "min",
    "mean": "avg",
    "count": "count",
    "negative zero count": "negative zero count",
    "positive zero count": "positive zero count",
    "nan count": "nan count",
    "negative inf count": "negative inf count",
    "positive inf count": "positive inf count",
    "zero count": "zero count",
    "l2norm": "l2norm",
    "hash": "hash",
    "md5": "md5",
}
"""Names of ``summary_mode``'s items in MindSpore's ``statistic_category``."""
MD5 = "md5"
BASIC = ("max", "min", "mean", "l2norm")
_RANGE = re.compile(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?")
_log = log.get("dump.msprobe")


class ProbeConfigError(DumpConfigError):
    """A refused msprobe configuration; ``kind`` is ``msprobe-`` and the field's name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"msprobe-{field}", message)


class Fields:
    """One object of the file.

    Args:
        values: its content. null counts as absent, as in msprobe.
        where: the file, and the section if it is one.
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = values
        self.where = where

    def given(self, name: str) -> bool:
        """Whether the field has a value."""
        return self._values.get(name) is not None

    def error(self, name: str, accepted: str) -> ProbeConfigError:
        """The error that refuses a field."""
        held = f"is {str(self._values[name])[:80]!r}" if self.given(name) else "is not given"
        return ProbeConfigError(name, f"msprobe configuration: {self.where}: {name} {held}; {accepted}")

    def warn_of_others(self, known: Collection[str]) -> None:
        """Logs each field that is ignored."""
        for name in self._values.keys() - known:
            _log.warning("dump: %s: %s is not a known field; it is ignored", self.where, str(name)[:80])

    def section(self, name: str) -> Mapping[str, Any]:
        """An object within; empty if absent."""
        return self.type(name, dict) or {}

    def type(self, name: str, wanted: type) -> Any:
        """The field's value, which must have a type; None if absent."""
        value = self._values.get(name)
        if value is not None and type(value) is not wanted:
            kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
            raise self.error(name, f"it must be {kinds[wanted]}")
        return value

    def is_list(self, name: str) -> bool:
        """Whether the field holds a list."""
        return isinstance(self._values.get(name), list)

    def text(self, name: str) -> str:
        """A text; empty if absent."""
        return self.type(name, str) or ""

    def flag(self, name: str, *, absent: bool) -> bool:
        """true or false."""
        value = self.type(name, bool)
        return absent if value is None else bool(value)

    def choice(self, name: str, among: Sequence[str], *, absent: str) -> str:
        """One text of several; an empty one counts as absent, as in msprobe."""
        value = self._values.get(name)
        if value is None or value == "":
            return absent
        if value not in among:
            raise self.error(name, f"it must be one of {', '.join(among)}")
        return str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty if absent."""
        values = self.type(name, list) or []
        if not all(isinstance(value, str) for value in values):
            raise self.error(name, "it must be a list of texts")
        return tuple(values)

    def refuse(self, name: str, why: str) -> None:
        """Refuses a field with a value that msprobe's graph mode reads but ignores."""
        if self._values.get(name):
            raise self.error(name, f"{why}; leave it empty")


def numbers(fields: Fields, name: str) -> tuple[int, ...]:
    """``rank`` or ``step``: a list of numbers and of texts like ``3`` and ``3-5``, all up to ``MOST``."""
    entries = fields.type(name, list) or []
    if len(entries) > MOST:
        raise fields.error(name, f"it has {len(entries)} entries; {MOST} are accepted")
    found: set[int] = set()
    for entry in entries:
        match = _RANGE.fullmatch(entry) if isinstance(entry, str) else None
        if match is not None:
            low, high = int(match[1]), int(match[2] or match[1])
        elif isinstance(entry, int) and not isinstance(entry, bool):
            low = high = entry
        else:
            raise fields.error(name, f"{str(entry)[:80]!r} is neither a number nor a text like '3' or '3-5'")
        if not 0 <= low <= high <= MOST:
            raise fields.error(name, f"{str(entry)[:80]!r} must lie within 0 and {MOST}, the lower number first")
        found.update(range(low, high + 1))
    return tuple(sorted(found))


def data_mode(fields: Fields) -> str:
    """``all``, ``input`` or ``output``; kernels have no other."""
    modes = fields.texts("data_mode") or ("all",)
    if len(modes) != 1 or modes[0] not in ("all", "input", "output"):
        raise fields.error("data_mode", "it must be a list of one of all, input, output")
    return modes[0]


def summary(fields: Fields, task: str) -> tuple[str, ...] | None:
    """``summary_mode``: ``statistics``, ``md5``, or in task statistics a list of items; None if absent."""
    name = "summary_mode"
    if task == "statistics" and fields.is_list(name):
        items = fields.texts(name)
        for item in items:
            if item not in SUMMARY_ITEMS:
                raise fields.error(name, f"{item[:80]!r} is not one of {', '.join(SUMMARY_ITEMS)}")
        return tuple(dict.fromkeys("md5" if item == "hash" else item for item in items)) or None
    mode = fields.choice(name, ("statistics", "md5"), absent="")
    if not mode:
        return None
    return BASIC if mode == "statistics" else ("md5",)
