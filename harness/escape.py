"""Makes names and texts from untrusted files safe to show: on a terminal, in a table, on a page.

A golden, a dump tree or a bundle may come from anybody. Its operators' names must not control a terminal (escape
sequences), reorder a line (bidirectional overrides) or run in a spreadsheet (a leading ``=``).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

# Control characters C0 and C1, invisible marks, marks that change the direction, other line ends, lone surrogates.
_UNSEEN = (
    r"\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0001-\U000e007f"
)
_TEXT = re.compile(rf"[\x00-\x08\x0b-\x1f{_UNSEEN}]")
_LINE = re.compile(rf"[\x00-\x1f{_UNSEEN}]")
#: An escape of a JSON text of ASCII characters.
_JSON = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
_SHORT_IN_JSON = {r"\b": r"\\x08", r"\f": r"\\x0c", r"\r": r"\\r"}
_FORMULA = ("=", "+", "-", "@")
#: A text that is printed as part of a line shows at most so many characters.
MOST = 4096
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def text(given: str) -> str:
    r"""``given`` with every control or invisible character written as ``\x1b`` or ``\u202e``; tabs and newlines
    stay."""
    return _TEXT.sub(_named, given)


def line(given: str) -> str:
    r"""Like ``text``, but on one line: tabs and newlines become ``\t`` and ``\n``."""
    return _LINE.sub(_named, given)


def clipped(given: str, most: int = MOST) -> str:
    """``given``, without its middle if it has more than ``most`` characters.

    Examples:
        >>> from harness.escape import clipped
        >>> clipped("x" * 100, 40)
        'xxxxxxxxxx...(70 characters)...xxxxxxxxxxxxxxxxxxxx'
    """
    if len(given) <= most:
        return given
    head, tail = most // 4, most // 2
    return f"{given[:head]}...({len(given) - head - tail} characters)...{given[len(given) - tail :]}"


def cell(given: object) -> object:
    """A cell of a CSV file: numbers stay; a text becomes one line that no spreadsheet takes for a formula.

    A text that begins with ``=``, ``+``, ``-`` or ``@`` and is not a number gets a ``'`` in front.
    """
    if not isinstance(given, str):
        return "" if given is None else given
    shown = line(given)
    return f"'{shown}" if shown.startswith(_FORMULA) and not _is_number(shown) else shown


def json_text(given: str) -> str:
    r"""A JSON text of ASCII characters whose strings show what ``text`` shows: ``\u001b`` becomes ``\\u001b``."""
    return _JSON.sub(_shown_in_json, given)


def _shown_in_json(found: re.Match[str]) -> str:
    escape = found[0]
    if escape in _SHORT_IN_JSON:
        return _SHORT_IN_JSON[escape]
    if len(escape) == 6 and not 0xD800 <= (code := int(escape[2:], 16)) <= 0xDFFF and _TEXT.match(chr(code)):
        return "\\" + _TEXT.sub(_named, chr(code))
    return escape


def _named(found: re.Match[str]) -> str:
    character = found[0]
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_number(shown: str) -> bool:
    try:
        float(shown)
    except ValueError:
        return False
    return True


class Escaped:
    """A text stream that escapes what is written to it, and writes what its encoding lacks as ``\\u1234``.

    Args:
        stream: the stream that receives the escaped text.
    """

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream

    def write(self, given: str) -> int:
        """Writes ``text(given)``."""
        shown = text(given)
        try:
            self.raw.write(shown)
        except UnicodeEncodeError:
            encoding = self.raw.encoding or "ascii"
            self.raw.write(shown.encode(encoding, "backslashreplace").decode(encoding))
        return len(given)

    def writelines(self, lines: Iterator[str]) -> None:
        """Writes each text."""
        for each in lines:
            self.write(each)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw(stream: Any) -> Any:
    """The stream below an ``Escaped`` one, for progress bars, whose control sequences come from us."""
    return stream.raw if isinstance(stream, Escaped) else stream


#: a sequence that sets colours, and nothing else
_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def coloured(stream: TextIO) -> bool:
    """Whether a stream may receive colours: it is a terminal, and ``NO_COLOR`` is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def painted(given: str, code: str, stream: TextIO) -> str:
    """``given``, escaped, in a colour (an ANSI code such as ``31``) if ``stream`` may receive colours."""
    return f"\033[{code}m{text(given)}\033[0m" if coloured(stream) else text(given)


def show(given: str, stream: TextIO | None = None) -> None:
    """Prints a text whose untrusted names are already escaped (``painted``), so that its colours stay.

    If the stream takes no colours, they are escaped as well.
    """
    to = stream or sys.stdout
    if not coloured(to):
        print(given, file=to)
        return
    parts = _COLOUR.split(given)
    for at, part in enumerate(parts):
        (raw(to) if at % 2 else to).write(part)
    print(file=to)


def unescape_output() -> None:
    """Ends the escaping: from now on a user's script prints, which may write anything."""
    sys.stdout, sys.stderr = raw(sys.stdout), raw(sys.stderr)


@contextmanager
def escaped_output() -> Iterator[None]:
    """Inside the ``with`` block, everything printed to standard output and standard error is escaped."""
    before = sys.stdout, sys.stderr
    mine = Escaped(raw(sys.stdout)), Escaped(raw(sys.stderr))
    sys.stdout, sys.stderr = mine
    try:
        yield
    finally:
        # If the command's code has replaced the stream meanwhile, its stream stays.
        if sys.stdout is mine[0]:
            sys.stdout = before[0]
        if sys.stderr is mine[1]:
            sys.stderr = before[1]
