"""Checks what should be equal on all ranks: replicated parameters, gradients after a reduction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from harness.compare.content import content
from harness.compare.ranks import rank_list
from harness.errors import ScaleError
from harness.records import Record, SlotKey
from harness.words import among, counted

_LISTED = 10


@dataclass(frozen=True, slots=True)
class Leaving:
    """A slot that differs on some ranks.

    Attributes:
        key: key of the slot; its rank is the first that differs.
        others: ranks with the majority's content; in a tie, that of the lowest rank.
        leaving: ranks with other content; ``missing``: ranks that lack the slot.
    """

    key: SlotKey
    others: tuple[int, ...]
    leaving: tuple[int, ...]
    missing: tuple[int, ...]

    def __str__(self) -> str:
        where = f"iteration {self.key.iteration}, {self.key.operator} {self.key.slot_name}"
        said = f"rank {rank_list(self.leaving)} differs from {rank_list(self.others)}" if self.leaving else ""
        gone = f"rank {rank_list(self.missing)} lacks it" if self.missing else ""
        return f"{where}: {'; '.join(filter(None, (said, gone)))}"


def matches(key: SlotKey, patterns: Iterable[str]) -> bool:
    """Whether a slot is one of those that patterns ``OPERATOR:SLOT`` name."""
    name = f"{key.operator}:{key.slot_name}"
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def leaving(records: Iterable[Record], patterns: Sequence[str]) -> tuple[list[Leaving], int]:
    """The slots whose bits are not equal on all ranks, by iteration and in execution order, and the number of slots
    examined.

    Args:
        records: records of all ranks.
        patterns: patterns ``OPERATOR:SLOT`` (``*`` for any text) of the slots that should be equal.

    Raises:
        ScaleError: no slot of several ranks matches.
    """
    found: dict[tuple[Any, ...], dict[int, tuple[bytes, SlotKey, int]]] = {}
    ranks: set[int] = set()
    for number, record in enumerate(records):
        key = record.key
        ranks.add(key.rank)
        if matches(key, patterns):
            found.setdefault(tuple(key[1:]), {})[key.rank] = content(record), key, number
    if not found or len(ranks) < 2:
        what = f"nothing matches {', '.join(patterns)}" if not found else "only one rank is there"
        raise ScaleError(f"{what}: it has nothing to compare with other ranks")
    first = {slot: min(by_rank.values(), key=lambda each: each[2])[2] for slot, by_rank in found.items()}
    result = []
    for slot in sorted(found, key=lambda each: (each[1], first[each])):
        by_rank = found[slot]
        counted = Counter(each[0] for _, each in sorted(by_rank.items()))
        most = counted.most_common(1)[0][0]
        others = tuple(sorted(rank for rank, each in by_rank.items() if each[0] == most))
        other = tuple(sorted(by_rank.keys() - set(others)))
        missing = tuple(sorted(ranks - by_rank.keys()))
        if other or missing:
            key = next(iter(by_rank.values()))[1]._replace(rank=(other or missing)[0])
            result.append(Leaving(key, others, other, missing))
    return result, len(found)


def lines(result: Sequence[Leaving], looked_at: int, tree: str) -> list[str]:
    """The result in words; the first differing rank comes first."""
    if not result:
        return [f"{tree}: {counted(looked_at, 'slot', 'are')} equal on all ranks"]
    more = [f"  {each}" for each in result[1 : _LISTED + 1]]
    left = len(result) - 1 - len(more)
    more += [f"  and {left} more"] if left > 0 else []
    return [
        f"{tree}: {among(len(result), looked_at, 'slot', 'are')} not equal on all ranks",
        f"First: rank {result[0].key.rank}, {result[0]}",
        *more,
    ]
