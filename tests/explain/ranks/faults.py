"""Faults on purpose in one of several ranks: their kinds, what they are told as, and where one was put in."""

from __future__ import annotations

from dataclasses import dataclass

#: kind of fault -> the cause that it is told as beside a golden, and of the run alone ("" for none)
FAULTS = {
    "bit in an operator": ("bit-flip", ""),
    "bit in a reduction": ("bit-flip", "bit-flip"),
    "stale buffer": ("stale", "stale"),
    "not reduced": ("not-reduced", "not-reduced"),
    "mean for sum": ("mean-for-sum", "mean-for-sum"),
    "fewer ranks": ("group", "group"),
    "group": ("group", "group"),
    "largest for sum": ("reduction", "reduction"),
    "missing": ("missing-collective", "missing-collective"),
    "order": ("order", ""),
    "shape": ("shape", "shape"),
    "shard": ("shard", ""),
    "batch": ("batch", ""),
    "seed of a rank": ("seed", ""),
    "seed": ("seed", ""),
    "replica": ("replicated", "replicated"),
    "kernel": ("", ""),
    "reduction asked for": ("mean-for-sum", "mean-for-sum"),
    "rate": ("setting", ""),
    "frozen": ("structure", ""),
}


@dataclass
class Fault:
    """A fault on purpose.

    Attributes:
        kind: one of ``FAULTS``.
        rank, iteration: where.
        which: the layer, or a number that chooses the operator among those that could have it.
        other: another rank, for kinds that need one.
        operator: where it was put in.
        done: whether it was.
    """

    kind: str
    rank: int
    iteration: int
    which: int
    other: int = 0
    operator: str = ""
    done: bool = False
