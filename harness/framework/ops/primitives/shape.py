"""Primitives that arrange elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from harness import dtypes
from harness.errors import KernelError, SettingError, SettingTypeError, ShapeError
from harness.framework.ops.functions.shape import sizes
from harness.framework.ops.primitive import Primitive, plain
from harness.framework.tensor import Tensor, call, is_eager

__all__ = [
    "BroadcastTo", "Cast", "Concat", "DType", "Depend", "Eps", "ExpandDims", "Flatten", "Identity", "LogSpace",
    "Pack", "Pad", "PadV3", "Padding", "Rank", "Reshape", "ReverseSequence", "ReverseV2", "Shape", "Size", "Slice",
    "Split", "Squeeze", "Stack", "StridedSlice", "Tile", "Transpose", "Unpack", "Unstack",
]  # fmt: skip

Depend, ExpandDims, Flatten, Identity = plain("Depend", "ExpandDims", "Flatten", "Identity").values()


def axis_setting(owner: str, axis: Any, name: str = "axis") -> int:
    """A setting that is an int; ``TypeError`` naming owner and setting otherwise."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"{owner}: {name} must be an int, got {axis!r}")
    return axis


def _check_tensors(owner: str, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, (tuple, list)) or not given:
        raise TypeError(f"{owner} takes one tuple or list of tensors, got {type(given).__name__}")
    return tuple(given)


class Bare(Primitive):
    """A primitive without settings."""

    def __init__(self) -> None:
        super().__init__()


class Cast(Bare):
    """A tensor in another dtype."""

    def __call__(self, input_x: Any, dtype: Any) -> Any:
        from harness.framework.ops.functions.shape import cast

        return cast(input_x, dtype)


class Reshape(Bare):
    """A tensor with other dimensions."""

    def __call__(self, input: Any, shape: Any) -> Any:
        return call("Reshape", input, sizes((shape,)), **self.marks)


class Transpose(Bare):
    """A tensor with its axes in another order."""

    def __call__(self, input: Any, input_perm: Any) -> Any:
        return call("Transpose", input, sizes((input_perm,)), **self.marks)


class Tile(Bare):
    """A tensor repeated along its axes."""

    def __call__(self, input: Any, dims: Any) -> Any:
        return call("Tile", input, sizes((dims,)), **self.marks)


class Slice(Bare):
    """A box of a tensor: corner and size."""

    def __call__(self, input_x: Any, begin: Any, size: Any) -> Any:
        return call("Slice", input_x, sizes((begin,)), sizes((size,)), **self.marks)


class StridedSlice(Primitive):
    """Slices with steps; the masks are read bit by bit."""

    def __init__(
        self,
        begin_mask: int = 0,
        end_mask: int = 0,
        ellipsis_mask: int = 0,
        new_axis_mask: int = 0,
        shrink_axis_mask: int = 0,
    ) -> None:
        masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
        if min(masks) < 0:
            raise SettingError(f"StridedSlice: masks must be at least 0, got {masks}")
        super().__init__(trailing=masks)

    def __call__(self, input_x: Any, begin: Any, end: Any, strides: Any) -> Any:
        bounds = (sizes((v,)) for v in (begin, end, strides))
        return call("StridedSlice", input_x, *bounds, *self.trailing, **self.marks)


class Concat(Primitive):
    """Tensors behind one another along an axis."""

    def __init__(self, axis: int = 0) -> None:
        super().__init__(trailing=(axis_setting("Concat", axis),))

    def __call__(self, tensors: Any) -> Any:
        from harness.framework.ops.functions.join import concat

        return concat(_check_tensors("Concat", tensors), self.trailing[0])


class Stack(Primitive):
    """Tensors along a new axis."""

    #: what the node says of its arguments and results
    names: ClassVar[dict[str, Any]] = {"input_names": ["x"], "output_names": ["y"]}

    def __init__(self, axis: int = 0) -> None:
        super().__init__()
        self.axis = axis_setting("Stack", axis)

    def __call__(self, input_x: Any) -> Any:
        members = _check_tensors("Stack", input_x)
        first, last = ({name: value} for name, value in self.names.items()) if self.names else ({}, {})
        return call("Stack", members, **first, num=len(members), axis=self.axis, **last, **self.marks)


class Unstack(Primitive):
    """Slices along an axis, without it."""

    names: ClassVar[dict[str, Any]] = {"output_names": ["y"], "input_names": ["x"]}

    def __init__(self, axis: int = 0, num: int | None = None) -> None:
        super().__init__()
        self.axis, self.num = axis_setting("Unstack", axis), num

    def __call__(self, input_x: Any, *more: Any) -> Any:
        """The slices; outside of graphs whatever else is given is left alone (measured)."""
        if more and not is_eager():
            kind = KernelError if any(isinstance(each, Tensor) for each in more) else SettingTypeError
            raise kind(f"Unstack takes one tensor, got {1 + len(more)} arguments")
        rank = len(input_x.shape)
        if not -rank <= self.axis < rank:
            raise ShapeError(f"Unstack: axis must be in [{-rank}, {rank}), got {self.axis}")
        count = input_x.shape[self.axis]
        if self.num not in (None, count):
            raise ValueError(f"Unstack: num is {self.num}, the axis has length {count}")
        return call("Unstack", input_x, **self.names, num=count, axis=self.axis, **self.marks)


class Split(Primitive):
    """Equal pieces along an axis."""

    def __init__(self, axis: int = 0, output_num: int = 1) -> None:
        super().__init__()
        self.axis = axis_setting("Split", axis)
        if isinstance(output_num, bool) or not isinstance(output_num, int) or output_num < 1:
            raise ValueError(f"Split: output_num must be an int above 0, got {output_num!r}")
        self.count = output_num

    def __call__(self, input_x: Any) -> Any:
        length = input_x.shape[self.axis] if -len(input_x.shape) <= self.axis < len(input_x.shape) else 0
        attrs: dict[str, Any] = {"size_splits": (length // self.count,) * self.count}
        return call("Split", input_x, self.axis, self.count, **attrs, **self.marks)


class Squeeze(Primitive):
    """A tensor without axes of length 1 (all of them if none is named)."""

    def __init__(self, axis: Any = ()) -> None:
        axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
        super().__init__(trailing=(tuple(axis_setting("Squeeze", a) for a in axes),))


class BroadcastTo(Primitive):
    """A tensor stretched to a shape."""

    def __init__(self, shape: Any) -> None:
        super().__init__(trailing=(sizes((shape,)),))


class ReverseV2(Primitive):
    """A tensor backwards along axes."""

    def __init__(self, axis: Any) -> None:
        super().__init__(trailing=(sizes((axis,)),))


class ReverseSequence(Primitive):
    """A tensor with the beginning of each sequence backwards; lengths are given at the call."""

    def __init__(self, seq_dim: int, batch_dim: int = 0) -> None:
        names: dict[str, Any] = {"input_names": ["x", "seq_lengths"], "output_names": ["y"]}
        dims = {
            "seq_dim": axis_setting("ReverseSequence", seq_dim),
            "batch_dim": axis_setting("ReverseSequence", batch_dim),
        }
        super().__init__(attrs=names | dims)


class Pad(Primitive):
    """Zeros around a tensor: a pair of numbers for each axis."""

    def __init__(self, paddings: Sequence[Sequence[int]]) -> None:
        if any(isinstance(pair, int) for pair in paddings):  # that is found late (measured)
            raise KernelError(f"Pad: paddings must be pairs of ints, got {paddings!r}")
        pairs = tuple(tuple(int(n) for n in pair) for pair in paddings)
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"Pad: paddings must be pairs of ints, got {paddings!r}")
        super().__init__(attrs={"output_names": ["y"], "paddings": pairs, "input_names": ["x"]})


class PadV3(Primitive):
    """Elements around a tensor, from its last axis on; ``mode`` constant, reflect, edge or circular."""

    def __init__(self, mode: str = "constant", paddings_contiguous: bool = True) -> None:
        names = ["x", "paddings", "constant_value"]
        super().__init__(
            attrs={
                "output_names": ["y"],
                "mode": mode,
                "paddings_contiguous": paddings_contiguous,
                "input_names": names,
            }
        )

    def __call__(self, x: Any, paddings: Any, constant_value: Any = None) -> Any:
        from harness.framework.ops.constants import int_tensor

        flat = paddings if isinstance(paddings, Tensor) else int_tensor([int(n) for n in paddings])
        return call("PadV3", x, flat, constant_value, **self.attrs, **self.marks)


class Shape(Bare):
    """The dimensions, as a tuple."""

    def __call__(self, input_x: Any) -> tuple[int, ...]:
        return tuple(input_x.shape)


class Rank(Bare):
    """The number of dimensions."""

    def __call__(self, input_x: Any) -> int:
        return len(input_x.shape)


class Size(Bare):
    """The number of elements."""

    def __call__(self, input_x: Any) -> int:
        return int(input_x.size)


class DType(Bare):
    """The dtype."""

    def __call__(self, input_x: Any) -> Any:
        return input_x.dtype


class Eps(Primitive):
    """The distance from 1 to the next number of a dtype."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x"]})


class LogSpace(Primitive):
    """Powers of a base at even distances."""

    def __init__(self, steps: int = 10, base: int = 10, dtype: Any = dtypes.float32) -> None:
        names = {"steps": steps, "input_names": ["start", "end"], "base": base, "output_names": ["y"]}
        super().__init__(attrs={**names, "dtype": dtype})


class Padding(Primitive):
    """A last axis of one element filled up with zeros."""

    def __init__(self, pad_dim_size: int = 8) -> None:
        if isinstance(pad_dim_size, bool) or not isinstance(pad_dim_size, int) or pad_dim_size < 1:
            raise SettingError(f"Padding: pad_dim_size must be an int above 0, got {pad_dim_size!r}")
        super().__init__(attrs={"pad_dim_size": pad_dim_size})


class Pack(Stack):
    """``Stack`` under its older name."""

    names: ClassVar[dict[str, Any]] = {}


class Unpack(Unstack):
    """``Unstack`` under its older name, without ``num``."""

    names: ClassVar[dict[str, Any]] = {}

    def __init__(self, axis: int = 0) -> None:
        super().__init__(axis)
