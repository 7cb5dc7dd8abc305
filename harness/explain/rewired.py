"""Finds the origin from the graphs, if names hide which operator was added, removed or rewired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.compare.divergence import Execution, by_execution
from harness.compare.first_divergence import downstream
from harness.compare.origin import Input, Kind, Origin, State
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.alignment import Alignment, Edit, is_order
from harness.explain.case import Case
from harness.explain.evidence import Evidence, is_of_records
from harness.explain.statements import Statement
from harness.records import SlotKey

#: kinds that values alone cannot tell from a change of the graph
_UNCLEAR = frozenset({Kind.UNRECORDED, Kind.UNSURE})
#: kinds that an operator of a capture without graphs has where inputs differ
_OF_VALUES = frozenset({Kind.GIVEN, Kind.UNRECORDED, Kind.REWIRED, Kind.UNSURE})
#: names of tensors in the order in which operators take them: another order gives them other names
_COUNTED = "given["
#: operators that bring a parameter into the form in which another one takes it
_PREPARES = frozenset({"Cast", "Reshape", "Transpose", "ExpandDims"})


def by_graphs(divergence: Origin, case: Case, comparison: Comparison) -> Origin:
    """The origin according to the graphs: the first operator that only one side has, that stands elsewhere, or that is
    rewired; ``divergence`` itself if the graphs show nothing."""
    graph = case.where.graph
    if not case.expected.graphs or not case.found.graphs:
        return divergence
    if is_of_records(case.expected) and is_of_records(case.found):
        return by_sources(divergence, case)  # the comparison has paired all operators by the same edges, and contents
    if len({graph in side.graphs.ids for side in (case.expected, case.found)}) == 2:
        return divergence  # one side lacks the whole graph: the other one's operators have no counterparts in another
    aligned = case.aligned
    # Another place in the order gives no other values: it is told only where nothing else is known.
    edits = [edit for edit in aligned.edits if not is_order(edit)]
    if not edits and not (aligned.edits and divergence.kind.structural):
        return _by_parameters(divergence, case)
    if divergence.kind.structural or divergence.kind in _UNCLEAR:
        edits = edits or aligned.edits
        return _told(divergence, _taker(edits, edits[0]), comparison, case)
    edit = _of_operator(edits, case)
    if edit is None:
        return divergence
    return _told(divergence, _taker(edits, _first_of_chain(edits, edit)), comparison, case)


def _taker(edits: Sequence[Edit], edit: Edit) -> Edit:
    """An edit; of an operator that one side alone has and that only prepares a tensor for another one of its cell (a
    Cast, also of a Cast; of a parameter any other layout), that other one, where that side alone has it, too."""
    prepared: set[str] = set()
    first = edit
    while (statement := edit.expected or edit.found) is not None and _is_lone(edit) and statement.op in _PREPARES:
        made = {a.producer[0] for a in statement.arguments if a.producer is not None}
        if statement.op != "Cast" and not made <= prepared:
            break
        prepared.add(statement.name)
        takers = [
            each for each in edits if each.kind is edit.kind and _takes(each.expected or each.found, statement.name)
        ]
        if len(takers) != 1:
            break
        edit = takers[0]
    statement = edit.expected or edit.found
    return first if statement is not None and statement.op == "Cast" else edit


def _first_of_chain(edits: Sequence[Edit], edit: Edit) -> Edit:
    """The first of the operators that one side alone has and that lead to an edit's, one after the other."""
    lone = {each.name: other for other in edits if _is_lone(other) and (each := other.expected or other.found)}
    for _ in edits:
        statement = edit.expected or edit.found
        made = [a.producer[0] for a in statement.arguments if a.producer is not None] if statement is not None else []
        before = [lone[name] for name in made if name in lone]
        if not _is_lone(edit) or not before or before[0].kind is not edit.kind:
            break
        edit = before[0]
    return edit


def _is_lone(edit: Edit) -> bool:
    return edit.kind in (Kind.REMOVED, Kind.INSERTED)


def _takes(statement: Statement | None, name: str) -> bool:
    if statement is None or statement.name.rpartition("/")[0] != name.rpartition("/")[0]:
        return False
    return any(a.producer is not None and a.producer[0] == name for a in statement.arguments)


def _of_operator(edits: Sequence[Edit], case: Case) -> Edit | None:
    """The edit that explains an operator with other results or arguments: its own, or that of an argument's maker."""
    one, other = case.statements
    if one is None or other is None:
        return None
    names = {one.name, other.name}
    for statement in (one, other):
        names.update(a.producer[0] for a in statement.arguments if a.producer is not None)
    own = [each for each in edits if _names(each) & {one.name, other.name}]
    if not own and case.outputs and not case.inputs:
        # If all its inputs agree, it is wrong by itself, whatever changed elsewhere. If they agree but for a layout,
        # the operator that lays them out otherwise is what changed.
        return next((each for each in edits if _is_lone(each) and _lays_out(each, one, other, case)), None)
    every = own or [each for each in edits if _names(each) & names]
    return every[0] if every else None


def _lays_out(edit: Edit, one: Statement, other: Statement, case: Case) -> bool:
    """Whether a lone operator makes an argument that has other bits on the other side."""
    made = edit.expected or edit.found
    for side in (one, other):
        for at, argument in enumerate(side.arguments):
            if made is None or argument.producer is None or argument.producer[0] != made.name:
                continue
            sides = case.expected.slots(case.where, "input").get(at), case.found.slots(case.there, "input").get(at)
            if sides[0] is not None and sides[1] is not None:
                return case.expected.content(sides[0]) != case.found.content(sides[1])
    return False


def _names(edit: Edit) -> set[str]:
    return {each.name for each in (edit.expected, edit.found) if each is not None}


def _told(divergence: Origin, edit: Edit, comparison: Comparison, case: Case) -> Origin:
    name = edit.expected.name if edit.expected is not None else edit.found.name if edit.found is not None else ""
    where = divergence.where._replace(operator=name, execution=0)
    counterpart = edit.found.name if edit.expected is not None and edit.found is not None else None
    slots = tuple(slot for slot in comparison.slots if _is_of(slot, where, edit))
    if counterpart == name:
        counterpart = None
    first = edit.expected or edit.found
    types = first.op if first is not None else "", edit.found.op if edit.found is not None else ""
    return replace(
        divergence, kind=edit.kind, where=where, counterpart=counterpart, before=edit.before,
        slots=tuple(sorted(slots, key=lambda slot: (slot.key.io != "output", slot.overwritten))) or divergence.slots,
        inputs=_inputs(edit, where, case.aligned), op_types=types,
        downstream=downstream(by_execution(comparison), where, where._replace(operator=counterpart or name)),
    )  # fmt: skip


def _is_of(slot: SlotVerdict, where: Execution, edit: Edit) -> bool:
    """Whether a slot shows the operators of an edit: one that compares them does, not one of others of their names."""
    if slot.key[:5] != tuple(where) or slot.verdict.holds:
        return False
    if edit.expected is None or edit.found is None or slot.verdict is Verdict.MISSING:
        return True
    return slot.verdict is not Verdict.UNEXPECTED and (slot.found_as or slot.key).operator == edit.found.name


def _inputs(edit: Edit, where: Execution, aligned: Alignment) -> tuple[Input, ...]:
    """The rewired arguments of an operator, under the golden's names."""
    if edit.kind is not Kind.REWIRED or edit.expected is None or edit.found is None:
        return ()
    found = []
    for at in edit.arguments:
        sides = [each.arguments[at] for each in (edit.expected, edit.found)]
        names = [a.producer[0] if a.producer is not None else a.parameter for a in sides]
        names[1] = aligned.golden_name(names[1])
        if names[0] == names[1]:
            names = [f"{names[0]} output.{a.producer[1]}" for a in sides if a.producer is not None]
        found.append(Input(SlotKey(*where, "input", at), State.DIFFERS, "", None, names[0], names[1]))
    return tuple(found)


def by_sources(divergence: Origin, case: Case) -> Origin:
    """The origin of captures whose operators were paired already: an operator that takes an argument, a parameter or an
    output in place of another one is rewired. None of these values is another one than in the golden."""
    tensors = [each for each in divergence.inputs if each.key.slot in case.inputs]
    sides = [taken_instead(case, each.key.slot) for each in tensors]
    known = [each for each in sides if each is not None]
    if divergence.kind not in _OF_VALUES or not known or len(known) < len(case.inputs):
        return divergence
    leaves = any("/" not in name for pair in known for name in pair)  # of which a replay alone proves anything
    inputs = tuple(
        replace(each, slot=None if leaves else each.slot, expected_from=one, found_from=other)
        for each, (one, other) in zip(tensors, known, strict=True)
    )
    moved = case.there.operator != case.where.operator
    name = case.there.operator if moved else divergence.counterpart
    return replace(divergence, kind=Kind.REWIRED, counterpart=name, inputs=inputs)


def taken_instead(case: Case, slot: int) -> tuple[str, str] | None:
    """What an input is in the golden, and in the run, by the golden's names; None where that is one and the same, or
    where the golden has no tensor of the run's content.

    Where nothing tells what one of them is, both are inputs of the operator if it takes the same tensors in another
    order.
    """
    expected, found = case.inputs[slot]
    if ARGUMENT_FORMAT in (expected.format, found.format) or not case.expected.holds(case.found.content(found), found):
        return None
    (one, at), (other, there) = (_source(statement, slot) for statement in case.statements)
    if other and "/" in other:
        other = case.aligned.golden_name(other)
    if one and other and not (one.startswith(_COUNTED) and other.startswith(_COUNTED)):
        if one == other:
            return None if at == there else (f"{one} output.{at}", f"{other} output.{there}")
        return one, other
    order = _order(case)
    return None if slot not in order else (f"input.{slot}", f"input.{order[slot]}")


def _source(statement: Statement | None, slot: int) -> tuple[str | None, int]:
    """What an input is: the operator that made it, and which of its outputs; or an argument's or parameter's name."""
    if statement is None or slot >= len(statement.arguments):
        return None, 0
    argument = statement.arguments[slot]
    return argument.producer or (argument.parameter, 0)


def _order(case: Case) -> dict[int, int]:
    """The golden's slot of the tensor that each differing slot has in the run; empty if they are not the same ones, or
    if two of them are alike."""
    one = {slot: (case.expected.content(e), e.dtype, e.shape) for slot, (e, _) in case.inputs.items()}
    other = {slot: (case.found.content(f), f.dtype, f.shape) for slot, (_, f) in case.inputs.items()}
    places = {content: slot for slot, content in one.items()}
    if len(places) < len(one) or places.keys() != {*other.values()} or any(each[0] is None for each in places):
        return {}
    return {slot: places[content] for slot, content in other.items()}


def _by_parameters(divergence: Origin, case: Case) -> Origin:
    """If the graphs are equal and every differing input is a parameter or a constant: it received another value, even
    if some operator happens to have such a value."""
    one, other = case.statements
    if divergence.kind not in (*_UNCLEAR, Kind.REWIRED) or one is None or other is None or not case.inputs:
        return divergence
    arguments = [one.arguments[slot] for slot in case.inputs if slot < len(one.arguments)]
    given = len(arguments) == len(case.inputs) and all(a.parameter or a.is_constant for a in arguments)
    if not given or any(a.parameter and _is_updated(case.expected, a.parameter, case.where) for a in arguments):
        return divergence
    return replace(divergence, kind=Kind.GIVEN)


def _is_updated(run: Evidence, name: str, where: Execution) -> bool:
    """Whether an earlier step may have changed a parameter."""
    return any(each.iteration < where.iteration for each in run.order)
