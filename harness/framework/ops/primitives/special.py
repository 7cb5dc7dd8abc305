"""Primitives of special functions, and others that take nothing but their inputs; those of segments."""

from __future__ import annotations

from typing import Any

from harness.framework.ops.functions import segments
from harness.framework.ops.primitive import Primitive, plain, slot_names

_PLAIN = (
    "Addcdiv", "Addcmul", "BesselI1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "Dense", "Diag", "Erfinv",
    "Gcd", "LeftShift", "Lerp", "LogMatrixDeterminant", "MatrixDeterminant", "NextAfter", "RightShift", "Sinc",
    "TensorScatterAdd", "Trace", "Xlogy", "Zeta",
)  # fmt: skip
_SEGMENT = slot_names("output", "input_x", "segment_ids") | {"max_length": 1000000}
_COPY = slot_names("y", "input_x", "indices", "updates")
_NAMED: dict[str, dict[str, Any]] = {
    "BesselI0": {"output_names": "y", "input_names": ["x"]},
    **{name: {"output_names": "output", "input_names": ["x"]} for name in ("BesselI0e", "BesselI1e")},
    **dict.fromkeys(("BesselJ0", "BesselJ1", "BesselY0", "BesselY1"), slot_names("output", "x")),
    "Digamma": slot_names("output", "input"),
    **dict.fromkeys(("DivNoNan", "Ger", "Hypot", "Lcm"), slot_names("y", "x1", "x2")),
    "Heaviside": slot_names("y", "x", "values"),
    **dict.fromkeys(("Igamma", "Igammac"), slot_names("z", "a", "x")),
    "Lgamma": slot_names("y", "x"),
    "MatrixBandPart": slot_names("y", "x", "lower", "upper"),
    **dict.fromkeys(("MulNoNan", "Xdivy"), slot_names("output", "x", "y")),
    "Polygamma": slot_names("y", "a", "x"),
    **dict.fromkeys(("SegmentMax", "SegmentMin", "SegmentSum"), _SEGMENT),
    "SquareSumAll": {"output_names": ["output_x", "output_y"], "input_names": ["x", "y"]},
    **dict.fromkeys(("TensorScatterDiv", "TensorScatterMax", "TensorScatterMin", "TensorScatterMul",
                     "TensorScatterSub"), _COPY),
}  # fmt: skip
_SEGMENTS = ("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd")

__all__ = [*_PLAIN, *_NAMED, *_SEGMENTS]


def _with(name: str, attrs: dict[str, Any]) -> type[Primitive]:
    def init(self: Primitive) -> None:
        Primitive.__init__(self, attrs=attrs)

    return type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})


def _segment(name: str) -> type[Primitive]:
    function = {
        "UnsortedSegmentMax": segments.unsorted_segment_max, "UnsortedSegmentMin": segments.unsorted_segment_min,
        "UnsortedSegmentProd": segments.unsorted_segment_prod,
    }[name]  # fmt: skip

    def init(self: Primitive) -> None:
        Primitive.__init__(self)

    def run(self: Primitive, x: Any, segment_ids: Any, num_segments: Any) -> Any:
        return function(x, segment_ids, num_segments)

    members = {"__init__": init, "__call__": run, "__doc__": f"Primitive ``{name}``.", "__module__": __name__}
    return type(name, (Primitive,), members)


globals().update(plain(*_PLAIN))
globals().update({name: _with(name, attrs) for name, attrs in _NAMED.items()})
globals().update({name: _segment(name) for name in _SEGMENTS})
