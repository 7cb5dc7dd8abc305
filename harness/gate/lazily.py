"""What judging a test may need and most tests do not: it is imported when it is first used, because that takes longer
than many tests that hold. Imports ``harness``; imported when needed.
"""

from __future__ import annotations

from harness.compare import Comparison
from harness.compare.policy import Party
from harness.records import Record


def kind_of(mode: str) -> tuple[bool, bool]:
    """Whether a mode keeps only what goes wrong, and whether a run in it says something beside another's tensors."""
    if mode == "tensor":
        return False, True
    from harness.backends.modes import MODES

    known = MODES.get(mode)
    return (False, True) if known is None else (known.watches, known.beside_tensors)


def lay_beside(expected: Party, found: Party) -> tuple[list[Record], list[Record]] | None:
    """See ``harness.backends.align.lay_beside``; two runs of one backend need no alignment."""
    if expected.backend == found.backend:
        return None
    from harness.backends import align

    return align.lay_beside(expected, found)


def settle(comparison: Comparison, expected: Party, found: Party) -> Comparison:
    """See ``harness.explain.settle``."""
    from harness import explain

    return explain.settle(comparison, expected, found)
