"""The operators in a run's graphs: attributes, constants, and the maker of each input.

Read from the ``.ir`` texts that a capture, a golden or a dump tree holds; values are typed, so that both sides are
compared as values and not as lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.capture.join import file_names
from harness.capture.normalise import is_library
from harness.errors import TreeError
from harness.explain.ir_values import attributes, value
from harness.explain.names import input_name
from harness.graph.ir_parse import IrGraph, IrNode, IrType
from harness.graph.ir_parse import parse as parse_ir
from harness.recording.described import UNKNOWN_EDGE, Described, Edge
from harness.recording.replayer import Facts, Replayer
from harness.replaying import MINDSPORE, replayer_of

_GRAPH = re.compile(r"(?:rank_(\d+)/)?graphs/ms_output_trace_code_graph_(\d+)\.ir$")
_NODE = re.compile(r"%(\d+)$")
_PARAMETER = re.compile(r"%para(\d+)_")
#: attributes that only name or annotate, without effect on the computation
SILENT = frozenset(
    {
        "input_names", "output_names", "side_effect_mem", "side_effect_io", "IsFeatureMapOutput", "primitive_target",
        "IsFeatureMapInputList", "visited", "dyn_input_sizes", "N", "n", "num", "primal_id", "forward_unique_id",
    }
)  # fmt: skip
#: larger texts are not read for an explanation
MAX_TEXT = 1 << 26


@dataclass(frozen=True)
class Argument:
    """One argument of an operator.

    Attributes:
        name: its name (``epsilon``), or ``input.6`` if unknown.
        type: its type, as the graph prints it.
        producer: name and output of the operator that made it, if one did.
        parameter: name of the parameter it is, if it is one.
        value: value of a constant, see ``ir_values.value``.
        is_constant: whether it is a constant.
        is_data: whether it is a graph parameter that holds no weight.
        is_monad: whether it only orders operators and has no value.
    """

    name: str
    type: IrType
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
        outputs: types of its results.
        is_users: whether the user's own line calls it, not a layer's.
        know: gives what a replayer knows of an operator.
    """

    name: str
    op: str
    arguments: tuple[Argument, ...]
    attrs: Mapping[str, Any]
    outputs: tuple[IrType, ...]
    is_users: bool = False
    know: Callable[[Described], Facts | None] = lambda _operator: None

    @cached_property
    def facts(self) -> Facts | None:
        """What is known of the operator; None if it cannot be computed again."""
        return self.know(self.described)

    @property
    def mutates(self) -> tuple[int, ...]:
        """Slots of the inputs that it updates, as far as that is known."""
        return self.facts.mutates if self.facts is not None else ()

    @cached_property
    def described(self) -> Described:
        """The operator as a replayer takes it: without arguments that only order operators."""
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


class Graphs:
    """The graphs of one run.

    Args:
        artefacts: texts of the run by path.
        engine: name of the engine whose operators these are; None: the one that the texts state, else MindSpore.
    """

    def __init__(self, artefacts: Mapping[str, bytes], engine: str | None = None) -> None:
        self._artefacts = artefacts
        self._engine = engine
        self._known: dict[tuple[int, str], Statement | None] = {}

    @cached_property
    def _parsed(self) -> tuple[list[IrGraph], dict[tuple[int, str], tuple[IrGraph, IrNode]]]:
        graphs = []
        for name in self._artefacts:
            if not _GRAPH.match(name):
                continue
            text = self._artefacts[name]
            if len(text) > MAX_TEXT:
                continue
            try:
                graphs.append(parse_ir(text.decode("utf-8", "replace"), name))
            except TreeError:
                continue  # a damaged text explains nothing; the comparison works without it
        graphs.sort(key=lambda graph: graph.id)
        return graphs, {(graph.id, name): (graph, node) for graph, node, name in file_names(graphs)}

    @cached_property
    def engine(self) -> str:
        """Name of the engine whose operators these are."""
        stated = next((graph.engine for graph in self._parsed[0] if graph.engine), "")
        return (self._engine if self._engine is not None else stated) or MINDSPORE

    @cached_property
    def replayer(self) -> Replayer | None:
        """What computes its operators again; None if nothing can."""
        return replayer_of(self.engine)

    @cached_property
    def _names(self) -> dict[tuple[int, int], str]:
        """Names as in records, by graph and number of the node."""
        return {(graph, node.number): name for (graph, name), (_, node) in self._parsed[1].items()}

    def __bool__(self) -> bool:
        return bool(self._parsed[0])

    @property
    def ids(self) -> list[int]:
        """Ids of the graphs."""
        return [graph.id for graph in self._parsed[0]]

    def statement(self, graph: int, name: str) -> Statement | None:
        """An operator's statement; None if no graph has it."""
        if (graph, name) not in self._known:
            self._known[graph, name] = self._read(graph, name)
        return self._known[graph, name]

    def operators(self, graph: int) -> list[Statement]:
        """Every operator of a graph, in its order."""
        of_it = [name for at, name in self._parsed[1] if at == graph]
        every = (self.statement(graph, name) for name in of_it or dict.fromkeys(name for _, name in self._parsed[1]))
        return [statement for statement in every if statement is not None]

    def _read(self, graph: int, name: str) -> Statement | None:
        found = self._parsed[1].get((graph, name)) or self._by_name.get(name)
        if found is None:
            return None
        try:
            return self._statement(name, *found)
        except (TreeError, IndexError):
            return None

    @cached_property
    def _by_name(self) -> dict[str, tuple[IrGraph, IrNode]]:
        """Operators by name alone, because some devices write under the root graph's id."""
        return {name: pair for (_, name), pair in reversed(self._parsed[1].items())}

    def _statement(self, name: str, graph: IrGraph, node: IrNode) -> Statement:
        every = attributes(node.brackets)
        given = every.get("input_names")
        named = tuple(map(str, given)) if isinstance(given, tuple) else ()
        arguments = []
        for at, (text, type_) in enumerate(zip(node.args, node.inputs, strict=True)):
            label = input_name(node.op, at, named)
            arguments.append(self._argument(label, graph, text, type_))
        attrs = {key: each for key, each in every.items() if key not in SILENT}
        own = node.stacks[0]
        users = bool(own) and not is_library(own[-1].path)
        return Statement(name, node.op, tuple(arguments), attrs, node.outputs, users, self._facts)

    def _facts(self, operator: Described) -> Facts | None:
        return self.replayer.facts(operator) if self.replayer is not None else None

    def _argument(self, label: str, graph: IrGraph, text: str, type_: IrType) -> Argument:
        monad = "Monad" in type_.text
        parameter = _PARAMETER.match(text)
        if parameter is not None:
            known = graph.parameters[int(parameter[1]) - 1]
            return Argument(label, type_, parameter=known.name, is_monad=monad, is_data=not known.is_weight)
        if _NODE.match(text) is None:
            return Argument(label, type_, value=value(text), is_constant=not monad, is_monad=monad)
        made, parameter_name, constant = self._maker(graph, int(text[1:]), 0)
        if constant is not None:
            return Argument(label, type_, value=value(constant), is_constant=True)
        return Argument(label, type_, made, parameter_name, is_monad=monad)

    def _maker(self, graph: IrGraph, number: int, output: int) -> tuple[tuple[str, int] | None, str | None, str | None]:
        """The maker of a value: an operator and its output, a parameter, or the text of a constant."""
        for _ in range(len(graph.nodes) + 1):
            node = graph.nodes[number]
            if node.kernel:
                return (self._names.get((graph.id, number), node.name), output), None, None
            if node.op == "TupleGetItem":
                at = value(node.args[1])
                output, text = at if isinstance(at, int) else 0, node.args[0]
            elif node.op == "MakeTuple" and output < len(node.args):
                text, output = node.args[output], 0
            elif node.op in ("Load", "Depend") and node.args:
                text = node.args[0]
            else:
                return None, None, None
            parameter = _PARAMETER.match(text)
            if parameter is not None:
                return None, graph.parameters[int(parameter[1]) - 1].name, None
            if _NODE.match(text) is None:
                return None, None, text
            number = int(text[1:])
        return None, None, None


def differing_attributes(expected: Statement, found: Statement) -> list[tuple[str, Any, Any]]:
    """The differing attributes in order; a missing one has the value ``...``."""
    names = dict.fromkeys([*expected.attrs, *found.attrs])
    pairs = ((name, expected.attrs.get(name, ...), found.attrs.get(name, ...)) for name in names)
    return [(name, one, other) for name, one, other in pairs if not same(one, other)]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; texts regardless of case, because releases write ``same`` and ``SAME``."""
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    if hasattr(one, "shape") or hasattr(other, "shape"):
        return repr(one) == repr(other)
    return type(one) is type(other) and bool(one == other)
