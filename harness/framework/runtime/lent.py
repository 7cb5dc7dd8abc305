"""Knows which arrays a run may still change after showing them: the others are stable.

A run never overwrites the result of a kernel. It does write to parameters (optimizers and other updates in place), and
its data inputs belong to the caller: these, and all views of them, are lent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from harness.graph import Node, Operand, Parameter
from harness.recording.value import Array, Value

_HAND_ON = frozenset({"Load", "Depend", "TupleGetItem"})
"""Operators that return their first input unchanged."""


def owner(array: Array) -> Array:
    """The array that owns the memory of ``array``, through any number of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class LentMemory:
    """The memory that belongs to others, for one step.

    Args:
        arrays: parameters and data inputs.
    """

    def __init__(self, arrays: Iterable[Array]) -> None:
        self._lent: dict[int, Array] = {id(root): root for root in map(owner, arrays)}  # by id, while the object lives
        self._borrowed: dict[Node, frozenset[int]] = {}

    def inputs(self, node: Node, values: Sequence[Value]) -> None:
        """Says of what a kernel reads whether it is stable; the parameters it reads may change later, and everything
        it shows if it updates in place."""
        borrowed = self._borrowed.get(node)
        if borrowed is None:
            borrowed = self._borrowed[node] = frozenset(
                at for at, operand in enumerate(node.inputs) if _is_memory(operand)
            )
        updates = _is_changed(node)
        for value in values:
            if value.is_read:
                if updates or value.index in borrowed:
                    self._add(value.array)
                value.stable = not self.is_lent(value.array)

    def outputs(self, node: Node, values: Sequence[Value]) -> None:
        """Says of what a kernel gave whether it is stable."""
        updates = _is_changed(node)
        for value in values:
            if value.is_read:
                if updates:
                    self._add(value.array)
                value.stable = not self.is_lent(value.array)

    def _add(self, array: Array) -> None:
        root = owner(array)
        self._lent[id(root)] = root

    def is_lent(self, array: Array) -> bool:
        """Whether ``array`` may change; also true if its memory belongs to no array."""
        root = owner(array)
        return id(root) in self._lent or not root.flags.owndata


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
