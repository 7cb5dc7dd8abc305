"""What a store says of itself and of its runs, read without libhdf5 where that is possible; tensors are not looked at.

A run is given out only if everything that describes it (index, names, level, attributes, artefacts) has the checksum
that was stored with it. Where it has not, or the file is not one of ``h5write``'s, there is no overview: ``read`` then
goes through libhdf5, which says what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from harness.errors import StoreError
from harness.store.arrays import Stored
from harness.store.checksum import run_checksum
from harness.store.h5read import Headers, Node, NotOurs
from harness.store.index import Index, checked_index
from harness.store.objects import stored_dtype
from harness.store.schema import FORMAT, INDEX_DTYPE, LEVELS, RESERVED, Level, RunId, unescape

#: What hostile bytes can raise on the way, besides.
_DAMAGE = (NotOurs, StoreError, ValueError, OverflowError, MemoryError, RecursionError, OSError)


@dataclass(frozen=True, slots=True)
class RunOverview:
    """A run without its tensors; all that is said here is as it was written.

    Attributes:
        level: ``tensors`` or ``digest``.
        checksum: 32 hex digits.
        attrs: JSON values.
        index: all slots.
        artefacts: texts by name, sorted.
        headers, group: where its tensors are found.
    """

    level: Level
    checksum: str
    attrs: Mapping[str, Any]
    index: Index
    artefacts: Mapping[str, bytes]
    headers: Headers
    group: Node

    def stored(self, path: bytes, dtype_name: str) -> Stored | None:
        """The tensor at ``path`` as it lies in the file, to be held against its digest; None where libhdf5 has to
        look."""
        try:
            node = self.group
            for name in path.split(b"/"):
                node = _member(self.headers, node, name)
            return self.headers.table(node, stored_dtype(dtype_name))
        except _DAMAGE:
            return None


class Overview:
    """A store's attributes and the names of its runs.

    Attributes:
        schema: version of the layout.
        network, compression: as the root's attributes have them; they hold where the store is ``sound``.
    """

    def __init__(self, headers: Headers) -> None:
        self._headers = headers
        root = headers.root
        if root.text(b"format") != FORMAT:
            raise NotOurs("another format")
        self.schema = root.number(b"schema")
        self.network = root.text(b"network")
        self.compression = root.text(b"compression")
        runs = root.links.get(b"runs")
        backends = headers.node(runs).links if runs is not None else {}
        self._above = [] if runs is None else [runs, *backends.values()]
        self._runs = {
            RunId(unescape(backend), unescape(mode)): address
            for backend, modes in backends.items()
            for mode, address in headers.node(modes).links.items()
        }

    @cached_property
    def sound(self) -> bool:
        """Whether the headers above those of the runs have their checksums; a run has one of its own."""
        return self._headers.have_checksums(self._above)

    def __contains__(self, run: object) -> bool:
        return run in self._runs

    def runs(self) -> tuple[RunId, ...]:
        """All runs, sorted; all there are where the store is ``sound``."""
        return tuple(sorted(self._runs))

    def run(self, run: RunId) -> RunOverview | None:
        """A run; None where there is none, or where it is not as it was written."""
        try:
            return self._run(self._headers.node(self._runs[run])) if run in self._runs else None
        except _DAMAGE:
            return None

    def _run(self, group: Node) -> RunOverview | None:
        headers = self._headers
        level, text = group.text(b"level"), group.text(b"attrs")
        if level not in LEVELS:
            raise NotOurs("another level")
        rows = headers.table(_member(headers, group, b"index"), INDEX_DTYPE).array()
        names = headers.strings(_member(headers, group, b"names"), utf8=True).array()
        if names.ndim != 1:
            raise NotOurs("names are no list")
        index = checked_index(rows, [raw.decode("utf-8", "surrogateescape") for raw in names.tolist()])
        checksum = group.text(b"checksum")
        artefacts = dict(sorted(_artefacts(headers, group)))
        if run_checksum(index, level, text, artefacts) != checksum:
            raise NotOurs("another checksum")
        attrs = json.loads(text)
        if not isinstance(attrs, dict):
            raise NotOurs("attrs are no JSON object")
        return RunOverview(level, checksum, MappingProxyType(attrs), index, artefacts, headers, group)


def look(descriptor: int, size: int) -> Overview | None:
    """The overview of an open file of ``size`` bytes; None where libhdf5 has to read it."""
    try:
        return Overview(Headers(descriptor, size))
    except _DAMAGE:
        return None


def _member(headers: Headers, group: Node, name: bytes) -> Node:
    if name not in group.links:
        raise NotOurs("a member is missing")
    return headers.node(group.links[name])


def _artefacts(headers: Headers, group: Node) -> Iterator[tuple[str, bytes]]:
    """Every text of a run; a group that is met twice is damage."""
    seen: set[int] = set()
    stack = [
        (name, address) for name, address in group.links.items() if name.decode("utf-8", "replace") not in RESERVED
    ]
    while stack:
        path, address = stack.pop()
        node = headers.node(address)
        if not node.is_group():
            yield "/".join(map(unescape, path.split(b"/"))), headers.strings(node, utf8=False).unpacked().tobytes()
        elif address in seen:
            raise NotOurs("a circle of groups")
        else:
            seen.add(address)
            stack += [(path + b"/" + name, inner) for name, inner in node.links.items()]
