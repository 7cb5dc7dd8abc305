"""The events that the runtime sends to observers of a step.

Dump, RDR, overflow detection, Print, memory accounting and capture are observers; the runtime knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.graph import Graph, Node, Operand, Parameter

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument or result of a kernel.

    Attributes:
        index: position in the flattened argument (or output) list, as dump file names count it. Arguments the
            kernel does not read, monads, strings and empty tuples have no slot, so indices may have holes.
        array: C-contiguous; valid only during the call (copy to keep). A Python scalar is 0-d, a tuple of ints
            1-D int64. Shape is the logical one.
        dtype: the MindSpore dtype of ``array``.
        saturated: of a result: the device's status says that the kernel left the range and was saturated.
    """

    index: int
    array: Array
    dtype: DType
    saturated: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One run of a compiled graph.

    Attributes:
        graph: the graph the step starts from.
        run: how often this graph ran before (0 for its first run).
        parameters: yields each graph parameter that has data, with its current array.
    """

    graph: Graph
    run: int
    parameters: Callable[[], Iterator[tuple[Parameter, Array]]]


class Observer:
    """Base with empty hooks; override what you need. An exception in a hook stops the step and propagates."""

    def compile_begin(self, name: str, inputs: Sequence[str]) -> None:
        """A compilation of the function called ``name`` begins; ``inputs`` are its parameters' names."""

    def compile_stage(self, stage: str, outputs: Sequence[Operand]) -> None:
        """A stage of the compilation is done (``compile.program.STAGES``); ``outputs`` are what each kernel graph to be
        gives. Valid only during the call: later stages change the nodes."""

    def compile_end(self, error: BaseException | None) -> None:
        """The compilation is over, after every ``graph_compiled``; ``error`` is raised afterwards."""

    def graph_compiled(self, graph: Graph) -> None:
        """Once for each kernel graph, before its first run."""

    def step_begin(self, step: Step) -> None:
        """Before the first kernel of a step."""

    def kernel_inputs(self, node: Node, inputs: Sequence[Slot]) -> None:
        """Before a kernel is launched."""

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """After a kernel ran; ``inputs`` show what in-place operators made of them. With control flow, ``node``
        may belong to another graph than the step's (``node.extra.graph`` is its ``Graph``)."""

    def step_end(self, step: Step) -> None:
        """After the last kernel of a step."""

    def failed(self, node: Node | None, error: BaseException) -> None:
        """A kernel (or, with None, the step) failed; the error is raised afterwards."""

    def closed(self) -> None:
        """The session ends."""
