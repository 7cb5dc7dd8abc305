"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, noun: str, verb: str = "") -> str:
    """``1 run``, ``2 runs``, ``1 run is``; ``noun`` is singular, its plural ends in s; ``verb`` is plural.

    Examples:
        >>> from harness.words import counted
        >>> counted(1, "slot"), counted(0, "slot"), counted(1, "slot", "are")
        ('1 slot', '0 slots', '1 slot is')
    """
    return f"{number} {noun}" + "s" * (number != 1) + (f" {agreeing(number, verb)}" if verb else "")


def failing(number: int) -> str:
    """How many of several runs do not hold.

    Examples:
        >>> from harness.words import failing
        >>> failing(0), failing(1), failing(2)
        ('all hold', '1 does not hold', '2 do not hold')
    """
    return f"{number} do{'es' * (number == 1)} not hold" if number else "all hold"


def agreeing(number: int, verb: str) -> str:
    """The plural ``verb`` as it stands after so many things: ``is`` for ``are``, ``differs`` for ``differ``.

    Examples:
        >>> from harness.words import agreeing
        >>> agreeing(1, "are"), agreeing(2, "are"), agreeing(1, "differ")
        ('is', 'are', 'differs')
    """
    return verb if number != 1 else {"are": "is", "have": "has", "were": "was"}.get(verb, f"{verb}s")


def among(part: int, whole: int, noun: str, verb: str = "") -> str:
    """A part of so many things, and what it does; noun and verb agree with the whole.

    Examples:
        >>> from harness.words import among
        >>> among(1, 3, "slot"), among(1, 1, "slot", "are"), among(2, 5, "text", "differ")
        ('1 of 3 slots', '1 of 1 slot is', '2 of 5 texts differ')
    """
    return f"{part} of {counted(whole, noun, verb)}"
