"""Reads a ``dump.json`` entry by entry: a file of a gigabyte never becomes objects as a whole."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # the C function that json itself uses
from typing import Any

from harness.errors import TreeError, first_line
from harness.reading import read_bytes

MAX_TEXT = 1 << 30
"""Larger files are refused."""
DATA = "data"
_SPACE = re.compile(r"[ \t\n\r]*")
#: A name without escapes and the colon behind it; what stands behind an entry.
_plain_key = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*').match
_after = re.compile(r"[ \t\n\r]*([,}])").match
_decode = json.JSONDecoder().raw_decode


class Cut(TreeError):
    """The text is damaged behind some entries."""


class JsonEntries:
    """The head and the entries of one file.

    Args:
        path: of the file.
        inside: real path of the dump, which no link may leave.

    Raises:
        TreeError: it cannot be read, or is no object with an object ``data``.
    """

    def __init__(self, path: str, inside: str) -> None:
        self._path = path
        self._text = _text_of(path, inside)
        #: The fields before ``data``, and after reading every entry those behind it.
        self.head: dict[str, Any] = {}
        self._start = self._find()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Each entry's name and value, in order; ``Cut`` where the text is damaged."""
        at, count = self._start, 0
        try:
            if self._text[at : at + 1] == "}":
                self._end(at + 1)
                return
            text, mark = self._text, ","
            while mark == ",":
                name, at = (plain[1], plain.end()) if (plain := _plain_key(text, at)) else self._key(_past(text, at))
                value, at = _value(text, at, name)
                yield name, value
                count += 1
                if (after := _after(text, at)) is None:
                    raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
                mark, at = after[1], after.end()
            self._end(at)
        except (ValueError, RecursionError) as error:
            raise Cut(f"{self._path}: {_why(error)}, behind {count} entries") from None

    def find(self, name: str) -> Any:
        """The value of an entry, without reading the others; None where its name does not stand in the text once."""
        quoted = json.dumps(name)
        at = self._text.find(quoted, self._start)
        if at < 0 or self._text.find(quoted, at + 1) >= 0 or (key := _plain_key(self._text, at)) is None:
            return None
        try:
            return _decode(self._text, key.end())[0]
        except (ValueError, RecursionError):
            return None

    def _find(self) -> int:
        """Where the first entry begins; reads the fields before."""
        text = self._text
        try:
            at = _past(text, 0)
            if text[at : at + 1] != "{":
                _decode(text, at)
                raise TreeError(f"{self._path}: holds no object")
            at = _past(text, at + 1)
            while text[at : at + 1] != "}":
                name, at = self._key(at)
                if name == DATA and text[at : at + 1] == "{":
                    return _past(text, at + 1)
                self.head[name], at = _decode(text, at)
                at = _past(text, at)
                if text[at : at + 1] == ",":
                    at = _past(text, at + 1)
                elif text[at : at + 1] != "}":
                    raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
        except (ValueError, RecursionError) as error:
            raise TreeError(f"{self._path}: {_why(error)}") from None
        raise TreeError(f"{self._path}: it has no object 'data'")

    def _end(self, at: int) -> None:
        """Reads the fields behind the entries."""
        text, at = self._text, _past(self._text, at)
        while text[at : at + 1] == ",":
            name, at = self._key(_past(text, at + 1))
            self.head[name], at = _decode(text, at)
            at = _past(text, at)
        if text[at : at + 1] != "}" or _past(text, at + 1) != len(text):
            raise json.JSONDecodeError("Expecting the end of the object", text, at)

    def _key(self, at: int) -> tuple[str, int]:
        """A name, and where its value begins."""
        if self._text[at : at + 1] != '"':
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self._text, at)
        name, at = scanstring(self._text, at + 1, True)
        at = _past(self._text, at)
        if self._text[at : at + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", self._text, at)
        return name, _past(self._text, at + 1)


#: The entry that was read last: its name, its text, and what it is. Two dumps are read side by side, and most of their
#: entries are alike; nobody changes what was read.
_last: tuple[str, str, Any] = "", "", None


def _value(text: str, at: int, name: str) -> tuple[Any, int]:
    """The value that begins at ``at``, and where it ends."""
    global _last
    known, raw, value = _last
    if known == name and raw and text.startswith(raw, at):
        return value, at + len(raw)
    value, end = _decode(text, at)
    if text[at] in "{[":  # of a number, an equal beginning would prove nothing
        _last = name, text[at:end], value
    return value, end


def _past(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None  # it matches nothing as well
    return match.end()


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "not JSON that can be read: it is nested too deep"
    return f"not JSON: {first_line(error)}"


def _text_of(path: str, inside: str) -> str:
    try:
        return read_bytes(path, MAX_TEXT, TreeError, inside=inside).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise TreeError(f"{os.fspath(path)}: not JSON: {first_line(error)}") from None
