"""The texts that say which calls a dump in msprobe's layout holds, in their order, and what it states beside values:
what ``StepRecords.stated`` writes, read again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from harness.capture.capture import COMPARED
from harness.records import SlotKey

_NAME = re.compile(rf"{COMPARED}stated\w*_rank_(\d{{1,9}})_step_(\d{{1,9}})$")
_SLOT = re.compile(r"(.*)\.(input|output)\.(\d{1,9}) (.*)", re.DOTALL)
_CALLER = " in "


class Call(NamedTuple):
    """What a text says of a call.

    Attributes:
        name: of its entry.
        caller: the module or cell that called it; empty if nobody says.
        facts: what is stated of it, a line each, without its name.
    """

    name: str
    caller: str
    facts: tuple[str, ...]


class CallChange(NamedTuple):
    """The first call that two texts do not state alike.

    Attributes:
        key: a slot of it, or its first output where no slot tells.
        what: ``removed``, ``inserted``, ``moved``; or what is stated otherwise.
        reason: both sides, in words.
        before: the call before it, which both sides have; empty if it is the first.
        at: how many calls stand before it on either side.
        calls: the place of each call, by its name, on either side.
    """

    key: SlotKey
    what: str
    reason: str
    before: str
    at: int
    calls: tuple[Mapping[str, int], Mapping[str, int]]

    def precedes(self, operator: str) -> bool:
        """Whether it comes before the call that has ``operator``, in the same step of the same rank."""
        for side, calls in enumerate(self.calls):
            name = operator
            while name and name not in calls:
                name = name.rpartition(".")[0]  # ``.parameters.weight`` follows the name of its call
            if name:
                # A further call stands before the golden's call of its place.
                return name != self.key.operator and self.at < calls[name] + (self.what == "inserted" and not side)
        return True


def place_of(name: str) -> tuple[int, int] | None:
    """Step and rank that a text of this name is of; None for other texts."""
    found = _NAME.fullmatch(name)
    return None if found is None else (int(found[2]), int(found[1]))


def calls_of(text: bytes) -> list[Call]:
    """The calls of a text, in their order."""
    found: list[Call] = []
    for line in text.decode("utf-8", "surrogatepass").split("\n")[:-1]:
        last = found[-1].name if found else None
        if last is not None and (line.startswith(f"{last} is_nan=") or _belongs(line, last)):
            call = found[-1]
            found[-1] = call._replace(facts=(*call.facts, line[len(call.name) :]))
        else:
            name, _, caller = line.partition(_CALLER)
            found.append(Call(name, caller, ()))
    return found


def _belongs(line: str, call: str) -> bool:
    """Whether a line states something of a slot of a call."""
    return line.startswith(f"{call}.") and _SLOT.fullmatch(line) is not None


def first_change(name: str, expected: bytes, found: bytes) -> CallChange | None:
    """The first call of a step that both sides do not state alike; None if there is none, or for other texts."""
    place = place_of(name)
    sides = calls_of(expected), calls_of(found)
    places = tuple({call.name: at for at, call in enumerate(side)} for side in sides)
    if place is None:
        return None
    step, rank = place

    def made(at: int, call: str, what: str, reason: str, io: str = "output", slot: int = 0) -> CallChange:
        key = SlotKey(rank, 0, step, call, 0, io, slot)
        before = sides[0][at - 1].name if at else ""
        return CallChange(key, what, reason, before, at, (places[0], places[1]))

    for at, (one, other) in enumerate(zip(*sides, strict=False)):
        if one == other:
            continue
        if one.name != other.name:
            if one.name not in places[1]:
                return made(at, one.name, "removed", "only the golden has this call")
            if other.name not in places[0]:
                return made(at, other.name, "inserted", "only the run has this call")
            return made(at, one.name, "moved", f"the run calls {other.name} here")
        if one.caller != other.caller:
            callers = f"expected {_side(one.caller)}, found {_side(other.caller)}"
            return made(at, one.name, "called by another", callers)
        return made(at, one.name, *_fact(one, other))
    at = min(map(len, sides))
    if len(sides[0]) == len(sides[1]):
        return None
    longer = len(sides[1]) > at
    words = ("inserted", "only the run has this call") if longer else ("removed", "only the golden has this call")
    return made(at, sides[longer][at].name, *words)


def _side(text: str) -> str:
    return text or "nothing"


def _fact(one: Call, other: Call) -> tuple[str, str, str, int]:
    """What is stated otherwise, both sides in words, and the slot."""
    lines = [*dict.fromkeys((*one.facts, *other.facts))]
    line = next(each for each in lines if (each in one.facts) != (each in other.facts))
    slot = _SLOT.fullmatch(line)
    if slot is None:
        both = [next((each.strip() for each in call.facts if " is_nan=" in each), "") for call in (one, other)]
        return "what is stated of it", f"expected {_side(both[0])}, found {_side(both[1])}", "output", 0
    lead = line[: -len(slot[4])]
    both = [next((each[len(lead) :] for each in call.facts if each.startswith(lead)), "") for call in (one, other)]
    what = f"{slot[1].lstrip('.')}{'.' if slot[1] else ''}{slot[2]}.{slot[3]}"
    return f"what is stated of {what}", f"expected {_side(both[0])}, found {_side(both[1])}", slot[2], int(slot[3])
