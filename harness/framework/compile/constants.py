"""The constants of a traced function: what a tensor of it that is not an argument becomes.

Equal constants are one (MindSpore compares them by value, measured), but for those that are changed in place: each is
its tensor's own memory from then on. Of tensors without dimensions that the function itself makes, equal ones share
theirs (tests/data/programs/constants_in_place.txt).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from harness.framework.tensor import Tensor
from harness.graph import Const, Node, Operand, printed_order, spec_of

#: operators that make constants which are known late
_LATE = frozenset({"ZerosLike"})


class Constants:
    """The constants of one trace."""

    def __init__(self) -> None:
        self._equal: dict[Any, Const] = {}
        self._own: dict[Any, tuple[Tensor, Const]] = {}
        self._inputs: dict[int, Operand] = {}

    def stand_in(self, tensor: Tensor, operand: Operand) -> None:
        """Makes ``operand``, which the caller's ``tensor`` became, what the tensor itself is in the function, too."""
        self._inputs[id(tensor)] = operand

    def of_array(self, array: np.ndarray[Any, np.dtype[Any]], late: bool = False) -> Const:
        """The constant of a value; equal arrays share one."""
        key = (*_key(array), late)
        if key not in self._equal:
            self._equal[key] = Const(array, spec_of(array), late)
        return self._equal[key]

    def of_tensor(self, tensor: Tensor) -> Operand:
        """The constant of a tensor. It lies in the tensor's memory: what is assigned to its elements later is seen by
        the graph (measured)."""
        if id(tensor) in self._inputs:
            return self._inputs[id(tensor)]
        array = tensor.asnumpy()
        if tensor.made_by is not None and tensor.made_by[1] in _LATE:
            return self.of_array(array, True)
        key = _key(array) if tensor.in_graph and not array.ndim else id(tensor)
        if key not in self._own:
            self._own[key] = tensor, Const(array, spec_of(array))
        return self._own[key][1]

    def change(self, operand: Operand) -> None:
        """Notes that a constant is changed in place."""
        if isinstance(operand, Const) and operand.memory is None:
            operand.memory, operand.value = operand.value, operand.value.copy()

    def settle(self, nodes: Callable[[], Iterable[Node]]) -> None:
        """Makes one of equal constants that nothing changed in place; ``nodes`` gives all that may take them."""
        same: dict[int, Const] = {}
        for _, const in self._own.values():
            if const.memory is None:
                same[id(const)] = self._equal.setdefault((*_key(const.value), const.late), const)
        if all(id(const) == at for at, const in same.items()):
            return
        for node in nodes():
            node.inputs = [same.get(id(operand), operand) for operand in node.inputs]

    def leave_folded(self, changed: Operand, nodes: Iterable[Node]) -> None:
        """Gives what takes constants alone, and is computed once, the value that ``changed`` has now."""
        for node in nodes if isinstance(changed, Const) else ():
            folds = node.extra.effect is None and all(isinstance(i, Const) for i in node.inputs)
            if folds and any(i is changed for i in node.inputs):
                value = self.of_array(changed.value)  # type: ignore[union-attr]
                node.inputs = [value if i is changed else i for i in node.inputs]


def share_equal(outputs: Iterable[Operand]) -> None:
    """Makes equal constants of the graphs behind ``outputs`` one, but for those that are changed in place."""
    found: dict[Any, Const] = {}
    for node in (node for output in outputs for node in printed_order(output)):
        for at, operand in enumerate(node.inputs):
            if isinstance(operand, Const) and isinstance(operand.value, np.ndarray) and operand.memory is None:
                node.inputs[at] = found.setdefault((*_key(operand.value), operand.late), operand)


def _key(array: np.ndarray[Any, np.dtype[Any]]) -> tuple[Any, ...]:
    return array.dtype.str if array.dtype.kind != "V" else str(array.dtype), array.shape, array.tobytes()
