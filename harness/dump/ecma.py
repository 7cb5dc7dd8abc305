"""Regular expressions of ``name-regex(...)``: the ECMAScript dialect of C++ ``std::regex``, read into a tree.

What is accepted and refused was measured on MindSpore 2.10.0 (its C++ library works on the bytes of UTF-8, in the C
locale): POSIX classes, lazy quantifiers, look-ahead and ``[]`` / ``[^]`` are accepted; look-behind, named groups,
inline flags, quantified assertions, and braces that are not a count are refused. The original accepts back references;
they are refused here, because with them the time of a match is unbounded (see docs/differences.md).
"""

from __future__ import annotations

import string
from dataclasses import dataclass

MAX_STATES = 100_000
"""Limit of the C++ library; a pattern whose automaton needs more is refused (measured: ``a{99999}`` is)."""
MAX_NESTING = 100
"""Deepest accepted nesting of parentheses; the original's limit is its stack."""

ALL_BYTES = (1 << 256) - 1


class RegexError(ValueError):
    """The pattern is refused; the message says why and where (byte position from 0)."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One byte of a set (bit ``b`` of ``mask`` is set if byte ``b`` is in it)."""

    mask: int


@dataclass(frozen=True, slots=True)
class Seq:
    """One part after the other; the empty one matches the empty text."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """Any of the branches."""

    branches: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``body`` at least ``low`` and at most ``high`` times (None: without end)."""

    body: Tree
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Look-ahead: ``body`` must (``negate``: must not) match from here."""

    body: Tree
    negate: bool


@dataclass(frozen=True, slots=True)
class Anchor:
    """``^`` (begin), ``$`` (end), ``\\b`` (word), ``\\B`` (no word): one of ``^$bB``."""

    kind: str


Tree = Chars | Seq | Alt | Repeat | Lookahead | Anchor


def mask_of(characters: str | bytes) -> int:
    """Bit set of bytes."""
    data = characters if isinstance(characters, bytes) else characters.encode()
    return sum(1 << byte for byte in set(data))


def _span(low: int, high: int) -> int:
    return (1 << (high + 1)) - (1 << low)


_LINE_ENDS = mask_of("\n\r")
_WORD = mask_of(string.ascii_letters + string.digits + "_")
_CLASSES = {
    "alnum": mask_of(string.ascii_letters + string.digits),
    "alpha": mask_of(string.ascii_letters),
    "blank": mask_of(" \t"),
    "cntrl": _span(0, 31) | 1 << 127,
    "digit": mask_of(string.digits),
    "graph": _span(33, 126),
    "lower": mask_of(string.ascii_lowercase),
    "print": _span(32, 126),
    "punct": mask_of(string.punctuation),
    "space": mask_of(" \t\n\v\f\r"),
    "upper": mask_of(string.ascii_uppercase),
    "xdigit": mask_of(string.hexdigits),
    "d": mask_of(string.digits),
    "s": mask_of(" \t\n\v\f\r"),
    "w": _WORD,
}
_CONTROL_ESCAPES = {"0": 0, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_COLLATING = {"hyphen": "-", "period": ".", "slash": "/", "underscore": "_", "hyphen-minus": "-", "low-line": "_"}


def parse(pattern: str) -> Tree:
    """Reads ``pattern``; its bytes are those of its UTF-8.

    Raises:
        RegexError: the original's library refuses the pattern too, or it holds a back reference.
    """
    reader = _Reader(pattern.encode("utf-8", "surrogatepass"))
    tree = reader.alternatives(0)
    if reader.at < len(reader.data):
        raise reader.error(f"nothing to repeat, or a parenthesis too many, at {reader.found_text()}")
    return tree


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def error(self, what: str) -> RegexError:
        return RegexError(f"{what} (byte {self.at})")

    def peek(self, ahead: int = 0) -> str:
        """The byte at the position as a Latin-1 character; empty at the end."""
        at = self.at + ahead
        return chr(self.data[at]) if at < len(self.data) else ""

    def found_text(self) -> str:
        return repr(self.peek()) if self.peek() else "the end"

    def take(self, text: str) -> bool:
        """Steps over ``text`` if it is next."""
        if not self.data.startswith(text.encode("latin-1"), self.at):
            return False
        self.at += len(text)
        return True

    def alternatives(self, depth: int) -> Tree:
        if depth > MAX_NESTING:
            raise self.error(f"parentheses nested deeper than {MAX_NESTING}")
        branches = [self.sequence(depth)]
        while self.take("|"):
            branches.append(self.sequence(depth))
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def sequence(self, depth: int) -> Tree:
        parts: list[Tree] = []
        while (part := self.assertion(depth)) or (part := self.quantified(depth)):
            parts.append(part)
        return Seq(tuple(parts))

    def assertion(self, depth: int) -> Tree | None:
        for anchor in "^$":
            if self.take(anchor):
                return Anchor(anchor)
        for anchor in "bB":
            if self.take("\\" + anchor):
                return Anchor(anchor)
        for opening, negate in (("(?=", False), ("(?!", True)):
            if self.take(opening):
                body = self.alternatives(depth + 1)
                self.close()
                return Lookahead(body, negate)
        return None

    def close(self) -> None:
        if not self.take(")"):
            raise self.error("a parenthesis is not closed")

    def quantified(self, depth: int) -> Tree | None:
        atom = self.atom(depth)
        if atom is None:
            return None
        for _ in range(MAX_NESTING):
            bounds = self.quantifier()
            if bounds is None:
                return atom
            self.take("?")  # lazy: the same texts match completely
            atom = Repeat(atom, *bounds)
        raise self.error(f"more than {MAX_NESTING} quantifiers in a row")

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        if not self.take("{"):
            return None
        low = self.count()
        high: int | None = low
        if self.take(","):
            high = None if self.peek() == "}" else self.count()
        if not self.take("}"):
            raise self.error(f"a count in braces is followed by {self.found_text()}, not by '}}'")
        if high is not None and high < low:
            raise self.error(f"count {{{low},{high}}} ends before it begins")
        return low, high

    def count(self) -> int:
        start = self.at
        while self.peek() and self.peek() in string.digits:
            self.at += 1
        if self.at == start:
            raise self.error(f"a brace is followed by {self.found_text()}, not by a count")
        # The original keeps the low 32 bits of the count (measured: a{4294967296} is a{0}).
        digits = self.data[start : min(self.at, start + 4000)]
        return max(0, (int(digits) + 2**31) % 2**32 - 2**31)

    def atom(self, depth: int) -> Tree | None:
        char = self.peek()
        if char in ("", "|", ")", "*", "+", "?", "{"):
            return None
        if char == "(":
            return self.group(depth)
        if char == "[":
            return Chars(self.bracket())
        self.at += 1
        if char == ".":
            return Chars(ALL_BYTES & ~_LINE_ENDS)
        if char == "\\":
            return Chars(self.escape())
        return Chars(1 << ord(char))

    def group(self, depth: int) -> Tree:
        self.at += 1
        if self.take("?") and not self.take(":"):
            raise self.error(f"'(?' followed by {self.found_text()} is not a group (':', '=' and '!' are)")
        body = self.alternatives(depth + 1)
        self.close()
        return body

    def escape(self) -> int:
        """What follows a backslash, outside of anchors: a bit set."""
        char = self.peek()
        if not char:
            raise self.error("a backslash ends the pattern")
        self.at += 1
        if char in "dsw":
            return _CLASSES[char]
        if char in "DSW":
            return ALL_BYTES & ~_CLASSES[char.lower()]
        if char in _CONTROL_ESCAPES:
            return 1 << _CONTROL_ESCAPES[char]
        if char in "123456789":
            raise self.error("back references are not accepted: with them the time of a match is unbounded")
        if char == "c":
            control = self.peek()
            self.at += 1
            if not control:
                raise self.error("'\\c' ends the pattern")
            return 1 << ord(control)  # the original takes the letter itself, not a control character (measured)
        if char in "xu":
            return 1 << self.hexadecimal(2 if char == "x" else 4)
        return 1 << ord(char)

    def hexadecimal(self, length: int) -> int:
        digits = self.data[self.at : self.at + length]
        if len(digits) < length or any(chr(byte) not in string.hexdigits for byte in digits):
            raise self.error(f"{length} hexadecimal digits are needed")
        self.at += length
        return int(digits, 16) % 256  # the original keeps the low byte

    def bracket(self) -> int:
        self.at += 1
        negate = self.take("^")
        mask = 0
        while not self.take("]"):
            low, is_class = self.member()
            if is_class or self.peek() != "-" or self.peek(1) == "]":
                mask |= low
                continue
            self.at += 1
            high, is_class = self.member()
            if is_class:
                raise self.error("a range in brackets ends in a class")
            first, last = low.bit_length() - 1, high.bit_length() - 1
            if first > last:
                raise self.error(f"range {chr(first)!r} to {chr(last)!r} in brackets ends before it begins")
            mask |= _span(first, last)
        return ALL_BYTES & ~mask if negate else mask

    def member(self) -> tuple[int, bool]:
        """One member of a bracket expression: its bit set, and whether it is a class (no end of a range)."""
        char = self.peek()
        if not char:
            raise self.error("a bracket is not closed")
        if char == "[":
            if self.peek(1) in (":", ".", "="):
                return self.named_class()
            if self.peek(1) == "":
                raise self.error("a bracket is not closed")
        self.at += 1
        if char != "\\":
            return 1 << ord(char), False
        if self.peek() == "b":
            self.at += 1
            return 1 << 8, False
        is_class = self.peek() != "" and self.peek() in "dswDSW"
        return self.escape(), is_class

    def named_class(self) -> tuple[int, bool]:
        kind = self.peek(1)
        end = self.data.find(f"{kind}]".encode(), self.at + 2)
        if end < 0:
            raise self.error(f"'[{kind}' is not closed")
        name = self.data[self.at + 2 : end].decode("latin-1")
        self.at = end + 2
        if kind == ":":
            if name.lower() not in _CLASSES:
                raise self.error(f"{name!r} is not a character class; known are {', '.join(sorted(_CLASSES))}")
            return _CLASSES[name.lower()], True
        single = _COLLATING.get(name, name)
        if len(single) != 1:
            raise self.error(f"{name!r} names no single character")
        return 1 << ord(single), kind == "="
