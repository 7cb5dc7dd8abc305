"""Pairs of tensors that comparison tools judge wrongly, each with the one right verdict.

Any comparison tool can be tested with them: ``for trap in traps(): judge(trap.expected, trap.found)``. The right
verdict is that of a regression gate under tolerances for another library or device (the documented table by dtype):
values a few roundings apart hold, everything else does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Trap:
    """One case.

    Attributes:
        name: short, stable name.
        expected, found: tensors by name; a name on one side only is missing or unexpected.
        holds: the right verdict.
    """

    name: str
    expected: Mapping[str, Array]
    found: Mapping[str, Array]
    holds: bool


def traps() -> Iterator[Trap]:
    """All cases, in the same order every time."""
    for holds, cases in ((True, _holding), (False, _differing)):
        for name, (expected, found) in cases().items():
            yield Trap(name, {"x": np.asarray(expected)}, {"x": np.asarray(found)}, holds)
    base = _base()
    yield Trap("missing", {"x": base, "y": base}, {"x": base}, False)
    yield Trap("extra", {"x": base}, {"x": base, "y": base}, False)
    yield Trap("renamed", {"x": base}, {"y": base}, False)
    yield Trap("two swapped", {"x": base, "y": -base}, {"x": -base, "y": base}, False)
    yield Trap(
        "one of many", {f"t{i}": base + i for i in range(20)}, {f"t{i}": base + i * (i != 7) for i in range(20)}, False
    )


def _base() -> Array:
    return np.random.default_rng(0).standard_normal((100, 100)).astype(np.float32)


def _with(array: Array, value: Any, at: tuple[Any, ...] = (3, 4)) -> Array:
    other = array.copy()
    other[at] = value
    return other


def _next(array: Array, steps: int = 1) -> Array:
    for _ in range(steps):
        array = np.nextafter(array, np.asarray(np.inf, array.dtype))
    return array


def _holding() -> dict[str, tuple[Any, Any]]:
    base = _base()
    double = base.astype(np.float64)
    half, brain = base.astype(np.float16), base.astype(ml_dtypes.bfloat16)
    words = half.view(np.uint16)
    return {
        "equal": (base, base.copy()),
        "one ulp": (base, _next(base)),
        "one ulp of float64": (double, _next(double)),
        "one ulp of float16": (half, (words + np.uint16(1)).view(np.float16)),
        "one ulp of bfloat16": (brain, (brain.view(np.uint16) + np.uint16(1)).view(brain.dtype)),
        "NaN in the same place": (_with(base, np.nan), _with(base, np.nan)),
        "NaN of other bits": (_nan(0x7FC00000), _nan(0xFFC00001)),
        "infinity in the same place": (_with(base, np.inf), _with(base, np.inf)),
        "both infinities and NaN": (_specials(), _specials()),
        "empty": (np.empty((0, 3), np.float32), np.empty((0, 3), np.float32)),
        "scalar one ulp off": (np.float32(1), _next(np.asarray(1, np.float32))),
        "sign of zero": (np.zeros(9, np.float32), -np.zeros(9, np.float32)),
        "denormal one ulp off": (np.full(9, 1e-40, np.float32), _next(np.full(9, 1e-40, np.float32))),
        "largest float32": (np.full(4, 3.4028235e38, np.float32), np.full(4, 3.4028235e38, np.float32)),
        "rounding of a long sum": (base * 1000, base * 1000 + np.float32(1e-3)),
        "rounding left by cancellation": (_with(base, 1e-9), _with(base, 3e-7)),
        "bools": (base > 0, base > 0),
        "int64 above 2**53": (np.array([2**62, 2**53 + 1]), np.array([2**62, 2**53 + 1])),
        "other memory order": (base, np.asfortranarray(base)),
        "strided": (base[::2, ::2].copy(), base[::2, ::2]),
    }


def _nan(bits: int) -> Array:
    return np.full(5, bits, np.uint32).view(np.float32)


def _specials() -> Array:
    return np.array([np.nan, np.inf, -np.inf, 0.0, 1.0], np.float32)


def _differing() -> dict[str, tuple[Any, Any]]:
    return _values() | _whole() | _types() | _beside_huge()


def _beside_huge() -> dict[str, tuple[Any, Any]]:
    """Faults beside elements so large that a tolerance relative to the largest would accept them."""
    base = _base()
    lowest = float(np.finfo(np.float32).min)
    causal, padded = np.triu(np.ones((100, 100), bool), 1), np.arange(100) >= 20
    masks = {"causal": causal, "padding": np.broadcast_to(padded, base.shape)}
    scores = {
        f"scores times 1.5 under a {name} mask of {value:g}": tuple(
            np.where(mask, np.float32(value), made).astype(np.float32) for made in (base, base * np.float32(1.5))
        )
        for name, mask in masks.items()
        for value in (-1e4, -1e9, lowest)
    }
    return {
        "a 0 beside the lowest number": (np.array([[lowest, 1]], np.float32), np.array([[lowest, 0]], np.float32)),
        "other sign beside one 1e8": (_with(base, 1e8), _with(-base, 1e8)),
        "other sign beside one 1e5": (_with(base, 1e5), _with(-base, 1e5)),
        **{f"off by 1 percent beside one {value:g}": _beside(value, (3, 4)) for value in (1e4, 1e6, 1e8)},
        "off by 1 percent beside fifty of 1e6": _beside(1e6, (7, slice(50))),
        "last of four off by 1 percent beside 1e5": (np.array([1e5, 1, 2, 3], np.float32),
                                                     np.array([1e5, 1, 2, 3.03], np.float32)),
        **scores,  # type: ignore[dict-item]
    }  # fmt: skip


def _beside(value: float, at: tuple[Any, ...]) -> tuple[Array, Array]:
    """All off by 1 percent but for some huge elements, which are off by one unit in the last place: no mask."""
    base = _base()
    return _with(base, np.float32(value), at), _with(base * np.float32(1.01), _next(np.asarray(value, np.float32)), at)


def _values() -> dict[str, tuple[Any, Any]]:
    """Single elements and special values."""
    base = _base()
    labels = np.arange(10_000, dtype=np.int32)
    large = np.random.default_rng(1).standard_normal(1_000_000).astype(np.float32)
    denormal = np.full(9, 1e-40, np.float32)
    return {
        "infinities of other sign": (_with(base, np.inf), _with(base, -np.inf)),
        "NaN for a number": (base, _with(base, np.nan)),
        "number for NaN": (_with(base, np.nan), base),
        "NaN elsewhere": (_with(base, np.nan), _with(base, np.nan, (5, 6))),
        "infinity for NaN": (_with(base, np.nan), _with(base, np.inf)),
        "infinity for the largest number": (_with(base, 3.4028235e38), _with(base, np.inf)),
        "all NaN": (base, np.full_like(base, np.nan)),
        "one element off by 0.9": (base, _with(base, base[3, 4] + 0.9)),
        "last of a million": (large, _with(large, large[-1] + 1, (-1,))),
        "one element of a million is 0": (large, _with(large, 0, (500_000,))),
        "loss 1 against 100, one element": (np.array([1], np.float32), np.array([100], np.float32)),
        "loss 1 against 100, scalar": (np.float32(1), np.float32(100)),
        "scalar off by a tenth": (np.float32(2.0), np.float32(2.2)),
        "int64 off by one above 2**53": (np.array([2**62, 2**53]), np.array([2**62 + 1, 2**53])),
        "int64 lowest against highest": (np.array([-(2**63)]), np.array([2**63 - 1])),
        "uint64 off by one at the top": (np.array([2**64 - 1], np.uint64), np.array([2**64 - 2], np.uint64)),
        "one label of 10,000": (labels, _with(labels, 8, (7_000,))),
        "int8 wraps": (np.array([127, -128], np.int8), np.array([-128, 127], np.int8)),
        "uint8 0 against 255": (np.zeros(100, np.uint8), np.full(100, 255, np.uint8)),
        "one bool": (base > 0, _with(base > 0, base[3, 4] <= 0)),
        "all bools flipped": (base > 0, base <= 0),
        "denormal twice as large": (denormal, denormal * 2),
        "denormals flushed to zero": (denormal, np.zeros_like(denormal)),
        "float16 ends of other sign": (np.full(9, 65504, np.float16), np.full(9, -65504, np.float16)),
        "float16 overflow": (np.full(9, 65504, np.float16), np.full(9, np.inf, np.float16)),
    }


def _whole() -> dict[str, tuple[Any, Any]]:
    """Faults of a whole tensor."""
    base = _base()
    double, tiny = base.astype(np.float64), (base * 1e-6).astype(np.float32)
    image = np.random.default_rng(2).random((2, 3, 8, 8)).astype(np.float32)
    return {
        "all off by 5 percent": (base, base * np.float32(1.05)),
        "all off by 1e-4": (base, base * np.float32(1.0001)),
        "small tensor doubled": (base * np.float32(0.1), base * np.float32(0.2)),
        "gradient of 1e-6 became zero": (tiny, np.zeros_like(tiny)),
        "gradient of 1e-6 changed sign": (tiny, -tiny),
        "gradient of 1e-6 doubled": (tiny, tiny * 2),
        "tensor of 1e-30 became zero": (base * np.float32(1e-30), np.zeros_like(base)),
        "constant added": (base, base + np.float32(1e-3)),
        "bias of one channel dropped": (image, _with(image, image[:, 1] - np.float32(0.5), (slice(None), 1))),
        "other sign": (base, -base),
        "permuted, equal statistics": (base, _shuffled(base)),
        "rows reversed": (base, base[::-1].copy()),
        "shifted by one": (base, np.roll(base, 1, axis=1)),
        "transposed layout": (image, np.ascontiguousarray(image.transpose(0, 2, 3, 1)).reshape(image.shape)),
        "square, transposed": (base, np.ascontiguousarray(base.T)),
        "computed in float16": (base, base.astype(np.float16).astype(np.float32)),
        "computed in bfloat16": (base, base.astype(ml_dtypes.bfloat16).astype(np.float32)),
        "equal max, min and mean": (np.array([-1, 0, 0, 1], np.float32), np.array([-1, 0.5, -0.5, 1], np.float32)),
        "equal sum of magnitudes": (base, np.abs(base)),
        "one decimal in a thousand": (base, np.where(np.arange(10_000).reshape(100, 100) % 1000, base, base * 1.001)
                                      .astype(np.float32)),
        "bfloat16 eight units off": _brain_units(base, 8),
        "float64 computed in float32": (double * 1.1, (base * np.float32(1.1)).astype(np.float64)),
    }  # fmt: skip


def _shuffled(array: Array) -> Array:
    return np.random.default_rng(3).permutation(array.reshape(-1)).reshape(array.shape)


def _brain_units(base: Array, units: int) -> tuple[Array, Array]:
    brain = base.astype(ml_dtypes.bfloat16)
    return brain, (brain.view(np.uint16) + np.uint16(units)).view(brain.dtype)


def _types() -> dict[str, tuple[Any, Any]]:
    """Shapes and dtypes."""
    base, ones = _base(), np.ones((20, 30), np.float32)
    return {
        "shape (n, 1) for (n,)": (base.reshape(-1, 1), base.reshape(-1)),
        "transposed, equal values": (ones, np.ones((30, 20), np.float32)),
        "flattened": (base, base.reshape(-1)),
        "scalar for one element": (np.ones(1, np.float32), np.ones((), np.float32)),
        "broadcast": (np.ones((4, 5), np.float32), np.ones((5,), np.float32)),
        "truncated": (base, base[:-1]),
        "empty for some": (base, np.empty((0, 100), np.float32)),
        "empty of another shape": (np.empty((0, 3), np.float32), np.empty((3, 0), np.float32)),
        "float16 for float32": (np.ones(100, np.float32), np.ones(100, np.float16)),
        "float64 for float32": (base, base.astype(np.float64)),
        "int64 for int32": (np.arange(9, dtype=np.int32), np.arange(9)),
        "uint8 for bool": (np.ones(9, np.bool_), np.ones(9, np.uint8)),
        "bfloat16 for float16": (np.ones(9, np.float16), np.ones(9, ml_dtypes.bfloat16)),
        "float32 for int32": (np.arange(9, dtype=np.int32), np.arange(9, dtype=np.float32)),
    }
