"""MirrorPad: a tensor's own elements around it, reflected; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

_MODES = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _pairs(call: Call) -> list[tuple[int, int]]:
    flat = ints(call, 1)
    if len(flat) != 2 * len(call.shape(0)) or call.attrs["mode"] not in _MODES:
        raise call.fail(f"a pair for each axis and mode REFLECT or SYMMETRIC are needed, got {call.attrs['mode']!r}")
    return list(zip(flat[::2], flat[1::2], strict=True))


def _source(shape: tuple[int, ...], pairs: list[tuple[int, int]], mode: str) -> list[Array]:
    kind = _MODES[mode]
    return [np.pad(np.arange(n), pair, mode=kind) for n, pair in zip(shape, pairs, strict=True)]  # type: ignore[call-overload]


@operator
class MirrorPad(Operator):
    """x, paddings (a pair for each axis); attribute ``mode``: REFLECT leaves the border out, SYMMETRIC repeats it."""

    name = "MirrorPad"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, pairs = call.tensor(0), _pairs(call)
        border = 1 if call.attrs["mode"] == "REFLECT" else 0
        if any(min(p) < 0 or max(p) > n - border for n, p in zip(x.shape, pairs, strict=True) if n != -1):
            raise call.fail(f"the paddings {pairs} must lie between 0 and what there is to reflect")
        return TensorSpec(x.dtype, tuple(n + sum(p) for n, p in zip(x.shape, pairs, strict=True)))

    def kernel(self, call: Call, x: Array, _paddings: Any) -> Array:
        return np.asarray(x[np.ix_(*_source(x.shape, _pairs(call), call.attrs["mode"]))])

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs = {"output_names": ("output",), "mode": b.attrs["mode"], "input_names": ("dy", "paddings")}
        return emit("MirrorPadGrad", b.dout, b.inputs[1], **attrs), None


@operator
class MirrorPadGrad(Operator):
    """dout, paddings: each element of dout added where it was copied from."""

    name = "MirrorPadGrad"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        dout = call.tensor(0)
        return TensorSpec(dout.dtype, tuple(n - sum(p) for n, p in zip(dout.shape, _pairs(call), strict=True)))

    def kernel(self, call: Call, dout: Array, _paddings: Any) -> Array:
        out = np.zeros(call.outputs()[0].shape)
        np.add.at(out, np.ix_(*_source(out.shape, _pairs(call), call.attrs["mode"])), numerics.wide(dout))
        return out
