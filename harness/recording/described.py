"""An operator as captures and golden stores keep it: names and plain values, no live objects.

A ``recording.Operator`` belongs to a running program: its edges are other operators, its graph grows. What a capture
keeps of it is this: it can be pickled, stored and compared, and says of each input where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from harness.errors import RecordingError
from harness.recording.operands import Constant, Parameter, SourceLine
from harness.recording.operator import Operand, Operator, Result
from harness.recording.spec import IOMONAD, UMONAD, ScalarSpec, Spec, TensorSpec

Kind = Literal["result", "parameter", "argument", "constant", "unknown"]
"""What an input is: another operator's result, a weight or state, data that came from outside, a constant; or nobody
knows."""


class Edge(NamedTuple):
    """Where an input of an operator comes from.

    Attributes:
        kind: see ``Kind``.
        name: of the operator that made it, or of the parameter or argument; empty for the other kinds.
        slot: of the result, or of the argument; 0 for the others.
        value: of a constant.

    Examples:
        >>> from harness.recording import Edge
        >>> Edge("result", "Default/fc1-Dense/MatMul-op0").slot
        0
    """

    kind: Kind
    name: str = ""
    slot: int = 0
    value: Any = None


UNKNOWN_EDGE = Edge("unknown")
#: The type of what only states settings, by the parts of a program: those that both sides of a comparison have are
#: compared.
SETTINGS_TYPE = "Settings"
MONADS = (UMONAD, IOMONAD)


@dataclass(frozen=True, slots=True)
class Described:
    """One operator of a capture.

    Attributes:
        name: full name with scope, as in the keys of records.
        type: primitive name (``MatMul``, ``aten.mm``).
        scope: path of the layer it stands in.
        graph: id of its graph.
        rank: process rank.
        attributes: by name: numbers, texts, dtypes, arrays, None, and lists, tuples and dicts of these.
        inputs: edges by slot; without those that only order operators.
        names: names of the inputs as the engine gives them, by slot; empty where it gives none.
        outputs: dtype's name (``Float32``) and shape by slot, None for anything but a tensor; empty while unknown.
        mutates: slots of inputs whose memory it updates; None: nobody knows.
        aliases: slot of an input by the slot of the output that lies in its memory.
        parts: names of the operators of a fused one.
        phase: ``forward``, ``backward``, ``optimizer``; empty if unknown.
        source: the line it was written at (``net.py:17``); None: unknown.

    Examples:
        >>> from harness.recording import Operator, described
        >>> made = described(Operator("Scale", "Default/a", {"factor": 2.0}, number=0), source="net.py:7")
        >>> made.name, made.attributes, made.source
        ('Default/a/Scale-op0', {'factor': 2.0}, 'net.py:7')
    """

    name: str
    type: str
    scope: str = ""
    graph: int = 0
    rank: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Edge, ...] = ()
    names: tuple[str, ...] = ()
    outputs: tuple[tuple[str, tuple[int, ...]] | None, ...] = ()
    mutates: tuple[int, ...] | None = None
    aliases: Mapping[int, int] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    phase: str = ""
    source: str | None = None


def described(operator: Operator, *, rank: int = 0, source: str | None = None) -> Described:
    """What a capture keeps of an operator.

    Args:
        operator: the operator, of a recording.
        rank: process rank.
        source: its line as shown to people; None: the innermost of ``operator.source``, as Python knows it.

    Returns:
        A description that shares attributes' values with ``operator``, but refers to no operator or graph.

    Examples:
        >>> from harness.recording import Operator, described
        >>> made = described(Operator("Scale", "Default/a", {"factor": 2.0}, number=0), source="net.py:7")
        >>> made.name, made.attributes, made.source
        ('Default/a/Scale-op0', {'factor': 2.0}, 'net.py:7')
    """
    if not isinstance(operator, Operator):
        raise RecordingError(f"an Operator of a recording is described; given: {operator!r:.60}")
    named = {slot: name for name, slot in (operator.arguments or {}).items()}
    inputs = operator.inputs
    while inputs and isinstance(inputs[-1], Constant) and inputs[-1].spec in MONADS:
        inputs = inputs[:-1]
    return Described(
        operator.name,
        operator.type,
        operator.scope,
        operator.graph.id if operator.graph is not None else 0,
        rank,
        dict(operator.attributes),
        tuple(edge(operand, slot) for slot, operand in enumerate(inputs)),
        tuple(named.get(slot, "") for slot in range(len(inputs))) if named else (),
        tuple(map(_output, operator.outputs)),
        operator.mutates,
        dict(operator.aliases),
        tuple(part.name for part in operator.parts),
        operator.phase,
        source if source is not None else _line(operator.source),
    )


def edge(operand: Operand | None, slot: int = 0) -> Edge:
    """Where an operand comes from; ``slot``: its place among the inputs, that of an argument."""
    if isinstance(operand, Result):
        return Edge("result", operand.operator.name, operand.slot)
    if isinstance(operand, Parameter):
        return Edge("parameter", operand.name) if operand.is_weight else Edge("argument", operand.name, slot)
    if isinstance(operand, Constant):
        return Edge("constant", value=operand.value)
    return UNKNOWN_EDGE


def _output(spec: Spec) -> tuple[str, tuple[int, ...]] | None:
    if isinstance(spec, TensorSpec):
        return spec.dtype.name, tuple(spec.shape)
    return (spec.dtype.name, ()) if isinstance(spec, ScalarSpec) else None


def _line(source: tuple[SourceLine, ...]) -> str | None:
    return f"{source[-1].path}:{source[-1].line}" if source else None
