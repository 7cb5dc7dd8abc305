"""The parts of an operator, by what its slots are: one answer for all operators that are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.compare.pairing.kinds import PARAMETER_KIND, UPDATE_KIND, VALUE_KIND, Part, kind_of, parts_of
from harness.compare.pairing.scopes import type_of
from harness.compare.pairing.slots import Form

_DERIVES_ITSELF = "SparseSoftmaxCrossEntropyWithLogits"

#: The places of slots in their operator's list, with their ports.
Ported = tuple[tuple[int, str], ...]
#: Number of elements of each output of a part, by port.
Counts = tuple[tuple[str, int], ...]


@dataclass(eq=False, slots=True)
class PartForm:
    """A part of operators that are alike.

    Attributes:
        kind, link: see ``kinds.Part``.
        forms: of all slots of the operator.
        inputs, outputs: its slots.
        counts: number of elements of each output.
    """

    kind: str
    link: str
    forms: Sequence[Form]
    inputs: Ported
    outputs: Ported
    counts: Counts


#: The part that stands for a value that no operator made.
VALUE_FORM = PartForm(VALUE_KIND, "", (), (), (), ())


class OperatorForm(NamedTuple):
    """What operators are that have slots of the same forms.

    Attributes:
        op_type: their type; the last one's within a fused kernel.
        last: the name of that; empty if they are not fused.
        is_parameter: whether they are parameters.
        in_place: whether their type may be an update of a parameter.
        parts: their parts.
        rest: outputs that no part gives.
    """

    op_type: str
    last: str
    is_parameter: bool
    in_place: bool
    parts: tuple[PartForm, ...]
    rest: Ported


def form_of(forms: Sequence[Form], updates: bool) -> OperatorForm:
    """What operators with slots of these forms are.

    Args:
        forms: what is known of their slots.
        updates: whether one of the outputs is kept as a parameter.
    """
    places = sorted(range(len(forms)), key=lambda place: (forms[place].io, forms[place].slot))
    first = forms[places[0]]
    op_type, last = first.op_type, ""
    inputs, outputs = ([place for place in places if forms[place].io == io] for io in ("input", "output"))
    if first.is_parameter:
        inputs = []
        parts: tuple[Part, ...] = (Part(PARAMETER_KIND, {}, {forms[place].slot: "y" for place in outputs}),)
    else:
        if first.members:
            last, inputs = first.members[-1], []
            op_type = type_of(last)
        parts = _parts(op_type, [forms[place] for place in inputs], [forms[place] for place in outputs], updates)
    made = tuple(_part(part, forms, inputs, outputs) for part in parts)
    given = {place for part in made for place, _ in part.outputs}
    rest = tuple((place, str(forms[place].slot)) for place in outputs if place not in given)
    return OperatorForm(op_type, last, first.is_parameter, op_type.endswith("_"), made, rest)


def _part(part: Part, forms: Sequence[Form], inputs: Sequence[int], outputs: Sequence[int]) -> PartForm:
    taken, given = (
        tuple((place, ports[forms[place].slot]) for place in places if forms[place].slot in ports)
        for places, ports in ((inputs, part.inputs), (outputs, part.outputs))
    )
    counts = tuple(sorted((port, forms[place].elements) for place, port in given))
    return PartForm(part.kind, part.link, forms, taken, given, counts)


def _parts(op_type: str, inputs: Sequence[Form], outputs: Sequence[Form], updates: bool) -> tuple[Part, ...]:
    if op_type == "convolution_backward":
        return _convolution_backward({form.slot: form for form in inputs}, outputs)
    if op_type.endswith("_") and updates:
        return (Part(UPDATE_KIND, {form.slot: "x" for form in inputs if form.slot}, {0: "weight"}),)
    shapes = [form.shape for form in (*inputs[:1], *outputs[:1])]
    differentiates = op_type == _DERIVES_ITSELF and len(shapes) == 2 and shapes[0] == shapes[1]
    parts = parts_of(op_type, len(inputs), differentiates)
    if parts is not None:
        return parts
    mine, given = ({form.slot: str(form.slot) for form in side} for side in (inputs, outputs))
    return (Part(kind_of(op_type), mine, given),)


def _convolution_backward(inputs: Mapping[int, Form], outputs: Sequence[Form]) -> tuple[Part, ...]:
    """PyTorch gives the gradients of input, weight and bias, and omits those that were not requested."""
    parts: list[Part] = []
    kinds = (("convolution_grad_x", {0: "dy", 2: "w"}, "dx", 1), ("convolution_grad_w", {0: "dy", 1: "x"}, "dw", 2))
    at = 0
    for kind, ports, given, like in kinds:
        if at < len(outputs) and like in inputs and outputs[at].shape == inputs[like].shape:
            parts.append(Part(kind, ports, {at: given}))
            at += 1
    return (*parts, Part("sum", {0: "x"}, {at: "y"}))
