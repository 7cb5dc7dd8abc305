"""Puts a golden's tensors in the place of what a run's operators take and give, and the run goes on with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from harness.capture.torch.parts import DTYPES, is_plain
from harness.records import Array, SlotKey
from harness.replaying.aten.running import tensor_of


class Grafts:
    """Tensors to go on with, by the slots of the run.

    Args:
        values: the golden's value of each slot, in the golden's shape and dtype.

    Attributes:
        done: the slots that were replaced.
    """

    def __init__(self, values: Mapping[SlotKey, Array]) -> None:
        self._values = values
        self._operators = frozenset(key.operator for key in values)
        self.done: set[SlotKey] = set()
        #: Of what an operator was about to take: the tensor's memory, what it held, and what was written.
        self._before: list[tuple[Any, Any, Any]] = []

    def concerns(self, operator: str) -> bool:
        """Whether any slot of an operator is to be replaced."""
        return operator in self._operators

    def given(self, where: tuple[int, int, int, str], tensors: Sequence[Any]) -> list[Any]:
        """Overwrites what an operator is about to take, in its own memory, so that whatever else reads it goes on with
        the golden's values, too. Gives the tensors that were written.

        Args:
            where: rank, graph, iteration and name of the operator.
            tensors: what it takes, in the order of its slots.
        """
        return [
            tensor for at, tensor in enumerate(tensors) if self._overwritten(SlotKey(*where, 0, "input", at), tensor)
        ]

    def result(self, where: tuple[int, int, int, str], tensors: Sequence[Any], result: Any) -> tuple[Any, list[Any]]:
        """What the run goes on with in place of what an operator gave, and the tensors that were written.

        Args:
            where: rank, graph, iteration and name of the operator.
            tensors: what it gave and wrote, in the order of its slots.
            result: what it returned.
        """
        written: list[Any] = []
        others: dict[int, Any] = {}
        for at, tensor in enumerate(tensors):
            slot = SlotKey(*where, 0, "output", at)
            if slot not in self._values:
                continue
            if self._overwritten(slot, tensor):
                written.append(tensor)
            else:  # of another shape or dtype: another tensor stands for it
                others[id(tensor)] = tensor_of(self._values[slot])
                self.done.add(slot)
        return _replaced(result, others) if others else result, written

    def _overwritten(self, slot: SlotKey, tensor: Any) -> bool:
        wanted = self._values.get(slot)
        if wanted is None or not is_plain(tensor):
            return False
        if tuple(tensor.shape) != wanted.shape or DTYPES[tensor.dtype].numpy != wanted.dtype:
            return False
        with _disable_current_modes(), torch.no_grad():
            whole = _written_once(tensor)
            before = whole.clone() if slot.io == "input" else None
            whole.copy_(_written_once(tensor_of(wanted), like=tensor))
            if before is not None:
                self._before.append((whole.detach(), before, whole.clone()))
        self.done.add(slot)
        return True

    def put_back(self) -> None:
        """Gives tensors that operators took, the caller's own among them, what they held, if nothing wrote to them
        since."""
        with _disable_current_modes(), torch.no_grad():
            for tensor, before, written in reversed(self._before):
                if torch.equal(tensor.contiguous().view(torch.uint8), written.contiguous().view(torch.uint8)):
                    tensor.copy_(before)
        self._before.clear()


def _written_once(tensor: Any, like: Any = None) -> Any:
    """The part of a tensor in which each element of its memory is there once: ``expand`` repeats them."""
    strides = (tensor if like is None else like).stride()
    for axis, (stride, size) in enumerate(zip(strides, tensor.shape, strict=True)):
        if stride == 0 and size > 1:
            tensor = tensor.narrow(axis, 0, 1)
    return tensor


def _replaced(value: Any, others: Mapping[int, Any]) -> Any:
    if id(value) in others:
        return others[id(value)]
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(each, others) for each in value)
    return value
