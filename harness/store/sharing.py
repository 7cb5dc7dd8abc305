"""What several runs of a store have in common is written once: tables, texts, and groups of links."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import xxhash

from harness.store.h5write import Dataset, Group
from harness.store.h5write.file import Node

Array = np.ndarray[Any, np.dtype[Any]]
TableKey = tuple[str, tuple[int, ...], bytes, bool]


def table_key(table: Array, utf8: bool) -> TableKey:
    """What tells a table (any dtype without pointers, C-contiguous) from every other: dtype, shape, bytes, and whether
    its strings are marked as UTF-8."""
    raw = table.reshape(-1).view(np.uint8)
    return _named(table.dtype), table.shape, xxhash.xxh3_128_digest(raw.data), utf8


def _named(dtype: np.dtype[Any]) -> str:
    """What tells a dtype from every other; metadata does not count."""
    return dtype.str if dtype.names is None else _described(dtype)


@cache
def _described(dtype: np.dtype[Any]) -> str:
    return str(dtype.descr)


class Shared:
    """What one file holds so far, by content.

    Attributes:
        tables: datasets that are no tensors.
    """

    def __init__(self) -> None:
        self.tables: dict[TableKey, Dataset] = {}
        self._groups: dict[tuple[tuple[bytes, int], ...], Group] = {}

    def group(self, group: Group) -> Group:
        """``group``, or one seen before with the same links; the groups below it likewise.

        Args:
            group: with everything it will hold; those below it must not be linked from elsewhere.
        """
        everything = [group]
        for each in everything:  # parents before their children
            everything.extend(node for node in each.links.values() if isinstance(node, Group))
        chosen: dict[int, Node] = {}
        for each in reversed(everything):
            for name, node in each.links.items():
                each.links[name] = chosen.get(id(node), node)
            # Ids are keys only while their objects live: links and ``_groups`` keep them.
            key = tuple(sorted((name, id(node)) for name, node in each.links.items()))
            chosen[id(each)] = self._groups.setdefault(key, each)
        found = chosen[id(group)]
        assert isinstance(found, Group)
        return found
