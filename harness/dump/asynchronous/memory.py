"""Which arrays a run may still change after it has shown them, and must be copied to be kept.

A run never writes into the result of a kernel again. What it does write into are parameters (optimizers and other
updates in place), and its data inputs are the caller's: those, and every view of them, are lent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness.framework.runtime.observer import Slot
from harness.graph import Node, Operand, Parameter

Array = np.ndarray[Any, np.dtype[Any]]

_HAND_ON = frozenset({"Load", "Depend", "TupleGetItem"})
"""Operators that hand their first input on as it is."""


def owner(array: Array) -> Array:
    """The array whose memory ``array`` lies in, through any number of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class LentMemory:
    """The memory that belongs to others, for one step."""

    def __init__(self) -> None:
        self._lent: dict[int, Array] = {}  # by id, which is one thing's only while that lives
        self._borrowed: dict[Node, frozenset[int]] = {}

    def begin(self, arrays: Iterable[Array]) -> None:
        """A step begins, with these parameters and data inputs."""
        self._lent = {id(root): root for root in map(owner, arrays)}

    def show(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """A kernel ran: what it read of parameters may be changed later, and all it shows if it updates in place."""
        borrowed = self._borrowed.get(node)
        if borrowed is None:
            borrowed = self._borrowed[node] = frozenset(
                at for at, operand in enumerate(node.inputs) if _is_memory(operand)
            )
        updates = _is_changed(node)
        for slot in inputs:
            if updates or slot.index in borrowed:
                self._add(slot.array)
        for slot in outputs if updates else ():
            self._add(slot.array)

    def _add(self, array: Array) -> None:
        root = owner(array)
        self._lent[id(root)] = root

    def is_lent(self, array: Array) -> bool:
        """Whether ``array`` may change; also where its memory is no array's."""
        root = owner(array)
        return id(root) in self._lent or not root.flags.owndata

    def keep(self, array: Array) -> Array:
        """``array``, or a copy of it where it may change or would keep more than twice its own bytes alive."""
        return array.copy(order="C") if self._needs_copy(array) else array

    def kept_bytes(self, array: Array) -> int:
        """Bytes that stay as long as what ``keep`` gives."""
        return array.nbytes if self._needs_copy(array) else owner(array).nbytes

    def _needs_copy(self, array: Array) -> bool:
        return self.is_lent(array) or owner(array).nbytes > 2 * array.nbytes


def _is_changed(node: Node) -> bool:
    """Whether a kernel updates memory, or gives what is changed in place later."""
    return node.extra.effect is not None or node.extra.root is not None


def _is_memory(operand: Operand) -> bool:
    """Whether a value is, or is handed on from, a parameter or what an update in place gives. A parameter of a graph
    within another stands for a value of the outer one."""
    while isinstance(operand, Node) and operand.op in _HAND_ON:
        operand = operand.inputs[0]
    if isinstance(operand, Node):
        return _is_changed(operand) or (operand.op == "MakeTuple" and any(map(_is_memory, operand.inputs)))
    return isinstance(operand, Parameter)
