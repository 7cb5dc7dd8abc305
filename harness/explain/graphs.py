"""The operators in a run's graphs: attributes, constants, and the maker of each input.

They come from the operators that a capture or a golden holds, as the engine described them, or else from the ``.ir``
texts that a capture, a golden or a dump tree holds; values are typed, so that both sides are compared as values and not
as lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from harness.capture.join import file_names
from harness.capture.normalise import is_library
from harness.errors import TreeError
from harness.explain.ir_values import attributes, value
from harness.explain.names import input_name
from harness.explain.statements import NAMES, SILENT, Argument, Form, Statement, form_of_value, given_name, stated
from harness.graph.ir_parse import IrGraph, IrNode, IrType
from harness.graph.ir_parse import parse as parse_ir
from harness.recording.described import Described, Edge
from harness.recording.replayer import Facts, Replayer
from harness.replaying import MINDSPORE, is_mindspore, replayer_of

_GRAPH = re.compile(r"(?:rank_(\d+)/)?graphs/ms_output_trace_code_graph_(\d+)\.ir$")
_NODE = re.compile(r"%(\d+)$")
_PARAMETER = re.compile(r"%para(\d+)_")
#: larger texts are not read for an explanation
MAX_TEXT = 1 << 26


def texts_of_rank(artefacts: Mapping[str, bytes], rank: int) -> Mapping[str, bytes]:
    """The texts of one rank's graphs; all texts if it has none."""
    found = [(name, match) for name in artefacts if (match := _GRAPH.match(name))]
    return {name: artefacts[name] for name, match in found if int(match[1] or 0) == rank} or artefacts


class Graphs:
    """The graphs of one run; without operators, as here, none."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], Statement | None] = {}

    def __bool__(self) -> bool:
        return bool(self.ids)

    @property
    def engine(self) -> str:
        """Name of the engine whose operators these are; MindSpore's if nobody states another."""
        return MINDSPORE

    @property
    def ids(self) -> list[int]:
        """Ids of the graphs, ascending."""
        return []

    @cached_property
    def replayer(self) -> Replayer | None:
        """What computes its operators again; None if nothing can."""
        return replayer_of(self.engine)

    def statement(self, graph: int, name: str) -> Statement | None:
        """An operator's statement; None if no graph has it."""
        if (graph, name) not in self._known:
            self._known[graph, name] = self._read(graph, name)
        return self._known[graph, name]

    def operators(self, graph: int) -> list[Statement]:
        """Every operator of a graph, in its order."""
        names = self._names_of(graph)
        return [statement for name in names if (statement := self.statement(graph, name)) is not None]

    def _read(self, graph: int, name: str) -> Statement | None:
        return None

    def _names_of(self, graph: int) -> Iterable[str]:
        return ()

    def _facts(self, operator: Described) -> Facts | None:
        return self.replayer.facts(operator) if self.replayer is not None else None


class Stated(Graphs):
    """The graphs that an engine described.

    Args:
        operators: its operators, in their order.
        engine: its name; empty for MindSpore.
    """

    def __init__(self, operators: Iterable[Described], engine: str = "") -> None:
        super().__init__()
        self._engine = engine or MINDSPORE
        self._operators: dict[tuple[int, str], Described] = {}
        for each in operators:
            self._operators.setdefault((each.graph, each.name), each)
        # Some devices write under the root graph's id.
        self._by_name = {name: each for (_, name), each in reversed(self._operators.items())}

    @property
    def engine(self) -> str:
        """See ``Graphs.engine``."""
        return self._engine

    @cached_property
    def ids(self) -> list[int]:
        """See ``Graphs.ids``."""
        return sorted({graph for graph, _ in self._operators})

    def _names_of(self, graph: int) -> Iterable[str]:
        own = [name for at, name in self._operators if at == graph]
        return own or dict.fromkeys(name for _, name in self._operators)

    def _read(self, graph: int, name: str) -> Statement | None:
        found = self._find(graph, name)
        if found is None:
            return None
        users = bool(found.source) and not is_library(str(found.source).rpartition(":")[0])
        return stated(found, self.engine, users, lambda edge: self._form(found.graph, edge), self._facts)

    def _find(self, graph: int, name: str) -> Described | None:
        return self._operators.get((graph, name)) or self._by_name.get(name)

    def _form(self, graph: int, edge: Edge) -> Form:
        if edge.kind == "constant":
            return form_of_value(edge.value)
        maker = self._find(graph, edge.name) if edge.kind == "result" else None
        known = maker is not None and edge.slot < len(maker.outputs)
        return "tuple" if maker is not None and known and maker.outputs[edge.slot] is None else "tensor"


class Texts(Graphs):
    """The graphs in ``.ir`` texts.

    Args:
        artefacts: texts of the run by path.
    """

    def __init__(self, artefacts: Mapping[str, bytes]) -> None:
        super().__init__()
        self._artefacts = artefacts

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
    def _names(self) -> dict[tuple[int, int], str]:
        """Names as in records, by graph and number of the node."""
        return {(graph, node.number): name for (graph, name), (_, node) in self._parsed[1].items()}

    @cached_property
    def ids(self) -> list[int]:
        """See ``Graphs.ids``."""
        return [graph.id for graph in self._parsed[0]]

    @cached_property
    def engine(self) -> str:
        """See ``Graphs.engine``."""
        return next((graph.engine for graph in self._parsed[0] if graph.engine), MINDSPORE)

    def _names_of(self, graph: int) -> Iterable[str]:
        of_it = [name for at, name in self._parsed[1] if at == graph]
        return of_it or dict.fromkeys(name for _, name in self._parsed[1])

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
        own = is_mindspore(self.engine)
        for at, (text, type_) in enumerate(zip(node.args, node.inputs, strict=True)):
            label = input_name(node.op, at, named) if own else given_name(named, at)
            arguments.append(self._argument(label, graph, text, type_))
        attrs = {key: each for key, each in every.items() if key not in (SILENT if own else NAMES)}
        lines = node.stacks[0]
        users = bool(lines) and not is_library(lines[-1].path)
        return Statement(name, node.op, tuple(arguments), attrs, users, self._facts)

    def _argument(self, label: str, graph: IrGraph, text: str, type_: IrType) -> Argument:
        monad = "Monad" in type_.text
        form: Form = "tensor" if type_.is_tensor else "tuple" if type_.text.startswith("Tuple") else "number"
        parameter = _PARAMETER.match(text)
        if parameter is not None:
            known = graph.parameters[int(parameter[1]) - 1]
            return Argument(label, form, parameter=known.name, is_monad=monad, is_data=not known.is_weight)
        if _NODE.match(text) is None:
            return Argument(label, form, value=value(text), is_constant=not monad, is_monad=monad)
        made, parameter_name, constant = self._maker(graph, int(text[1:]), 0)
        if constant is not None:
            return Argument(label, form, value=value(constant), is_constant=True)
        return Argument(label, form, made, parameter_name, is_monad=monad)

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
