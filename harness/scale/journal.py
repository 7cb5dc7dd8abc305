"""Keeps the results of parts, so that an interrupted command can continue: lines of JSON, each with its digest; no
pickle.

A line that is incomplete, has another format, or belongs to a part whose files changed, is computed again.
"""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import xxhash

from harness.compare import Element, Measurement, Tolerance, Verdict
from harness.compare.measurement import Sums
from harness.compare.needed_tolerance import NeededTolerance
from harness.errors import ScaleError
from harness.scale.wire import KNOWN
from harness.stats.printed import PrintedStatistics

FOLDER = Path(".msdump") / "scale"
_FORMAT = "msdump-scale-1"
_CLASSES: dict[str, Any] = {
    each.__name__: each
    for each in (*KNOWN, Measurement, Element, Sums, NeededTolerance, Tolerance, Verdict, PrintedStatistics)
}
#: Fields of those that are no tuples.
_NAMES = {name: [each.name for each in fields(kind)] for name, kind in _CLASSES.items() if is_dataclass(kind)}


class Unknown(ScaleError):
    """A value that a journal does not hold."""


def packed(value: Any) -> Any:
    """A value of the classes of ``wire`` as JSON values.

    Raises:
        Unknown: it is of another class.
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"": "float", "of": repr(value)}
    if kind is complex:
        return {"": "complex", "of": [packed(value.real), packed(value.imag)]}
    if kind is bytes:
        return {"": "bytes", "of": base64.b85encode(value).decode()}
    if kind is list:
        return [packed(each) for each in value]
    if kind in (tuple, dict):
        items = value if kind is tuple else value.items()
        return {"": kind.__name__, "of": [packed(each if kind is tuple else list(each)) for each in items]}
    if _CLASSES.get(kind.__name__) is not kind:
        raise Unknown(f"a journal holds no {kind.__name__}")
    if isinstance(value, Enum):
        return {"": kind.__name__, "of": value.value}
    if isinstance(value, PrintedStatistics):
        return {"": kind.__name__, "of": [packed(dict(value)), value.dtype, value.whole]}
    names = _NAMES.get(kind.__name__)
    of = value if names is None else [getattr(value, name) for name in names]
    return {"": kind.__name__, "of": [packed(each) for each in of]}


def unpacked(value: Any) -> Any:
    """Reverses ``packed``; raises any exception for other input."""
    if isinstance(value, list):
        return [unpacked(each) for each in value]
    if not isinstance(value, dict):
        return value
    kind, of = value[""], value["of"]
    if kind == "float":
        return float(of)
    if kind == "bytes":
        return base64.b85decode(of)
    items = [unpacked(each) for each in of] if isinstance(of, list) else of
    if kind == "complex":
        return complex(*items)
    if kind == "tuple":
        return tuple(items)
    if kind == "dict":
        return dict(items)
    made = _CLASSES[kind]
    return made(items) if issubclass(made, Enum) else made(*items)


class Journal:
    """The journal of one command.

    Args:
        folder: where journals lie.
        job: what tells the command from others: what it compares, and how.
        resume: take what an earlier run left; else it is thrown away.

    Attributes:
        taken: results that were taken over.
    """

    def __init__(self, folder: Path, job: Any, resume: bool) -> None:
        name = xxhash.xxh3_128_hexdigest(repr((_FORMAT, job)).encode())
        self.path = folder / f"{name}.jsonl"
        self._known: dict[str, Any] = {}
        self.taken = 0
        if resume:
            self._read()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(  # noqa: SIM115 - open as long as the command runs
                self.path, "a" if resume else "w", encoding="utf-8"
            )
            if resume and self._file.tell():
                self._file.write("\n")  # what follows a line that was not finished
        except OSError as error:
            raise ScaleError(f"{self.path}: the journal cannot be written: {error.strerror}") from None

    def _read(self) -> None:
        if not self.path.exists():
            return
        with open(self.path, encoding="utf-8", errors="replace") as file:
            for line in file:
                sum_, _, text = line.rstrip("\n").partition(" ")
                if sum_ == _sum(text):
                    key, value = json.loads(text)
                    self._known[key] = value

    def get(self, key: Any) -> Any:
        """An earlier run's result for ``key``; None if there is none."""
        value = self._known.get(_sum(repr(key)))
        if value is None:
            return None
        try:
            found = unpacked(value)
        except Exception:  # of another version of these classes
            return None
        self.taken += 1
        return found

    def put(self, key: Any, value: Any) -> None:
        """Keeps a result; one that a journal cannot hold is computed again next time."""
        try:
            text = json.dumps([_sum(repr(key)), packed(value)], separators=(",", ":"))
        except Unknown:
            return
        try:
            self._file.write(f"{_sum(text)} {text}\n")
            self._file.flush()
        except OSError as error:
            raise ScaleError(f"{self.path}: the journal cannot be written: {error.strerror}") from None

    def close(self, *, done: bool) -> None:
        """Closes the journal, and removes it if the command finished."""
        self._file.close()
        if done:
            self.path.unlink(missing_ok=True)
            for folder in (self.path.parent, self.path.parent.parent):
                try:
                    folder.rmdir()
                except OSError:
                    break


def _sum(text: str) -> str:
    return xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogateescape"))


def job_of(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a journal's name is made of: options by name, and the directory they are given in."""
    return (os.getcwd(), *sorted((name, repr(value)) for name, value in values.items()))
