"""Differences from the real MindSpore 2.10.0 that are meant to be there, by script, with the reason.

A pattern (``fnmatch``) is held against the lines of ``Agreement.faults``; one that matches nothing is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

KNOWN = {
    "dtypes-special": {
        "Default/Sqrt-op0 output.0, *: Float32 error inf": "MindSpore's Sqrt takes a subnormal number for 0",
    },
    "dynamic": {
        "Default/NonZero-op0 output.0, *: NonZero Int64 (?, 2), real NonZero Int64 (?, 2)": (
            "MindSpore dumps the whole buffer of NonZero before it knows how many rows were found"
        ),
        "only in our tree: (0, 0, 2, *": "with no rows at all MindSpore's NonZero raises; here it finds none",
    },
}


def split(name: str, faults: Iterable[str]) -> tuple[list[str], list[str]]:
    """Faults of script ``name`` that are not known, and the reasons of those that are.

    A known difference that does not show is given as a fault.
    """
    known = KNOWN.get(name, {})
    shown = set()
    unknown = []
    for fault in faults:
        matches = {pattern for pattern in known if fnmatchcase(fault, pattern)}
        shown |= matches
        if not matches:
            unknown.append(fault)
    unknown += [f"known difference does not show: {pattern}" for pattern in known if pattern not in shown]
    return unknown, [known[pattern] for pattern in known if pattern in shown]
