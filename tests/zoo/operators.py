"""torchvision's own operators, declared where its build for another PyTorch lacks them: the models here need none."""

from __future__ import annotations

import torch

_LIBRARY = torch.library.Library("torchvision", "FRAGMENT")
_OPERATORS = (
    "_deform_conv2d_backward", "_ps_roi_align_backward", "_ps_roi_pool_backward", "_roi_align_backward",
    "_roi_pool_backward", "deform_conv2d", "nms", "ps_roi_align", "ps_roi_pool", "qnms", "qroi_align", "roi_align",
    "roi_pool",
)  # fmt: skip


def declare_operators() -> None:
    """Call it before torchvision is imported."""
    for name in _OPERATORS if not hasattr(torch.ops.torchvision, "nms") else ():
        _LIBRARY.define(f"{name}(Tensor x) -> Tensor")
