"""Joins dump files to the operators and parameters of ``.ir`` texts.

The ids of a ``.ir`` are not those of file names. File ids count 0, 1, 2, ... for each ``scope/Primitive``, in printed
order, over all graphs of the process (measured; our own trees use one numbering, for which the rule gives the same).
Joining by equal text would give wrong pairs silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import prod

from harness import dtypes
from harness.capture.normalise import source_of
from harness.dtypes import DType
from harness.dump.asynchronous import names as asynchronous
from harness.dump.names import PARAMETER, mangle
from harness.errors import DtypeError
from harness.graph.ir_parse import IrGraph, IrNode

Shape = tuple[int, ...]
_GROUPS = re.compile(r"\bgroups?: I64\((\d{1,6})\)")
_ID = re.compile(r"(.*)-op\d+$", re.DOTALL)


class Operator:
    """One kernel of a graph, under the name of its files.

    Attributes:
        name: full name with scope, unmangled, with the id of the files.
        graph: id of its graph.
    """

    def __init__(self, name: str, graph: int, node: IrNode, rootdir: str) -> None:
        self.name = name
        self.graph = graph
        self._node = node
        self._rootdir = rootdir

    @cached_property
    def source(self) -> str | None:
        """Innermost source line, see ``normalise.source_of``."""
        own, related, _ = self._node.stacks
        return source_of(own or related, self._rootdir)

    @cached_property
    def groups(self) -> int:
        """The number of groups of a convolution; 1 for anything else."""
        match = _GROUPS.search(self._node.brackets)
        return int(match[1]) if match else 1

    @cached_property
    def _slots(self) -> dict[str, list[tuple[Shape | None, DType | None]]]:
        # Only the device line lists the tensors of a multiple result one by one; a tuple of ints has no shape there.
        inputs, outputs = (list(map(_device, texts)) for texts in self._node.device)
        for at, type_ in enumerate(self._node.inputs[: len(inputs)]):
            if not type_.is_tensor:
                inputs[at] = (None, inputs[at][1])
        return {"input": inputs, "output": outputs}

    def slot(self, io: str, slot: int) -> tuple[Shape | None, DType | None]:
        """Logical shape and device dtype of a slot; None if the graph does not know them."""
        slots = self._slots[io]
        return slots[slot] if slot < len(slots) else (None, None)


class Weight:
    """One parameter of a graph; see ``Operator`` for the attributes and methods."""

    source = None
    groups = 1

    def __init__(self, name: str, graph: int, shape: Shape | None) -> None:
        self.name = name
        self.graph = graph
        self._shape = shape

    def slot(self, io: str, slot: int) -> tuple[Shape | None, DType | None]:
        """Logical shape of the parameter."""
        return self._shape, None


Owner = Operator | Weight


def _device(text: str) -> tuple[Shape | None, DType | None]:
    """Shape and dtype of an entry of a device line, ``Float32xDefaultFormat[const vector]{2, 8}``."""
    name, _, rest = text.partition("xDefaultFormat[")
    sizes = rest.rpartition("{")[2].rstrip("}").replace(",", " ").split()
    shape = tuple(map(int, sizes)) if all(size.lstrip("-").isdecimal() for size in sizes) else None
    try:
        return shape, dtypes.by_name(name)
    except DtypeError:
        return shape, None


def fits(shape: Shape | None, elements: int) -> bool:
    """True if ``shape`` is known and has ``elements`` elements."""
    return shape is not None and -1 not in shape and prod(shape) == elements


def file_names(graphs: Iterable[IrGraph]) -> Iterator[tuple[IrGraph, IrNode, str]]:
    """Each kernel of ``graphs`` (ascending by id) with the full name that its files have."""
    counters: dict[str, int] = {}
    for graph in graphs:
        for node in graph.kernels:
            match = _ID.match(node.name)
            if match is None or graph.engine:  # another runtime's names are those of its files
                yield graph, node, node.name
                continue
            number = counters.get(match[1], 0)
            counters[match[1]] = number + 1
            yield graph, node, f"{match[1]}-op{number}"


class Join:
    """Finds the owner of a file: an operator or parameter in the ``.ir`` texts of one rank.

    Args:
        graphs: every graph of the rank, ascending by id.
        rootdir: source lines are given relative to it.
        ours: whether the harness wrote the tree.
    """

    def __init__(self, graphs: Sequence[IrGraph], rootdir: str, *, ours: bool = False) -> None:
        self._ours = ours
        self._exact: dict[tuple[bool, str], list[Owner]] = {}
        self._mangled: dict[tuple[bool, str], list[Owner]] = {}
        self._earlier: dict[str, list[Owner]] = {}
        self._renamed: dict[tuple[int, str], str] = {}
        for graph, node, name in file_names(graphs):
            self._renamed[graph.id, node.name] = name
            self._add(Operator(name, graph.id, node, rootdir), parameter=False)
        for graph in graphs:
            for parameter in graph.parameters:
                empty = parameter.type.shape is not None and 0 in parameter.type.shape
                if parameter.name and not empty:  # an empty tensor has no file
                    self._add(Weight(parameter.name, graph.id, parameter.type.shape), parameter=True)

    def _add(self, owner: Owner, *, parameter: bool) -> None:
        self._exact.setdefault((parameter, owner.name), []).append(owner)
        self._mangled.setdefault((parameter, mangle(owner.name)), []).append(owner)
        for style in asynchronous.EARLIER if not parameter else ():
            self._earlier.setdefault(asynchronous.op_name(owner.name, style), []).append(owner)

    def owners(self, graph: int, op_type: str, op_name: str) -> Sequence[Owner]:
        """The possible owners of a file of ``graph``: empty if unknown; several if their names mangle alike.

        It searches other graphs too (some devices write under the root graph's id).
        """
        if not self._exact:
            return ()
        parameter = op_type == PARAMETER
        exact = self._exact.get((parameter, op_name), [])
        if mangle(op_name) != op_name:
            return self._of(graph, exact, parameter)
        if self._ours and (here := [owner for owner in exact if owner.graph == graph]):
            # If names mangle alike, our writer uses only a name that equals its own mangled form as file name.
            return here
        found = self._of(graph, self._mangled.get((parameter, op_name), []), parameter)
        return found if found or parameter else self._alone(graph, op_name)

    def _alone(self, graph: int, name: str) -> list[Owner]:
        """The only operator called ``name`` in the asynchronous files of earlier releases; None if there are
        several."""
        found = self._earlier.get(name, [])
        if self._ours and (here := [owner for owner in found if owner.graph == graph]):
            found = here  # our writer uses such a name only if no other graph of the directory has it
        return found if len(found) == 1 else []

    def _of(self, graph: int, found: list[Owner], parameter: bool) -> list[Owner]:
        here = [owner for owner in found if owner.graph == graph]
        return here or ([] if parameter else found)

    def file_name(self, graph: int, name: str) -> str:
        """The name in files for the operator that ``.ir`` and csv of ``graph`` call ``name``."""
        return self._renamed.get((graph, name), name)
