"""Compares two runs of statistics rows by columns: only rows that differ become records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from harness.compare.divergence import mark_overwritten
from harness.compare.judge import SlotJudge, proves_bits
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.records import Record, Rows, SlotKey


def check_rows(expected: Rows, found: Rows, judge: SlotJudge) -> Comparison | None:
    """Like ``check``, for runs with the same slots in the same order and the same items; None for other runs."""
    keys = expected.keys
    if not keys or expected.items != found.items or keys != found.keys or len(set(keys)) < len(keys):
        return None
    pairs: dict[SlotKey, tuple[Record, Record]] = {}
    slots: list[SlotVerdict] = []
    mine = zip(expected.dtypes, expected.shapes, expected.texts, strict=True)
    theirs = zip(found.dtypes, found.shapes, found.texts, strict=True)
    told = zip(keys, found.op_types, found.dtypes, found.shapes, found.sources, strict=True)
    identical = Verdict.IDENTICAL if proves_bits(expected.items) else Verdict.STATISTICS
    for at, (one, other, (key, op_type, dtype, shape, source)) in enumerate(zip(mine, theirs, told, strict=True)):
        if one == other:
            slots.append(SlotVerdict(key, identical, op_type, dtype, shape, "", source))
        else:
            pair = pairs[key] = expected.record(at), found.record(at)
            slots.append(judge.differing(*pair, None))
    digests = _Digests(expected, found)
    return Comparison(mark_overwritten(slots, digests), digests=digests, pairs=pairs)


class _Digests(Mapping[SlotKey, tuple[bytes | None, bytes | None]]):
    """The digests of all rows; made on request."""

    def __init__(self, expected: Rows, found: Rows) -> None:
        self._sides = expected, found

    @cached_property
    def _at(self) -> dict[SlotKey, int]:
        return {key: at for at, key in enumerate(self._sides[0].keys)}

    def __getitem__(self, key: SlotKey) -> tuple[bytes | None, bytes | None]:
        at = self._at[key]
        expected, found = self._sides
        return expected.record(at).digest, found.record(at).digest

    def __iter__(self) -> Iterator[SlotKey]:
        return iter(self._sides[0].keys)

    def __len__(self) -> int:
        return len(self._sides[0].keys)
