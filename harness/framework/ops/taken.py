"""The dtypes operators take, where the shape rule alone would let others pass: tables, checked before every call.

Source: MindSpore 2.10.0 CPU, measured. ``TAKEN`` holds on every device; bfloat16 was not tried for it and goes with
float16. ``refused.json`` (``tests/interop/kernel_dtypes.py``) holds on a CPU alone, in graphs as outside: dtypes for
which an operator has no kernel there.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness import dtypes, hooks
from harness.errors import DtypeError, HarnessError, KernelError, ShapeError
from harness.framework.ops.base import Call
from harness.framework.tensor import Tensor
from harness.graph import TensorSpec, TupleSpec, spec_of


class Taken(NamedTuple):
    """What an operator takes.

    Attributes:
        one: argument positions whose tensors must have one dtype as they are given: nothing is cast.
        of: the names of the dtypes taken, by argument position.
    """

    one: tuple[int, ...]
    of: Mapping[int, frozenset[str]]


_ALL = frozenset(d.name for d in dtypes.ALL)
_NUMBERS = _ALL - {"Bool"}
_HALVES = frozenset({"Float16", "BFloat16"})
_SINGLE = _HALVES | {"Float32"}
_FLOATS = _SINGLE | {"Float64"}
_INDEX = frozenset({"Int32", "Int64"})


def _of(accepted: frozenset[str], *positions: int, one: tuple[int, ...] = ()) -> Taken:
    return Taken(one, dict.fromkeys(positions or (0,), accepted))


TAKEN: dict[str, Taken] = {
    **dict.fromkeys(("MatMul", "MatMulExt", "BatchMatMul", "BiasAdd"), _of(_NUMBERS, 0, 1, one=(0, 1))),
    "Dense": _of(_NUMBERS, 0, 1, one=(0, 1, 2)),
    **dict.fromkeys(
        (
            "Conv2D",
            "Conv2DBackpropFilter",
            "Conv2DBackpropInput",
            "Conv2DTranspose",
            "Conv3D",
            "Conv3DBackpropFilter",
            "Conv3DBackpropInput",
            "Conv3DTranspose",
            "BinaryCrossEntropy",
            "SoftmaxCrossEntropyWithLogits",
        ),
        _of(_SINGLE, 0, 1, one=(0, 1)),
    ),
    "BCEWithLogitsLoss": _of(_SINGLE, 0, 1),
    "SmoothL1Loss": _of(_FLOATS, 0, 1),
    "SigmoidCrossEntropyWithLogits": _of(_FLOATS, 0, 1, one=(0, 1)),
    "SparseSoftmaxCrossEntropyWithLogits": Taken((), {0: _SINGLE, 1: _INDEX}),
    "LayerNorm": _of(_FLOATS, 0, 1, 2),
    "BatchNorm": _of(_SINGLE, 0, 1, 2, 3, 4, one=(1, 2, 3, 4)),
    "LSTM": _of(_FLOATS, 0),
    **dict.fromkeys(
        (
            "MaxPool",
            "AvgPool",
            "AvgPool3D",
            "AdaptiveAvgPool2D",
            "ResizeBilinearV2",
            "GeLU",
            "IsInf",
            "Softmax",
            "LogSoftmax",
        ),
        _of(_FLOATS),
    ),
    **dict.fromkeys(("AffineGrid", "LRN", "ReLU6", "HShrink", "SoftShrink", "PReLU"), _of(_SINGLE)),
    **dict.fromkeys(("MaxPoolWithArgmaxV2", "Argmin", "ReduceMax", "ReduceMin"), _of(_NUMBERS)),
    "ResizeNearestNeighborV2": _of(_NUMBERS - {"UInt8"}),
    "ResizeNearestNeighbor": _of(_NUMBERS - {"UInt8"}),
    "Sign": _of(_ALL - {"UInt8"}),
    "FloorMod": _of(_NUMBERS, 0, 1),
    "Minimum": _of(_NUMBERS, 0, 1),
    "Gather": _of(_INDEX, 1),
    "GatherNd": _of(_INDEX, 1),
    "GatherD": _of(_INDEX, 2),
    "ScatterNd": _of(_INDEX, 0),
    "TensorScatterUpdate": Taken((0, 2), {1: _INDEX}),
    "TensorScatterElements": Taken((0, 2), {1: _INDEX}),
    "UnsortedSegmentSum": Taken((), {0: _NUMBERS, 1: _INDEX}),
    "OneHot": Taken((2, 3), {0: _INDEX, 2: _INDEX | _SINGLE}),
    "ApplyRMSProp": Taken((0, 1, 2, 4), {}),
    "ApplyCenteredRMSProp": Taken((0, 1, 2, 3, 4), {}),
    "SGD": _of(_SINGLE, 0),
    "Stack": Taken((0,), {}),
    "AddN": Taken((0,), {}),
}


def _specs(call: Call, position: int) -> list[TensorSpec]:
    spec = call.inputs[position] if position < len(call.inputs) else None
    members = spec.items if isinstance(spec, TupleSpec) else (spec,)
    return [member for member in members if isinstance(member, TensorSpec)]


#: operators whose arguments must be of these dtypes before they are cast to a common one
_BEFORE_CASTS = frozenset({"BCEWithLogitsLoss", "OneHot", "SmoothL1Loss"})


def check_given(op: str, args: Sequence[Any]) -> None:
    """``check`` for arguments that are going to be cast."""
    if op in _BEFORE_CASTS:
        specs = tuple(TensorSpec(a.dtype, a.shape) if isinstance(a, Tensor) else spec_of(None) for a in args)
        check(Call(op, specs, (), {}))


@functools.cache
def refused() -> dict[str, frozenset[str]]:
    """For each operator what its CPU kernel does not take: dtypes of all arguments in a row (of numbers, too), or that
    of the first tensor and a star."""
    text = (Path(__file__).parent / "refused.json").read_text(encoding="utf-8")
    return {op: frozenset(rows) for op, rows in json.loads(text).items()}


@functools.cache
def _is_refused(op: str, given: str) -> bool:
    rows = refused()[op]
    return f"{given.partition(' ')[0]} *" in rows or any(row == given or row.startswith(f"{given} ") for row in rows)


#: operators whose kernels refuse tensors without elements, and the class of their error (held by
#: tests/framework/ops/test_empty.py, which has what MindSpore 2.10.0 answered)
EMPTY: dict[str, type[HarnessError]] = {
    **dict.fromkeys(("ArgMaxWithValue", "ArgMinWithValue", "Digamma", "MaxDim", "MaxPool", "MinDim"), ShapeError),
    **dict.fromkeys(("Argmax", "Argmin", "Conj", "Imag", "L2Normalize", "LayerNorm", "OneHot", "Real"), KernelError),
}


def check_kernel(call: Call) -> None:
    """Checks that the CPU has a kernel of the operator for these tensors.

    Raises:
        DtypeError: it has none, and the process runs on a CPU.
        ShapeError, KernelError: it has none for tensors without elements.
    """
    error = EMPTY.get(call.op)
    if error is not None and 0 in next(iter(_specs(call, 0))).shape:
        raise error(f"{call.op}: MindSpore's kernel takes no tensor without elements, got {list(call.shape(0))}")
    if call.op not in refused():
        return
    given = " ".join(spec.dtype.name for at in range(len(call.inputs)) for spec in _specs(call, at))
    if given and _is_refused(call.op, given) and hooks.provided("device").target == "CPU":
        shown = given.replace(" ", ", ")
        raise DtypeError(f"{call.op}: MindSpore's CPU has no kernel for {shown}; cast them (ops.cast)")


def check(call: Call) -> None:
    """Raises ``DtypeError`` if the operator does not take the dtypes it is given."""
    row = TAKEN.get(call.op)
    if row is None:
        return
    for position, accepted in row.of.items():
        for spec in _specs(call, position):
            if spec.dtype.name not in accepted:
                raise DtypeError(
                    f"{call.op}: argument {position} is {spec.dtype}; accepted: {', '.join(sorted(accepted))}"
                )
    given = [spec.dtype for position in row.one for spec in _specs(call, position)]
    if any(dtype is not given[0] for dtype in given):
        raise DtypeError(
            f"{call.op}: its tensors must have one dtype, got {', '.join(map(str, given))}; cast them (ops.cast)"
        )
