"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 run``, ``2 runs``; ``noun`` is singular, its plural ends in s.

    Examples:
        >>> from harness.words import counted
        >>> counted(1, "slot"), counted(0, "slot")
        ('1 slot', '0 slots')
    """
    return f"{number} {noun}" + "s" * (number != 1)
