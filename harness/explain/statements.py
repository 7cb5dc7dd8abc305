"""One operator of a graph and its arguments, whatever told of it: a ``.ir`` text, or a capture's own operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from harness.explain.names import input_name
from harness.explain.pair import is_bitwise
from harness.recording.described import UNKNOWN_EDGE, Described, Edge
from harness.recording.replayer import Facts
from harness.replaying import is_mindspore

Form = Literal["tensor", "tuple", "number"]
#: attributes that only name
NAMES = frozenset({"input_names", "output_names"})
#: attributes of MindSpore's that only name or annotate, without effect on the computation
SILENT = frozenset(
    {
        "input_names", "output_names", "side_effect_mem", "side_effect_io", "IsFeatureMapOutput", "primitive_target",
        "IsFeatureMapInputList", "visited", "dyn_input_sizes", "N", "n", "num", "primal_id", "forward_unique_id",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Argument:
    """One argument of an operator.

    Attributes:
        name: its name (``epsilon``), or ``input.6`` if unknown.
        form: whether it is a tensor, a tuple of numbers, or one number (or text).
        producer: name and output of the operator that made it, if one did.
        parameter: name of the parameter it is, if it is one.
        value: value of a constant, see ``ir_values.value``.
        is_constant: whether it is a constant.
        is_data: whether it is a graph parameter that holds no weight.
        is_monad: whether it only orders operators and has no value.
    """

    name: str
    form: Form = "tensor"
    producer: tuple[str, int] | None = None
    parameter: str | None = None
    value: Any = None
    is_constant: bool = False
    is_monad: bool = False
    is_data: bool = False


@dataclass(frozen=True, eq=False)
class Statement:
    """One operator in a graph.

    Attributes:
        name: full name, as in records.
        op: primitive name.
        arguments: its arguments, in the order of slots.
        attrs: its attributes except the ``SILENT`` ones.
        is_users: whether the user's own line calls it, not a layer's.
        know: gives what a replayer knows of an operator.
        told: the operator as the engine described it; None of one that was read from a text.
    """

    name: str
    op: str
    arguments: tuple[Argument, ...]
    attrs: Mapping[str, Any]
    is_users: bool = False
    know: Callable[[Described], Facts | None] = lambda _operator: None
    told: Described | None = None

    @cached_property
    def facts(self) -> Facts | None:
        """What is known of the operator; None if it cannot be computed again."""
        return self.know(self.described)

    @property
    def mutates(self) -> tuple[int, ...]:
        """Slots of the inputs that it updates, as far as that is known."""
        if self.told is not None and self.told.mutates is not None:
            return self.told.mutates
        return self.facts.mutates if self.facts is not None else ()

    @cached_property
    def described(self) -> Described:
        """The operator as a replayer takes it: without arguments that only order operators."""
        if self.told is not None:
            return replace(self.told, type=self.op)
        edges = tuple(_edge(argument, at) for at, argument in enumerate(self.arguments) if not argument.is_monad)
        return Described(self.name, self.op, attributes=self.attrs, inputs=edges)


def _edge(argument: Argument, slot: int) -> Edge:
    if argument.is_constant:
        return Edge("constant", value=argument.value)
    if argument.producer is not None:
        return Edge("result", *argument.producer)
    if argument.parameter is not None:
        return Edge("argument", argument.parameter, slot) if argument.is_data else Edge("parameter", argument.parameter)
    return UNKNOWN_EDGE


def stated(
    operator: Described, engine: str, is_users: bool, form_of: Callable[[Edge], Form],
    know: Callable[[Described], Facts | None],
) -> Statement:  # fmt: skip
    """The statement of an operator that its engine described.

    Args:
        engine: name of the engine: MindSpore's names of inputs are for its own operators.
        is_users: whether the user's own line calls it.
        form_of: the form of what an edge brings.
        know: see ``Statement``.
    """
    own = is_mindspore(engine)
    given = operator.attributes.get("input_names") if own else None
    names = tuple(map(str, given)) if isinstance(given, (list, tuple)) else ()
    arguments = []
    for slot, edge in enumerate(operator.inputs):
        label = input_name(operator.type, slot, names) if own else given_name(operator.names, slot)
        arguments.append(_argument(label, edge, form_of(edge)))
    attrs = {name: each for name, each in operator.attributes.items() if not (own and name in SILENT)}
    return Statement(operator.name, operator.type, tuple(arguments), attrs, is_users, know, operator)


def given_name(names: Sequence[str], slot: int) -> str:
    """The name that an engine gives an input; ``input.N`` where it gives none."""
    return (names[slot] if slot < len(names) else "") or f"input.{slot}"


def _argument(name: str, edge: Edge, form: Form) -> Argument:
    if edge.kind == "result":
        return Argument(name, form, (edge.name, edge.slot))
    if edge.kind in ("parameter", "argument"):
        return Argument(name, form, parameter=edge.name, is_data=edge.kind == "argument")
    return Argument(name, form, value=edge.value, is_constant=edge.kind == "constant")


def form_of_value(value: Any) -> Form:
    """The form of a constant."""
    return "tensor" if isinstance(value, np.ndarray) else "tuple" if isinstance(value, (list, tuple)) else "number"


def differing_attributes(expected: Statement, found: Statement) -> list[tuple[str, Any, Any]]:
    """The differing attributes in order; a missing one has the value ``...``."""
    names = dict.fromkeys([*expected.attrs, *found.attrs])
    pairs = ((name, expected.attrs.get(name, ...), found.attrs.get(name, ...)) for name in names)
    return [(name, one, other) for name, one, other in pairs if not same(one, other)]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; texts regardless of case, because releases write ``same`` and ``SAME``."""
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and is_bitwise(one, other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return type(one) is type(other) and bool(one == other or (one != one and other != other))
