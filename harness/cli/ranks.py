"""``msdump ranks``: what should be equal on all ranks of a tree, held against one another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness.capture import read_tree
from harness.cli.check import warn
from harness.scale import Scale, session
from harness.scale.across import leaving, lines


def check_ranks(tree: Path | str, patterns: Sequence[str], network: str | None, scale: Scale | None = None) -> int:
    """Prints which slots are not equal on all ranks, the first of them and the first rank that leaves the others.

    Args:
        tree: dump tree of several ranks.
        patterns: of ``OPERATOR:SLOT``, what is to be equal.
        network: of a tree that holds those of several.
        scale: who shares the work; this process does all of it by default.

    Returns:
        0 if all are equal, 1 if some are not or files of the tree cannot be used.

    Raises:
        HarnessError: the tree cannot be read, or nothing of several ranks matches.
    """
    with session(scale, ranks=str(tree), patterns=tuple(patterns), network=network) as shared:
        read = shared.tree if shared else partial(read_tree, ahead=True)
        capture = read(str(tree), None, network=network)
        result, looked_at = leaving(capture.records(), patterns)
    print("\n".join(lines(result, looked_at, str(tree))))
    warn(capture)
    return 1 if result or capture.lost else 0
