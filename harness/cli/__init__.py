"""The ``msdump`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: arguments without the program's name; None for the process's own.

    Returns:
        The exit code: 0 holds, 1 differs, 2 cannot tell (usage, unreadable input); ``msdump run`` returns the script's
            own code.
    """
    from harness.cli.app import dispatch

    return dispatch(list(sys.argv[1:] if argv is None else argv))
