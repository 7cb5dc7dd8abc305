"""``msdump diff --mapping``: gives one side the names of the other, as msprobe's mapping files say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.capture import Capture
from harness.capture.mapped import Entry, Renaming, entry_of, renaming, rules_of, spoken_of
from harness.capture.mapping_files import read_mappings
from harness.cli.operands import Side
from harness.errors import TreeError
from harness.records import Record
from harness.words import counted


def mapped(one: Side, other: Side, files: Sequence[Path]) -> tuple[Side, list[str]]:
    """``other`` under the names of ``one``, and a line that says how much was mapped.

    Raises:
        TreeError: a file cannot be read, or ``other`` is no dump whose entries have names of msprobe's.
    """
    names = read_mappings(files)
    capture = other.capture
    (mine, my_words), (its, its_words) = _entries(one), _entries(other)
    if capture is None or not mine or not its:
        raise TreeError(f"{other.name}: --mapping is for dumps in msprobe's layout on both sides")
    here, there = spoken_of(names, mine), spoken_of(names, its)
    if here >= there:
        found = renaming(names, mine, its, (my_words, its_words)).inverse
    else:
        found = renaming(names, its, mine, (its_words, my_words))
    count, unused = len(found.operators), rules_of(names) - max(here, there)
    note = f"Mapped: {counted(count, 'call')} of the {len(its)} of {other.name}"
    if unused:
        note += f"; nothing here is named by {counted(unused, 'rule')} of the mapping"
    taken = frozenset(found.operators.values())
    moved = replace(
        capture, source=lambda: _renamed(capture, found, taken), as_rows=lambda: None, execution=lambda _where: None
    )
    return replace(other, content=moved, capture=moved), [note]


def _entries(side: Side) -> tuple[list[Entry], dict[tuple[str, str], int]]:
    """The entries of a side, in order, and the positions of keyword arguments."""
    parents: dict[str, str | None] = {}
    for source in side.capture.sources if side.capture is not None else ():
        parents.update(getattr(source, "parents", dict)())
    operators: dict[str, None] = {}
    keywords: dict[tuple[str, str], int] = {}
    for record in side.records():
        operators[record.key.operator] = None
        if isinstance(record.values, np.ndarray) and record.extra.named:  # of tensors no name is known
            keywords.setdefault((record.key.operator, record.extra.named), record.key.slot)
    return [entry for name in operators if (entry := entry_of(name, parents)) is not None], keywords


def _renamed(capture: Capture, found: Renaming, taken: frozenset[str]) -> Iterator[Record]:
    for record in capture.records():
        operator = record.key.operator
        key = found.key(record)
        if key.operator == operator and operator in taken and found.operators.get(operator) != operator:
            key = key._replace(operator=f"{operator} (not mapped)")  # another entry has this name now
        record.key = key
        yield record
