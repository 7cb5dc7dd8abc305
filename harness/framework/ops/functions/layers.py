"""Functions behind layers: normalisation of groups, shuffled channels, dropped channels.

Source: which operators each is made of: MindSpore 2.10.0 graphs, measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, ShapeError
from harness.framework.seed import operator_seeds
from harness.framework.tensor import Tensor, call

__all__ = ["bidense", "channel_shuffle", "dropout1d", "dropout2d", "dropout3d", "group_norm"]


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """``input`` (n, c, ...) normalised over groups of channels; ``weight`` and ``bias`` (c,) are 1 and 0 if None."""
    channels = input.shape[1]
    weight = Tensor(np.ones(channels), input.dtype) if weight is None else weight
    bias = Tensor(np.zeros(channels), input.dtype) if bias is None else bias
    return call("GroupNorm", input, num_groups, weight, bias, eps)[0]


def channel_shuffle(x: Any, groups: int) -> Any:
    """Channels of (n, c, ...) taken in turn from each of ``groups`` groups."""
    shape = tuple(x.shape)
    if len(shape) < 3 or groups < 1 or shape[1] % groups:
        raise ShapeError(f"channel_shuffle: the channels of {list(shape)} must divide into {groups} groups")
    attrs: dict[str, Any] = {"output_names": ["y"], "group": groups, "input_names": ["x"]}
    return call("ChannelShuffle", x, **attrs)


def bidense(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """x1 W y1 + b for each of the matrices of ``weight`` (out, in1, in2)."""
    out, first, second = weight.shape
    lead = tuple(input1.shape[:-1])
    if input1.shape[-1] != first or input2.shape[-1] != second or tuple(input2.shape[:-1]) != lead:
        raise ShapeError(f"bidense: {input1.shape} and {input2.shape} do not fit a weight of {weight.shape}")
    if len(lead) != 1:
        input1, input2 = call("Reshape", input1, (-1, first)), call("Reshape", input2, (-1, second))
    matrix = call("Reshape", call("Transpose", weight, (1, 2, 0)), (first, -1))
    rows = call("Reshape", call("MatMul", input1, matrix, False, False), (input1.shape[0], second, out))
    products = call("Mul", call("Transpose", rows, (2, 0, 1)), input2)
    result = call("Transpose", products.sum(2), (1, 0))
    result = result if bias is None else call("BiasAdd", result, bias, 0)
    return result if len(lead) == 1 else call("Reshape", result, (*lead, -1))


def _dropped(owner: str, op: str, x: Any, p: float, training: bool) -> Any:
    if not 0 <= p <= 1:
        raise SettingError(f"{owner}: p must lie in [0, 1], got {p!r}")
    if not training:
        return x
    # A real one draws from the time of day: these seeds are ours.
    seed0, seed1 = operator_seeds(owner, 0)
    names: dict[str, Any] = {"input_names": ["x"], "output_names": ["output", "mask"]}
    return call(op, x, keep_prob=1.0 - p, side_effect_hidden=True, seed0=seed0, seed1=seed1, **names)[0]


def dropout1d(input: Any, p: float = 0.5, training: bool = True) -> Any:
    """Whole channels of (n, c, l) or (c, l) dropped with probability ``p``."""
    if not training:
        return input
    if len(input.shape) not in (2, 3):
        raise ShapeError(f"dropout1d: 2 or 3 axes are needed, got shape {input.shape}")
    x = input if len(input.shape) == 3 else call("ExpandDims", input, 0)
    out = call("Squeeze", _dropped("dropout1d", "Dropout2D", call("ExpandDims", x, -1), p, training), (3,))
    return out if len(input.shape) == 3 else call("Squeeze", out, (0,))


def dropout2d(input: Any, p: float = 0.5, training: bool = True) -> Any:
    """Whole channels of (n, c, h, w) dropped with probability ``p``."""
    return _dropped("dropout2d", "Dropout2D", input, p, training)


def dropout3d(input: Any, p: float = 0.5, training: bool = True) -> Any:
    """Whole channels of (n, c, d, h, w) dropped with probability ``p``."""
    return _dropped("dropout3d", "Dropout3D", input, p, training)
