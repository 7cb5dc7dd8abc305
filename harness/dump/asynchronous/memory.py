"""Knows which arrays a run may still change after showing them, so that they must be copied to be kept.

A run never overwrites the result of a kernel. It does write to parameters (optimizers and other updates in place), and
its data inputs belong to the caller: these, and all views of them, are lent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness.framework.runtime.observer import Slot
from harness.graph import Node, Operand, Parameter

Array = np.ndarray[Any, np.dtype[Any]]

_HAND_ON = frozenset({"Load", "Depend", "TupleGetItem"})
"""Operators that return their first input unchanged."""


def owner(array: Array) -> Array:
    """The array that owns the memory of ``array``, through any number of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class LentMemory:
    """The memory that belongs to others, for one step."""

    def __init__(self) -> None:
        self._lent: dict[int, Array] = {}  # by id, which is unique only while the object lives
        self._borrowed: dict[Node, frozenset[int]] = {}

    def begin(self, arrays: Iterable[Array]) -> None:
        """Begins a step with these parameters and data inputs."""
        self._lent = {id(root): root for root in map(owner, arrays)}

    def show(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        """Notes that a kernel ran: the parameters it read may change later, and everything it shows if it updates in
        place."""
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
        """Whether ``array`` may change; also true if its memory belongs to no array."""
        root = owner(array)
        return id(root) in self._lent or not root.flags.owndata

    def keep(self, array: Array) -> Array:
        """``array``, or a copy if it may change, or if it would keep more than twice its own bytes alive."""
        return array.copy(order="C") if self._needs_copy(array) else array

    def kept_bytes(self, array: Array) -> int:
        """Number of bytes that the result of ``keep`` keeps alive."""
        return array.nbytes if self._needs_copy(array) else owner(array).nbytes

    def _needs_copy(self, array: Array) -> bool:
        return self.is_lent(array) or owner(array).nbytes > 2 * array.nbytes


def _is_changed(node: Node) -> bool:
    """Whether a kernel updates memory in place, or returns memory that is changed later."""
    return node.extra.effect is not None or node.extra.root is not None


def _is_memory(operand: Operand) -> bool:
    """Whether a value is (or passes on) a parameter or the result of an update in place. A parameter of an inner graph
    stands for a value of the outer one."""
    while isinstance(operand, Node) and operand.op in _HAND_ON:
        operand = operand.inputs[0]
    if isinstance(operand, Node):
        return _is_changed(operand) or (operand.op == "MakeTuple" and any(map(_is_memory, operand.inputs)))
    return isinstance(operand, Parameter)
