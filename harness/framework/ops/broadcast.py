"""The gradient of broadcasting: bringing a gradient back to its operand's shape and dtype.

Source: gradients of Add, Sub, Mul and Div in MindSpore 2.10.0 graphs, measured over eight pairs of shapes.
"""

from __future__ import annotations

from typing import Any

from harness.framework.tensor import call as emit


def reduce_to(gradient: Any, operand: Any) -> Any:
    """``gradient`` of a broadcast result, summed to the shape of ``operand`` and cast to its dtype.

    Emits nothing if both shapes agree already. A 0-d operand takes the sum over every axis (an empty tuple of axes);
    otherwise the axes are those the operand was stretched along, kept where the ranks are equal; a ``Reshape`` follows
    if leading axes and kept axes mix.
    """
    if gradient is None or not hasattr(operand, "shape"):
        return None
    given, wanted = tuple(gradient.shape), tuple(operand.shape)
    if given != wanted:
        gradient = _sum(gradient, given, wanted)
        if tuple(gradient.shape) != wanted and -1 not in wanted:
            gradient = emit("Reshape", gradient, wanted)
    if gradient.dtype is not operand.dtype:
        gradient = emit("Cast", gradient, operand.dtype)
    return gradient


def _sum(gradient: Any, given: tuple[int, ...], wanted: tuple[int, ...]) -> Any:
    if not wanted:
        return emit("SumExt", gradient, (), False, None)
    padded = (1,) * (len(given) - len(wanted)) + wanted
    axes = tuple(i for i, (g, w) in enumerate(zip(given, padded, strict=True)) if w == 1 and g != 1)
    if not axes:
        return gradient
    return emit("SumExt", gradient, axes, len(given) == len(wanted), None)
