"""Reads JSON as the dump configuration's reader does.

The original reads with the nlohmann library from a stream (measured on 2.10.0): a UTF-8 byte order mark is skipped,
text after the first complete value is ignored, the last of two equal keys wins, comments and trailing commas are
errors, an integer literal with a sign is not an unsigned integer (so ``-0`` is none), integers over 64 bits become
floats. Python's ``json`` does the reading; its hooks and the checks here make these differences.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

MAX_DEPTH = 200
"""Deepest accepted nesting; the original has no limit, but no valid configuration is nested deeper than 3."""

UINT64_MAX = 2**64 - 1
INT64_MIN = -(2**63)

_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(r"[ \t\n\r]*")
_CUT_NUMBER = re.compile(r"\.|[eE]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class SignedInt(int):
    """An integer whose literal carries a minus sign (``-1``, ``-0``)."""


class JsonError(ValueError):
    """The text is not JSON.

    Attributes:
        line, column: position where reading stopped, from 1.
        rest: the text from there on (at most 200 characters).
        overflow: whether the text is well formed, but a number exceeds float64.
    """

    def __init__(self, text: str, at: int, what: str, *, overflow: bool = False) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        self.rest = text[at : at + 200]
        self.overflow = overflow
        super().__init__(f"line {self.line}, column {self.column}: {what}")


class _HookError(ValueError):
    """A literal that Python's reader accepts and this one refuses; ``literal`` is its text."""

    def __init__(self, literal: str, what: str, *, overflow: bool = False) -> None:
        self.literal, self.what, self.overflow = literal, what, overflow
        super().__init__(what)


def loads(data: bytes) -> Any:
    """Reads the first JSON value of ``data`` (bytes, UTF-8).

    Returns:
        dict, list, str, bool, None, float, int (unsigned literal) or ``SignedInt``.

    Raises:
        JsonError: the text is not JSON; the message says where and why.
    """
    data = data.removeprefix(_BOM)
    try:
        text, end = data.decode("utf-8"), "the end of the text"
    except UnicodeDecodeError as error:
        # Only what is read must be UTF-8; bytes after the first value are never read.
        text, end = data[: error.start].decode("utf-8"), "bytes that are not UTF-8"
    start = _BLANK.match(text).end()  # type: ignore[union-attr]  # it matches the empty text
    try:
        value, stop = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        at_end = not text[error.pos :].strip()
        raise JsonError(text, error.pos, f"{error.msg}{f', found {end}' if at_end else ''}") from None
    except _HookError as error:
        raise JsonError(text, text.find(error.literal, start), error.what, overflow=error.overflow) from None
    except RecursionError:
        raise JsonError(text, start, f"nested deeper than {MAX_DEPTH} levels") from None
    if isinstance(value, (int, float)) and _CUT_NUMBER.match(text, stop):
        raise JsonError(text, stop, "a number lacks a digit")
    _check(value, text, start)
    return value


def _integer(literal: str) -> int | float:
    # Over 4000 digits Python refuses the conversion; such a number is a float (here: an overflow) anyway.
    number = int(literal) if len(literal) <= 25 else None
    if number is not None and INT64_MIN <= number <= UINT64_MAX:
        return SignedInt(number) if literal.startswith("-") else number
    return _float(literal)


def _float(literal: str) -> float:
    value = float(literal)
    if value in (float("inf"), float("-inf")):
        raise _HookError(literal, f"number {literal[:40]} overflows a float64", overflow=True)
    return value


def _constant(literal: str) -> NoReturn:
    raise _HookError(literal, f"expected a value, found {literal}")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_constant)


def _check(value: Any, text: str, start: int) -> None:
    """Refuses what Python's reader accepts: unlimited nesting, and lone surrogates in a string."""
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise JsonError(text, start, f"nested deeper than {MAX_DEPTH} levels")
        deeper: list[Any] = []
        for each in level:
            strings = [each] if isinstance(each, str) else list(each) if isinstance(each, dict) else []
            if any(_SURROGATE.search(string) for string in strings):
                found = _SURROGATE_ESCAPE.search(text, start)
                raise JsonError(text, found.start() if found else start, "half of a surrogate pair stands alone")
            deeper += each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
        level, depth = deeper, depth + 1


def dumps(value: Any) -> str:
    """Serialises a value of ``loads`` compactly, with keys sorted by their UTF-8 bytes, as nlohmann does.

    The dump's kernel list is made of such texts (measured: an entry may be of any type).
    """
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, list):
        return "[" + ",".join(dumps(item) for item in value) + "]"
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode())
        return "{" + ",".join(f"{dumps(key)}:{dumps(item)}" for key, item in pairs) + "}"
    return json.dumps(value, ensure_ascii=False)


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
