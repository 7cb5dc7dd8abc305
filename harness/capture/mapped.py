"""Which entries of two dumps in msprobe's layout stand for one another: by mapping files, and by what is called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.capture.mapping_files import Names, slot_of
from harness.compare.pairing.kinds import kind_of, parts_of
from harness.records import Record, SlotKey

_MODULES = ("Cell", "Module")
_STATES = ("forward", "backward", "parameters_grad")


class Entry(NamedTuple):
    """An entry's name taken apart.

    Attributes:
        name: whole.
        path: of a module (``layers.0.fc``), of a function its caller's; empty outside of all.
        kind: class of a module, or type of a function.
        function: prefix and name of a function (``Functional.softmax``); empty for a module.
        state: ``forward``, ``backward`` or ``parameters_grad``.
        number: of the call.
        rest: behind the entry's own name (``.parameters.weight``).
    """

    name: str
    path: str
    kind: str
    function: str
    state: str
    number: str
    rest: str = ""


def entry_of(name: str, parents: Mapping[str, str | None] = {}) -> Entry | None:
    """An entry's name taken apart; None if msprobe has no such name."""
    words = name.split(".")
    if words[0] in _MODULES:
        for at in range(len(words) - 2, 1, -1):
            if words[at] in _STATES and words[at + 1].isdecimal():
                path, rest = ".".join(words[1 : at - 1]), "".join(f".{word}" for word in words[at + 2 :])
                return Entry(name, path, words[at - 1], "", words[at], words[at + 1], rest)
        return None
    if len(words) < 4 or words[-1] not in _STATES or not words[-2].isdecimal():
        return None
    parent = parents.get(name)
    caller = entry_of(parent) if parent else None
    path = caller.path if caller is not None else ""
    return Entry(name, path, words[-3], ".".join(words[:-2]), words[-1], words[-2])


@dataclass(frozen=True)
class Renaming:
    """How slots of one side are called on the other.

    Attributes:
        operators: entry -> entry.
        positions: entry, io, position -> position, where a mapping says so.
        slots: single tensors.
    """

    operators: Mapping[str, str]
    positions: Mapping[tuple[str, str, int], int]
    slots: Mapping[tuple[str, str, str], tuple[str, str, str]]

    @property
    def inverse(self) -> Renaming:
        """The same, seen from the other side."""
        return Renaming(
            {other: one for one, other in self.operators.items()},
            {(self.operators[e], io, to): at for (e, io, at), to in self.positions.items() if e in self.operators},
            {other: one for one, other in self.slots.items()},
        )

    def key(self, record: Record) -> SlotKey:
        """A record's key under the other side's name."""
        key = record.key
        for place in (str(key.slot), record.extra.named or ""):
            known = self.slots.get((key.operator, key.io, place))
            if known is not None and known[2].isdecimal():
                return key._replace(operator=known[0], io=known[1], slot=int(known[2]))
        slot = self.positions.get((key.operator, key.io, key.slot), key.slot)
        return key._replace(operator=self.operators.get(key.operator, key.operator), slot=slot)


#: The position of each keyword argument, by entry and name.
Keywords = Mapping[tuple[str, str], int]


def renaming(
    names: Names,
    one: Sequence[Entry],
    other: Sequence[Entry],
    keywords: tuple[Keywords, Keywords] = ({}, {}),
) -> Renaming:
    """How the entries of the side that the mapping files speak of are called on the other side.

    Layers, cells and functions are renamed as the files say; a module may have another class. What is called within a
    layer, and has no name in a file, stands for what is called within the other side's layer: of one kind, in order.

    Args:
        one: entries of the side whose names the files begin with.
        keywords: keyword arguments of both sides.
    """
    found: dict[str, str] = {}
    positions: dict[tuple[str, str, int], int] = {}
    there = {each.name: each for each in other}
    kinds = {each.path: each.kind for each in one if not each.function}
    modules = {(each.path, each.state, each.number, each.rest): each for each in other if not each.function}
    for each in one:
        if each.function:
            rule = next((r for r in _rules(each.function) if r in names.functions), "")
            if rule and (wanted := names.functions[rule][0] + each.name[len(rule) :]) in there:
                found[each.name] = wanted
                for (io, mine), its in names.functions[rule][1].items():
                    at = keywords[0].get((each.name, mine)) if isinstance(mine, str) else mine
                    to = keywords[1].get((wanted, its)) if isinstance(its, str) else its
                    if at is not None and to is not None:
                        positions[each.name, io, at] = to
            continue
        path, kind = renamed_path(names, each.path, kinds), each.kind
        cell = _cell(names, f"{each.path}.{each.kind}" if each.path else each.kind)
        if cell is not None:
            path, _, kind = cell.rpartition(".")
        match = modules.get((path, each.state, each.number, each.rest))
        if match is not None and (cell is None or match.kind == kind):
            found[each.name] = match.name
    _pair_calls(names, one, other, found, kinds)
    slots = {here: its_ for a, b in names.slots.items() if (here := slot_of(a)) and (its_ := slot_of(b))}
    return Renaming(found, positions, slots)


def _rules(function: str) -> tuple[str, str]:
    """What a rule may call a function: its whole name, or the first two words of it."""
    return function, ".".join(function.split(".")[:2])


def _cell(names: Names, cell: str) -> str | None:
    """A cell with its class under the other side's name: by its whole name, else by parts of it; None for no rule."""
    if cell in names.cells:
        return names.cells[cell]
    made = cell
    for part, other in names.cells.items():
        if part in made:
            made = made.replace(part, other, 1)
    return made if made != cell else None


def renamed_path(names: Names, path: str, kinds: Mapping[str, str]) -> str:
    """A path of modules under the other side's names, from the outside in; the longest rule counts.

    Args:
        kinds: class of each module, by its path.
    """
    words, made, at, outer = path.split(".") if path else [], [], 0, ""
    while at < len(words):
        rules = names.layers.get(kinds.get(outer, "") if outer else "", {})
        known = [rule for rule in rules if words[at : at + rule.count(".") + 1] == rule.split(".")]
        rule = max(known, key=len, default="")
        step = rule.count(".") + 1 if rule else 1
        made.append(rules[rule] if rule else words[at])
        outer = ".".join(words[: at + step])
        at += step
    return ".".join(word for word in made if word)


def _pair_calls(
    names: Names, one: Iterable[Entry], other: Iterable[Entry], found: dict[str, str], kinds: Mapping[str, str]
) -> None:
    """Pairs the functions that are called within one layer: of one kind, in order."""
    taken = set(found.values())
    waiting: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for each in other:
        if each.function and each.name not in taken:
            waiting[each.path, each.state, same_kind(each.kind)].append(each.name)
    for each in one:
        if each.function and each.name not in found:
            here = waiting[renamed_path(names, each.path, kinds), each.state, same_kind(each.kind)]
            if here:
                found[each.name] = here.pop(0)


def same_kind(op_type: str) -> str:
    """What types have in common that do the same: the kinds of their parts, or their name."""
    plain = op_type.strip("_")
    parts = parts_of(op_type, 3, False) or parts_of(plain, 3, False)
    return " ".join(part.kind for part in parts) if parts else kind_of(plain)


def spoken_of(names: Names, entries: Sequence[Entry]) -> int:
    """How many rules of mapping files name something of a side."""
    known, functions = {each.name for each in entries}, {r for each in entries for r in _rules(each.function)}
    cells = {f"{each.path}.{each.kind}" for each in entries if not each.function}
    words = [each.path.split(".") for each in entries if not each.function]
    layers = [rule.split(".") for rules in names.layers.values() for rule in rules]
    held = sum(any(_within(rule, path) for path in words) for rule in layers)
    slots = sum((slot := slot_of(name)) is not None and slot[0] in known for name in names.slots)
    parts = sum(any(part in cell for cell in cells) for part in names.cells)
    return held + slots + len(functions & names.functions.keys()) + parts


def _within(rule: list[str], path: list[str]) -> bool:
    return any(path[at : at + len(rule)] == rule for at in range(len(path) - len(rule) + 1))


def rules_of(names: Names) -> int:
    """How many rules mapping files have."""
    layers = sum(len(rules) for rules in names.layers.values())
    return layers + len(names.functions) + len(names.cells) + len(names.slots)
