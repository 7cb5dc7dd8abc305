"""Primitives whose functions are asked for more often: the same nodes, with settings given once.

Source: signatures and attributes of MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.functions import margins, patches, pooling, sampling, statistics, windows
from harness.framework.ops.primitive import Primitive, plain
from harness.framework.ops.primitives.shape import Stack, Unstack
from harness.framework.tensor import Tensor

__all__ = [
    "STFT", "AdaptiveAvgPool3D", "AdaptiveMaxPool2D", "AffineGrid", "ApproximateEqual", "BartlettWindow",
    "BatchToSpaceND", "Bernoulli", "BlackmanWindow", "Cdist", "ChannelShuffle", "Col2Im", "CumulativeLogsumexp", "Eps",
    "Fmax", "GridSampler2D", "GridSampler3D", "Im2Col", "InplaceAdd", "InplaceSub", "InplaceUpdateV2", "LogSpace",
    "Lstsq", "LuSolve", "LuUnpack", "MatrixDiagPartV3", "MatrixDiagV3", "MatrixSetDiagV3", "MatrixSolve", "MaxUnpool2D",
    "MaxUnpool3D", "Median", "MultiMarginLoss", "Pack", "Padding", "Pdist", "PopulationCount", "RandomShuffle",
    "SpaceToBatchND", "Svd", "UniformInt", "UniqueConsecutive", "Unpack",
]  # fmt: skip

LuSolve: Any = plain("LuSolve")["LuSolve"]


def _sizes(value: Any, count: int) -> tuple[int, ...]:
    given = (value,) * count if isinstance(value, int) else tuple(value)
    return given


class AdaptiveAvgPool3D(Primitive):
    """Means of as many windows of volumes as asked for; None keeps an axis."""

    def __init__(self, output_size: Any) -> None:
        size = tuple(-1 if n is None else n for n in _sizes(output_size, 3))
        super().__init__(attrs={"output_names": ["y"], "output_size": size, "input_names": ["x"]})


class AdaptiveMaxPool2D(Primitive):
    """The largest of as many windows of images as asked for, and their places."""

    def __init__(self, output_size: Any) -> None:
        size = _sizes(output_size, 2)
        if not all(isinstance(n, int) for n in size):
            raise SettingTypeError(f"AdaptiveMaxPool2D: output_size must be an int or ints, got {output_size!r}")
        super().__init__(trailing=(size,))


class AffineGrid(Primitive):
    """The places that affine maps give to pictures or volumes."""

    def __init__(self, align_corners: bool = False) -> None:
        names = {"output_names": ["y"], "input_names": ["theta", "output_size"]}
        super().__init__(attrs={**names, "align_corners": align_corners})


class ApproximateEqual(Primitive):
    """Whether two elements are nearer than a tolerance."""

    def __init__(self, tolerance: float = 1e-05) -> None:
        super().__init__(attrs={"tolerance": tolerance})


class BatchToSpaceND(Primitive):
    """Entries of a batch put together to blocks of space."""

    def __init__(self, block_shape: Any, crops: Any) -> None:
        block, rows = windows.block(block_shape, crops, "BatchToSpaceND")
        super().__init__(attrs={"block_shape": block, "crops": rows})


class SpaceToBatchND(Primitive):
    """The elements of blocks of space as entries of a batch."""

    def __init__(self, block_shape: Any, paddings: Any) -> None:
        block, rows = windows.block(block_shape, paddings, "SpaceToBatchND")
        super().__init__(attrs={"paddings": rows, "block_shape": block})


class Bernoulli(Primitive):
    """1 with a probability, else 0."""

    def __init__(self, seed: int = -1, offset: int = 0) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x", "p"], "seed": seed, "offset": offset})


class Cdist(Primitive):
    """Distances between the rows of two matrices."""

    def __init__(self, p: float = 2.0) -> None:
        if not p >= 0:
            raise SettingError(f"Cdist: p must be at least 0, got {p!r}")
        super().__init__(trailing=(float(p),))


class Im2Col(Primitive):
    """Pictures as columns of patches."""

    def __init__(self, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> None:
        super().__init__(attrs=patches.columns(ksizes, dilations, pads, strides, "Im2Col"))


class Col2Im(Primitive):
    """Patches added up to pictures."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__(attrs=patches.pictures(kernel_size, dilation, padding, stride, "Col2Im"))


class Eps(Primitive):
    """The distance from 1 to the next number of a dtype."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x"]})


class GridSampler2D(Primitive):
    """Values of pictures at the places of a grid."""

    def __init__(
        self, interpolation_mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
    ) -> None:
        super().__init__(trailing=(*sampling.settings(interpolation_mode, padding_mode), align_corners))


class GridSampler3D(GridSampler2D):
    """Values of volumes at the places of a grid."""


class InplaceAdd(Primitive):
    """A copy with a tensor added to some of its rows."""

    def __init__(self, indices: Any) -> None:
        super().__init__(attrs={
            "output_names": ["y"], "input_names": ["x", "v"], "indices": windows.rows(indices, self.name),
        })  # fmt: skip


class InplaceSub(InplaceAdd):
    """A copy with a tensor taken from some of its rows."""


class InplaceUpdateV2(Primitive):
    """A copy with some of its rows changed."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x", "indices", "v"]})

    def __call__(self, x: Any, indices: Any, v: Any) -> Any:
        chosen = indices if isinstance(indices, Tensor) else Tensor(np.asarray(indices, np.int64))
        return super().__call__(x, chosen, v)


class LogSpace(Primitive):
    """Powers of a base at even distances."""

    def __init__(self, steps: int = 10, base: int = 10, dtype: Any = dtypes.float32) -> None:
        names = {"steps": steps, "input_names": ["start", "end"], "base": base, "output_names": ["y"]}
        super().__init__(attrs={**names, "dtype": dtype})


class Lstsq(Primitive):
    """The nearest solution of a system of equations."""

    def __init__(self, fast: bool = True, l2_regularizer: float = 0.0) -> None:
        if l2_regularizer != 0:
            raise SettingError(f"Lstsq: l2_regularizer must be 0.0 here, got {l2_regularizer!r}")
        super().__init__(attrs={"fast": fast, "l2_regularizer": l2_regularizer})


class LuUnpack(Primitive):
    """The permutation and the triangles of a decomposition."""

    def __init__(self, unpack_data: bool = True, unpack_pivots: bool = True) -> None:
        super().__init__(attrs={"unpack_pivots": unpack_pivots, "unpack_data": unpack_data})


class MatrixDiagPartV3(Primitive):
    """Diagonals of matrices, or bands of them."""

    def __init__(self, align: str = "RIGHT_LEFT") -> None:
        super().__init__(attrs=statistics.diagonal_names(align))


class MatrixDiagV3(Primitive):
    """Matrices with given diagonals."""

    def __init__(self, align: str = "RIGHT_LEFT") -> None:
        names = {"output_names": ["y"], "input_names": ["x", "k", "num_rows", "num_cols", "padding_value"]}
        super().__init__(attrs={**names, "align": statistics.aligned(self.name, align)})


class MatrixSetDiagV3(Primitive):
    """Matrices with their diagonals replaced."""

    def __init__(self, align: str = "RIGHT_LEFT") -> None:
        names = {"output_names": ["y"], "input_names": ["x", "diagonal", "k"], "max_length": 200000000}
        super().__init__(attrs={**names, "align": statistics.aligned(self.name, align)})


class MatrixSolve(Primitive):
    """The solution of a system of equations."""

    def __init__(self, adjoint: bool = False) -> None:
        super().__init__(attrs={"adjoint": adjoint})


class Median(Primitive):
    """The median along an axis, and its place."""

    def __init__(
        self, global_median: bool = False, axis: int = 0, keep_dims: bool = False, ignore_nan: bool = False
    ) -> None:
        super().__init__(attrs={
            "keep_dims": keep_dims, "cust_aicpu": "Median", "input_names": ["x"], "axis": axis,
            "output_names": ["y", "indices"], "global_median": global_median, "ignore_nan": ignore_nan,
        })  # fmt: skip


class Padding(Primitive):
    """A last axis of one element filled up with zeros."""

    def __init__(self, pad_dim_size: int = 8) -> None:
        if isinstance(pad_dim_size, bool) or not isinstance(pad_dim_size, int) or pad_dim_size < 1:
            raise SettingError(f"Padding: pad_dim_size must be an int above 0, got {pad_dim_size!r}")
        super().__init__(attrs={"pad_dim_size": pad_dim_size})


class Pdist(Primitive):
    """Distances between the rows of a matrix."""

    def __init__(self, p: float = 2.0) -> None:
        super().__init__(attrs={"output_names": ["y"], "p": float(p), "input_names": ["x"]})


class PopulationCount(Primitive):
    """The bits that are 1."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["output"], "input_names": ["input"]})


class RandomShuffle(Primitive):
    """The rows in a drawn order."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs={
            "seed2": seed2, "input_names": ["input_x"], "output_names": ["output"], "side_effect_hidden": True,
            "seed": seed,
        })  # fmt: skip


class STFT(Primitive):
    """The spectra of stretches of a signal."""

    def __init__(
        self, n_fft: int, hop_length: int, win_length: int, normalized: bool, onesided: bool, return_complex: bool
    ) -> None:
        super().__init__(attrs={
            "hop_length": hop_length, "input_names": ["x", "window"], "onesided": onesided, "n_fft": n_fft,
            "output_names": ["y"], "win_length": win_length, "normalized": normalized,
            "return_complex": return_complex,
        })  # fmt: skip


class Svd(Primitive):
    """Singular values and vectors."""

    def __init__(self, full_matrices: bool = False, compute_uv: bool = True) -> None:
        super().__init__(trailing=(full_matrices, compute_uv))


class UniformInt(Primitive):
    """Whole numbers drawn from a range."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs={
            "seed2": seed2, "input_names": ["shape", "minval", "maxval"], "output_names": ["output"],
            "side_effect_hidden": True, "seed": seed,
        })  # fmt: skip


class UniqueConsecutive(Primitive):
    """Each run of equal elements once."""

    def __init__(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> None:
        flags = (return_inverse, return_counts, dim)
        super().__init__(attrs={"output_is_dynamic_shape": True}, trailing=flags)


class CumulativeLogsumexp(Primitive):
    """The logarithm of running sums of exponentials."""

    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None:
        for value in (exclusive, reverse):
            if not isinstance(value, bool):
                raise SettingTypeError(f"CumulativeLogsumexp: exclusive and reverse must be bools, got {value!r}")
        names = {"output_names": ["y"], "reverse": reverse, "input_names": ["x", "axis"]}
        super().__init__(attrs={**names, "exclusive": exclusive})


class ChannelShuffle(Primitive):
    """Channels taken in turn from each of several groups."""

    def __init__(self, group: int) -> None:
        if isinstance(group, bool) or not isinstance(group, int):
            raise SettingTypeError(f"ChannelShuffle: group must be an int, got {group!r}")
        super().__init__(attrs={"output_names": ["y"], "group": group, "input_names": ["x"]})


class Fmax(Primitive):
    """The larger of two, or the one that is a number."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x1", "x2"], "ignore_nan": True})


class MaxUnpool2D(Primitive):
    """Values put back to their places in images."""

    axes: ClassVar[int] = 2
    #: the layouts of MindSpore; the first works here
    layouts: ClassVar[tuple[str, ...]] = ("NCHW", "NHWC")

    def __init__(
        self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = "NCHW"
    ) -> None:
        if data_format not in self.layouts:
            raise SettingError(f"{self.name}: data_format must be one of {self.layouts}, got {data_format!r}")
        if data_format != self.layouts[0]:
            raise UnsupportedError(f"{self.name}: data_format must be {self.layouts[0]!r} here, got {data_format!r}")
        kernel, moved = _sizes(ksize, self.axes), _sizes(strides, self.axes)
        moved = moved if any(moved) else kernel
        super().__init__(attrs=pooling.unpool_attrs(kernel, moved, _sizes(pads, self.axes), tuple(output_shape)))


class MaxUnpool3D(MaxUnpool2D):
    """Values put back to their places in volumes."""

    axes = 3
    layouts = ("NCDHW", "NDHWC")

    def __init__(
        self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = "NCDHW"
    ) -> None:
        super().__init__(ksize, strides, pads, output_shape, data_format)


class MultiMarginLoss(Primitive):
    """Distances of the other classes' scores from the target's."""

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(attrs=margins.margin_attrs(p, margin, reduction))

    def __call__(self, x: Any, target: Any, weight: Any = None) -> Any:
        return super().__call__(x, target, weight)


class BartlettWindow(Primitive):
    """A triangle of so many elements."""

    def __init__(self, periodic: bool = True, dtype: Any = dtypes.float32) -> None:
        super().__init__(attrs=windows.window_attrs(self.name, periodic, dtype))


class BlackmanWindow(BartlettWindow):
    """Blackman's window of so many elements."""


class Pack(Stack):
    """``Stack`` under its older name."""

    names: ClassVar[dict[str, Any]] = {}


class Unpack(Unstack):
    """``Unstack`` under its older name, without ``num``."""

    names: ClassVar[dict[str, Any]] = {}

    def __init__(self, axis: int = 0) -> None:
        super().__init__(axis)
