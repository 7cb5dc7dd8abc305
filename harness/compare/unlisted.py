"""Ranks of a comparison that hold whole, and of which only counts were kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.records import SlotKey

if TYPE_CHECKING:
    from harness.compare.verdict import SlotVerdict, Verdict


@dataclass(frozen=True)
class Unlisted:
    """Ranks whose slots all hold, in the same order on both sides; a comparison lists the slots of the others.

    Attributes:
        ranks: these ranks, ascending.
        counts: the number of their slots with each verdict.
        slots: every slot of one of them, in order.
        reasoned: the slots of one of them that have a reason, in order.
        having: those of them that have a slot, whatever its rank.
    """

    ranks: Sequence[int]
    counts: Mapping[Verdict, int]
    slots: Callable[[int], Iterable[SlotVerdict]]
    reasoned: Callable[[int], Iterable[SlotVerdict]]
    having: Callable[[SlotKey], Iterable[int]]


def by_rank(
    listed: Sequence[SlotVerdict], ranks: Sequence[int], others: Callable[[int], Iterable[SlotVerdict]]
) -> Iterator[SlotVerdict]:
    """The listed slots, which come rank by rank, and those of ``ranks`` between them."""
    left = iter(ranks)
    coming = next(left, None)
    for slot in listed:
        while coming is not None and coming < slot.key.rank:
            yield from others(coming)
            coming = next(left, None)
        yield slot
    while coming is not None:
        yield from others(coming)
        coming = next(left, None)
