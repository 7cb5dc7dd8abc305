"""Makes the explanation of a comparison, which the gate, check, diff and the report show."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness import dtypes
from harness.capture.normalise import users_place
from harness.compare.divergence import PARAMETER, Execution
from harness.compare.first_divergence import first_divergence
from harness.compare.origin import MEANING, Input, Kind, State
from harness.compare.origin import Origin as Divergence
from harness.compare.ranks import ranks_of
from harness.compare.smallest_tolerance import would_pass
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.explain import one_sided
from harness.explain.arguments import changed_arguments
from harness.explain.case import Case
from harness.explain.changes import changed_settings
from harness.explain.computed_otherwise import whole
from harness.explain.evidence import Evidence, agree_on_graphs
from harness.explain.explanation import Cause, Element, Explanation, Origin
from harness.explain.known_values import completed, guess
from harness.explain.numbers import number, short_operator
from harness.explain.optimizers import SETTING, left_out, shown_by_operators
from harness.explain.recorded import LIBRARY, is_without_replayer
from harness.explain.rewired import by_graphs
from harness.explain.search import WORK, Search
from harness.explain.structure import Structure, told_apart
from harness.explain.trained import cut_off
from harness.records import GIVEN_SCOPE, Record, SlotKey
from harness.words import agreeing

_SHOWN = 6
#: causes that come from a line of the user's script
_MADE = frozenset({"attribute", "constant", "parameter", "replaced", "inserted", "moved", "rewired"})


@np.errstate(all="ignore")  # values may have any size: no overflow may interrupt a failure's report
def explain(
    comparison: Comparison, expected: Evidence, found: Evidence, title: str, *, others: Sequence[str] = (),
    work: int = WORK,
) -> Explanation:  # fmt: skip
    """Explains a comparison that does not hold.

    Args:
        comparison: the comparison, with the pairs of differing records, whose values can still be loaded.
        expected: the reference.
        found: the run that was compared with it.
        title: says what differs from what.
        others: further statements to make.
        work: number of elements that the search for a cause may compute.

    Examples:
        >>> from harness.capture import Capture, read_tree
        >>> from harness.compare import check
        >>> from harness.explain import Evidence, block, explain
        >>> def changed():
        ...     for record in read_tree("later").records():
        ...         if record.key.operator.endswith("BiasAdd-op0") and record.key.io == "output":
        ...             record.values, record.digest = record.load() + 1, None
        ...         yield record
        >>> def texts():
        ...     return read_tree("dump").artefacts
        >>> golden = Evidence(read_tree("dump").records, texts)
        >>> fresh = Evidence(changed, texts)
        >>> comparison = check(read_tree("dump"), Capture("Net", "cpu", True, changed))
        >>> print(block(explain(comparison, golden, fresh, "later differs from dump")))
        later differs from dump
        Cause, proven bit for bit: output.0: found is expected plus 1 everywhere
        First divergence: iteration 0, Default/BiasAdd-op0, output.0 Float32[1, 2]
          at [0, 0] expected 0.12377083, found 1.1237708; 2 of 2 elements differ; its inputs agree
        Then nothing else; 11 of 12 slots are identical
    """
    start = time.monotonic()
    if comparison.described == (dict, dict):
        comparison.described = expected.operators, found.operators
    divergence = first_divergence(comparison)
    cause = origin = None
    more: list[str] = []
    if divergence is not None:
        rank = divergence.where.rank
        expected, found = expected.of_rank(rank), found.of_rank(rank)
        agree_on_graphs(expected, found)
        expected, found = completed(expected, found)
        case = _case(comparison, divergence, expected, found)
        divergence = by_graphs(divergence, case, comparison)
        case = _case(comparison, divergence, expected, found)
        divergence = whole(divergence, case)
        if divergence.kind is Kind.UNRECORDED:
            case = replace(case, unrecorded=True)
        cause, told = _cause(comparison, divergence, case, work)
        more += told
        if (cause is None or not cause.certainty.proven) and is_without_replayer(expected, case.where):
            more.append(f"No operator was run again: this Python has no {LIBRARY}")
        origin = replace(_origin(divergence, case), ranks=str(ranks_of(comparison, divergence.slot.key)))
        if cause is not None and cause.kind == "iterations":
            origin = replace(origin, what="missing" if divergence.kind is Kind.REMOVED else "unexpected")
        if cause is not None and cause.source is None and cause.kind in _MADE:
            cause = replace(cause, source=_made_at(divergence, case))
    more += [*_structure(comparison, divergence), *others, *_tolerance(comparison)]
    counts = comparison.counts
    after = divergence.downstream.operators if divergence is not None else 0
    return Explanation(
        title, origin, cause, tuple(more), after, counts[Verdict.IDENTICAL], comparison.total,
        time.monotonic() - start,
    )  # fmt: skip


def _case(comparison: Comparison, divergence: Divergence, expected: Evidence, found: Evidence) -> Case:
    where = divergence.where
    there = where if divergence.counterpart is None else where._replace(operator=divergence.counterpart)
    outputs: dict[int, tuple[Record, Record]] = {}

    def pair_of(key: SlotKey) -> tuple[Record, Record] | None:
        pair = comparison.pairs.get(key)
        return None if pair is None else (expected.own(pair[0]), found.own(pair[1]))

    for slot in divergence.slots:
        pair = pair_of(slot.key)
        if slot.key.io == "output" and slot.verdict is Verdict.DIFFERS and pair is not None:
            outputs[slot.key.slot] = pair
            there = _there(there, slot)
    inputs, states = {}, {}
    for slot in divergence.slots:
        pair = pair_of(slot.key)
        if slot.overwritten and slot.verdict is Verdict.DIFFERS and pair is not None:
            states[slot.key.slot] = pair
    for each in divergence.inputs:
        pair = pair_of(each.key)
        if each.state is State.DIFFERS and pair is not None and each.key[:5] == tuple(where):
            inputs[each.key.slot] = pair
            guess(expected, *pair)
            guess(found, *pair[::-1])
            there = _there(there, each.slot) if each.slot is not None else there
    kind = divergence.kind
    return Case(
        expected, found, where, there, outputs, inputs, states, kind is Kind.GIVEN, kind is Kind.UNRECORDED,
        comparison.names,
    )  # fmt: skip


def _there(there: Execution, slot: SlotVerdict) -> Execution:
    return Execution(*slot.found_as[:5]) if slot.found_as is not None else there


def _cause(comparison: Comparison, divergence: Divergence, case: Case, work: int) -> tuple[Cause | None, list[str]]:
    """The cause, and further statements about parameters that differ from the start."""
    first = _differing_from_the_start(comparison, case)
    told = []
    cause: Cause | None = one_sided.iterations(divergence, case) or left_out(divergence, case)
    if cause is not None:
        return cause, []
    if divergence.kind is Kind.ARGUMENTS and changed_arguments(case):
        cause = Search(case, work).cause()
    elif divergence.kind.structural:
        cause = cut_off(comparison, divergence) or Structure(divergence, case).cause()
    elif _is_other(case):
        other = replace(divergence, kind=Kind.REPLACED, counterpart=case.there.operator)
        cause = Structure(other, case).cause()
    elif comparison.slots and divergence.slots[0].op_type == PARAMETER:
        name = divergence.where.operator
        cause = one_sided.exchanged(name, case) or one_sided.differs(name, case, comparison.failures())
    else:
        cause = Search(case, work).cause()
    if cause is None or not cause.certainty.proven:
        cause = cut_off(comparison, divergence) or cause
    settings = SETTING in (case.op, case.found.op_type(case.there))
    if cause is not None and not cause.certainty.proven and settings:
        cause = shown_by_operators(cause, comparison, case)
    named = {change.name for change in cause.changes} if cause is not None else set()
    rest = [name for name in first if name not in named]
    if cause is not None and cause.kind == "parameter":
        told += one_sided.parameters(case)
    if rest:
        some = ", ".join(rest[:3]) + (f" and {len(rest) - 3} more" if len(rest) > 3 else "")
        verb = "differs" if len(rest) == 1 else "differ"
        lead = "Parameter" if len(rest) == 1 else "Parameters"
        told.append(f"{lead} {some} {verb} from the start{', too' if named & set(first) else ''}")
    return cause, told


def _is_other(case: Case) -> bool:
    """Whether it was paired with an operator of another type: a step of another optimizer, or one of the same name."""
    one, other = case.statements
    if one is not None and other is not None:
        return one.op != other.op
    types = case.op, case.found.op_type(case.there)
    named = case.where.operator == case.there.operator and case.expected.engine == case.found.engine
    return named and all(types) and types[0] != types[1]


def _differing_from_the_start(comparison: Comparison, case: Case) -> list[str]:
    """Parameters whose first value differs, in the order they are read."""
    names: dict[str, None] = {}
    seen: set[str] = set()
    rank = case.where.rank
    differing = [slot for slot in comparison.apart() if slot.verdict is Verdict.DIFFERS and slot.key.io == "input"]
    if not differing:
        return []
    first = min((step[2] for step in comparison.steps() if step[0] == rank), default=0)
    for slot in differing:
        key = slot.key
        if key.iteration != first or key.rank != rank or slot.overwritten:
            continue
        name = _parameter(case.expected, key)
        if name is None or name in seen or _parameter(case.found, slot.found_as or key) != name:
            continue
        seen.add(name)
        if not _was_updated_before(case.expected, name, Execution(*key[:5])):
            names[name] = None
    return [name for name in names if case.expected.parameter(name, rank, first) is not None]


def _parameter(run: Evidence, key: SlotKey) -> str | None:
    """The parameter that a slot reads, according to the run's graph; None of data."""
    statement = run.graphs.statement(key.graph, key.operator)
    argument = statement.arguments[key.slot] if statement and key.slot < len(statement.arguments) else None
    return None if argument is None or argument.is_data else argument.parameter


def _was_updated_before(run: Evidence, name: str, where: Execution) -> bool:
    """Whether an operator of the same step updated the parameter before."""
    for each in run.order:
        if each == where:
            return False
        if (each.rank, each.iteration) != (where.rank, where.iteration) or run.op_type(each) == PARAMETER:
            continue
        statement = run.graphs.statement(each.graph, each.operator)
        arguments = statement.arguments if statement is not None else ()
        if any(a.is_monad for a in arguments) and any(a.parameter == name for a in arguments):
            return True
    return False


# -- the origin in words -----------------------------------------------------------------------------------------------
def _origin(divergence: Divergence, case: Case) -> Origin:
    slot = divergence.slot
    m = slot.measurement
    what = f"{slot.key.slot_name} {slot.dtype_shown}{list(slot.shape)}"
    if divergence.kind.structural:
        what = _takes_another(case) if _is_of_parameter(divergence) else divergence.kind.value
    element = None
    if not _compares(slot, divergence):
        m = None
    if m is not None and m.worst is not None and m.unequal:
        kind = dtypes.by_name(slot.dtype).numpy
        element = Element(tuple(m.worst.index), number(m.worst.expected, kind), number(m.worst.found, kind))
    # A value given to ``check`` has no inputs.
    plain = divergence.kind in (Kind.COMPUTED, Kind.GIVEN) or slot.key.operator.startswith(f"{GIVEN_SCOPE}/")
    reason = "" if plain or _is_of_parameter(divergence) else MEANING[divergence.kind]
    if element is None and not divergence.kind.structural:
        reason = f"{slot.reason}; {reason}" if reason else slot.reason
    return Origin(
        what, divergence.where.operator, slot.key, divergence.counterpart or "", _source(divergence, case), element,
        m.differing if m is not None else 0, m.count if m is not None else 0, reason,
        _inputs(divergence, case), _before(divergence),
    )  # fmt: skip


def _compares(slot: SlotVerdict, divergence: Divergence) -> bool:
    """Whether a slot compares the operators that a divergence names: others may bear their names."""
    if not divergence.kind.structural:
        return True
    names = slot.key.operator, (slot.found_as or slot.key).operator
    alone = divergence.kind in (Kind.INSERTED, Kind.REMOVED)
    return not alone and names == (divergence.where.operator, divergence.counterpart or divergence.where.operator)


def _takes_another(case: Case) -> str:
    """Another parameter, unless all that differs is the model's arguments in other places."""
    taken = [s.arguments[at] for s in case.statements if s for at in case.inputs if at < len(s.arguments)]
    return f"takes another {'input' if taken and all(each.is_data for each in taken) else 'parameter'}"


def _is_of_parameter(divergence: Divergence) -> bool:
    """Whether an operator takes another parameter or argument than in the golden."""
    sources = [each for given in divergence.inputs for each in (given.expected_from, given.found_from)]
    return divergence.kind is Kind.REWIRED and bool(sources) and all(each and "/" not in each for each in sources)


def _source(divergence: Divergence, case: Case) -> str | None:
    """The user's own line; None if only a line of the harness is known."""
    places = (divergence.source, *(slot.source for slot in divergence.slots))
    return next(filter(None, map(users_place, places)), None)


def _made_at(divergence: Divergence, case: Case) -> str | None:
    """The line of the run that makes the layer; for an operator of the user's own, the line that calls it."""
    name = divergence.counterpart or case.there.operator
    own = _source(divergence, case)
    statement = case.found.graphs.statement(case.there.graph, name)
    return case.found.place(name) or (own if statement is not None and statement.is_users else None)


def _before(divergence: Divergence) -> str:
    if not divergence.kind.structural:
        return ""
    if not any(divergence.before):
        return ""
    one, other = told_apart(*divergence.before)
    return f"after {one}" if one == other else f"after {one} -> {other}"


def _inputs(divergence: Divergence, case: Case) -> str:
    if divergence.kind.structural or not divergence.inputs:
        return ""
    by_state: dict[str, list[Input]] = {}
    for each in divergence.inputs:
        statistics = each.state is State.AGREES and each.why
        by_state.setdefault(each.why if statistics else each.state.value, []).append(each)
    settings = dict.fromkeys(each.change.name for each in changed_settings(case))
    words = []
    for state, inputs in by_state.items():
        if state == State.AGREES.value and len(by_state) == 1:
            noun = "tensor" if settings else "input"  # attributes and constants are inputs, too
            words.append(f"its {noun} agrees" if len(inputs) == 1 else f"its {noun}s agree")
            continue
        words.append(_listed(state, inputs, case))
    if settings:
        more = f" and {len(settings) - _SHOWN} more" if len(settings) > _SHOWN else ""
        words.append(f"{', '.join([*settings][:_SHOWN])}{more} {agreeing(len(settings), 'differ')}")
    return ", ".join(words)


def _listed(state: str, inputs: Sequence[Input], case: Case) -> str:
    """``inputs 0, 1 agree``; if only a few differ, with their names."""
    statement = case.statements[0]

    def label(each: Input) -> str:
        slot = each.key.slot
        known = statement is not None and slot < len(statement.arguments)
        name = (
            statement.arguments[slot].name
            if statement is not None and known
            else case.expected.input_name(case.op, slot)
        )
        if slot in case.inputs and (named := case.inputs[slot][1].extra.named):
            name = named
        return f"input.{slot}" + (f" ({name})" if not name.startswith("input.") else "")

    several = len(inputs) > 1
    if state == State.AGREES.value or len(inputs) > 2:
        which = ("inputs " if several else "input ") + ", ".join(str(each.key.slot) for each in inputs[:_SHOWN])
        which += f" and {len(inputs) - _SHOWN} more" if len(inputs) > _SHOWN else ""
    else:
        which = ", ".join(map(label, inputs))
    verbs = {"agrees": ("agrees", "agree"), "differs": ("differs", "differ")}
    if state in verbs:
        return f"{which} {verbs[state][several]}"
    return f"{which} {'were' if several else 'was'} not compared" if state == "not compared" else f"{which}: {state}"


# -- more to say -------------------------------------------------------------------------------------------------------
def _structure(comparison: Comparison, divergence: Divergence | None) -> list[str]:
    lines = []
    counts = comparison.counts
    missing, unexpected = counts[Verdict.MISSING], counts[Verdict.UNEXPECTED]
    if missing or unexpected:
        lines.append(f"Slots: {missing} missing, {unexpected} unexpected")
        lone = next((s for s in comparison.apart() if s.verdict in (Verdict.MISSING, Verdict.UNEXPECTED)), None)
        if divergence is None and lone is not None:
            lines.append(f"First {lone.verdict.value}: iteration {lone.key.iteration}, {lone.key.operator}")
    for rename in comparison.renames[:1]:
        more = f" and {len(comparison.renames) - 1} more such pairs" if len(comparison.renames) > 1 else ""
        lines.append(f"Renamed? missing {rename.expected}, unexpected {rename.found}{more}")
    if (order := comparison.order) is not None and not missing and not unexpected:
        one, other = (f"{short_operator(each[3])} (iteration {each[2]})" for each in (order.expected, order.found))
        lines.append(f"Execution order changed at operator {order.position}: expected {one}, found {other}")
    return lines


def _tolerance(comparison: Comparison) -> list[str]:
    """A tolerance that would pass, if it is near the one in force."""
    failing = comparison.failures()
    found = would_pass(comparison) if failing else None
    if found is None:
        return []
    return [f"{'It' if len(failing) == 1 else f'All {len(failing)}'} would pass with {found}"]
