"""Two runs under the golden's names: operators of both sides are aligned first, whatever number their names have.

Engines count operators in the order they run or stand, so that one that is removed, inserted, or runs earlier gives all
later ones of its kind other numbers. Where both sides state operators with their edges, data flow says which are the
same, see ``pairing.stated``; of captures of PyTorch that state none, contents and order do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness.compare.check import Judging, check
from harness.compare.divergence import FOUND_SUFFIX, PARAMETER
from harness.compare.identities import Identities, Operators
from harness.compare.pairing.stated import Node, in_order, mates
from harness.compare.party import Party, are_counted, are_ordered, have_equal_names, texts_count
from harness.compare.tolerances import Tolerances
from harness.compare.verdict import Comparison
from harness.dtypes import ARGUMENT_FORMAT, TORCH_FORMAT
from harness.records import Record, SlotKey
from harness.stats import digest

if TYPE_CHECKING:
    from harness.recording.described import Described, Edge

_COUNTED = re.compile(r"(.*)-op\d+$", re.DOTALL)
#: name of an operator that is another one in a later step, see ``Capture.operators``
_LATER = re.compile(r"(.*)@(\d+)$", re.DOTALL)
#: longer steps are not aligned: that would take longer than the run
_LONGEST = 20_000
_PARAMETER = "parameter "
Records = Callable[[], Iterable[Record]]
#: rank, graph and label
Step = tuple[int, int, int]


@dataclass(frozen=True)
class Renumbered:
    """A comparison under the golden's names.

    Attributes:
        comparison: the comparison.
        exchanged: operators that run in another order: names in the golden and in the run.
        renamed: operators and parameters whose names differ by more than a number, likewise.
        names: the golden's name of an operator or parameter of the run, by step and name.
    """

    comparison: Comparison
    exchanged: tuple[tuple[str, str], ...]
    renamed: tuple[tuple[str, str], ...]
    names: Mapping[tuple[int, int, int, str], str]

    def key(self, key: SlotKey) -> SlotKey:
        """The golden's key of a slot of the run."""
        name = self.names.get((*key[:3], key.operator))
        return key if name is None else key._replace(operator=name)

    def identities(self, found: Identities) -> Identities:
        """The run's operators, under the golden's names."""
        return Identities(lambda: _under(found.operators(), self.names), lambda: "renumbered")


@dataclass
class _Names:
    """What an alignment found."""

    names: dict[tuple[int, int, int, str], str] = field(default_factory=dict)
    exchanged: dict[tuple[str, str], None] = field(default_factory=dict)
    renamed: dict[tuple[str, str], None] = field(default_factory=dict)


def under_golden_names(
    expected: Party, found: Party, by_name: Comparison, tolerances: Tolerances, measured: bool, judging: Judging
) -> tuple[Renumbered | None, bool]:
    """The comparison under the golden's names, where both sides state operators with edges, or count them as they run;
    and whether data flow that one engine states decided, so that there is nothing to guess.

    None where that changes nothing, or nothing but names that count themselves; and, unless one engine states both
    sides, where fewer slots agree than ``by_name``.
    """
    operators = expected.identities.operators(), found.identities.operators()
    stated = all(map(_has_edges, operators))
    if not stated:
        if not are_counted(expected, found):
            return None, False
        operators = {}, {}
    made = check_renumbered(
        expected.records, found.records, tolerances, operators=operators, order=are_ordered(expected, found),
        measured=measured, judging=judging,
    )  # fmt: skip
    decides = stated and texts_count(expected, found)
    if made is None:
        return None, decides
    if made.renamed and made.comparison.holds and have_equal_names(expected, found):
        return None, False
    if not decides and _agreeing(made.comparison) < _agreeing(by_name):
        return None, False
    made.comparison.exchanged, made.comparison.renamed = made.exchanged, made.renamed
    made.comparison.names = made.names if stated else {}
    return made, decides


def _agreeing(comparison: Comparison) -> int:
    return sum(count for verdict, count in comparison.counts.items() if verdict.holds)


def check_renumbered(
    expected: Records, found: Records, tolerances: Tolerances, *, operators: tuple[Operators, Operators] = ({}, {}),
    order: bool = False, measured: bool = True, judging: Judging,
) -> Renumbered | None:  # fmt: skip
    """Compares two runs under the golden's names; None if no name changes.

    Args:
        expected, found: give the records of both sides; called twice.
        tolerances, order, measured, judging: see ``check``.
        operators: those that both sides state; empty where one states none.
    """
    sides = _Steps(expected(), operators[0]), _Steps(found(), operators[1])
    made = _Names()
    known: dict[Any, dict[int, int]] = {}
    for step in sorted(sides[0].steps.keys() & sides[1].steps.keys()):
        nodes = sides[0].nodes(step), sides[1].nodes(step)
        if max(map(len, nodes)) > _LONGEST:
            return None
        _name(step, *nodes, _mates(step, nodes, sides, known), made)
    if all(name == key[3] for key, name in made.names.items()):
        return None

    def renamed() -> Iterator[Record]:
        for record in found():
            name = made.names.get((*record.key[:3], record.key.operator))
            yield record if name is None else replace(record, key=record.key._replace(operator=name))

    comparison = check(expected(), renamed(), tolerances, order=order, measured=measured, judging=judging)
    back = {(*key[:3], new): key[3] for key, new in made.names.items() if new != key[3]}

    def found_as(key: SlotKey) -> SlotKey | None:
        name = back.get((*key[:3], key.operator))
        return None if name is None else key._replace(operator=name)

    comparison.slots = [
        slot if (was := found_as(slot.key)) is None else replace(slot, found_as=was) for slot in comparison.slots
    ]
    return Renumbered(comparison, tuple(made.exchanged), tuple(made.renamed), made.names)


class _Steps:
    """The operators of one side, step by step.

    Attributes:
        steps: records of each operator, by step.
        is_static: whether the stated operators are the same in all steps.
    """

    def __init__(self, records: Iterable[Record], operators: Operators) -> None:
        self.steps: dict[Step, dict[str, list[Record]]] = defaultdict(dict)
        for record in records:
            if _is_stated(record) if operators else _is_counted(record):
                self.steps[record.key[:3]].setdefault(record.key.operator, []).append(record)
        self._told: dict[tuple[int, int], dict[str, list[tuple[int, Described]]]] = defaultdict(dict)
        self.is_static = bool(operators)
        for (rank, graph, name), each in operators.items():
            later = _LATER.match(name)
            plain, first = (later[1], int(later[2])) if later is not None else (name, -1)
            self.is_static &= later is None
            self._told[rank, graph].setdefault(plain, []).append((first, each))

    def nodes(self, step: Step) -> list[Node]:
        """The operators of a step, in the order in which they ran; one that left no record after the one that was
        declared before it."""
        recorded = self.steps[step]
        told = {
            name: one
            for name, every in self._told.get(step[:2], {}).items()
            if (one := max((each for each in every if each[0] <= step[2]), default=None, key=lambda each: each[0]))
        }
        ran = {name: at for at, name in enumerate(recorded)}
        places: dict[str, tuple[int, int]] = {}
        last = -1
        for number, name in enumerate(told):
            last = ran.get(name, last)
            places[name] = last, number
        places |= {name: (at, -1) for name, at in ran.items() if name not in places}
        return [
            _stated(name, told[name][1], recorded.get(name, ())) if name in told else _observed(name, recorded[name])
            for name in sorted(places, key=places.__getitem__)
        ]


def _is_stated(record: Record) -> bool:
    return record.op_type != PARAMETER


def _is_counted(record: Record) -> bool:
    return record.format in (TORCH_FORMAT, ARGUMENT_FORMAT) and _COUNTED.match(record.key.operator) is not None


def _mates(
    step: Step, nodes: tuple[list[Node], list[Node]], sides: tuple[_Steps, _Steps], known: dict[Any, dict[int, int]]
) -> dict[int, int]:
    """The mates of a step's operators: those of an earlier step, where operators are the same in all steps."""
    if not all(side.is_static for side in sides):
        return mates(*nodes)
    same = step[:2], *(tuple(node.name for node in each) for each in nodes)
    if same not in known:
        known[same] = mates(*nodes)
    return known[same]


def _name(
    step: Step, one: Sequence[Node], other: Sequence[Node], paired: Mapping[int, int], made: _Names
) -> None:  # fmt: skip
    """Notes the golden's names of a step's operators and parameters."""
    names = {other[mate].name: one[at].name for at, mate in paired.items()}
    names |= _parameters(one, other, paired)
    taken = {each.name for each in one} | {*names.values()}
    for each in other:
        if each.name not in names:
            names[each.name] = each.name + FOUND_SUFFIX if each.name in taken else each.name
    made.names |= {(*step, name): new for name, new in names.items()}
    for name, new in names.items():
        if not new.endswith(FOUND_SUFFIX) and _kind(name) != _kind(new):
            made.renamed[new, name] = None
    orderly = dict(in_order(paired))
    for at, mate in paired.items():
        if at not in orderly and one[at].name != other[mate].name and one[at].content == other[mate].content:
            made.exchanged[one[at].name, other[mate].name] = None


def _parameters(one: Sequence[Node], other: Sequence[Node], paired: Mapping[int, int]) -> dict[str, str]:
    """The golden's names of the run's parameters that have another name: those that equal operators take alike."""
    votes: tuple[dict[str, set[str]], dict[str, set[str]]] = defaultdict(set), defaultdict(set)
    for at, mate in paired.items():
        for mine, its in zip(one[at].takes, other[mate].takes, strict=False):
            if _is_parameter(mine) and _is_parameter(its):
                votes[0][str(mine)].add(str(its))
                votes[1][str(its)].add(str(mine))
    found = {}
    for named, goldens in votes[1].items():
        if len(goldens) == 1 and votes[0][golden := min(goldens)] == {named}:
            found[named.removeprefix(_PARAMETER)] = golden.removeprefix(_PARAMETER)
    return found if any(name != new for name, new in found.items()) else {}


def _is_parameter(taken: object) -> bool:
    return isinstance(taken, str) and taken.startswith(_PARAMETER)


def _kind(name: str) -> str:
    counted = _COUNTED.match(name)
    return counted[1] if counted else name


def _observed(name: str, records: Sequence[Record]) -> Node:
    """An operator that nobody stated."""
    form, content = [], []
    for record in records:
        key, known = record.key, _digest(record)
        is_argument = record.format == ARGUMENT_FORMAT
        form.append((key.io, record.dtype, tuple(record.shape), known if is_argument else None))
        content.append((key.io, key.slot, record.dtype, tuple(record.shape), known))
    return Node(name, _kind(name), records[0].op_type, tuple(form), (), (), tuple(content))


def _stated(name: str, one: Described, records: Sequence[Record]) -> Node:
    """An operator with its edges, by the name of its records."""
    constants = tuple((slot, _text(edge.value)) for slot, edge in enumerate(one.inputs) if edge.kind == "constant")
    form = tuple((name, _text(value)) for name, value in sorted(one.attributes.items())), constants
    content = tuple((each.key.io, each.key.slot, each.dtype, _digest(each)) for each in records) or None
    takes = tuple(_taken(edge) for edge in one.inputs)
    return Node(name, _kind(name), one.type, form, one.outputs, takes, content)


def _taken(edge: Edge) -> tuple[str, int] | str | None:
    if edge.kind == "result":
        return edge.name, edge.slot
    if edge.kind == "constant":
        return "constant"
    return None if edge.kind == "unknown" else f"{edge.kind} {edge.name}"


def _text(value: Any) -> str:
    from harness.store.layout.values import text_of

    try:
        return text_of(value)
    except (TypeError, ValueError):
        return repr(value)


def _digest(record: Record) -> bytes | None:
    if record.digest is not None:
        return record.digest
    values = record.load()
    return None if values is None else digest(values, record.dtype)


def _under(operators: Operators, names: Mapping[tuple[int, int, int, str], str]) -> Operators:
    """Operators of the run, and what their edges name, under the golden's names."""
    by_graph: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    for (rank, graph, _, name), new in sorted(names.items(), reverse=True):
        by_graph[rank, graph][name] = new
    found = {}
    for (rank, graph, name), one in operators.items():
        known = by_graph[rank, graph]
        later = _LATER.match(name)
        if later is None:
            new = known.get(name, name)
        else:
            new = f"{names.get((rank, graph, int(later[2]), later[1]), later[1])}@{later[2]}"
        inputs = tuple(
            edge._replace(name=known.get(edge.name, edge.name)) if edge.kind in ("result", "parameter") else edge
            for edge in one.inputs
        )
        found[rank, graph, new] = replace(one, name=new, inputs=inputs)
    return found


def _has_edges(operators: Operators) -> bool:
    """Whether operators are stated with edges from one to another."""
    return any(edge.kind == "result" for one in operators.values() for edge in one.inputs)
