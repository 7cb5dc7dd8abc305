"""Constant tensors that stand for numbers within a graph: axes, shapes, counts.

Source: MindSpore 2.10.0, measured (``tests/data/misuse/graph_calls.json``): in a graph a primitive takes a constant
tensor for a tuple of ints, or for one int, in the three ways below, at once or where the function says nothing of its
own. Elsewhere such a tensor is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from harness.errors import SettingError, SettingTypeError
from harness.framework import kinds
from harness.framework.tensor.dispatch import is_eager

F = TypeVar("F", bound=Callable[..., Any])
Way = Callable[[str, Any], Any]


def _several(name: str, tensor: Any) -> tuple[int, ...]:
    """A tensor of one axis for a tuple."""
    if len(tensor.shape) > 1:
        raise SettingError(f"{name}: a tensor in place of a tuple has one axis, got shape {tensor.shape}")
    if not tensor.shape or tensor.dtype.kind not in "iu":
        raise SettingTypeError(f"{name}: a tensor in place of a tuple has one axis of ints, got {_words(tensor)}")
    return tuple(tensor.asnumpy().tolist())


def _one(name: str, tensor: Any) -> int:
    """A tensor of one element and any dtype for an int."""
    if tensor.shape not in ((), (1,)):
        raise SettingError(f"{name}: a tensor in place of an int has shape () or (1,), got {tensor.shape}")
    return int(tensor.asnumpy().ravel()[0])


def _setting(name: str, tensor: Any) -> int:
    """A tensor without axes, of ints, for an int."""
    if tensor.shape:
        raise SettingError(f"{name}: a tensor in place of a setting has no axes, got shape {tensor.shape}")
    if tensor.dtype.kind not in "iu":
        raise SettingTypeError(f"{name}: a tensor in place of a setting is an int, got {_words(tensor)}")
    return int(tensor.asnumpy())


def _words(tensor: Any) -> str:
    return f"{tensor.dtype}{list(tensor.shape)}"


_REDUCED = ("ReduceAll", "ReduceAny", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
#: by callable: the position of each argument, its names, and what a tensor stands for
_TABLE: dict[str, tuple[tuple[int, str, Way], ...]] = {
    **{f"ops.{name}": ((1, "axis dim", _several),) for name in (
        "all", "amax", "amin", "any", "count_nonzero", "mean", "prod", "reduce_all", "reduce_any", "reduce_max",
        "reduce_mean", "reduce_min", "reduce_sum", "sum",
    )},
    **{f"ops.{name}()": ((1, "axis", _several),) for name in _REDUCED},
    **{f"Tensor.{name}": ((0, "axis dim", _several),) for name in ("all", "any", "mean", "sum")},
    **{f"ops.{name}": ((0, "size shape", _several),) for name in ("ones", "zeros")},
    **{f"ops.{name}": ((1, "shape dims multiples", _several),) for name in ("broadcast_to", "reshape", "tile")},
    **{f"Tensor.{name}": ((0, "shape dims reps", _several),) for name in ("broadcast_to", "reshape", "tile", "view")},
    "ops.BroadcastTo": ((0, "shape", _several),),
    **{f"ops.{name}()": ((1, "shape multiples", _several),) for name in ("Reshape", "Tile")},
    **{f"ops.{name}": ((1, "begin", _several), (2, "size", _several)) for name in ("slice", "Slice()")},
    **{f"ops.{name}": ((1, "begin", _several), (2, "end", _several), (3, "strides", _several))
       for name in ("strided_slice", "StridedSlice()")},
    **{f"ops.{name}": ((1, "axis dim", _one),) for name in (
        "ExpandDims()", "GatherD()", "OneHot()", "expand_dims", "gather_elements", "unsqueeze")},
    "ops.one_hot": ((1, "depth", _one),),
    "Tensor.unsqueeze": ((0, "dim", _one),),
    **{f"ops.{name}": ((2, "axis num num_segments steps", _one),) for name in (
        "Gather()", "LinSpace()", "UnsortedSegmentSum()", "gather", "linspace", "unsorted_segment_sum")},
    **{f"Tensor.{name}": ((0, "axis dim", _setting),) for name in ("argmax", "argmin")},
    **{f"ops.{name}": ((1, "axis", _setting),) for name in ("concat", "cumprod", "cumsum", "log_softmax")},
    **{f"ops.{name}": ((0, "axis batch_dims", _setting),) for name in ("Concat", "Gather", "LogSoftmax", "OneHot")},
    "ops.eye": ((0, "n", _setting), (1, "m", _setting)),
}  # fmt: skip


def with_numbers(name: str, function: F, skip: int = 0) -> F:
    """``function``, which within a graph gets numbers for constant tensors, as far as the table says.

    Args:
        name: of the callable (``ops.zeros``, ``Tensor.sum``; ``ops.Tile()`` is one that was made).
        function: its code.
        skip: how many arguments are none of the call's (``self``).
    """
    rows = _TABLE.get(name)
    if rows is None:
        return function

    @functools.wraps(function)
    def taking(*args: Any, **kwargs: Any) -> Any:
        if not is_eager():
            given = list(args)
            for at, names, way in rows:
                if at + skip < len(given):
                    given[at + skip] = _number(name, given[at + skip], way)
                for each in names.split():
                    if each in kwargs:
                        kwargs[each] = _number(name, kwargs[each], way)
            args = tuple(given)
        return function(*args, **kwargs)

    return taking  # type: ignore[return-value]


def _number(name: str, value: Any, way: Way) -> Any:
    return way(name, value) if type(value) in kinds.TYPES["Tensor"] else value


def give_numbers(prefix: str, members: dict[str, Any]) -> None:
    """The same for the functions of a namespace, and its classes: their settings, and calls of what they make."""
    for name, member in members.items():
        if not isinstance(member, type):
            members[name] = with_numbers(f"{prefix}.{name}", member)
            continue
        for row, method in ((f"{prefix}.{name}", "__init__"), (f"{prefix}.{name}()", "__call__")):
            if row in _TABLE:
                setattr(member, method, with_numbers(row, getattr(member, method), 1))
