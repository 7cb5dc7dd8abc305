"""Reads the text of a memory plan: ``CPU_somas_initial_info_0.ir`` or the recorder's copy of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar, get_args

from harness.errors import PlanTextError
from harness.memory.model import (
    LIFELONG,
    Group,
    Kind,
    PlanNode,
    PlanParameter,
    PlanTensor,
    Source,
    Span,
    State,
)

T = TypeVar("T")
_TITLES = (
    "All Parameters:", "All Tensors:", "All Nodes:", "All Union Tensors Info:",
    "All Original Contiguous Tensors Info:", "All Processed Contiguous Tensors Info:", "All Stream Groups:",
    "All Merged Blocks:",
)  # fmt: skip
_HEADERS = ("index:", "start_offset:")
_TOTAL = "Total Memory Size after reused:"
_N = r"(\d{1,20})"
_PARAMETER = re.compile(r"%(\d{1,20})P\t#(\d{1,20})S\t(.*)\t(\d{1,20})")
_TENSOR = re.compile(
    rf"%{_N}T\t#{_N}S\t#{_N}S\t&{_N}\t({'|'.join(get_args(Kind))})\tLifeLong({'|'.join(LIFELONG)})\t{_N}\t{_N}\t.*"
)
_NODE = re.compile(
    r"\$(\d{1,20})\t(.*)\t([01])\tinputs\[(.*)\]\toutputs\[(.*)\]\tworkspace\[(.*)\]"
    r"\tctrl_inputs\[\]\tctrl_outputs\[\]\tstreamID\[@(\d{1,20})\]"
)
_GROUP = re.compile(r"(?:union|contiguous) tensors: \[((?:%\d{1,20}T )*)\]")
_SPAN = re.compile(r"(\d{1,20})\t(\d{1,20})")
_SOURCE = re.compile(r"%(\d{1,20})([PT])")


def parse(text: str) -> State:
    """The state a text shows. ``PlanTextError`` names the line that cannot be read; stream groups are not taken."""
    sections, total = _sections(text)
    for number, line in sections["All Stream Groups:"]:
        raise PlanTextError(f"line {number}: a plan with stream groups cannot be read, got {line[:80]!r}")
    list(_rows(sections["All Processed Contiguous Tensors Info:"], _GROUP, _group))
    return _checked(
        State(
            tuple(_rows(sections["All Parameters:"], _PARAMETER, _parameter)),
            tuple(_tensors(sections)),
            tuple(_rows(sections["All Nodes:"], _NODE, _node)),
            tuple(_rows(sections["All Union Tensors Info:"], _GROUP, _group)),
            tuple(_rows(sections["All Original Contiguous Tensors Info:"], _GROUP, _group)),
            tuple(_rows(sections["All Merged Blocks:"], _SPAN, _span)),
            total,
        )
    )


Lines = list[tuple[int, str]]


def _sections(text: str) -> tuple[dict[str, Lines], int]:
    """Numbered lines with content by the title they stand under, and the total."""
    sections: dict[str, Lines] = {}
    title = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(_TOTAL) and re.fullmatch(_N, line.removeprefix(_TOTAL)):
            missing = [t for t in _TITLES if t not in sections]
            if missing:
                raise PlanTextError(f"line {number}: the text ends without {missing[0]!r}")
            return sections, int(line.removeprefix(_TOTAL))
        if line in _TITLES:
            if line in sections:
                raise PlanTextError(f"line {number}: a second {line!r}")
            title = line
            sections[title] = []
        elif line and not line.startswith(_HEADERS):
            if not title:
                raise PlanTextError(f"line {number}: a memory plan begins with {_TITLES[0]!r}, got {line[:80]!r}")
            sections[title].append((number, line))
    raise PlanTextError(f"a memory plan ends with {_TOTAL!r} and a number, this text does not")


def _rows(lines: Lines, pattern: re.Pattern[str], make: Callable[[re.Match[str]], T]) -> Iterator[T]:
    for number, line in lines:
        match = pattern.fullmatch(line)
        if match is None:
            raise PlanTextError(f"line {number}: expected a row of the form {pattern.pattern!r}, got {line[:160]!r}")
        yield make(match)


def _parameter(match: re.Match[str]) -> PlanParameter:
    return PlanParameter(int(match[1]), int(match[2]), match[3], int(match[4]))


def _tensors(sections: dict[str, Lines]) -> Iterator[PlanTensor]:
    """Tensors, whose source node is told by the node that lists them."""
    made_by: dict[int, int] = {}
    for node in _rows(sections["All Nodes:"], _NODE, _node):
        made_by.update(dict.fromkeys((*node.outputs, *node.workspaces), node.index))
    for match in _rows(sections["All Tensors:"], _TENSOR, lambda m: m):
        index, aligned, size, offset = (int(match[i]) for i in range(1, 5))
        if index not in made_by:
            raise PlanTextError(f"tensor %{index}T is neither an output nor a workspace of any node")
        kind: Kind = match[5]  # type: ignore[assignment]
        lifelong = LIFELONG[[*LIFELONG].index(match[6])]  # type: ignore[arg-type]
        yield PlanTensor(index, aligned, size, offset, kind, lifelong, int(match[7]), int(match[8]), made_by[index])


def _node(match: re.Match[str]) -> PlanNode:
    inputs = tuple(Source(sort, int(index)) for index, sort in _SOURCE.findall(match[4]))
    outputs, workspaces = (tuple(int(index) for index, _ in _SOURCE.findall(match[i])) for i in (5, 6))
    return PlanNode(int(match[1]), match[2], inputs, outputs, workspaces, int(match[7]), match[3] == "1")


def _group(match: re.Match[str]) -> Group:
    return tuple(int(member[1:-1]) for member in match[1].split())


def _span(match: re.Match[str]) -> Span:
    return int(match[1]), int(match[2])


def _checked(state: State) -> State:
    """The state, if every index it mentions is there."""
    for what, things in (("parameter", state.parameters), ("tensor", state.tensors), ("node", state.nodes)):
        for position, thing in enumerate(things):
            if thing.index != position:  # type: ignore[attr-defined]
                raise PlanTextError(f"{what} {position} of the list has the index {thing.index}")  # type: ignore[attr-defined]
    counts = {"T": len(state.tensors), "P": len(state.parameters)}
    mentioned = [(s.sort, s.index) for node in state.nodes for s in node.inputs]
    mentioned += [("T", i) for node in state.nodes for i in (*node.outputs, *node.workspaces)]
    mentioned += [("T", member) for group in (*state.unions, *state.contiguous) for member in group]
    for sort, index in mentioned:
        if index >= counts[sort]:
            raise PlanTextError(f"%{index}{sort} is mentioned, the list has {counts[sort]}")
    return state
