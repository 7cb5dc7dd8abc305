"""Layers that resize, rearrange or drop, and small layers around one operator.

Source of the operators each becomes: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import initializer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor, is_eager

__all__ = [
    "CELU", "LRN", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "ClipByNorm", "Dropout1d", "Dropout2d", "Dropout3d",
    "EmbeddingLookup", "FastGelu", "MatMul", "Norm", "OneHot", "PixelShuffle", "PixelUnshuffle", "Range", "SeLU",
    "Softmax2d", "Tril", "Triu", "Upsample",
]  # fmt: skip


def _with_axes(name: str, x: Any) -> None:
    if not isinstance(x, (Tensor, int, float)) and not is_eager():
        raise SettingTypeError(f"{name}: a tensor is needed, got {type(x).__name__}")
    if not x.shape:
        raise SettingError(f"{name}: a tensor with an axis is needed, got one without")


class Tril(Cell):
    """What is on and below the ``k``-th diagonal, as a product with ones and zeros."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any, k: int = 0) -> Any:
        _with_axes("tril", x)
        return x * Tensor(np.tril(np.ones(x.shape), k), x.dtype)


class Triu(Cell):
    """What is on and above the ``k``-th diagonal, as a product with ones and zeros."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, x: Any, k: int = 0) -> Any:
        _with_axes("triu", x)
        return x * Tensor(np.triu(np.ones(x.shape), k), x.dtype)


class Norm(Cell):
    """The root of the sum of squares over ``axis`` (no axis: over all)."""

    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, checks.boolean(keep_dims, "keep_dims", self.cls_name)
        self.reduce_sum = ops.ReduceSum(True)
        self.sqrt = ops.Sqrt()

    def construct(self, x: Any) -> Any:
        root = self.sqrt(self.reduce_sum(ops.square(x), self.axis))
        axes = self.axis if self.axis != () else tuple(range(len(x.shape)))
        return root if self.keep_dims else ops.Squeeze(axes)(root)


class ClipByNorm(Cell):
    """Scales a tensor down if its norm over ``axis`` is above a bound."""

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        self.clip_by_norm = ops.ClipByNorm(axis)

    def construct(self, x: Any, clip_norm: Any) -> Any:
        return self.clip_by_norm(x, clip_norm)


class AdaptiveAvgPool2d(Cell):
    """Means of as many windows as ``output_size`` says; None keeps an axis."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.adaptive_avgpool2d = ops.AdaptiveAvgPool2D(output_size)

    def construct(self, input: Any) -> Any:
        return self.adaptive_avgpool2d(input)


class AdaptiveAvgPool1d(Cell):
    """Means of ``output_size`` windows of one length along the last axis of (N, C, L)."""

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = checks.positive_int(output_size, "output_size", self.cls_name)
        self.expand_dims = ops.ExpandDims()
        self.squeeze = ops.Squeeze(2)

    def construct(self, input: Any) -> Any:
        length = input.shape[-1]
        if length % self.output_size:
            raise ShapeError(f"{self.cls_name}: the length {length} must be divisible by {self.output_size}")
        width = length // self.output_size
        stride = width
        x = self.expand_dims(input, 2)
        x = ops.AvgPool(kernel_size=(1, width), strides=(1, stride))(x)
        return self.squeeze(x)


class PixelShuffle(Cell):
    """(..., C * r ** 2, H, W) to (..., C, H * r, W * r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = checks.positive_int(upscale_factor, "upscale_factor", self.cls_name)

    def construct(self, input: Any) -> Any:
        r = self.upscale_factor
        *lead, c, h, w = input.shape
        if c % (r * r):
            raise ShapeError(f"{self.cls_name}: {c} channels must be divisible by {r * r}")
        n = tuple(range(len(lead)))
        x = ops.reshape(input, (*lead, c // (r * r), r, r, h, w))
        at = len(lead)
        x = ops.transpose(x, (*n, at, at + 3, at + 1, at + 4, at + 2))
        return ops.reshape(x, (*lead, c // (r * r), h * r, w * r))


class PixelUnshuffle(Cell):
    """(..., C, H * r, W * r) to (..., C * r ** 2, H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = checks.positive_int(downscale_factor, "downscale_factor", self.cls_name)

    def construct(self, input: Any) -> Any:
        r = self.downscale_factor
        *lead, c, h, w = input.shape
        if h % r or w % r:
            raise ShapeError(f"{self.cls_name}: {h} x {w} must be divisible by {r}")
        n, at = tuple(range(len(lead))), len(lead)
        x = ops.reshape(input, (*lead, c, h // r, r, w // r, r))
        x = ops.transpose(x, (*n, at, at + 2, at + 4, at + 1, at + 3))
        return ops.reshape(x, (*lead, c * r * r, h // r, w // r))


class SeLU(Cell):
    """Scaled exponential linear unit."""

    def __init__(self) -> None:
        super().__init__()
        self.selu = ops.SeLU()

    def construct(self, input_x: Any) -> Any:
        return self.selu(input_x)


class CELU(Cell):
    """x above 0, else alpha * (e ** (x / alpha) - 1)."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.celu = ops.CeLU(alpha=alpha)

    def construct(self, x: Any) -> Any:
        return self.celu(x)


class FastGelu(Cell):
    """x / (1 + e ** -1.702x)."""

    def __init__(self) -> None:
        super().__init__()
        self.fast_gelu = ops.FastGeLU()

    def construct(self, x: Any) -> Any:
        return self.fast_gelu(x)


class Softmax2d(Cell):
    """Softmax over the channels of (C, H, W) or (N, C, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        self.softmax = ops.Softmax(axis=-3)

    def construct(self, x: Any) -> Any:
        if len(x.shape) not in (3, 4):
            raise ShapeError(f"{self.cls_name}: 3 or 4 axes are needed, got shape {x.shape}")
        return self.softmax(x)


class Upsample(Cell):
    """A tensor resized; see ``ops.interpolate``."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def construct(self, x: Any) -> Any:
        return ops.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners,
                               self.recompute_scale_factor)  # fmt: skip


class LRN(Cell):
    """Local response normalisation over channels."""

    def __init__(
        self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:  # fmt: skip
        super().__init__()
        self.lrn_op = ops.LRN(depth_radius, bias, alpha, beta, norm_region)

    def construct(self, input_x: Any) -> Any:
        return self.lrn_op(input_x)


class OneHot(Cell):
    """One-hot vectors of indices along ``axis``."""

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0,
        dtype: DType = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.onehot = ops.OneHot(axis)
        self.depth = depth
        self.on_value = Tensor(on_value, dtype)
        self.off_value = Tensor(off_value, dtype)

    def construct(self, indices: Any) -> Any:
        return self.onehot(indices, self.depth, self.on_value, self.off_value)


class Range(Cell):
    """The numbers from ``start`` to ``limit`` (from 0 to ``start`` without it), as a constant."""

    def __init__(self, start: float, limit: float | None = None, delta: float = 1) -> None:
        super().__init__()
        if delta == 0:
            raise SettingError(f"{self.cls_name}: delta must not be 0")
        first, last = (0, start) if limit is None else (start, limit)
        kind = dtypes.float32 if any(isinstance(v, float) for v in (first, last, delta)) else dtypes.int32
        self.result_tensor = Tensor(np.arange(first, last, delta), kind)

    def construct(self) -> Any:
        return self.result_tensor


class MatMul(Cell):
    """A product of matrices, vectors or batches of matrices; deprecated in MindSpore."""

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = checks.boolean(transpose_x1, "transpose_x1", self.cls_name)
        self.transpose_x2 = checks.boolean(transpose_x2, "transpose_x2", self.cls_name)

    def construct(self, x1: Any, x2: Any) -> Any:
        first, second = len(x1.shape), len(x2.shape)
        if first == 1 and second == 1:
            return ops.ReduceSum(keep_dims=False)(ops.Mul()(x1, x2), -1)
        x1 = ops.ExpandDims()(x1, 0) if first == 1 else x1
        x2 = ops.ExpandDims()(x2, 1) if second == 1 else x2
        plain = len(x1.shape) == 2 and len(x2.shape) == 2
        turns = self.transpose_x1 and first > 1, self.transpose_x2 and second > 1
        if not plain:
            rank = max(len(x1.shape), len(x2.shape))
            lead = ops.broadcast_to
            if len(x1.shape) != len(x2.shape):
                short, other = (x1, x2) if len(x1.shape) < rank else (x2, x1)
                wide = lead(short, (*other.shape[: rank - len(short.shape)], *short.shape))
                x1, x2 = (wide, x2) if short is x1 else (x1, wide)
        out = (ops.MatMul(*turns) if plain else ops.BatchMatMul(*turns))(x1, x2)
        if first == 1:
            out = ops.Squeeze(len(out.shape) - 2)(out)
        return ops.Squeeze(len(out.shape) - 1)(out) if second == 1 else out


class EmbeddingLookup(Cell):
    """Rows of a table of parameters (vocab_size, embedding_size)."""

    def __init__(
        self, vocab_size: int, embedding_size: int, param_init: Any = "normal", target: str = "CPU",
        slice_mode: str = "batch_slice", manual_shapes: Any = None, max_norm: Any = None, sparse: bool = True,
        dtype: DType = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        checks.among(target, ("CPU", "DEVICE"), "target", self.cls_name)
        checks.among(slice_mode, ("batch_slice",), "slice_mode", self.cls_name)
        if max_norm is not None and not isinstance(max_norm, float):
            raise SettingTypeError(f"{self.cls_name}: max_norm must be a float, got {type(max_norm).__name__}")
        if target == "CPU" and not sparse:
            raise SettingError(f"{self.cls_name}: sparse must be True where target is 'CPU'")
        if manual_shapes is not None or max_norm is not None:
            raise SettingError(f"{self.cls_name} is supported without manual_shapes and max_norm")
        self.vocab_size = checks.positive_int(vocab_size, "vocab_size", self.cls_name)
        self.embedding_size = checks.positive_int(embedding_size, "embedding_size", self.cls_name)
        self.target = target
        self.sparse = sparse
        table = initializer(param_init, (vocab_size, embedding_size), dtype)
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, indices: Any) -> Any:
        if self.target == "DEVICE":
            return ops.Gather()(self.embedding_table, indices, 0)
        look_up = ops.EmbeddingLookup()
        look_up.attrs["bprop_return_sparse"] = bool(self.sparse)
        look_up.add_prim_attr("primitive_target", "CPU")
        return look_up(self.embedding_table, indices, Tensor(0, dtypes.int64))


class _Dropout(Cell):
    """Whole channels dropped while training."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = checks.number(p, "p", self.cls_name, 0, 1)


class Dropout1d(_Dropout):
    """Channels of (N, C, L) dropped."""

    def construct(self, x: Any) -> Any:
        return ops.dropout1d(x, self.p) if self.training and self.p != 0 else x


class Dropout2d(_Dropout):
    """Channels of (N, C, H, W) dropped."""

    def construct(self, x: Any) -> Any:
        return ops.dropout2d(x, self.p) if self.training and self.p != 0 else x


class Dropout3d(_Dropout):
    """Channels of (N, C, D, H, W) dropped."""

    def construct(self, x: Any) -> Any:
        return ops.dropout3d(x, self.p) if self.training and self.p != 0 else x
