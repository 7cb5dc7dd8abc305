"""Reads and updates of parameters, and the state (MindSpore's monad) that keeps them in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.graph import IO, IOMONAD, Node, Operand, Parameter, Spec, TensorSpec, TupleSpec, U


class States:
    """What memory and output have gone through so far in the region being traced.

    Attributes:
        state: what the next effect on memory has to follow.
        io_state: the same for printing; None while nothing was printed.
        differentiated: whether the gradient was taken already; what is read again from then on is not noted again.
    """

    def __init__(self, virtual: Callable[[str, list[Operand], Spec], Node]) -> None:
        self.state: Operand = U
        self.io_state: Operand | None = None
        self.differentiated = False
        self._virtual = virtual
        #: reads since ``state``: those of one operator together, an operator's repeated ones too
        self._reads: list[list[Node]] = []
        self._known: dict[Any, Node] = {}
        self._updates: dict[int, int] = {}

    def leave(self) -> tuple[Operand, list[list[Node]]]:
        """Starts anew for another region; gives what ``back`` takes to go on here."""
        saved = self.state, self._reads
        self.state, self._reads = U, []
        return saved

    def back(self, saved: tuple[Operand, list[list[Node]]]) -> None:
        """Goes on where ``leave`` was called."""
        self.state, self._reads = saved

    def read(self, parameter: Parameter, region: object) -> Node:
        """The read of a parameter; one node for all reads in a region between two updates of it."""
        key = id(region), id(parameter), self._updates.get(id(parameter), 0)
        known = key in self._known
        if not known:
            assert isinstance(parameter.spec, TensorSpec)
            self._known[key] = self._virtual("Load", [parameter, self.state], parameter.spec.tensor)
        if not known or not self.differentiated:
            self._reads.append([self._known[key]])
        return self._known[key]

    def mark(self) -> int:
        """How many reads there are; for ``together``."""
        return len(self._reads)

    def together(self, mark: int) -> bool:
        """Makes the reads since ``mark`` those of one operator; whether there are any."""
        since = [read for unit in self._reads[mark:] for read in unit]
        if since:
            self._reads[mark:] = [since]
        return bool(since)

    def update(self, node: Node, targets: Sequence[Operand]) -> None:
        """Makes ``node``, which updates ``targets``, follow what came before and be followed by what comes."""
        for target in targets:
            if isinstance(target, Parameter):
                target.is_inplace = True
                self._updates[id(target)] = self._updates.get(id(target), 0) + 1
        node.inputs.append(self.flush())
        self.state = self._virtual("UpdateState", [self.state, node], U.spec)

    def print(self, node: Node) -> None:
        """The same for a node that prints."""
        node.inputs.append(self.io_state or IO)
        self.io_state = self._virtual("UpdateState", [self.io_state or IO, node], IOMONAD)

    def flush(self) -> Operand:
        """Makes the state follow the reads since; returns it."""
        if not self._reads:
            return self.state
        every = list({id(r): r for unit in self._reads for r in unit}.values())
        for read in every[:-1]:
            # Of reads in a row all but the last are seen to float to the start (measured), unless something was
            # written before them.
            if isinstance(read.inputs[0], Parameter) and not read.inputs[0].is_inplace:
                read.inputs[1] = U
        reads: list[Operand] = list(merged(self._reads, self.differentiated))
        if len(reads) > 1:
            reads = [self._virtual("MakeTuple", reads, TupleSpec(tuple(r.spec for r in reads)))]
        self.state = self._virtual("UpdateState", [self.state, *reads], U.spec)
        self._reads = []
        return self.state


def merged(units: Sequence[Sequence[Node]], differentiated: bool) -> list[Node]:
    """The order in which reads stand in the tuple their states are merged into.

    Each unit (the reads of one operator) turns round what is there and comes behind it, itself turned round, but for
    one that is alone; of a read met twice the first place counts; the reads a differentiated function ends with are
    turned round once more (all measured).
    """
    order: list[Node] = []
    for unit in units:
        order = order[::-1] + list(unit[::-1] if len(units) > 1 else unit)
    each = list({id(read): read for read in order}.values())
    return each[::-1] if differentiated else each
