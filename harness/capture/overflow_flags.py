"""Which kernels a device flagged: the overflow records that lie beside the tensors of an overflow dump."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from harness.capture.tree_records import RankRecords
from harness.dump.asynchronous import opdebug

_IDS = re.compile(r"([0-9]{1,20})\.([0-9]{1,20})\.")


class Flag(NamedTuple):
    """A kernel that overflowed, by the numbers in its files' names."""

    rank: int
    graph: int
    iteration: int
    task: int
    stream: int


def overflow_flags(source: RankRecords) -> set[Flag]:
    """The flags of a rank; empty for other dumps."""
    found = set()
    for graph, iteration, path in source.parts():
        for name in filter(opdebug.is_record, os.listdir(path)):
            ids = _IDS.match(name, len(opdebug.PREFIX))
            if ids is not None:
                found.add(Flag(source.rank, graph, iteration, int(ids[1]), int(ids[2])))
    return found
