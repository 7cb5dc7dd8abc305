"""Reads a ``.ir`` text (MindSpore's or ours) into light records.

Needed to join the ids of a ``.ir`` to those of dump files, and for full names, source lines, logical shapes and the
order of parameters. The line classes are the measured ones: inside the body every other line continues
the tensor value of the node before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.errors import TreeError
from harness.graph.node import SourceLine

MAX_CHARACTERS = 1 << 30
"""Largest length of a text; longer ones are refused."""

_ENTRY = re.compile(r"# IR entry: @kernel_graph(\d{1,18})$")
_COUNTS = re.compile(r"Total number of (nodes|cnodes): (\d{1,18})$")
_INSTANCE = re.compile(r"subgraph instance: \S+ : (\S+)$")
_ENGINE = re.compile(r"(engine|emulated): (.{1,200})$")
_PARAMS = re.compile(r"# Total params: (\d{1,18})$")
_PARAM = re.compile(r"%para(\d{1,18})_(.*?): <(.*)$")
_NODE = re.compile(r"  %(\d{1,18})\((.*?)\) = (PrimFunc_)?([^\s(]+)\(")
_FULLNAME = re.compile(r"      # Fullname with scope: \((.*)\)$")
_SOURCE = re.compile(r"      # In file (.*?):(\d{1,18})(?:~(\d{1,18}))?(?:, (\d{1,18})~(\d{1,18}))?/(.*)/$")
_RELATED = re.compile(r"      # Corresponding (.*) candidate:$")
_TENSOR = re.compile(r"(Ref\[)?Tensor\[(\w+)\]\]?, \(([-\d, ]*)\)")
_SIZE = re.compile(r"-?[0-9]{1,18}")
_SCALAR = re.compile(r"((?:Bool|U?Int|B?Float|Complex)\d*), NoShape$")


@dataclass(frozen=True, slots=True)
class IrType:
    """One entry of a type line.

    Attributes:
        text: as printed, without the angle brackets.
        dtype: ``Float32`` for tensors and scalars, else None.
        shape: shape of a tensor (-1 if unknown), ``()`` for a scalar, None for tuples, monads and strings.
        is_tensor: True for ``Tensor`` and ``Ref[Tensor]``.
    """

    text: str
    dtype: str | None
    shape: tuple[int, ...] | None
    is_tensor: bool


@dataclass(frozen=True, slots=True)
class IrParameter:
    """One line of the parameter list.

    Attributes:
        index: from 1.
        name: may be empty in control-flow graphs.
        type: its type.
        is_weight: False for data inputs.
    """

    index: int
    name: str
    type: IrType
    is_weight: bool


@dataclass(eq=False)
class IrNode:
    """One node; costly parts are read on request.

    Attributes:
        number: the k of ``%k``; of ``Return`` the number it would have.
        debug_name: what the text calls its result.
        op: primitive name without ``PrimFunc_``.
        functional: whether ``PrimFunc_`` was there.
        name: full name with scope, with the id of the ``.ir``.
        kernel: True if it has a device line.
        head: the text after the opening bracket of the argument list, tensor values unfolded.
        lines: the lines after the head.
        names: names of other nodes by what the text calls their results.
        where: name of the text, for errors.
    """

    number: int
    debug_name: str
    op: str
    functional: bool
    name: str
    kernel: bool
    head: str
    lines: list[str]
    names: Mapping[str, str]
    where: str

    def statement(self, width: int) -> list[str]:
        """Its lines as printed, including tensor values; cut to ``width`` characters."""
        first = f"%{self.number}({self.debug_name}) = {'PrimFunc_' if self.functional else ''}{self.op}({self.head}"
        lines = [first, *(line.rstrip()[2:] for line in self.lines)]
        return [line if len(line) <= width else f"{line[:width]}..." for line in lines]

    @cached_property
    def _split(self) -> tuple[tuple[str, ...], str]:
        args = _Args(self.head, self.names)
        try:
            found = args.split()
        except ValueError as error:
            raise TreeError(f"{self.where}: node %{self.number} ({self.op}): {error}") from None
        return found, self.head[args.at :]

    @property
    def args(self) -> tuple[str, ...]:
        """Argument texts: ``%3``, ``%para2_x``, ``Bool(0)``, a whole tensor value, ..."""
        return self._split[0]

    @property
    def brackets(self) -> str:
        """What follows the argument list (instance name, attributes), as printed."""
        return self._split[1]

    @cached_property
    def inputs(self) -> tuple[IrType, ...]:
        """Types of the arguments."""
        return tuple(map(type_of, _entries(_two_lists(self.lines[0])[0])))

    @cached_property
    def outputs(self) -> tuple[IrType, ...]:
        """Types of the result: one entry, also for a tuple. Empty for ``Return``."""
        return tuple(map(type_of, _entries(_two_lists(self.lines[0])[1])))

    @cached_property
    def device(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Entries of the device line, arguments and results; empty for anything but a kernel."""
        if not self.kernel:
            return (), ()
        left, right = _two_lists(self.lines[1])
        return _entries(left), _entries(right)

    @property
    def kinds(self) -> str:
        """The line of kinds as printed, or an empty text."""
        after = self.lines[2 if self.kernel else 1]
        return after.strip() if after.startswith("      : (") else ""

    @cached_property
    def stacks(self) -> tuple[tuple[SourceLine, ...], tuple[SourceLine, ...], str]:
        """The node's own source lines, those of related nodes, and the headings of the latter, joined by ``+``."""
        own: list[SourceLine] = []
        related: list[SourceLine] = []
        headings: list[str] = []
        for line in self.lines:
            if (source := _SOURCE.match(line)) is not None:
                (related if headings else own).append(_source(source))
            elif (kind := _RELATED.match(line)) is not None:
                headings.append(kind[1])
        return tuple(own), tuple(related), "+".join(headings)


@dataclass(slots=True)
class IrGraph:
    """One ``.ir`` file.

    Attributes:
        id: id in ``kernel_graph{id}``.
        parameters: in printed order.
        nodes: in printed order, without ``Return``.
        returned: ``Return``, with its one argument (None only while parsing).
        total_nodes: as the file states it.
        instance: the printed graph object: a pointer, or ``ir.STABLE_POINTER`` in our texts.
        engine: who ran the graph, where another runtime than MindSpore and its emulation recorded it; else empty.
        emulated: whether that runtime computes the numbers of a device that it is not.
    """

    id: int
    parameters: list[IrParameter]
    nodes: list[IrNode]
    returned: IrNode | None
    total_nodes: int
    instance: str
    engine: str = ""
    emulated: bool = False

    @property
    def kernels(self) -> list[IrNode]:
        """Nodes with a device line, in printed order."""
        return [node for node in self.nodes if node.kernel]


def type_of(text: str) -> IrType:
    """Reads one entry of a type line (without its angle brackets)."""
    tensor = _TENSOR.match(text)
    if tensor:
        sizes = tensor[3].replace(",", " ").split()
        if all(map(_SIZE.fullmatch, sizes)):
            return IrType(text, tensor[2], tuple(map(int, sizes)), True)
    plain = _SCALAR.match(text)
    if plain:
        return IrType(text, plain[1], (), False)
    return IrType(text, None, None, False)


def _entries(text: str) -> tuple[str, ...]:
    """``<a>, <b>`` to ``("a", "b")``."""
    return tuple(text[1:-1].split(">, <")) if text else ()


def _two_lists(line: str) -> tuple[str, str]:
    """The insides of ``: (..) -> (..)``; a Return line has the first only."""
    left, arrow, right = line.strip().removeprefix(": (").rpartition(") -> (")
    return (left, right[:-1]) if arrow else (right[:-1], "")


class _Args:
    """Splits an argument list, which may hold any parameter name and any string."""

    def __init__(self, text: str, names: Mapping[str, str]) -> None:
        self.text = text
        self.at = 0
        self.names = names

    def split(self) -> tuple[str, ...]:
        """Argument texts; leaves ``at`` just after the closing bracket."""
        args: list[str] = []
        start, depth, text = self.at, 0, self.text
        while self.at < len(text):
            char = text[self.at]
            if char == "%" and self.at == start:
                self._skip_name()
                continue
            if char == '"':
                self._skip_string()
                continue
            if char in "([":
                depth += 1
            elif char in ")]":
                depth -= 1
            if depth < 0 or (char == "," and depth == 0):
                if self.at > start or args:
                    args.append(text[start : self.at])
                self.at += 1
                if depth < 0:
                    return tuple(args)
                self.at += text[self.at : self.at + 1] == " "
                start = self.at
                continue
            self.at += 1
        raise ValueError("the argument list does not end")

    def _skip_name(self) -> None:
        head = re.compile(r"%para(\d{1,18})_").match(self.text, self.at)
        if head:
            name = self.names.get(head[1], "")
            after = self.text[head.end() + len(name) : head.end() + len(name) + 1]
            if name and self.text.startswith(name, head.end()) and after in (",", ")"):
                self.at = head.end() + len(name)
                return
        while self.at < len(self.text) and self.text[self.at] not in ",)":
            self.at += 1

    def _skip_string(self) -> None:
        # Strings are printed without escapes, so a string ends at a quote that can end an argument.
        end = re.compile(r'"(?=[,)\]])').search(self.text, self.at + 1)
        self.at = end.end() if end else self.at + 1


class _Parser:
    def __init__(self, text: str, where: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise TreeError(f"{where}: {len(text)} characters; at most {MAX_CHARACTERS} are read")
        self.lines = text.split("\n")
        self.at = 0
        self.where = where
        self.counts: dict[str, int] = {}
        self.instance = ""
        self.stated: dict[str, str] = {}

    def fail(self, why: str) -> TreeError:
        return TreeError(f"{self.where}, line {self.at + 1}: {why}")

    def parse(self) -> IrGraph:
        entry = _ENTRY.match(self.lines[0].rstrip("\r"))
        if entry is None:
            raise self.fail(
                f"not a kernel graph: the text starts with {self.lines[0][:60]!r}, not '# IR entry: @kernel_graph'"
            )
        parameters = self._header()
        names = {str(p.index): p.name for p in parameters}
        nodes, returned = self._body(names)
        cnodes = self.counts["cnodes"]
        if len(nodes) + 1 != cnodes:
            raise TreeError(f"{self.where}: states {cnodes} cnodes (Return included) and holds {len(nodes) + 1}")
        engine, emulated = self.stated.get("engine", ""), self.stated.get("emulated") == "1"
        return IrGraph(
            int(entry[1]), parameters, nodes, returned, self.counts["nodes"], self.instance, engine, emulated
        )

    def _header(self) -> list[IrParameter]:
        parameters: list[IrParameter] = []
        stated = -1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith("subgraph @"):
                self.at += 1
                break
            if (count := _COUNTS.match(line)) is not None:
                self.counts[count[1]] = int(count[2])
            elif (total := _PARAMS.match(line)) is not None:
                stated = int(total[1])
            elif (instance := _INSTANCE.match(line)) is not None:
                self.instance = instance[1]
            elif (runtime := _ENGINE.match(line)) is not None:
                self.stated[runtime[1]] = runtime[2].rstrip("\r")
            elif line.startswith("%para"):
                parameters.append(self._parameter(line))
            self.at += 1
        else:
            raise self.fail("no 'subgraph @kernel_graph' line")
        if stated != len(parameters) or {"nodes", "cnodes"} - set(self.counts):
            raise self.fail(
                f"the header states {stated} parameters, {self.counts} and lists {len(parameters)} parameters"
            )
        return parameters

    def _parameter(self, line: str) -> IrParameter:
        head = _PARAM.match(line)
        if head is None:
            raise self.fail(f"not a parameter line: {line[:80]!r}")
        type_text = head[3].split(">  :  ", 1)[0].split("> : [", 1)[0]
        return IrParameter(int(head[1]), head[2], type_of(type_text), line.endswith("IsWeight: true"))

    def _body(self, names: Mapping[str, str]) -> tuple[list[IrNode], IrNode]:
        nodes: list[IrNode] = []
        for first, lines in self._blocks():
            node = self._node(first, names, len(nodes), lines)
            if node.op == "Return":
                return nodes, node
            nodes.append(node)
        raise self.fail("the body has no Return")

    def _blocks(self) -> Iterator[tuple[str, list[str]]]:
        """Each node's logical first line, and the lines after it."""
        first: str | None = None
        rest: list[str] = []
        while self.at < len(self.lines) and self.lines[self.at] != "}":
            line = self.lines[self.at]
            if line.startswith("  Return(") or (line.startswith("  %") and _NODE.match(line)):
                if first is not None:
                    yield first, rest
                first, rest = line, []
            elif first is None:
                raise self.fail(f"not a node: {line[:80]!r}")
            elif not rest and not line.startswith("      : ("):
                first += "\n" + line
            else:
                rest.append(line)
            self.at += 1
        if self.at == len(self.lines):
            raise self.fail("the body does not end")
        if first is not None:
            yield first, rest

    def _node(self, text: str, names: Mapping[str, str], expected: int, lines: list[str]) -> IrNode:
        head = _NODE.match(text)
        number, debug, functional, op, start = expected, "", False, "Return", len("  Return(")
        if head is not None:
            number, debug, functional, op = int(head[1]), head[2], head[3] is not None, head[4]
            start = head.end()
            if number != expected:
                raise self.fail(f"node %{number} where %{expected} is due")
        name = next((found[1] for line in lines[1:4] if (found := _FULLNAME.match(line)) is not None), None)
        if name is None:
            raise self.fail(f"the node before has no type line or no full name ({op}, %{number})")
        kernel = lines[1].startswith("      : (") and "xDefaultFormat[" in lines[1]
        return IrNode(number, debug, op, functional, name, kernel, text[start:], lines, names, self.where)


def _source(match: re.Match[str]) -> SourceLine:
    path, line, end, column, column_end, text = match.groups()
    return SourceLine(
        path,
        int(line),
        int(end or line),
        int(column) if column else None,
        int(column_end) if column_end else None,
        text,
    )


def parse(text: str, where: str = ".ir text") -> IrGraph:
    """Reads one ``.ir``.

    Args:
        text: the whole text.
        where: name of the text in error messages (a path).

    Raises:
        TreeError: the text is not a whole kernel graph, or does not hold as many nodes as it states.

    Examples:
        >>> from pathlib import Path
        >>> from harness.graph.ir_parse import parse
        >>> graph = parse(min(Path("dump").rglob("*graph_0*.ir")).read_text())
        >>> graph.id, [parameter.name for parameter in graph.parameters][:1], graph.nodes[-1].op
        (0, ['bias'], 'MakeTuple')
    """
    return _Parser(text, where).parse()
