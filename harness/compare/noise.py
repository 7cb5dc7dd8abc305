"""The noise floor of an operator: how far rounding alone may move what it computes.

Source: the bound of a sum of n products in floating point, ``n * u / (1 - n * u)`` times the sum of their magnitudes
(N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.1), u being half a unit in the last place.
Sums of 16-bit types are taken in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from math import prod

from harness.compare.verdict import SlotVerdict

#: Half a unit in the last place, relative.
_UNIT: Mapping[str, float] = {
    "Float16": 2.0**-11, "BFloat16": 2.0**-8, "Float32": 2.0**-24, "Float64": 2.0**-53,
    "Complex64": 2.0**-23, "Complex128": 2.0**-52,
}  # fmt: skip
_NARROW = ("Float16", "BFloat16")
#: Number of roundings besides the sum's: of the operands, of a scale, of the result.
_OTHERS = 4


def noise_floor(dtype: str, summands: int) -> float:
    """The largest possible rounding error, relative to the size of the summands.

    Args:
        dtype: dtype of the result (``Float32``).
        summands: number of terms summed in an element.

    Returns:
        A number below 1; for whole numbers and bools the smallest normal float64: any error is above it.
    """
    unit = _UNIT.get(dtype)
    if unit is None:
        return 2.0**-1022
    inner = _UNIT["Float32"] if dtype in _NARROW else unit
    return min(0.5, _OTHERS * unit + max(summands - 1, 0) * inner)


def summands_of(slots: Iterable[SlotVerdict]) -> dict[tuple[object, ...], int]:
    """The number of terms summed in an element of each execution's output, from the shapes of its slots.

    For two operands it is the square root of the product of their sizes over the output's: for a matrix product of
    ``(m, k)`` and ``(k, n)`` that ratio is ``k**2``, and k the number of terms. For one operand it is its size over the
    output's.
    """
    inputs: dict[tuple[object, ...], list[int]] = {}
    outputs: dict[tuple[object, ...], int] = {}
    for slot in slots:
        size = prod(slot.shape)
        if slot.key.io == "input" and slot.dtype in _UNIT and size > 1:
            inputs.setdefault(slot.key[:5], []).append(size)
        elif slot.key.io == "output" and slot.key.slot == 0:
            outputs[slot.key[:5]] = size
    return {where: terms(sizes, outputs[where]) for where, sizes in inputs.items() if outputs.get(where)}


def terms(sizes: list[int], made: int) -> int:
    """The number of terms summed in each of ``made`` elements, from the sizes of the operands; see ``summands_of``."""
    if not sizes or not made:
        return 1
    one, *others = sorted(sizes, reverse=True)[:2]
    reduced = -(-one // made)
    product = math.isqrt(max(1, one * others[0] // made)) if others else 1
    return max(1, reduced, product)
