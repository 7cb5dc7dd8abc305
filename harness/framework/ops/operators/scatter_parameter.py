"""Scatter*: rows of a parameter replaced or changed in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from harness.errors import DtypeError, KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.operators.gather_nd import coordinates
from harness.graph import Spec


class _Scatter(Operator):
    """Argument 0 with the rows at the indices changed one after the other; gives it back."""

    functional = False
    tensors = (0, 1, 2)
    follows: ClassVar[Mapping[int, int]] = {2: 0}
    mutates = (0,)
    side_effect = "memory"
    #: what a slice becomes, of its old and its new value
    change: ClassVar[Any]

    def infer(self, call: Call) -> Spec:
        target, indices, updates = call.shape(0), call.shape(1), call.shape(2)
        if call.dtype(1).kind not in "iu" or not target:
            raise call.fail("the indices must be integers, the target must have an axis")
        if -1 not in (*target, *indices, *updates) and updates != (*indices, *target[1:]):
            raise call.fail(f"the updates must have shape {[*indices, *target[1:]]}")
        return call.tensor(0)

    def rows(self, target: Array, indices: Array) -> list[Any]:
        """The index of each slice that changes, in order."""
        if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < len(target):
            raise KernelError(f"{self.name}: an index lies outside 0 to {len(target) - 1}")
        return list(indices.reshape(-1))

    def kernel(self, call: Call, target: Array, indices: Array, updates: Array) -> Array:
        own = target if target.dtype.kind in "iub" else numerics.wide(target).copy()
        places = self.rows(target, indices)
        values = updates.astype(own.dtype).reshape(len(places), *own[places[0]].shape) if places else updates
        for place, value in zip(places, values, strict=bool(places)):
            own[place] = type(self).change(own[place], value)
        target[...] = numerics.finish(own, call.dtype(0))
        return target

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None


def _replace(_old: Array, new: Array) -> Array:
    return new


@operator
class ScatterUpdate(_Scatter):
    """Rows replaced."""

    name = "ScatterUpdate"
    change = staticmethod(_replace)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0).kind == "b":
            raise DtypeError("ScatterUpdate: MindSpore's CPU has no kernel for Bool; cast them (ops.cast)")
        return super().infer(call)


@operator
class ScatterAdd(_Scatter):
    """Rows added to."""

    name = "ScatterAdd"
    change = staticmethod(np.add)


@operator
class ScatterSub(_Scatter):
    """Rows subtracted from."""

    name = "ScatterSub"
    change = staticmethod(np.subtract)


@operator
class ScatterMul(_Scatter):
    """Rows multiplied."""

    name = "ScatterMul"
    change = staticmethod(np.multiply)


@operator
class ScatterDiv(_Scatter):
    """Rows divided."""

    name = "ScatterDiv"
    change = staticmethod(np.divide)


@operator
class ScatterMax(_Scatter):
    """The larger of old and new."""

    name = "ScatterMax"
    change = staticmethod(np.maximum)


@operator
class ScatterMin(_Scatter):
    """The smaller of old and new."""

    name = "ScatterMin"
    change = staticmethod(np.minimum)


class _ScatterNd(_Scatter):
    """The same for slices at coordinates along the last axis of the indices."""

    def infer(self, call: Call) -> Spec:
        target, indices, updates = call.shape(0), call.shape(1), call.shape(2)
        if call.dtype(1).kind not in "iu":
            raise DtypeError(f"{self.name}: the indices must be integers, got {call.dtype(1)}")
        if not indices or indices[-1] > len(target):
            raise call.fail("the last axis of the indices must hold at most one integer for each axis of the target")
        if -1 not in (*target, *indices, *updates) and updates != (*indices[:-1], *target[indices[-1] :]):
            raise call.fail(f"the updates must have shape {[*indices[:-1], *target[indices[-1] :]]}")
        return call.tensor(0)

    def rows(self, target: Array, indices: Array) -> list[Any]:
        flat = indices.reshape(-1, indices.shape[-1])
        return list(zip(*coordinates(self.name, flat, target.shape), strict=True))


@operator
class ScatterNdUpdate(_ScatterNd):
    """Slices replaced."""

    name = "ScatterNdUpdate"
    change = staticmethod(_replace)


@operator
class ScatterNdAdd(_ScatterNd):
    """Slices added to."""

    name = "ScatterNdAdd"
    change = staticmethod(np.add)


@operator
class ScatterNdSub(_ScatterNd):
    """Slices subtracted from."""

    name = "ScatterNdSub"
    change = staticmethod(np.subtract)


@operator
class ScatterNdMul(_ScatterNd):
    """Slices multiplied."""

    name = "ScatterNdMul"
    change = staticmethod(np.multiply)


@operator
class ScatterNdDiv(_ScatterNd):
    """Slices divided."""

    name = "ScatterNdDiv"
    change = staticmethod(np.divide)


@operator
class ScatterNdMax(_ScatterNd):
    """The larger of old and new."""

    name = "ScatterNdMax"
    change = staticmethod(np.maximum)


@operator
class ScatterNdMin(_ScatterNd):
    """The smaller of old and new."""

    name = "ScatterNdMin"
    change = staticmethod(np.minimum)


@operator
class IndexAdd(Operator):
    """Argument 0 (in place) with the slices of argument 2 added at the indices along attribute ``axis``."""

    name = "IndexAdd"
    functional = False
    tensors = (0, 1, 2)
    mutates = (0,)
    side_effect = "memory"

    def infer(self, call: Call) -> Spec:
        target, indices, added, axis = call.shape(0), call.shape(1), call.shape(2), call.attrs["axis"]
        if not -len(target) <= axis < len(target) or len(indices) != 1:
            raise call.fail(f"axis {axis} and indices of one axis are needed")
        wanted = list(target)
        wanted[axis] = indices[0]
        if list(added) != wanted:
            raise call.fail(f"what is added must have shape {wanted}")
        return call.tensor(0)

    def kernel(self, call: Call, target: Array, indices: Array, added: Array) -> Array:
        own = np.moveaxis(numerics.wide(target).copy(), call.attrs["axis"], 0)
        if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < len(own):
            raise KernelError(f"{self.name}: an index lies outside 0 to {len(own) - 1}")
        np.add.at(own, indices, np.moveaxis(numerics.wide(added), call.attrs["axis"], 0))
        target[...] = numerics.finish(np.moveaxis(own, 0, call.attrs["axis"]), call.dtype(0))
        return target

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None
