"""Remembers facts about tensors until they are written.

A tensor is usually seen several times: when it is made, when it is used, and under other shapes. PyTorch's operators
declare what they write, so that a storage need not be read twice between two writes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})


#: see ``look``
Looked = tuple[Any, int, tuple[Any, ...]]


class Memo:
    """Contents by place in memory; valid only while every operator is seen.

    A storage is held weakly: its memory may be freed, but its address is not reused meanwhile.
    """

    def __init__(self) -> None:
        self._storages: dict[int, tuple[Any, dict[Any, Any]]] = {}
        #: memory that was made and not written since
        self._unfilled: dict[int, Any] = {}

    def of(self, looked: Looked) -> dict[Any, Any]:
        """The facts about a tensor's storage, by ``place`` or ``region``."""
        storage, address, _ = looked
        found = self._storages.get(address)
        if found is None:
            found = self._storages[address] = (StorageWeakRef(storage), {})
        return found[1]

    def written(self, tensor: Any) -> None:
        """Forgets the facts about the tensor's storage; about all where it has several, or none that is known."""
        if not self._storages and not self._unfilled:
            return
        if _has_storage(tensor):
            address = tensor.untyped_storage()._cdata
            self._storages.pop(address, None)
            self._unfilled.pop(address, None)
        else:
            self.clear()

    def made_unfilled(self, tensor: Any) -> None:
        """Notes memory whose content nobody has written yet."""
        if isinstance(tensor, torch.Tensor) and _has_storage(tensor) and tensor.is_cpu:
            storage = tensor.untyped_storage()
            self._unfilled[storage._cdata] = StorageWeakRef(storage)

    def is_unfilled(self, tensor: Any) -> bool:
        """Whether nothing was written yet where the tensor lies."""
        return bool(self._unfilled) and _has_storage(tensor) and tensor.untyped_storage()._cdata in self._unfilled

    def clear(self) -> None:
        """Forgets everything."""
        self._storages.clear()
        self._unfilled.clear()


def _has_storage(tensor: Any) -> bool:
    return type(tensor) in _PLAIN and tensor.layout is torch.strided


def place(tensor: Any) -> tuple[Any, ...]:
    """Identifies a tensor's content among others on its storage."""
    return tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype, tensor.is_conj(), tensor.is_neg()


def look(tensor: Any) -> Looked:
    """A tensor's storage, the storage's address, and the tensor's ``place`` there."""
    storage = tensor.untyped_storage()
    return storage, storage._cdata, place(tensor)


def region(tensor: Any) -> tuple[Any, ...] | None:
    """The memory region that a tensor fills exactly once, in any order; None if it does not fill one. Two tensors of
    one region have the same elements, and so the same statistics."""
    if not tensor.is_contiguous():
        wanted = 1
        for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
            if size != 1:
                if stride != wanted:
                    return None
                wanted *= size
    return tensor.storage_offset(), tensor.numel(), tensor.dtype, tensor.is_conj(), tensor.is_neg()


def writes_of(tensor: Any) -> int | None:
    """How often a tensor was written; None where PyTorch does not count that."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return None
