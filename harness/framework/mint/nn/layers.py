"""The layers of ``mint.nn`` that MindSpore's CPU computes.

Source: MindSpore 2.10.0, measured (``tests/data/graphs/nets/minted.py``).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError
from harness.framework.mint.functions import flatten, ops
from harness.framework.mint.nn import functional
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import Normal, initializer
from harness.framework.nn.linear import Linear
from harness.framework.nn.losses import BCELoss as _BCELoss
from harness.framework.tensor import Parameter, Tensor

__all__ = [
    "GLU",
    "BCELoss",
    "BCEWithLogitsLoss",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout2d",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "Linear",
    "LogSoftmax",
    "NLLLoss",
    "PReLU",
    "PixelShuffle",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Tanh",
    "Upsample",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip


class DropoutExt(Cell):
    """While training, elements dropped with probability ``p``; the others divided by ``1 - p``."""

    _function = staticmethod(functional.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, input: Any) -> Any:
        return self._function(input, self.p, True) if self.training and self.p else input


class Dropout2dExt(DropoutExt):
    """While training, whole channels of (N, C, ...) dropped with probability ``p``."""

    _function = staticmethod(ops.dropout2d)


class Flatten(Cell):
    """The axes from ``start_dim`` to ``end_dim`` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, input: Any) -> Any:
        return flatten(input, self.start_dim, self.end_dim)


class GLU(Cell):
    """The first half along ``dim`` times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Any) -> Any:
        return functional.glu(input, self.dim)


class GroupNorm(Cell):
    """Each group of channels of (N, C, ...) normalised, then scaled and moved by channel; both (C,)."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: DType | None = None
    ) -> None:
        super().__init__()
        self.num_groups = checks.positive_int(num_groups, "num_groups", self.cls_name)
        self.num_channels = checks.positive_int(num_channels, "num_channels", self.cls_name)
        if num_channels % num_groups:
            raise SettingError(
                f"{self.cls_name}: num_channels {num_channels} must be divisible by num_groups {num_groups}"
            )
        self.eps = checks.number(eps, "eps", self.cls_name)
        self.affine = checks.boolean(affine, "affine", self.cls_name)
        kind = dtypes.float32 if dtype is None else dtype
        self.weight, self.bias = (
            Parameter(initializer(start, (num_channels,), kind), name=name, requires_grad=affine)
            for name, start in (("weight", "ones"), ("bias", "zeros"))
        )

    def construct(self, input: Any) -> Any:
        return ops.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"


class PReLUExt(Cell):
    """``max(x, 0) + weight * min(x, 0)``; weight (num_parameters,)."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: DType | None = None) -> None:
        super().__init__()
        start = np.full(num_parameters, init, np.float32)
        self.weight = Parameter(Tensor(start, dtype), name="weight")

    def construct(self, input: Any) -> Any:
        return ops.prelu(input, self.weight)


class PixelShuffle(Cell):
    """Channels of (..., C * r * r, H, W) as pixels (..., C, H * r, W * r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input: Any) -> Any:
        return ops.pixel_shuffle(input, self.upscale_factor)


class SiLU(Cell):
    """``x * sigmoid(x)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def construct(self, x: Any) -> Any:
        return functional.silu(x, self.inplace)


class Sigmoid(Cell):
    """``1 / (1 + exp(-x))``."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        return ops.sigmoid(input)


class Tanh(Cell):
    """The hyperbolic tangent."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        return ops.tanh(input)


class SoftmaxExt(Cell):
    """Exponentials over their sum along ``dim``."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Any) -> Any:
        return functional.softmax(input, self.dim)


class LogSoftmaxExt(Cell):
    """The logarithm of ``Softmax``; in graphs alone."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, logits: Any) -> Any:
        return functional.log_softmax(logits, self.dim)


class _ConstantPad(Cell):
    """A value around the last axes; in graphs alone."""

    _axes: ClassVar[int]

    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self._axes) if isinstance(padding, int) else padding
        self.value = value

    def construct(self, input: Any) -> Any:
        return functional.pad(input, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPad):
    """A value around the last axis."""

    _axes = 1


class ConstantPad2d(_ConstantPad):
    """A value around the last two axes."""

    _axes = 2


class ConstantPad3d(_ConstantPad):
    """A value around the last three axes."""

    _axes = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class ZeroPad1d(_ZeroPad):
    """Zeros around the last axis."""

    _axes = 1


class ZeroPad2d(_ZeroPad):
    """Zeros around the last two axes."""

    _axes = 2


class ZeroPad3d(_ZeroPad):
    """Zeros around the last three axes."""

    _axes = 3


class EmbeddingExt(Cell):
    """Rows of a table ``weight`` (num_embeddings, embedding_dim); in graphs alone, without a gradient."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: Any = None, max_norm: Any = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, dtype: DType | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.dtype = dtypes.float32 if dtype is None else dtype
        table = _weight
        if _weight is None:
            table = initializer(Normal(1.0), (num_embeddings, embedding_dim), self.dtype)
            if padding_idx is not None:
                rows = table.init_data().asnumpy().copy()
                rows[padding_idx] = 0
                table = Tensor(rows, self.dtype)
        self.weight = Parameter(table, name="weight", requires_grad=not _freeze)

    def construct(self, input: Any) -> Any:
        return ops.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )

    def extend_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"padding_idx={self.padding_idx}, max_norm={self.max_norm}, norm_type={self.norm_type}, "
            f"scale_grad_by_freq={self.scale_grad_by_freq}, dtype={self.dtype}"
        )


class CrossEntropyLoss(Cell):
    """The cross entropy of scores and labels; in graphs alone."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__()
        self.weight, self.ignore_index, self.reduction = weight, ignore_index, reduction
        self.label_smoothing = label_smoothing

    def construct(self, input: Any, target: Any) -> Any:
        return functional.cross_entropy(
            input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )


class NLLLoss(Cell):
    """The negative of the chosen logarithms; ``reduction`` is "mean", "sum" or "none"."""

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__()
        self.weight, self.ignore_index, self.reduction = weight, ignore_index, reduction

    def construct(self, input: Any, target: Any) -> Any:
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class BCELoss(Cell):
    """The cross entropy of ``target`` and ``input``, both between 0 and 1, by a layer of ``nn``."""

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.bce_loss = _BCELoss(weight, reduction)

    def construct(self, input: Any, target: Any) -> Any:
        return self.bce_loss(input, target)


class UpsampleExt(Cell):
    """``functional.interpolate`` to ``size`` or by ``scale_factor``."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.size, self.scale_factor = size, scale_factor
        self.mode, self.align_corners, self.recompute = mode, align_corners, recompute_scale_factor

    def construct(self, input: Any) -> Any:
        return functional.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute
        )


class UpsamplingNearest2d(Cell):
    """Pictures (N, C, H, W) resized to ``size``, or by ``scale_factor``, by the nearest element."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input: Any) -> Any:
        return functional.interpolate(input, self.size, self.scale_factor)


class BCEWithLogitsLoss(Cell):
    """The cross entropy of ``target`` and the sigmoid of ``input``."""

    def __init__(self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__()
        self.weight, self.reduction, self.pos_weight = weight, reduction, pos_weight

    def construct(self, input: Any, target: Any) -> Any:
        return functional.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class SmoothL1Loss(Cell):
    """Squares of differences up to ``beta``, their size beyond."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__()
        self.reduction, self.beta = reduction, beta

    def construct(self, input: Any, target: Any) -> Any:
        return functional.smooth_l1_loss(input, target, self.reduction, self.beta)


#: the classes of these have other names, which graphs show
Dropout, Dropout2d, PReLU, Softmax, Upsample = DropoutExt, Dropout2dExt, PReLUExt, SoftmaxExt, UpsampleExt
Embedding, LogSoftmax = EmbeddingExt, LogSoftmaxExt
