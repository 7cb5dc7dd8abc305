"""Matches ``ecma`` trees with the library ``regex``, which supports a time limit.

A tree is written in that library's dialect; the parser has decided what a pattern means. Nearly every runaway pattern
is answered at once; any other ends in one clear error after ``SECONDS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.dump.ecma import (
    ALL_BYTES,
    MAX_STATES,
    Alt,
    Anchor,
    Chars,
    Lookahead,
    RegexError,
    Repeat,
    Seq,
    Tree,
    parse,
)

if TYPE_CHECKING:
    import regex

SECONDS = 10.0
"""Longest search for one name."""

_WORD = b"[A-Za-z0-9_]"
_BOUNDARY = b"(?:(?<=W)(?!W)|(?<!W)(?=W))".replace(b"W", _WORD)
_ANCHORS = {"^": rb"\A", "$": rb"\Z", "b": _BOUNDARY, "B": b"(?!" + _BOUNDARY + b")"}


class Matcher:
    """A pattern ready to match whole names.

    Args:
        pattern: see ``ecma``.

    Raises:
        RegexError: the pattern is refused.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        tree = parse(pattern)
        if _states(tree) > MAX_STATES:
            raise RegexError(f"the pattern needs more than {MAX_STATES} states")
        self._text = _written(tree)
        self._compiled: regex.Pattern[bytes] | None = None

    def fullmatch(self, name: str) -> bool:
        """Whether the whole of ``name`` (its UTF-8 bytes) matches.

        Raises:
            RegexError: the search took longer than ``SECONDS``.
        """
        if self._compiled is None:
            import regex  # only if a configuration holds a pattern

            self._compiled = regex.compile(self._text, regex.DOTALL)
        try:
            return self._compiled.fullmatch(name.encode("utf-8", "surrogatepass"), timeout=SECONDS) is not None
        except TimeoutError:
            text = f"pattern {self.pattern[:80]!r} is too costly to match; write it with fewer repetitions"
            raise RegexError(text) from None


def _states(tree: Tree) -> int:
    """The number of states that the C++ library's automaton needs for ``tree``."""
    match tree:
        case Seq(parts):
            return sum(map(_states, parts))
        case Alt(branches):
            return 1 + sum(map(_states, branches))
        case Lookahead(body, _):
            return 2 + _states(body)
        case Repeat(body, low, high):
            inner = _states(body)
            return 1 + inner * (low + 1) if high is None else high - low + inner * high
        case _:
            return 1


def _written(tree: Tree) -> bytes:
    match tree:
        case Chars(mask):
            return _characters(mask)
        case Seq(parts):
            return b"".join(map(_written, parts))
        case Alt(branches):
            return b"(?:" + b"|".join(map(_written, branches)) + b")"
        case Lookahead(body, negate):
            return (b"(?!" if negate else b"(?=") + _written(body) + b")"
        case Anchor(kind):
            return _ANCHORS[kind]
        case Repeat(body, low, high):
            inner = _written(body)
            if not inner:
                return b""
            return b"(?:%b){%d,%b}" % (inner, low, b"" if high is None else b"%d" % high)


def _characters(mask: int) -> bytes:
    mask &= ALL_BYTES
    if mask == ALL_BYTES:
        return b"."
    members = [b"\\x%02x" % byte for byte in range(256) if mask >> byte & 1]
    return b"[" + b"".join(members) + b"]" if members else b"(?!)"
