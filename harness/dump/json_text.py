"""JSON as the dump configuration's reader takes it.

The original reads with the nlohmann library from a stream (measured on 2.10.0): a UTF-8 byte order mark is skipped,
text after the first complete value is not looked at, of two equal keys the last wins, comments and trailing commas are
errors, an integer literal with a sign is not an unsigned integer (so ``-0`` is none), integers over 64 bits become
floats. Python's ``json`` differs in each of these.
"""

from __future__ import annotations

import re
from typing import Any

MAX_DEPTH = 200
"""Deepest nesting taken; the original has no limit, but nothing a configuration means is nested deeper than 3."""

UINT64_MAX = 2**64 - 1
INT64_MIN = -(2**63)

_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?)(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BAD_NUMBER = re.compile(r"-(?![0-9])|-?(?:0|[1-9][0-9]*)(?:\.(?![0-9])|(?:\.[0-9]+)?[eE](?![+-]?[0-9]))")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}


class SignedInt(int):
    """An integer whose literal carries a minus sign (``-1``, ``-0``)."""


class JsonError(ValueError):
    """The text is no JSON.

    Attributes:
        line, column: where reading stopped, from 1.
        rest: the text from there on (at most 200 characters).
        overflow: True where the text is well formed but a number has no float64.
    """

    def __init__(self, text: str, at: int, what: str, *, overflow: bool = False) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        self.rest = text[at : at + 200]
        self.overflow = overflow
        super().__init__(f"line {self.line}, column {self.column}: {what}")


def loads(data: bytes) -> Any:
    """Reads the first JSON value of ``data`` (bytes, UTF-8).

    Returns:
        dict, list, str, bool, None, float, int (unsigned literal) or ``SignedInt``.

    Raises:
        JsonError: where and why it is none.
    """
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        # Only what is read must be UTF-8; bytes after the first value are never looked at.
        text = data[: error.start].decode("utf-8")
        return _Reader(text, "bytes that are not UTF-8").first()
    return _Reader(text, "the end of the text").first()


class _Reader:
    """A recursive reader over ``text``; ``end`` is what lies behind its last character, for messages."""

    def __init__(self, text: str, end: str) -> None:
        self.text = text
        self.end = end
        self.at = 0

    def first(self) -> Any:
        return self.value(0)

    def fail(self, what: str, at: int | None = None) -> JsonError:
        return JsonError(self.text, self.at if at is None else at, what)

    def peek(self) -> str:
        """The next character that is no blank; empty at the end."""
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def found(self, char: str) -> str:
        return repr(char) if char else self.end

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH} levels")
        char = self.peek()
        if char == "{":
            return self.object(depth)
        if char == "[":
            return self.array(depth)
        if char == '"':
            return self.string()
        if char == "-" or (char.isdecimal() and char.isascii()):
            return self.number()
        for word, meaning in _LITERALS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        raise self.fail(f"expected a value, found {self.found(char)}")

    def object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        result: dict[str, Any] = {}
        if self.peek() == "}":
            self.at += 1
            return result
        while True:
            char = self.peek()
            if char != '"':
                raise self.fail(f"expected a key in double quotes, found {self.found(char)}")
            key = self.string()
            if (char := self.peek()) != ":":
                raise self.fail(f"expected ':' after key {key!r}, found {self.found(char)}")
            self.at += 1
            result[key] = self.value(depth + 1)
            if (char := self.peek()) not in (",", "}"):
                raise self.fail(f"expected ',' or '}}', found {self.found(char)}")
            self.at += 1
            if char == "}":
                return result

    def array(self, depth: int) -> list[Any]:
        self.at += 1
        result: list[Any] = []
        if self.peek() == "]":
            self.at += 1
            return result
        while True:
            result.append(self.value(depth + 1))
            if (char := self.peek()) not in (",", "]"):
                raise self.fail(f"expected ',' or ']', found {self.found(char)}")
            self.at += 1
            if char == "]":
                return result

    def number(self) -> int | float:
        start = self.at
        if bad := _BAD_NUMBER.match(self.text, start):
            raise self.fail("a number lacks a digit", bad.end())
        match = _NUMBER.match(self.text, start)
        assert match is not None  # value() saw a digit or a minus, and _BAD_NUMBER took a lone minus
        self.at = match.end()
        literal = match.group()
        if match.group(2) is None and match.group(3) is None:
            # Over 4000 digits Python refuses the conversion; such a number is a float (here: an overflow) anyway.
            number = int(literal) if len(literal) <= 25 else None
            if match.group(1) and number is not None and number >= INT64_MIN:
                return SignedInt(number)
            if not match.group(1) and number is not None and number <= UINT64_MAX:
                return number
        value = float(literal)
        if value in (float("inf"), float("-inf")):
            raise JsonError(self.text, start, f"number {literal[:40]} overflows a float64", overflow=True)
        return value

    def string(self) -> str:
        self.at += 1
        pieces: list[str] = []
        while True:
            plain = _PLAIN.match(self.text, self.at)
            assert plain is not None  # it matches the empty text
            pieces.append(plain.group())
            self.at = plain.end()
            char = self.text[self.at : self.at + 1]
            if char == '"':
                self.at += 1
                return "".join(pieces)
            if char != "\\":
                raise self.fail(f"a string is not closed before {self.found(char)}")
            pieces.append(self.escape())

    def escape(self) -> str:
        char = self.text[self.at + 1 : self.at + 2]
        if char in _ESCAPES:
            self.at += 2
            return _ESCAPES[char]
        if char != "u":
            raise self.fail(f"\\ must not be followed by {self.found(char)}")
        code = self.hex4()
        if 0xDC00 <= code <= 0xDFFF:
            raise self.fail("a low surrogate stands alone")
        if not 0xD800 <= code <= 0xDBFF:
            return chr(code)
        if not self.text.startswith("\\u", self.at):
            raise self.fail("a high surrogate stands alone")
        low = self.hex4()
        if not 0xDC00 <= low <= 0xDFFF:
            raise self.fail("a high surrogate is not followed by a low one")
        return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))

    def hex4(self) -> int:
        digits = self.text[self.at + 2 : self.at + 6]
        if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            raise self.fail("\\u must be followed by 4 hexadecimal digits")
        self.at += 6
        return int(digits, 16)


_DUMP_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def dumps(value: Any) -> str:
    """Serialises a value ``loads`` gave, compactly, keys sorted by their UTF-8 bytes, as nlohmann does.

    The dump's kernel list is made of such texts (measured: an entry may be of any type).
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = (_DUMP_ESCAPES.get(c, c if c >= " " else f"\\u{ord(c):04x}") for c in value)
        return '"' + "".join(escaped) + '"'
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, list):
        return "[" + ",".join(dumps(item) for item in value) + "]"
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode())
        return "{" + ",".join(f"{dumps(key)}:{dumps(item)}" for key, item in pairs) + "}"
    raise TypeError(f"not a JSON value: {value!r}")


def _float_text(value: float) -> str:
    """Shortest digits that read back equal; fixed notation for decimal exponents -5 < e <= 15, as nlohmann prints."""
    sign = "-" if str(value).startswith("-") else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return sign + "0.0"
    if len(digits) <= point <= 15:
        return f"{sign}{digits}{'0' * (point - len(digits))}.0"
    if 0 < point <= 15:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -4 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1):02d}"
