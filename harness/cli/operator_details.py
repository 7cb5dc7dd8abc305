"""Shows one operator in detail: its place in the script, its statement in the graph, its statistics, its values.

``msdump show PATH --line train.py:175`` finds the operators that a script's line made; ``--operator`` finds those with
a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import numpy as np

from harness.capture.normalise import is_library
from harness.capture.statements import statements
from harness.cli.operands import open_side
from harness.cli.slots import slots_table
from harness.errors import HarnessError
from harness.escape import line
from harness.graph.ir_parse import IrNode
from harness.records import Record

_LINE = re.compile(r"(.+):(\d{1,9})$")
_SLOT = re.compile(r"(?:input|output)\.\d{1,9}$")
_PART = re.compile(r"-?\d{0,9}(?::-?\d{0,9}){0,2}$")
#: Numbers of statements and values that are printed; nobody would read more.
_STATEMENTS = 20
_TENSORS = 20
_VALUES = 1000
_STATEMENT = 400
#: so many names are searched for those like one that was not found
_SEARCHED = 2000


@dataclass(frozen=True)
class Wanted:
    """The part of a run to show.

    Attributes:
        line: ``FILE:N``; operators with that line anywhere in their stack. FILE is a path or the end of one.
        operator: ``fnmatch`` pattern, or part of the full name.
        slot: ``output.0``; prints values.
        iteration: only this iteration.
        part: ``0, :4``; the elements of the values to print.
    """

    line: str = ""
    operator: str = ""
    slot: str = ""
    iteration: int | None = None
    part: str = ""

    @property
    def anything(self) -> bool:
        """Whether anything was requested."""
        return bool(self.line or self.operator or self.slot or self.part) or self.iteration is not None


def look_at(path: str, run: str, wanted: Wanted) -> int:
    """Prints the requested part of a dump tree or of a run of a golden store.

    Args:
        path: path of the tree or the store.
        run: ``backend/mode`` of a store; empty if it has only one.
        wanted: the operators to show.

    Returns:
        0.

    Raises:
        HarnessError: the path cannot be read, or holds no such operator.
    """
    with open_side(f"{path}::{run}" if run else path) as side:
        for each in slot_lines(side.records(), side.artefacts, wanted):
            print(line(each))
    return 0


def check(wanted: Wanted) -> None:
    """Raises ``HarnessError`` for an argument of the wrong form."""
    if wanted.line and _LINE.fullmatch(wanted.line) is None:
        raise HarnessError(f"--line takes FILE:NUMBER, such as train.py:175; got {wanted.line!r}")
    if wanted.slot and _SLOT.fullmatch(wanted.slot) is None:
        raise HarnessError(f"--slot takes input.N or output.N; got {wanted.slot!r}")
    if wanted.part and not all(_PART.fullmatch(each.strip()) for each in wanted.part.split(",")):
        raise HarnessError(f"--slice takes indices and ranges, such as '0, :4'; got {wanted.part!r}")


def slot_lines(records: Iterable[Record], artefacts: Mapping[str, bytes], wanted: Wanted) -> Iterator[str]:
    """Lines about the requested operators.

    Raises:
        HarnessError: no operator matches; the message lists what exists.
    """
    check(wanted)
    known = statements(artefacts) if wanted.line or wanted.operator else {}
    made = made_by_line(artefacts, wanted)
    groups: dict[tuple[int, int, str], list[Record]] = {}
    there: dict[str, None] = {}
    for record in records:
        there[record.key.operator] = None
        if is_wanted(record, wanted, made):
            groups.setdefault((record.key.rank, record.key.graph, record.key.operator), []).append(record)
    if not groups:
        raise HarnessError(_nothing(wanted, known, there))
    for number, (key, group) in enumerate(groups.items()):
        if number == _STATEMENTS:
            yield f"and {len(groups) - _STATEMENTS} more operators"
            return
        yield from _operator(key, group, known.get(key[1:]), wanted)


def made_by_line(artefacts: Mapping[str, bytes], wanted: Wanted) -> set[tuple[int, str]] | None:
    """Graph and name of the operators that the requested line made; None if no line was requested."""
    if not wanted.line:
        return None
    return {key for key, node in statements(artefacts).items() if _made_by(node, wanted.line)}


def is_wanted(record: Record, wanted: Wanted, made: set[tuple[int, str]] | None) -> bool:
    """Whether a slot was requested; ``made`` is of ``made_by_line``."""
    key = record.key
    if wanted.iteration is not None and key.iteration != wanted.iteration:
        return False
    if wanted.slot and key.slot_name != wanted.slot:
        return False
    if made is not None and (key.graph, key.operator) not in made:
        return False
    return not wanted.operator or wanted.operator in key.operator or fnmatchcase(key.operator, wanted.operator)


def _made_by(node: IrNode, line: str) -> bool:
    match = _LINE.fullmatch(line)
    assert match is not None  # checked before
    own, related, _ = node.stacks
    file, number = match[1].lstrip("./"), int(match[2])
    return any(
        number == each.line and (each.path == match[1] or each.path.endswith("/" + file) or each.path == file)
        for each in (*own, *related)
    )


def _nothing(wanted: Wanted, known: Mapping[tuple[int, str], IrNode], there: Iterable[str]) -> str:
    asked = ", ".join(f"{name} {value}" for name, value in vars(wanted).items() if value not in ("", None))
    if not wanted.line:
        near = ", ".join(get_close_matches(wanted.operator, list(islice(there, _SEARCHED)), 3, 0.0))
        return f"no slot of {asked}" + (f"; there are, among others, {near}" if near else "")
    if not known:
        return f"no operator of {asked}: the run holds no graphs, and only they know the script's lines"
    match = _LINE.fullmatch(wanted.line)
    assert match is not None
    lines = {each.line for node in known.values() for each in node.stacks[0] if each.path.endswith(match[1])}
    if not lines:
        files = sorted({each.path for node in known.values() for each in node.stacks[0] if not is_library(each.path)})
        return f"no operator of {asked}; files with operators: {', '.join(files[:5]) or 'none but libraries'}"
    near = ", ".join(map(str, sorted(lines, key=lambda line: abs(line - int(match[2])))[:5]))
    return f"no operator of {asked}; lines of that file with operators, nearest first: {near}"


def _operator(key: tuple[int, int, str], group: list[Record], node: IrNode | None, wanted: Wanted) -> Iterator[str]:
    rank, graph, name = key
    yield f"{f'rank {rank}, ' if rank else ''}graph {graph}, {name} ({group[0].op_type})"
    if node is not None:
        yield from (f"  {each}" for each in node.statement(_STATEMENT))
    yield from slots_table(group, named=False)
    if wanted.slot or wanted.part:
        for record in group[:_TENSORS]:
            again = f", execution {record.key.execution}" if record.key.execution else ""
            yield f"iteration {record.key.iteration}{again}, {record.key.slot_name}:"
            yield from _values(record, wanted.part)
    yield ""


def _values(record: Record, part: str) -> Iterator[str]:
    array = record.load()
    if array is None:
        yield "  (values were not kept)"
        return
    if part:
        try:
            array = np.asarray(array[_index(part)])
        except IndexError as error:
            raise HarnessError(f"--slice {part!r} of shape {list(record.shape)}: {error}") from None
    with np.printoptions(threshold=_VALUES, edgeitems=4, linewidth=120):
        yield from (f"  {each}" for each in str(array).splitlines())


def _index(part: str) -> tuple[Any, ...]:
    found: list[Any] = []
    for text in part.split(","):
        bounds = [int(each) if each.strip() else None for each in text.split(":")]
        if len(bounds) > 1:
            found.append(slice(*bounds))
        elif bounds[0] is not None:
            found.append(bounds[0])
    return tuple(found)
