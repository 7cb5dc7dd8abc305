"""How much a command prints: ``-q`` and ``-v``."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Collection, Iterator, Sequence

QUIET, USUAL, VERBOSE = -1, 0, 1
_FLAGS = {"-q": QUIET, "--quiet": QUIET, "-v": VERBOSE, "--verbose": VERBOSE}
_chosen = USUAL


def taken_from(argv: Sequence[str], passing_on: Collection[str]) -> list[str]:
    """Acts on ``-q`` and ``-v`` of a command line, wherever they stand, and returns it without them.

    Args:
        argv: the command line.
        passing_on: commands that hand on what follows them.
    """
    choose(USUAL)
    words, kept = list(argv), []
    while words:
        word = words.pop(0)
        if word in _FLAGS:
            choose(_FLAGS[word])
            continue
        kept.append(word)
        if word == "--" or word in passing_on:
            break
    return kept + words


def choose(which: int) -> None:
    """Sets how much this process prints: ``QUIET``, ``USUAL`` or ``VERBOSE``."""
    global _chosen
    _chosen = which


def verbose() -> bool:
    """Whether every row is printed, and nothing shortened."""
    return _chosen == VERBOSE


def limit(usual: int) -> int:
    """How many rows of a list are printed, where ``usual`` are without ``-v``."""
    return sys.maxsize if verbose() else usual


@contextlib.contextmanager
def applied() -> Iterator[None]:
    """With ``-q``, what is printed meanwhile is dropped, but for errors; afterwards the amount is the usual one."""
    try:
        with contextlib.redirect_stdout(_Nothing()) if _chosen == QUIET else contextlib.nullcontext():
            yield
    finally:
        choose(USUAL)


class _Nothing(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)
