"""Which tensors of the golden a test is run again with, whether all that follows holds then, and what that proves.

A graft proves where a difference begins, also where no operator can be run again: the run goes on with the golden's
tensor in the suspect's place, and everything else is compared as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.compare.divergence import Execution
from harness.compare.first_divergence import first_divergence
from harness.compare.policy import Judgement
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.claim import Check
from harness.explain.evidence import Array, Evidence, loaded
from harness.explain.explanation import Cause, Certainty, Explanation
from harness.explain.numbers import short_operator
from harness.explain.optimizers import SETTING
from harness.records import SlotKey
from harness.words import counted

#: kind of a cause that a graft proves
KIND = "origin"
#: causes that say which values differ, but not where that begins
_VALUES = frozenset({"data", "input", "parameter"})
_LONE = (Verdict.MISSING, Verdict.UNEXPECTED)
_BACKWARD = "Gradients/"
#: so many types are named of several places
_NAMED = 4


@dataclass(frozen=True)
class Grafts:
    """Tensors of the golden for slots of the run.

    Attributes:
        places: the golden's slot, by the run's.
        suspects: executions, as the golden names them (one that the run alone has: as the run does), whose own
            arguments may differ, and which one side alone may have.
        kinds: types, user's lines and scopes of the suspects.
    """

    places: Mapping[SlotKey, SlotKey] = field(default_factory=dict)
    suspects: frozenset[Execution] = frozenset()
    kinds: frozenset[str] = frozenset()

    def values(self, golden: Evidence) -> dict[SlotKey, Array] | None:
        """The golden's tensors by the run's slots; None if it kept no values of one."""
        found = {own: loaded(golden.by_key.get(wanted)) for own, wanted in self.places.items()}
        known = {own: values for own, values in found.items() if values is not None}
        return known if known and len(known) == len(found) else None

    def and_(self, other: Grafts) -> Grafts:
        """Both together."""
        return Grafts(
            {**self.places, **other.places}, self.suspects | other.suspects, self.kinds | other.kinds
        )  # fmt: skip


def proposed(comparison: Comparison, asked: str = "") -> Grafts | None:
    """The grafts that may show that what differs begins where it first differs.

    Args:
        comparison: of a run that does not hold.
        asked: ``OPERATOR`` or ``OPERATOR:output.0`` of the run or the golden instead.

    Returns:
        None if there is no place that both sides have.
    """
    slots = list(comparison.slots)
    if asked:
        operator, _, slot = asked.partition(":")
        chosen = [each for each in slots if operator in (each.key.operator, _own(each).operator)
                  and (each.key.slot_name == slot if slot else each.key.io == "output")]  # fmt: skip
        return _of([each for each in chosen if not _is_argument(each, comparison)], chosen)
    origin = first_divergence(comparison)
    if origin is not None and origin.slot.op_type == SETTING:
        return _behind_settings(comparison)
    if origin is None or origin.where.rank:
        return None
    there = [each for each in slots if _at(each) == origin.where]
    lone = [each for each in there if each.verdict in _LONE]
    given = [each for each in there if _is_tensor(each, comparison) and each.verdict is Verdict.DIFFERS]
    if lone or origin.kind.structural:
        # What one side alone has is left out of the flow where the next operator takes what it gave.
        changed = [each for each in there if each.key.io == "output" and each.verdict is Verdict.DIFFERS]
        return _of(changed or _taken_next(comparison, origin.where), there)
    return _of(given, there) if given else _of(_family(slots, there), there)


def _behind_settings(comparison: Comparison) -> Grafts | None:
    """The grafts where settings differ, which compute nothing: those of the first operator that differs."""
    mine = [each for each in comparison.slots if each.op_type == SETTING and not each.verdict.holds]
    rest = replace(comparison, slots=[each for each in comparison.slots if each.op_type != SETTING])
    behind = proposed(rest)
    return behind and replace(behind, suspects=behind.suspects | {_at(each) for each in mine})


def lacks_proof(explanation: Explanation) -> bool:
    """Whether nothing shows yet where the difference begins."""
    cause = explanation.cause
    return cause is None or not cause.certainty.proven or cause.kind in _VALUES


def rest(judged: Judgement, grafts: Grafts) -> Comparison | None:
    """What does not hold of a run with grafts, apart from the suspects' own arguments; None if all does."""
    comparison = judged.comparison
    left = [each for each in comparison.slots if not _excused(each, grafts, comparison)]
    names = {where.operator for where in grafts.suspects}
    altered = [each for each in comparison.altered if each.operator not in names]
    smaller = replace(comparison, slots=left, altered=altered)
    # The counts of a comparison are made once; these are of what is left.
    holds = all(each.verdict.holds for each in left) and not altered and comparison.order is None
    return None if holds and judged.texts_hold is not False and not comparison.unnamed else smaller


def further(comparison: Comparison, grafts: Grafts) -> Grafts | None:
    """More grafts of the suspects' kind, for what still differs; None if that begins elsewhere."""
    more = proposed(comparison)
    if more is None or not (more.kinds & grafts.kinds) or not set(more.places) - set(grafts.places):
        return None
    return grafts.and_(more)


def proven(explanation: Explanation, grafts: Grafts) -> Explanation:
    """An explanation whose origin a graft proved. A cause that is proven already stays: it says more."""
    text = f"{told(grafts)}: with the golden's instead all that follows holds"
    if not lacks_proof(explanation):
        return replace(explanation, others=(f"Proven by graft, too: {text}", *explanation.others))
    source = explanation.origin.source if explanation.origin is not None else None
    places = [f"{own.iteration}:{own.operator}:{own.slot_name}" for own in grafts.places]
    check = Check("graft", {"places": places}, True, len(places), len(places))
    before = explanation.cause
    if before is not None and _says_more(before, explanation, grafts):
        text = f"{before.text}; {text}"
        return replace(explanation, cause=replace(before, certainty=Certainty.GRAFT, text=text, check=check))
    known = [f"{before.certainty.value.capitalize()}: {before.text}"] if before is not None else []
    cause = Cause(Certainty.GRAFT, KIND, text, source=source, check=check)
    return replace(explanation, cause=cause, others=(*known, *explanation.others))


def _says_more(cause: Cause, explanation: Explanation, grafts: Grafts) -> bool:
    """Whether a cause names the weight, the data or the setting that differs: a graft shows that no other does."""
    if not cause.certainty.proven:
        origin = explanation.origin
        return (
            cause.kind == "attribute"
            and origin is not None
            and origin.operator in {s.operator for s in grafts.suspects}
        )
    return any(not each.name.startswith("input.") for each in cause.changes)


def refuted(explanation: Explanation, grafts: Grafts, left: Comparison) -> Explanation:
    """An explanation that says what still differs with the golden's tensors."""
    origin = first_divergence(left)
    where = f" at iteration {origin.where.iteration}, {short_operator(origin.where.operator)}" if origin else ""
    line = f"With the golden's tensors in {told(grafts)} the run still leaves the golden{where}"
    return replace(explanation, others=(line, *explanation.others))


def without(explanation: Explanation, why: str) -> Explanation:
    """An explanation that says why the test was not run again."""
    return replace(explanation, others=(*explanation.others, f"Not run again with the golden's tensors: {why}"))


def told(grafts: Grafts) -> str:
    """The places in words: ``output.0 of emb/mylib.scale-op0 and 3 more places``."""
    first = next(iter(grafts.places))
    more = len(grafts.places) - 1
    name = f"{first.slot_name} of {short_operator(first.operator)}"
    step = f" in iteration {first.iteration}" if first.iteration else ""
    types = list(dict.fromkeys(_type(each.operator) for each in grafts.places))
    of = f" of {', '.join(types[:_NAMED])}{', ...' if len(types) > _NAMED else ''}" if len(types) > 1 else ""
    return f"{name}{step}" + (f" and {counted(more, 'more place')}{of}" if more else "")


def _of(chosen: Sequence[SlotVerdict], around: Sequence[SlotVerdict]) -> Grafts | None:
    """Grafts of slots that both sides have; ``around`` are the slots of the origin."""
    both = [each for each in chosen if each.verdict not in _LONE and each.format != ARGUMENT_FORMAT]
    if not both:
        return None
    every = [*both, *around]
    kinds = {each.op_type for each in every} | {_scope(each.key.operator) for each in every}
    kinds |= {each.source for each in every if each.source}
    return Grafts(
        {_own(each): each.key for each in both}, frozenset(map(_at, every)), frozenset(kinds)
    )  # fmt: skip


def _family(slots: Sequence[SlotVerdict], there: Sequence[SlotVerdict]) -> list[SlotVerdict]:
    """What the operators of the origin's type and line gave, wherever it is not the golden's."""
    op, source = there[0].op_type, next((each.source for each in there if each.source), None)
    scope = _scope(there[0].key.operator)
    return [each for each in slots if each.op_type == op and each.key.io == "output" and not each.overwritten
            and (each.source == source if source else _scope(each.key.operator) == scope)
            and each.verdict is not Verdict.IDENTICAL]  # fmt: skip


def _taken_next(comparison: Comparison, where: Execution) -> list[SlotVerdict]:
    """The differing inputs of the next operator that both sides have."""
    reached = False
    taken: list[SlotVerdict] = []
    for each in comparison.slots:
        at = _at(each)
        reached = reached or at == where
        if taken and at != _at(taken[0]):
            break
        if reached and at != where and _is_tensor(each, comparison) and each.verdict is Verdict.DIFFERS:
            taken.append(each)
    return taken


def _excused(slot: SlotVerdict, grafts: Grafts, comparison: Comparison) -> bool:
    """Whether a slot is a suspect's own: an argument, or one that a single side has."""
    if slot.verdict in _LONE:
        where = _at(slot)
        return where in grafts.suspects or bool({slot.source or "", _scope(where.operator)} & grafts.kinds)
    return _at(slot) in grafts.suspects and _is_argument(slot, comparison)


def _is_argument(slot: SlotVerdict, comparison: Comparison) -> bool:
    """Whether a slot is an argument that is no tensor, or a constant."""
    if slot.format == ARGUMENT_FORMAT:
        return True
    where = slot.key
    operator = comparison.described[0]().get((where.rank, where.graph, where.operator)) if where.io == "input" else None
    return operator is not None and where.slot < len(operator.inputs) and operator.inputs[where.slot].kind == "constant"


def _is_tensor(slot: SlotVerdict, comparison: Comparison) -> bool:
    return slot.key.io == "input" and not slot.overwritten and not _is_argument(slot, comparison)


def _at(slot: SlotVerdict) -> Execution:
    return Execution(*slot.key[:5])


def _own(slot: SlotVerdict) -> SlotKey:
    """The slot as the run names it."""
    return slot.found_as or slot.key


def _type(operator: str) -> str:
    return operator.rpartition("/")[2].rpartition("-op")[0]


def _scope(operator: str) -> str:
    """The module of an operator, or of the operator whose gradient it computes."""
    return operator.removeprefix(_BACKWARD).rpartition("/")[0] or "Default"
