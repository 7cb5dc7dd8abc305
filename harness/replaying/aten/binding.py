"""Which overload of an ATen operator a record is of, and which argument each of its tensors was.

A record has the operator's name, its tensors in the order of the arguments, and all else by the schema's names. Which
overload ran, and which optional tensors were None, follows from the schemas: a few readings may fit, likely ones first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from typing import Any

import numpy as np
import torch

#: readings of one record that are tried
MOST = 24
#: They do not read what they write in place.
OVERWRITE = frozenset({
    "bernoulli_", "cauchy_", "copy_", "exponential_", "fill_", "geometric_", "log_normal_", "normal_", "random_",
    "uniform_", "zero_",
})  # fmt: skip
#: They update running statistics in place, although their schemas do not say so.
HIDDEN = {
    "native_batch_norm": ("running_mean", "running_var"),
    "cudnn_batch_norm": ("running_mean", "running_var"),
    "miopen_batch_norm": ("running_mean", "running_var"),
}
#: The result that is a library's scratch memory, which is not recorded.
SCRATCH = {
    "mkldnn_rnn_layer": 3, "_cudnn_rnn": 3, "miopen_rnn": 3, "cudnn_batch_norm": 3, "_batch_norm_with_update": 3,
}  # fmt: skip
_ABSENT = object()


@dataclass(frozen=True)
class Parameter:
    """One argument of a schema.

    Attributes:
        name: its name.
        kind: ``tensor``, ``optional`` (a tensor or None), ``list`` (of tensors), ``optionals`` (a list of tensors or
            None), or ``plain``.
        type: the schema's type of a plain one (``List[int]``).
        default: the schema's default; ``_ABSENT`` where it has none.
        unread: whether its values before the launch are unread, and not recorded.
        written: whether it is written in place.
        keyword: whether it is given by its name alone.
    """

    name: str
    kind: str
    type: str
    default: Any
    unread: bool
    written: bool
    keyword: bool


@dataclass(frozen=True, eq=False)
class Overload:
    """One overload of an operator.

    Attributes:
        function: what is called.
        name: ``mul.Tensor``.
        parameters: its arguments.
        random: whether a generator decides on its results.
        views: whether it gives a view of its input.
    """

    function: Any
    name: str
    parameters: tuple[Parameter, ...]
    random: bool
    views: bool


@dataclass(frozen=True, eq=False)
class Reading:
    """An overload with its arguments.

    Attributes:
        overload: the overload.
        tensors: slot of the record by the name of the argument; a tuple of slots for lists, None for no tensor.
        plain: the other arguments by name.
        filled: arguments without a record and without a default.
    """

    overload: Overload
    tensors: Mapping[str, int | tuple[int | None, ...] | None]
    plain: Mapping[str, Any]
    filled: Mapping[str, Any]

    @property
    def written(self) -> tuple[int, ...]:
        """Slots of the tensors that are written in place."""
        named = {each.name for each in self.overload.parameters if each.written}
        found: list[int] = []
        for name in named & set(self.tensors):
            given = self.tensors[name]
            found += [at for at in (given if isinstance(given, tuple) else (given,)) if at is not None]
        return tuple(sorted(found))


def plain_name(operator: str) -> tuple[str, str, str]:
    """Namespace, name and overload (may be empty) of an operator's type: ``mul``, ``aten.mul``, ``aten.mul.Tensor``,
    ``mylib.scale``."""
    parts = operator.replace("::", ".").split(".")
    if len(parts) == 1:
        return "aten", parts[0], ""
    space, name = parts[0], parts[1]
    return space, name, parts[2] if len(parts) > 2 else ""


@cache
def overloads(operator: str) -> tuple[Overload, ...]:
    """The overloads of an operator, those without ``out=`` first; empty if PyTorch has none of this name."""
    space, name, wanted = plain_name(operator)
    packet = getattr(getattr(torch.ops, space, None), name, None)
    if packet is None or not hasattr(packet, "overloads"):
        return ()
    found = [_overload(getattr(packet, each), space, name) for each in packet.overloads()
             if not wanted or each == wanted]  # fmt: skip
    return tuple(sorted(found, key=lambda each: any(p.unread and p.keyword for p in each.parameters)))


def _overload(function: Any, space: str, name: str) -> Overload:
    schema = function._schema
    parameters = tuple(_parameter(argument, space, name) for argument in schema.arguments)
    views = any(each.alias_info is not None and not each.alias_info.is_write for each in schema.returns)
    return Overload(
        function, str(function).removeprefix("aten."), parameters, torch.Tag.nondeterministic_seeded in function.tags,
        views,
    )  # fmt: skip


_KINDS = {
    "Tensor": "tensor", "Optional[Tensor]": "optional", "List[Tensor]": "list", "List[Optional[Tensor]]": "optionals",
}  # fmt: skip


def _parameter(argument: Any, space: str, name: str) -> Parameter:
    hidden = HIDDEN.get(name, ()) if space == "aten" else ()
    written = argument.alias_info is not None and argument.alias_info.is_write
    unread = written and (argument.kwarg_only or (space == "aten" and name in OVERWRITE))
    default = argument.default_value if argument.has_default_value() else _ABSENT
    kind = _KINDS.get(str(argument.type), "plain")
    type_ = str(argument.real_type)
    return Parameter(argument.name, kind, type_, default, unread, written or argument.name in hidden,
                     bool(argument.kwarg_only))  # fmt: skip


def readings(operator: str, slots: Sequence[tuple[int, str]], given: Mapping[str, Any]) -> Iterator[Reading]:
    """The readings of a record, likely ones first, at most ``MOST``.

    Args:
        operator: its type.
        slots: its tensors: slot and the name of the argument, which may be empty (``indices[1]`` of a list).
        given: its other arguments, by the schema's names: Python values, arrays, or their texts.
    """
    for overload in overloads(operator):
        names = {each.name for each in overload.parameters}
        if not set(given) <= names:
            continue
        yield from islice(_of_overload(overload, slots, given), MOST)


def _of_overload(
    overload: Overload, slots: Sequence[tuple[int, str]], given: Mapping[str, Any]
) -> Iterator[Reading]:  # fmt: skip
    plain: dict[str, Any] = {}
    filled: dict[str, Any] = {}
    takers: list[Parameter] = []
    for each in overload.parameters:
        if each.name in given:
            if each.kind not in ("plain", "tensor"):
                return
            plain[each.name] = value_of(given[each.name], each.type)
        elif each.kind != "plain":
            if not each.unread:
                takers.append(each)
        elif each.default is _ABSENT and not overload.views and each.name not in _OPEN:
            if "Opt" in each.type:
                filled[each.name] = None
                continue
            if not each.type.startswith("List"):
                return
            filled[each.name] = []  # an empty list has no record
    if slots and all(name for _, name in slots):
        tensors = _by_names(takers, slots)
        if tensors is not None:
            yield Reading(overload, tensors, plain, filled)
        return
    order = [slot for slot, _ in slots]
    for counts in _counts(takers, len(order)):
        yield Reading(overload, _placed(takers, counts, order), plain, filled)


#: They are not recorded; what is tried for them is decided where the operator runs.
_OPEN = frozenset({"output_mask", "size"})


def _by_names(takers: Sequence[Parameter], slots: Sequence[tuple[int, str]]) -> dict[str, Any] | None:
    found: dict[str, Any] = {each.name: () if each.kind in ("list", "optionals") else None for each in takers}
    for slot, label in slots:
        name, bracket, rest = label.partition("[")
        if name not in found:
            return None
        if bracket:
            at = int(rest.rstrip("]") or 0)
            kept = list(found[name] or ())
            found[name] = (*kept, *[None] * (at - len(kept)), slot)
        else:
            found[name] = slot
    lacking = any(each.kind == "tensor" and found[each.name] is None for each in takers)
    return None if lacking else found


def _counts(takers: Sequence[Parameter], number: int) -> Iterator[tuple[int, ...]]:
    """How many tensors each argument may have taken."""
    lists = [each for each in takers if each.kind in ("list", "optionals")]
    # Beside lists (of parameters, of moments), optional tensors are seldom given.
    either = (0, 1) if len(lists) > 1 else (1, 0)
    single = [(1,) if each.kind == "tensor" else either for each in takers if each not in lists]
    for chosen in product(*single):
        rest = number - sum(chosen)
        if rest < 0 or (rest and not lists):
            continue
        for shares in _shares(len(lists), rest):
            ones, many = iter(chosen), iter(shares)
            yield tuple(next(many) if each in lists else next(ones) for each in takers)


def _shares(lists: int, number: int) -> Iterator[tuple[int, ...]]:
    """How tensors are shared among lists: equally, some of the lists being empty; then in any way, if two share."""
    if lists == 0:
        if number == 0:
            yield ()
        return
    if lists == 1:
        yield (number,)
        return
    for used in sorted(product((1, 0), repeat=lists), key=lambda u: (-sum(u), tuple(1 - x for x in u))):
        count = sum(used)
        if (count and number % count == 0 and number >= count) or (count == 0 and number == 0):
            yield tuple((number // count if count else 0) * each for each in used)
    if lists == 2:
        yield from ((first, number - first) for first in range(1, number) if first * 2 != number)


def _placed(takers: Sequence[Parameter], counts: Sequence[int], order: Sequence[int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    for each, count in zip(takers, counts, strict=True):
        taken = tuple(order[at : at + count])
        at += count
        found[each.name] = taken if each.kind in ("list", "optionals") else taken[0] if taken else None
    return found


def numbers(operator: str, listed: Sequence[str], count: int, tensors: int) -> tuple[str, ...] | None:
    """The names of numbers that records keep without names, see ``Replayer.numbers``; those of the first overload that
    takes so many: numbers in the place of tensors first, then those without a default, then all."""
    for overload in overloads(operator):
        if not set(listed) <= {each.name for each in overload.parameters}:
            continue
        places = [each.name for each in overload.parameters if each.kind == "tensor" and not each.unread]
        instead = places[tensors:] if not _has_more(overload) else []
        plain = [each for each in overload.parameters if each.kind == "plain" and each.name not in listed
                 and ("float" in each.type or "number" in each.type or "Scalar" in each.type)]  # fmt: skip
        for some in ([each.name for each in plain if each.default is _ABSENT], [each.name for each in plain]):
            if len(instead) + len(some) == count:
                return (*instead, *some)
    return None


def _has_more(overload: Overload) -> bool:
    """Whether it takes lists of tensors, or tensors that may be None."""
    return any(each.kind in ("list", "optional", "optionals") for each in overload.parameters)


def value_of(given: Any, type_: str = "") -> Any:
    """An argument as PyTorch takes it, from its record: an array of numbers, or a text (``True``, ``[1, 2]``,
    ``torch.float32``).

    Args:
        type_: the schema's type, which tells texts from what they spell.
    """
    if isinstance(given, np.ndarray):
        value = given.tolist()
        return value if given.ndim == 0 or "List" in type_ or given.size != 1 else given.item()
    if not isinstance(given, str):
        return given
    if type_ in ("str", "Optional[str]"):
        return given
    if given.startswith("torch."):
        return getattr(torch, given[len("torch.") :], given)
    try:
        value = ast.literal_eval(given)
    except (ValueError, SyntaxError):
        return given
    if isinstance(value, list):
        return [value_of(each) if isinstance(each, str) else each for each in value]
    return value
