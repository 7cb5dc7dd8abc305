"""Primitives of pictures: blocks, columns of patches, grids, exchanged channels."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingTypeError
from harness.framework.ops.functions import batch_space, sampling, unfold
from harness.framework.ops.primitive import Primitive

__all__ = [
    "AffineGrid", "BatchToSpaceND", "ChannelShuffle", "Col2Im", "GridSampler2D", "GridSampler3D", "Im2Col",
    "SpaceToBatchND",
]  # fmt: skip


class AffineGrid(Primitive):
    """The places that affine maps give to pictures or volumes."""

    def __init__(self, align_corners: bool = False) -> None:
        names = {"output_names": ["y"], "input_names": ["theta", "output_size"]}
        super().__init__(attrs={**names, "align_corners": align_corners})


class BatchToSpaceND(Primitive):
    """Entries of a batch put together to blocks of space."""

    def __init__(self, block_shape: Any, crops: Any) -> None:
        block, rows = batch_space.block(block_shape, crops, "BatchToSpaceND")
        super().__init__(attrs={"block_shape": block, "crops": rows})


class SpaceToBatchND(Primitive):
    """The elements of blocks of space as entries of a batch."""

    def __init__(self, block_shape: Any, paddings: Any) -> None:
        block, rows = batch_space.block(block_shape, paddings, "SpaceToBatchND")
        super().__init__(attrs={"paddings": rows, "block_shape": block})


class Im2Col(Primitive):
    """Pictures as columns of patches."""

    def __init__(self, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> None:
        super().__init__(attrs=unfold.columns(ksizes, dilations, pads, strides, "Im2Col"))


class Col2Im(Primitive):
    """Patches added up to pictures."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__(attrs=unfold.pictures(kernel_size, dilation, padding, stride, "Col2Im"))


class GridSampler2D(Primitive):
    """Values of pictures at the places of a grid."""

    def __init__(
        self, interpolation_mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
    ) -> None:
        super().__init__(trailing=(*sampling.settings(interpolation_mode, padding_mode), align_corners))


class GridSampler3D(GridSampler2D):
    """Values of volumes at the places of a grid."""


class ChannelShuffle(Primitive):
    """Channels taken in turn from each of several groups."""

    def __init__(self, group: int) -> None:
        if isinstance(group, bool) or not isinstance(group, int):
            raise SettingTypeError(f"ChannelShuffle: group must be an int, got {group!r}")
        super().__init__(attrs={"output_names": ["y"], "group": group, "input_names": ["x"]})
