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


def failing(number: int) -> str:
    """How many of several runs do not hold.

    Examples:
        >>> from harness.words import failing
        >>> failing(0), failing(1), failing(2)
        ('all hold', '1 does not hold', '2 do not hold')
    """
    return f"{number} do{'es' * (number == 1)} not hold" if number else "all hold"
