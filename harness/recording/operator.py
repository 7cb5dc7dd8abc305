"""One operator of a graph: what it is called, what it reads and gives, where it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import RecordingError
from harness.recording.operands import Constant, Parameter, SourceLine
from harness.recording.spec import OpaqueSpec, Spec, wrong_of

UNKNOWN = OpaqueSpec("Unknown")
"""Type of a value that nobody stated."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), DType, np.generic, np.ndarray)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_NO_TYPE = re.compile(r"[/\s()]")
_CONTROL = r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]"
MOST_TEXT = 4096
"""The longest type or scope, in characters."""


class Operator:
    """An operator; a graph that declares it gives it its number, and so its name.

    Args:
        type: primitive name (``MatMul``, ``aten.mm``); no ``/``, blank or round bracket in it.
        scope: path of the layer it stands in (``Default/fc1-Dense``); no control characters in it.
        attributes: by name: numbers, texts, dtypes, arrays, None, and lists, tuples and dicts of these.
        inputs: edges, by slot; None where nobody knows.
        outputs: specs, by slot; empty while unknown.
        mutates: slots of inputs whose memory it updates; after a launch a dump shows what it made of them, as
            MindSpore's does. None: not known, then inputs are copied before each launch that somebody records.
        aliases: slot of an input by the slot of the output that lies in its memory.
        parts: the operators of a fused one; the last one gives the result.
        source: stack of the place where it was written, outermost call first.
        related: the same of the operators it was derived from (gradients, passes).
        phase: ``forward``, ``backward``, ``optimizer``; empty if unknown.
        arguments: slots of the inputs that are settings of the operator, by their names; None: its attributes are.
        unfused: the name of a fused one without fusion.
        number: the N of ``-opN``; -1 lets the graph count, per scope and type.

    Attributes:
        graph: the graph that declares it; None before.
        position: its place in the execution order; 0 before.
        name: ``Default/fc1-Dense/MatMul-op0``.

    Raises:
        RecordingError: a type or scope that is no text or too long, an attribute of another kind, an input that is
            no operand, an output that is no spec, a slot that does not exist.

    Examples:
        >>> from harness import dtypes
        >>> from harness.recording import Operator, Parameter, TensorSpec
        >>> weight = Parameter("w", TensorSpec(dtypes.float32, (3, 2), "w"), is_weight=True)
        >>> product = Operator("MatMul", "Default/fc1-Dense", {"transpose_b": False}, [None, weight], mutates=())
        >>> relu = Operator("ReLU", "Default/relu-ReLU", inputs=[product], mutates=())
        >>> relu.inputs[0].operator is product, relu.name
        (True, 'Default/relu-ReLU/ReLU-op-1')
    """

    graph: Any
    name: str
    position: int
    __slots__ = (
        "aliases", "arguments", "attributes", "graph", "inputs", "mutates", "name", "number", "outputs", "parts",
        "phase", "position", "related", "scope", "source", "type", "unfused",
    )  # fmt: skip

    def __init__(
        self,
        type: str,
        scope: str = "Default",
        attributes: Mapping[str, Any] | None = None,
        inputs: Sequence[Operand | Operator | None] = (),
        outputs: Sequence[Spec] = (),
        *,
        mutates: Sequence[int] | None = None,
        aliases: Mapping[int, int] | None = None,
        parts: Sequence[Operator] = (),
        source: Sequence[SourceLine] = (),
        related: Sequence[SourceLine] = (),
        phase: str = "",
        arguments: Mapping[str, int] | None = None,
        unfused: str | None = None,
        number: int = -1,
    ) -> None:
        self.type = _text("type", type)
        self.scope = _text("scope", scope)
        if _NO_TYPE.search(type):
            refused = "'/', blanks, brackets or control characters"
            raise RecordingError(f"an operator's type has no {refused}; given: {type[:80]!r}")
        if attributes is not None and not isinstance(attributes, Mapping):
            raise RecordingError(f"attributes of {type} are a dict by name; given: {_kind(attributes)}")
        self.number = number
        self.name = f"{scope}/{type}-op{number}"
        self.attributes = dict(attributes or {})
        self.inputs = tuple(Result(each) if isinstance(each, Operator) else each for each in inputs)
        self.outputs = tuple(outputs)
        self.mutates = None if mutates is None else tuple(mutates)
        self.aliases = dict(aliases or {})
        self._check()
        self.parts, self.source, self.related = tuple(parts), tuple(source), tuple(related)
        self.phase, self.arguments, self.unfused = phase, arguments, unfused
        self.graph: Any = None
        self.position = 0

    @classmethod
    def known(cls, type: str, scope: str, number: int, attributes: Mapping[str, Any], **facts: Any) -> Operator:
        """An operator whose facts a compiler vouches for: nothing is checked or copied.

        Args:
            type: its type.
            scope: its scope.
            number: its number.
            attributes: its attributes.
            facts: any other argument; inputs, outputs, parts and sources are tuples.
        """
        made = cls.__new__(cls)
        made.type, made.scope, made.number, made.attributes = type, scope, number, attributes  # type: ignore[assignment]
        made.name = f"{scope}/{type}-op{number}"
        made.inputs, made.outputs, made.mutates = facts.get("inputs", ()), facts.get("outputs", ()), facts["mutates"]
        made.aliases, made.parts = facts.get("aliases", {}), facts.get("parts", ())
        made.source, made.related = facts.get("source", ()), facts.get("related", ())
        made.phase, made.arguments = facts.get("phase", ""), facts.get("arguments")
        made.unfused, made.graph, made.position = facts.get("unfused"), None, facts.get("position", 0)
        return made

    def numbered(self, number: int) -> None:
        """Gives it its number, and so its name."""
        self.number = number
        self.name = f"{self.scope}/{self.type}-op{number}"

    def same(self, other: Operator) -> bool:
        """Whether ``other`` is the same operator in another step of an eager program: same attributes and edges."""
        return (
            _equal(self.attributes, other.attributes)
            and len(self.inputs) == len(other.inputs)
            and all(map(_same_edge, self.inputs, other.inputs))
            and self.mutates == other.mutates
        )

    def _check(self) -> None:
        """Raises ``RecordingError`` for what no operator has."""
        for name, value in self.attributes.items():
            if not isinstance(name, str) or not is_plain(value):
                raise RecordingError(self._says(f"attribute {name!r} is {_kind(value)}; {_ACCEPTED}"))
        for slot, operand in enumerate(self.inputs):
            if operand is not None and not isinstance(operand, (Result, Parameter, Constant)):
                accepted = "an Operator, Result, Parameter, Constant or None is accepted"
                raise RecordingError(self._says(f"input.{slot} is {_kind(operand)}; {accepted}"))
            stated = operand.spec if isinstance(operand, (Parameter, Constant)) else None
            if stated is not None and (wrong := wrong_of(stated)) is not None:
                raise RecordingError(self._says(f"input.{slot}: {wrong}"))
        for slot, spec in enumerate(self.outputs):
            if (wrong := wrong_of(spec)) is not None:
                raise RecordingError(self._says(f"output.{slot}: {wrong}"))
        for slot in self.aliases:
            if type(slot) is not int or slot < 0:
                raise RecordingError(self._says(f"'aliases' has inputs by the slots of outputs; given: {slot!r:.60}"))
        for slot in (*(self.mutates or ()), *self.aliases.values()):
            if type(slot) is not int or slot < 0 or (self.inputs and slot >= len(self.inputs)):
                raise RecordingError(self._says(f"there is no input.{slot} to mutate or alias; {self._counted()}"))

    def _says(self, what: str) -> str:
        return f"operator {self.type} in scope {self.scope}: {what}"

    def _counted(self) -> str:
        return f"it has {len(self.inputs)} inputs"

    def __repr__(self) -> str:
        return f"<Operator {self.name}>"


@dataclass(frozen=True, slots=True)
class Result:
    """An edge: what an operator gave.

    Attributes:
        operator: the operator that computed it.
        slot: position among its outputs.
    """

    operator: Operator
    slot: int = 0

    @property
    def spec(self) -> Spec:
        """Type of the value; an opaque one while it is unknown."""
        outputs = self.operator.outputs
        return outputs[self.slot] if self.slot < len(outputs) else UNKNOWN


Operand = Result | Parameter | Constant
"""What an operator reads; None where nobody knows."""
_ACCEPTED = "numbers, texts, bytes, dtypes, arrays, None, and lists, tuples, dicts of these are accepted"


def is_plain(value: Any, depth: int = 16) -> bool:
    """Whether a value may be an attribute: a number, text, dtype, array, None, or a list, tuple or dict of such."""
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if isinstance(value, _PLAIN):
        return True
    if depth and isinstance(value, (list, tuple)):
        return all(is_plain(each, depth - 1) for each in value)
    if depth and isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(each, depth - 1) for key, each in value.items())
    return False


def plain(value: Any, depth: int = 16) -> Any:
    """An attribute of whatever an engine has: a plain value as it is, anything else as its text, without addresses of
    objects, which differ from run to run. So is what lies deeper than ``depth`` lists, tuples and dicts."""
    if is_plain(value, depth):
        return value
    if depth and isinstance(value, (list, tuple)):
        found = [plain(each, depth - 1) for each in value]
        return found if isinstance(value, list) else tuple(found)
    if depth and isinstance(value, dict):
        return {str(key): plain(each, depth - 1) for key, each in value.items()}
    if depth and isinstance(value, (set, frozenset)):
        return sorted(str(plain(each, depth - 1)) for each in value)
    return _ADDRESS.sub("", str(value))


def _text(what: str, value: Any) -> str:
    if isinstance(value, str) and not value.isprintable() and re.search(_CONTROL, value):
        raise RecordingError(f"an operator's {what} has no control characters; given: {value[:80]!r}")
    if not isinstance(value, str) or not value or len(value) > MOST_TEXT:
        shown = f"a text of {len(value)} characters" if isinstance(value, str) else _kind(value)
        raise RecordingError(f"an operator's {what} is a text of 1 to {MOST_TEXT} characters; given: {shown}")
    return value


def _kind(value: Any) -> str:
    return f"{value!r:.60} ({type(value).__name__})"


def _equal(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, np.ndarray) or isinstance(theirs, np.ndarray):
        return type(mine) is type(theirs) and mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, dict):
        return mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, (list, tuple)):
        return len(mine) == len(theirs) and all(map(_equal, mine, theirs))
    return bool(mine == theirs) or (mine != mine and theirs != theirs)


def _same_edge(mine: Operand | None, theirs: Operand | None) -> bool:
    if isinstance(mine, Result) and isinstance(theirs, Result):
        return mine.operator is theirs.operator and mine.slot == theirs.slot
    if isinstance(mine, Constant) and isinstance(theirs, Constant):
        return _equal(mine.value, theirs.value)
    return mine is theirs
