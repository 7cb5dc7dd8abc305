"""Reads the part of YAML that mapping files are written in: nested mappings and lists of plain or quoted scalars.

Anchors, tags, block texts and several documents are refused, with the line.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from harness.errors import TreeError

_QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\''
#: A name, quoted or plain (a colon in it is followed by no blank), and what stands behind its colon.
_KEY = re.compile(rf"""({_QUOTED}|[^\s"'\[\]{{}},&*!|>%@`#:-](?:[^#:]|:(?=[^\s:#]))*)\s*:(?:\s+(.*))?$""")
_WHOLE = re.compile(r"[-+]?\d{1,18}")
_REAL = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?:\.\d*)?[eE][-+]?\d+)")
_WORDS = {"null": None, "~": None, "true": True, "false": False}
_REFUSED = tuple("&*!|>%@`{")
_DEEPEST = 50
_LONGEST = 4096


class _Line(NamedTuple):
    number: int
    indent: int
    text: str


def parse_yaml(text: str, where: str) -> Any:
    """The value of a document: mappings, lists, texts, numbers, booleans, None.

    Raises:
        TreeError: it has something that is not read, with its line.
    """
    lines = [line for number, raw in enumerate(text.splitlines(), 1) if (line := _line(number, raw, where)) is not None]
    if lines and lines[0].text == "---":
        lines.pop(0)
    reader = _Reader(lines, where)
    value = reader.block(lines[0].indent, 0) if lines else None
    if reader.at < len(lines):
        raise reader.error("it is indented in no way that was begun")
    return value


def _line(number: int, raw: str, where: str) -> _Line | None:
    """A line without its comment; None for an empty one."""
    if len(raw) > _LONGEST:
        raise TreeError(f"{where}, line {number}: longer than {_LONGEST} characters")
    text = _without_comment(raw).rstrip()
    plain = text.lstrip(" ")
    if not plain:
        return None
    if plain.startswith("\t"):
        raise TreeError(f"{where}, line {number}: indented by a tab; use spaces")
    return _Line(number, len(text) - len(plain), plain)


def _without_comment(raw: str) -> str:
    quote = ""
    for at, char in enumerate(raw):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (at == 0 or raw[at - 1] in " [,:-"):
            quote = char
        elif char == "#" and (at == 0 or raw[at - 1] in " \t"):
            return raw[:at]
    return raw


class _Reader:
    def __init__(self, lines: list[_Line], where: str) -> None:
        self._lines = lines
        self._where = where
        self.at = 0

    def error(self, why: str) -> TreeError:
        """The error of the line that is read."""
        line = self._lines[min(self.at, len(self._lines) - 1)]
        return TreeError(f"{self._where}, line {line.number}: {why}: {line.text[:80]!r}")

    def block(self, indent: int, depth: int) -> Any:
        """What lines of one indentation say."""
        if depth > _DEEPEST:
            raise self.error("nested too deep")
        first = self._lines[self.at].text
        if first == "-" or first.startswith("- "):
            return self._list(indent, depth)
        if _KEY.match(first):
            return self._mapping(indent, depth)
        value = self._scalar(first)
        self.at += 1
        return value

    def _next(self, indent: int) -> _Line | None:
        """The next line of an indentation; None where it ends."""
        if self.at >= len(self._lines) or self._lines[self.at].indent < indent:
            return None
        if self._lines[self.at].indent > indent:
            raise self.error("indented more than the lines before it")
        return self._lines[self.at]

    def _list(self, indent: int, depth: int) -> list[Any]:
        found = []
        while (line := self._next(indent)) is not None and (line.text == "-" or line.text.startswith("- ")):
            rest = line.text[1:].lstrip(" ")
            if not rest:
                self.at += 1
                found.append(self._below(indent, depth))
                continue
            # What stands behind the dash begins a block of its own.
            inner = indent + len(line.text) - len(rest)
            self._lines[self.at] = _Line(line.number, inner, rest)
            found.append(self.block(inner, depth + 1))
        return found

    def _mapping(self, indent: int, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while (line := self._next(indent)) is not None:
            match = _KEY.match(line.text)
            if match is None or line.text.startswith("- "):
                raise self.error("no 'name: value'")
            key, rest = self._scalar(match[1]), match[2]
            if isinstance(key, list):
                raise self.error("a list as a name")
            if key in found:
                raise self.error("a name that was given before")
            self.at += 1
            if rest:
                self.at -= 1
                found[key] = self._scalar(rest)
                self.at += 1
            else:
                found[key] = self._below(indent, depth)
        return found

    def _below(self, indent: int, depth: int) -> Any:
        """The value of a name or dash that nothing follows in its line."""
        if self.at < len(self._lines):
            line = self._lines[self.at]
            if line.indent > indent or (line.indent == indent and line.text.startswith("- ") and depth >= 0):
                return self.block(line.indent, depth + 1)
        return None

    def _scalar(self, text: str) -> Any:
        text = text.strip()
        if text[:1] == "[":
            if text[-1:] != "]":
                raise self.error("a list that does not end in its line")
            inner = text[1:-1].strip()
            if "[" in inner:
                raise self.error("a list within a list in one line")
            return [self._scalar(each) for each in inner.split(",")] if inner else []
        if text[:1] == '"':
            try:
                return json.loads(text)
            except ValueError:
                raise self.error("a quoted text that cannot be read") from None
        if text[:1] == "'":
            if len(text) < 2 or text[-1] != "'":
                raise self.error("a quoted text that does not end")
            return text[1:-1].replace("''", "'")
        if text.startswith(_REFUSED) or text in ("---", "..."):
            raise self.error("what mapping files do not need is not read")
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if _WHOLE.fullmatch(text):
            return int(text)
        return float(text) if _REAL.fullmatch(text) else text
