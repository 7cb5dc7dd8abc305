"""Pad and PadV3: elements put around (or cut from) a tensor; and the gradient of copying modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.ops.expansion import scalar
from harness.framework.ops.operators.slice import constant
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

#: MindSpore's names of the copying modes as numpy calls them
_COPYING = {"reflect": "reflect", "edge": "edge", "circular": "wrap"}

Pairs = list[tuple[int, int]]


def pairs_of(call: Call, rank: int) -> Pairs:
    """Numbers before and after each axis, from paddings that begin with the last axis (argument 1)."""
    flat = ints(call, 1)
    if len(flat) % 2 or len(flat) > 2 * rank:
        raise call.fail(f"the paddings {list(flat)} must be pairs, at most one for each of {rank} axes")
    given = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    if not call.attrs.get("paddings_contiguous", True):
        half = len(flat) // 2
        given = list(zip(flat[:half], flat[half:], strict=True))
    return [(0, 0)] * (rank - len(given)) + given[::-1]


def source(shape: tuple[int, ...], pairs: Pairs, mode: str) -> list[Array]:
    """For each axis, the position of the input that each position of the result copies."""
    return [np.pad(np.arange(n), pair, mode=_COPYING[mode]) for n, pair in zip(shape, pairs, strict=True)]  # type: ignore[call-overload]


def cut(x: Array, pairs: Pairs) -> Array:
    """``x`` without what negative paddings take away."""
    ends = zip(x.shape, pairs, strict=True)
    return x[tuple(slice(max(0, -before), n - max(0, -after)) for n, (before, after) in ends)]


@operator
class Pad(Operator):
    """Zeros around x: attribute ``paddings`` has a pair for each axis."""

    name = "Pad"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, pairs = call.tensor(0), call.attrs["paddings"]
        if len(pairs) != len(x.shape) or any(before < 0 or after < 0 for before, after in pairs):
            raise call.fail(f"the paddings {pairs} must be a pair of numbers from 0 for each axis")
        shape = tuple(-1 if n == -1 else n + sum(p) for n, p in zip(x.shape, pairs, strict=True))
        return TensorSpec(x.dtype, shape)

    def kernel(self, call: Call, x: Array) -> Array:
        return np.pad(x, call.attrs["paddings"])

    def gradient(self, b: Backward) -> Sequence[Any]:
        begin = tuple(int(before) for before, _ in b.attrs["paddings"])
        return (emit("Slice", b.dout, begin, tuple(b.inputs[0].shape)),)


@operator
class PadV3(Operator):
    """x, paddings from the last axis on (negative ones cut), value; attribute ``mode``."""

    name = "PadV3"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        mode = call.attrs["mode"]
        if mode != "constant" and mode not in _COPYING:
            raise call.fail(f"mode must be constant, {', '.join(_COPYING)}, got {mode!r}")
        pairs = pairs_of(call, len(x.shape))
        shape = tuple(-1 if n == -1 else n + sum(p) for n, p in zip(x.shape, pairs, strict=True))
        if any(n < -1 for n in shape):
            raise call.fail("more is cut away than there is")
        if 0 in shape:
            raise call.fail("the result has no elements, and MindSpore's kernel needs one")
        for n, pair in zip(x.shape, pairs, strict=True):
            if mode == "reflect" and n != -1 and max(pair) >= n:
                raise call.fail("an axis cannot be reflected beyond its length")
        return TensorSpec(x.dtype, shape)

    def kernel(self, call: Call, x: Array, _paddings: Any, value: Any) -> Array:
        pairs = pairs_of(call, x.ndim)
        grow = [(max(0, before), max(0, after)) for before, after in pairs]
        if call.attrs["mode"] == "constant":
            fill = x.dtype.type(0) if value is None else np.asarray(value).reshape(()).astype(x.dtype)
            return np.pad(cut(x, pairs), grow, constant_values=fill)
        return x[np.ix_(*source(x.shape, grow, call.attrs["mode"]))]

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, paddings, _value = b.inputs
        mode = b.attrs["mode"]
        back = constant(paddings)
        contiguous = b.attrs["paddings_contiguous"]
        attrs: dict[str, Any] = {"output_names": ("y",), "mode": mode, "paddings_contiguous": contiguous}
        if mode == "constant":
            names: dict[str, Any] = {"input_names": ("x", "paddings", "constant_values")}
            zero = scalar(0, b.dout.dtype)
            return emit("PadV3", b.dout, int_tensor([-n for n in back]), zero, **attrs, **names), None, None
        names = {"input_names": ("x", "paddings")}
        return emit("PadV3Grad", b.dout, int_tensor(back), **attrs, **names), None, None


@operator
class PadV3Grad(Operator):
    """dout, paddings: each element of dout added where it was copied from."""

    name = "PadV3Grad"
    functional = False

    def infer(self, call: Call) -> Spec:
        dout = call.tensor(0)
        pairs = pairs_of(call, len(dout.shape))
        return TensorSpec(dout.dtype, tuple(n - sum(p) for n, p in zip(dout.shape, pairs, strict=True)))

    def kernel(self, call: Call, dout: Array, _paddings: Any) -> Array:
        shape = call.outputs()[0].shape
        values = numerics.wide(dout)
        out = np.zeros(shape, values.dtype)
        np.add.at(out, np.ix_(*source(shape, pairs_of(call, dout.ndim), call.attrs["mode"])), values)
        return out
