"""The ``msdump`` command."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Sequence

#: 128 and the number of SIGINT.
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: arguments without the program's name; None for the process's own.

    Returns:
        The exit code: 0 holds, 1 differs, 2 cannot tell (usage, unreadable input), 130 interrupted (as of a process
            that SIGINT ends); ``msdump run`` returns the script's own code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    scripted = words[:1] == ["run"]  # what interrupts a script, and what it leaves for the last collection, is its own
    if argv is None and not scripted:
        atexit.register(gc.freeze)  # that collection would look at all that was imported: a fifth of a small command
    try:
        from harness.cli.app import dispatch

        return dispatch(words)
    except KeyboardInterrupt:
        if scripted:
            raise
        print("msdump: interrupted", file=sys.stderr)
        return INTERRUPTED
