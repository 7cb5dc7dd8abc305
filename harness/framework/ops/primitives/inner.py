"""Primitives that MindSpore keeps to itself (as in ``ops.operations._inner_ops``), which scripts import all the
same.

Source: MindSpore 2.10.0, measured (``tests/data/programs/inner_primitives.txt``).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any, cast

from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.primitive import Primitive
from harness.framework.ops.primitives.generated import as_signature, bound
from harness.framework.tensor import Tensor

__all__: list[str] = []  # no names of ``ops``


class ConvertToDynamic(Primitive):
    """Gives its tensor; MindSpore forgets its shape (or its number of axes) there, so that later operators are
    compiled for any. Here it stays known."""

    def __init__(self, is_dynamic_rank: bool = False) -> None:
        if not isinstance(is_dynamic_rank, bool):
            raise SettingTypeError(f"ConvertToDynamic: is_dynamic_rank must be a bool, got {is_dynamic_rank!r}")
        super().__init__(attrs={"is_dynamic_rank": is_dynamic_rank})

    def __call__(self, x: Tensor) -> Tensor:
        """``x``."""
        if not isinstance(x, Tensor):
            raise SettingTypeError(f"ConvertToDynamic: a Tensor is needed, got {type(x).__name__}")
        return cast(Tensor, super().__call__(x))


#: primitives of gradients: their settings, which become attributes, and behind the stroke the names of their inputs
_ROWS = """
AdaptiveAvgPool2DGrad: / input_grad orig_input_shape
AdaptiveAvgPool3DGrad: / y_grad orig_input_shape
AdaptiveMaxPool3DGrad: / input_grad x argmax
AffineGridGrad: align_corners=False / y_grad x_size
DropoutGrad: keep_prob=0.5 /
IgammaGradA: / a x
InvGrad: / x grad
KLDivLossGrad: reduction='mean' /
LRNGrad: depth_radius=5 bias=1.0 alpha=1.0 beta=0.5 / grads x y
MirrorPadGrad: mode='REFLECT' / dy paddings
MultiMarginLossGrad: p=1 margin=1.0 reduction='mean' / y_grad x target weight
MvlgammaGrad: p / y_grad x
PdistGrad: p=2.0 / y_grad x y
ROIAlignGrad: pooled_height pooled_width spatial_scale sample_num=2 / dy rois xdiff_shape
SigmoidCrossEntropyWithLogitsGrad: / x y dout
SliceGrad: / dy x begin size
SoftplusGrad: / gradients features
StridedSliceGrad: begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0 \
/ dy shapex begin end strides
TraceGrad: / y_grad x_shape
"""
_REDUCTIONS = ("none", "mean", "batchmean", "sum")


def _made(name: str, settings: inspect.Signature, inputs: Sequence[str]) -> type[Primitive]:
    def init(self: Primitive, *args: Any, **kwargs: Any) -> None:
        given = bound(name, settings, args, kwargs)
        attrs = dict(zip(settings.parameters, given, strict=True))
        if attrs.get("reduction", "none") not in _REDUCTIONS:
            raise SettingError(f"{name}: reduction must be {' or '.join(_REDUCTIONS)}, got {attrs['reduction']!r}")
        Primitive.__init__(self, attrs={**attrs, **({"input_names": list(inputs)} if inputs else {})})

    return type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})


@functools.cache
def _gradients() -> dict[str, type[Primitive]]:
    rows = (line.partition(":") for line in _ROWS.strip().splitlines())
    parts = ((name, *words.split("/")) for name, _, words in rows)
    return {name: _made(name, as_signature(settings), inputs.split()) for name, settings, inputs in parts}


def find(name: str) -> type[Primitive] | None:
    """The class of this name; None if there is none."""
    found = globals().get(name)
    return found if isinstance(found, type) and found.__module__ == __name__ else _gradients().get(name)
