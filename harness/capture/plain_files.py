"""The tensor files of one directory, kept in few bytes each, because there may be a million of them.

Executions are told apart by the rule at the head of ``tree_records``.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.capture.names import FileName, NameKinds, parse, place_of

_LATEST = 2**63 - 1
Array = np.ndarray[Any, np.dtype[Any]]


class PlainFiles:
    """File names, and their order.

    Args:
        directory: directory of the files.
        kinds: what is known of names; for other directories as well.
    """

    def __init__(self, directory: str, kinds: NameKinds | None = None) -> None:
        self._directory = directory
        self._table = kinds or NameKinds()
        self._times = array("q")
        #: of each file; below 0 for those in ``_others``, counted from -1 down
        self._kinds = array("i")
        self._others: list[tuple[str, int, int]] = []

    def __len__(self) -> int:
        return len(self._times)

    def take(self, file: str) -> bool:
        """Adds a file whose name is of a known kind, or makes its kind known; False if ``add`` has to."""
        found = self._table.find(file)
        if found is None:
            return False
        kind, time = found
        self._kinds.append(kind)
        self._times.append(time)
        return True

    def add(self, file: str, name: FileName) -> bool:
        """Adds a file; False if its time is impossible."""
        if name.timestamp > _LATEST:
            return False
        self._others.append((file, self._table.owner(name), place_of(name)))
        self._kinds.append(-len(self._others))
        self._times.append(name.timestamp)
        return True

    def all(self) -> Iterator[tuple[FileName, str]]:
        """Each parsed name and its path, in any order."""
        return map(self._at, range(len(self._times)))

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last time of a file; there is at least one."""
        return min(self._times), max(self._times)

    def executions(self) -> Iterator[tuple[int, list[tuple[FileName, str]]]]:
        """The files of each execution, by their time; executions by their start, which is given with them.

        Names of known kinds have no time: they are made once for all directories.
        """
        order, bounds = self._in_groups(self._order())
        times, kinds, names, texts = self._times, self._kinds, self._table.names, self._table.texts
        folder, start = self._directory + os.sep, 0
        for end in bounds:
            files = []
            for at in order[start:end]:
                if (kind := kinds[at]) < 0:
                    files.append(self._at(at))
                else:
                    op_type, name, task, stream, rest = texts[kind]
                    path = f"{folder}{op_type}.{name}.{task}.{stream}.{times[at]}.{rest}"
                    files.append((names[kind], path))
            yield times[order[start]], files
            start = end

    def _in_groups(self, order: Array) -> tuple[array[int], array[int]]:
        """``order`` by executions, and where each of them ends; not as lists: directories may wait for their turn."""
        numbers = np.array(self._grouped(order), np.int32)
        bounds = np.cumsum(np.bincount(numbers)) if len(order) else np.empty(0)
        return _numbers(order[np.argsort(numbers, kind="stable")]), _numbers(bounds)

    def _at(self, number: int) -> tuple[FileName, str]:
        kind = self._kinds[number]
        if kind >= 0:
            name, file = self._table.name(kind, self._times[number])
            return name, f"{self._directory}{os.sep}{file}"
        file = self._others[-1 - kind][0]
        parsed = parse(file)
        assert parsed is not None  # as when it was added
        return parsed, os.path.join(self._directory, file)

    def _order(self) -> Array:
        """Numbers of the files by time; files of equal time by type, name and slot."""
        times = np.array(self._times)
        order = np.argsort(times, kind="stable")
        changes = np.flatnonzero(np.diff(times[order])) + 1
        edges = np.concatenate([[0], changes, [len(order)]])
        for at in np.flatnonzero(np.diff(edges) > 1).tolist():
            start, end = edges[at], edges[at + 1]
            order[start:end] = sorted(order[start:end].tolist(), key=self._key)
        return order

    def _key(self, number: int) -> tuple[str, str, int]:
        name, _ = self._at(number)
        return name.op_type, name.op_name, place_of(name)

    def _grouped(self, order: Array) -> array[int]:
        """The number of the execution of each file in ``order``."""
        running: dict[int, tuple[int, int]] = {}
        found, count = array("i"), 0
        kinds, owners, places = self._kinds, self._table.owners, self._table.places
        for at in order.tolist():
            kind = kinds[at]
            owner, place = (owners[kind], places[kind]) if kind >= 0 else self._others[-1 - kind][1:]
            number, last = running.get(owner, (0, _LATEST))
            if place <= last:
                number, count = count, count + 1
            running[owner] = number, place
            found.append(number)
        return found


def _numbers(found: Array) -> array[int]:
    """Numbers of a numpy array, four bytes each; looking at one costs a tenth of what it costs there."""
    return array("i", found.astype(np.intc).tobytes())
