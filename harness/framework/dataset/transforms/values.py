"""Transforms of values and types."""

from __future__ import annotations

import operator as _operator
from enum import IntEnum
from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import whole
from harness.framework.dataset.transforms.base import Fixed, RowFunction, Transform


def numpy_type(data_type: Any, owner: str) -> np.dtype[Any]:
    """The numpy dtype of a MindSpore or numpy dtype; ``SettingTypeError`` for what is neither."""
    if isinstance(data_type, DType):
        return np.dtype(data_type.numpy)
    if isinstance(data_type, (type, np.dtype, str)):
        try:
            return np.dtype(data_type)
        except TypeError:
            pass
    raise SettingTypeError(f"{owner}: a dtype is needed, got {data_type!r}")


class TypeCast(Fixed):
    """Values as another type."""

    def __init__(self, data_type: Any) -> None:
        self.data_type = numpy_type(data_type, self.name)

    def compute(self, array: Any) -> Any:
        if array.dtype.kind in "US":
            raise StateError(f"{self.name}: texts cannot be cast to {self.data_type}")
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(self.data_type)


class OneHot(Fixed):
    """Labels as vectors with a 1 at their place; ``smoothing_rate`` of it is spread over all places."""

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        self.num_classes = whole(num_classes, "num_classes", self.name, 1)
        if isinstance(smoothing_rate, bool) or not isinstance(smoothing_rate, (int, float)):
            raise SettingTypeError(f"OneHot: smoothing_rate must be a number, got {smoothing_rate!r}")
        if not 0 <= smoothing_rate <= 1:
            raise SettingError(f"OneHot: smoothing_rate must be in [0, 1], got {smoothing_rate}")
        self.smoothing_rate = float(smoothing_rate)

    def compute(self, array: Any) -> Any:
        if array.dtype.kind not in "iu":
            raise StateError(f"OneHot: labels must be integers, got {array.dtype}")
        if array.ndim > 1 and array.size != 1:
            raise StateError(f"OneHot: one label, or one dimension of them, is needed, got shape {array.shape}")
        labels = array.reshape(-1)
        wrong = [int(label) for label in labels if not 0 <= label < self.num_classes]
        if wrong:
            raise StateError(f"OneHot: a label must be below num_classes {self.num_classes}, got {wrong[0]}")
        share = self.smoothing_rate / self.num_classes
        made = np.full((len(labels), self.num_classes), share, np.float64 if self.smoothing_rate else array.dtype)
        made[np.arange(len(labels)), labels] = 1 - self.smoothing_rate + share
        made = made[0] if len(labels) == 1 else made
        return made[..., 0] if self.num_classes == 1 else made  # measured: one class has no axis


class Fill(Fixed):
    """All values replaced by one."""

    def __init__(self, fill_value: Any) -> None:
        if np.ndim(fill_value) != 0:
            raise SettingTypeError(f"Fill: one value is needed, got {fill_value!r}")
        self.fill_value = fill_value

    def compute(self, array: Any) -> Any:
        value = np.asarray(self.fill_value)
        if (value.dtype.kind in "US") != (array.dtype.kind in "US"):
            raise StateError(f"Fill: {self.fill_value!r} is not a value for {array.dtype}")
        return np.full(array.shape, value.astype(array.dtype) if array.dtype.kind not in "US" else value)


class Duplicate(Transform):
    """A column, twice."""

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return self._twice

    def _twice(self, *arrays: Any) -> Any:
        if len(arrays) != 1:
            raise StateError(f"Duplicate: one column is needed, got {len(arrays)}")
        return arrays[0], arrays[0].copy()


class Concatenate(Transform):
    """Columns (of one dimension) one after the other, ``prepend`` before and ``append`` behind them."""

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise SettingTypeError(f"Concatenate: axis must be an int, got {axis!r}")
        if axis not in (0, -1):
            raise SettingError(f"Concatenate: axis must be 0 or -1, got {axis}")
        self.ends = [None if each is None else np.asarray(each) for each in (prepend, append)]
        for end in self.ends:
            if end is not None and end.ndim != 1:
                raise SettingError(f"Concatenate: prepend and append must have one dimension, got {end.shape}")

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return self._joined

    def _joined(self, *arrays: Any) -> Any:
        if any(array.ndim != 1 for array in arrays):
            raise StateError(f"Concatenate: columns must have one dimension, got {[each.shape for each in arrays]}")
        first, last = self.ends
        parts = [*([] if first is None else [first]), *arrays, *([] if last is None else [last])]
        kinds = sorted({str(part.dtype) for part in parts if part.dtype.kind not in "US"})
        if len(kinds) > 1:
            raise StateError(f"Concatenate: all must be of one dtype, got {kinds}")
        return np.concatenate(parts)


class PadEnd(Fixed):
    """Padded at the ends up to ``pad_shape`` (None: that dimension as it is), cut where it is larger."""

    def __init__(self, pad_shape: Any, pad_value: Any = None) -> None:
        if not isinstance(pad_shape, list):
            raise SettingTypeError(f"PadEnd: pad_shape must be a list, got {pad_shape!r}")
        self.pad_shape = [None if each in (None, -1) else whole(each, "pad_shape", "PadEnd", 1) for each in pad_shape]
        self.pad_value = pad_value

    def compute(self, array: Any) -> Any:
        if array.ndim != len(self.pad_shape):
            raise StateError(f"PadEnd: pad_shape has {len(self.pad_shape)} dimensions, the column {array.ndim}")
        text = array.dtype.kind in "US"
        value = ("" if text else 0) if self.pad_value is None else self.pad_value
        if (np.asarray(value).dtype.kind in "US") != text:
            raise StateError(f"PadEnd: {value!r} is not a value for {array.dtype}")
        shape = [own if each is None else each for own, each in zip(array.shape, self.pad_shape, strict=True)]
        kind = np.result_type(array, np.asarray(value)) if text else array.dtype
        made = np.full(shape, value, kind)
        kept = tuple(slice(0, min(own, each)) for own, each in zip(array.shape, shape, strict=True))
        made[kept] = array[kept]
        return made


class Relational(IntEnum):
    """Comparisons of ``Mask``."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


class Mask(Fixed):
    """Where a comparison with ``constant`` holds, as ``dtype``."""

    def __init__(self, operator: Relational, constant: Any, dtype: Any = dtypes.bool_) -> None:
        if not isinstance(operator, Relational):
            raise SettingTypeError(f"Mask: operator must be a Relational, got {operator!r}")
        self.operator = operator
        self.constant = constant
        self.dtype = numpy_type(dtype, "Mask")

    def compute(self, array: Any) -> Any:
        constant = np.asarray(self.constant)
        if (constant.dtype.kind in "US") != (array.dtype.kind in "US"):
            raise StateError(f"Mask: {self.constant!r} cannot be compared with {array.dtype}")
        if constant.dtype.kind not in "US":
            constant = constant.astype(array.dtype)
        return getattr(_operator, self.operator.name.lower())(array, constant).astype(self.dtype)


class Slice(Fixed):
    """Part of an array: an int, list of ints, slice, None or Ellipsis for each dimension. All dimensions stay."""

    def __init__(self, *slices: Any) -> None:
        for each in slices:
            listed = isinstance(each, list) and all(type(at) is int for at in each)
            if not (each is None or each is Ellipsis or listed or isinstance(each, (bool, int, slice))):
                raise SettingTypeError(f"Slice: an int, list of ints, slice, None or Ellipsis is needed, got {each!r}")
        self.slices = slices

    def compute(self, array: Any) -> Any:
        if len(self.slices) > array.ndim:
            raise StateError(f"Slice: {len(self.slices)} slices for an array of shape {array.shape}")
        for axis, each in enumerate(self.slices):
            if each is None or each is Ellipsis or each is True:
                continue
            size = array.shape[axis]
            chosen = range(size)[each] if isinstance(each, slice) else [each] if isinstance(each, int) else each
            wrong = [at for at in chosen if not -size <= at < size]
            if wrong:
                raise StateError(f"Slice: there is no place {wrong[0]} in dimension {axis} of {array.shape}")
            array = np.take(array, list(chosen), axis)
        return np.ascontiguousarray(array)


class Unique(Transform):
    """The distinct values, the place of each value among them, and how often each occurs."""

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return self._unique

    def _unique(self, *arrays: Any) -> Any:
        if len(arrays) != 1:
            raise StateError(f"Unique: one column is needed, got {len(arrays)}")
        flat = arrays[0].reshape(-1)
        _, first, inverse, counts = np.unique(flat, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first, kind="stable")
        rank = np.argsort(order, kind="stable")
        return flat[first[order]], rank[inverse].astype(np.int32), counts[order].astype(np.int32)
