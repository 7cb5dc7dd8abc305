"""Primitives that detection, segmentation and other models use."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import Tensor

__all__ = [
    "IOU",
    "LRN",
    "AdaptiveAvgPool2D",
    "BoundingBoxDecode",
    "BoundingBoxEncode",
    "CheckValid",
    "ClipByNorm",
    "CropAndResize",
    "DepthToSpace",
    "DiagPart",
    "EmbeddingLookup",
    "FloatStatus",
    "Gelu",
    "Invert",
    "KLDivLoss",
    "L2Loss",
    "LpNorm",
    "MaskedSelect",
    "Meshgrid",
    "MirrorPad",
    "NMSWithMask",
    "ROIAlign",
    "RandomChoiceWithMask",
    "ResizeBilinearV2",
    "ResizeNearestNeighbor",
    "ResizeNearestNeighborV2",
    "Rint",
    "ScalarCast",
    "ScalarToTensor",
    "SigmoidCrossEntropyWithLogits",
    "SpaceToDepth",
    "TupleToArray",
    "Unique",
]  # fmt: skip


def _named(name: str, inputs: list[str], outputs: list[str], **more: Any) -> type[Primitive]:
    """A primitive without settings whose node names its arguments and results."""

    def init(self: Primitive) -> None:
        Primitive.__init__(self, attrs={"output_names": outputs, **more, "input_names": inputs})

    return type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})


def _bare(name: str) -> type[Primitive]:
    def init(self: Primitive) -> None:
        Primitive.__init__(self)

    return type(name, (Primitive,), {"__init__": init, "__doc__": f"Primitive ``{name}``.", "__module__": __name__})


SigmoidCrossEntropyWithLogits: Any = _named("SigmoidCrossEntropyWithLogits", ["predict", "target"], ["loss"])
FloatStatus: Any = _named("FloatStatus", ["x"], ["output"])
CheckValid: Any = _named("CheckValid", ["bboxes", "img_metas"], ["output"])
Unique: Any = _named("Unique", ["x"], ["output"], output_is_dynamic_shape=True)
Rint: Any = _named("Rint", ["x"], ["output"])
Invert: Any = _named("Invert", ["x"], ["y"])
L2Loss: Any = _bare("L2Loss")
DiagPart: Any = _bare("DiagPart")


def positive(owner: str, name: str, value: Any, least: int = 1) -> int:
    """An int above 0, or of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise SettingTypeError(f"{owner}: {name} must be an int, got {value!r}")
    if value < least:
        raise SettingError(f"{owner}: {name} must be {least} or more, got {value}")
    return value


class CropAndResize(Primitive):
    """Parts of images brought to one size, by ``bilinear`` or ``nearest``."""

    def __init__(self, method: str = "bilinear", extrapolation_value: float = 0.0) -> None:
        if method not in ("bilinear", "nearest", "bilinear_v2"):
            raise SettingError(f"CropAndResize: method must be 'bilinear', 'nearest' or 'bilinear_v2', got {method!r}")
        if not isinstance(extrapolation_value, float):
            raise SettingTypeError(f"CropAndResize: extrapolation_value must be a float, got {extrapolation_value!r}")
        super().__init__(attrs={
            "output_names": ["y"], "method": method, "input_names": ["x", "boxes", "box_index", "crop_size"],
            "extrapolation_value": extrapolation_value,
        })  # fmt: skip


class IOU(Primitive):
    """Overlaps of anchors and boxes."""

    def __init__(self, mode: str = "iou") -> None:
        if mode not in ("iou", "iof"):
            raise SettingError(f"IOU: mode must be 'iou' or 'iof', got {mode!r}")
        names = {"input_names": ["anchor_boxes", "gt_boxes"], "eps": 1.0}
        super().__init__(attrs={"output_names": ["overlap"], "mode": mode, **names})


class NMSWithMask(Primitive):
    """Boxes by falling score, and which no better one overlaps by more than ``iou_threshold``."""

    def __init__(self, iou_threshold: float = 0.5) -> None:
        if isinstance(iou_threshold, bool) or not isinstance(iou_threshold, (int, float)):
            raise SettingTypeError(f"NMSWithMask: iou_threshold must be a number, got {iou_threshold!r}")
        outputs = ["selected_boxes", "selected_idx", "selected_mask"]
        super().__init__(
            attrs={"output_names": outputs, "iou_threshold": float(iou_threshold), "input_names": ["bboxes"]}
        )


class RandomChoiceWithMask(Primitive):
    """``count`` places drawn among those where a mask holds."""

    def __init__(self, count: int = 256, seed: int = 0, seed2: int = 0) -> None:
        positive("RandomChoiceWithMask", "count", count)
        super().__init__(attrs={
            "output_names": ["index", "mask"], "count": count, "seed2": seed2, "input_names": ["input_x"],
            "side_effect_hidden": True, "seed": seed,
        })  # fmt: skip


def _four(owner: str, name: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, tuple) or len(value) != 4:
        raise SettingError(f"{owner}: {name} must be a tuple of four numbers, got {value!r}")
    return tuple(float(v) for v in value)


class BoundingBoxEncode(Primitive):
    """The transformation from anchors to boxes."""

    def __init__(
        self, means: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0), stds: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    ) -> None:
        owner = "BoundingBoxEncode"
        super().__init__(attrs={"stds": _four(owner, "stds", stds), "means": _four(owner, "means", means)})


class BoundingBoxDecode(Primitive):
    """The boxes that deltas lead to from anchors."""

    def __init__(
        self,
        max_shape: tuple[int, int],
        means: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
        stds: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
        wh_ratio_clip: float = 0.016,
    ) -> None:
        owner = "BoundingBoxDecode"
        if not isinstance(max_shape, tuple) or len(max_shape) != 2:
            raise SettingError(f"{owner}: max_shape must be a tuple of two ints, got {max_shape!r}")
        super().__init__(attrs={
            "wh_ratio_clip": float(wh_ratio_clip), "max_shape": max_shape, "stds": _four(owner, "stds", stds),
            "means": _four(owner, "means", means),
        })  # fmt: skip


class ROIAlign(Primitive):
    """Regions of a picture, sampled to one size."""

    def __init__(
        self,
        pooled_height: int,
        pooled_width: int,
        spatial_scale: float,
        sample_num: int = 2,
        roi_end_mode: int = 1,
    ) -> None:
        positive("ROIAlign", "pooled_height", pooled_height)
        positive("ROIAlign", "pooled_width", pooled_width)
        if roi_end_mode not in (0, 1):
            raise SettingError(f"ROIAlign: roi_end_mode must be 0 or 1, got {roi_end_mode!r}")
        super().__init__(attrs={
            "pooled_height": pooled_height, "sample_num": sample_num, "pooled_width": pooled_width,
            "roi_end_mode": roi_end_mode, "spatial_scale": float(spatial_scale),
        })  # fmt: skip


class AdaptiveAvgPool2D(Primitive):
    """Means of as many windows as ``output_size`` says; None keeps an axis."""

    def __init__(self, output_size: Any) -> None:
        given = (output_size, output_size) if isinstance(output_size, int) else output_size
        if not isinstance(given, tuple) or len(given) != 2:
            raise SettingTypeError(f"AdaptiveAvgPool2D: output_size must be an int or two of them, got {output_size!r}")
        self.output_size = tuple(-1 if n is None else positive("AdaptiveAvgPool2D", "output_size", n, 0) for n in given)
        super().__init__(attrs={"output_names": ["y"], "output_size": self.output_size, "input_names": ["x"]})


class _Blocks(Primitive):
    def __init__(self, block_size: int) -> None:
        if positive(type(self).__name__, "block_size", block_size) < 2:
            raise SettingError(f"{type(self).__name__}: block_size must be at least 2, got {block_size}")
        super().__init__(attrs={"input_names": ["x"], "block_size": block_size, "data_format": "NCHW",
                                "output_names": ["y"], "format": "NCHW"})  # fmt: skip


class DepthToSpace(_Blocks):
    """Blocks of channels as pixels."""


class SpaceToDepth(_Blocks):
    """Blocks of pixels as channels."""


class MaskedSelect(Primitive):
    """The elements where a mask holds."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_is_dynamic_shape": True})


class ResizeNearestNeighbor(Primitive):
    """(n, c, h, w) resized by the nearest element."""

    def __init__(self, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> None:
        if not isinstance(size, (tuple, list)) or len(size) != 2:
            raise SettingError(f"ResizeNearestNeighbor: size must be two ints, got {size!r}")
        sides = tuple(positive("ResizeNearestNeighbor", "size", n) for n in size)
        super().__init__(trailing=(sides, bool(align_corners), bool(half_pixel_centers)))


class _Resize(Primitive):
    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None:
        if align_corners and half_pixel_centers:
            raise SettingError(f"{type(self).__name__}: align_corners and half_pixel_centers exclude each other")
        super().__init__(trailing=(bool(align_corners), bool(half_pixel_centers)))

    def __call__(self, x: Any, size: Any) -> Any:
        sides = tuple(int(n) for n in (size.asnumpy() if isinstance(size, Tensor) else size))
        return super().__call__(x, sides)


class ResizeNearestNeighborV2(_Resize):
    """(n, c, h, w) resized by the nearest element; the size is an argument."""


class ResizeBilinearV2(_Resize):
    """(n, c, h, w) resized by interpolation; the size is an argument."""


class KLDivLoss(Primitive):
    """Kullback-Leibler divergence."""

    def __init__(self, reduction: str = "mean") -> None:
        if reduction not in ("none", "mean", "batchmean", "sum"):
            raise SettingError(f"KLDivLoss: reduction must be none, mean, batchmean or sum, got {reduction!r}")
        super().__init__(attrs={"reduction": reduction})


class LpNorm(Primitive):
    """The p-th root of the sum of p-th powers."""

    def __init__(self, axis: Any, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> None:
        axes = [axis] if isinstance(axis, int) else list(axis)
        super().__init__(attrs={
            "p": positive("LpNorm", "p", p), "keep_dims": bool(keep_dims), "input_names": ["input"], "axis": axes,
            "epsilon": float(epsilon), "output_names": ["output"],
        })  # fmt: skip


class LRN(Primitive):
    """Local response normalisation."""

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        if depth_radius < 0:
            raise SettingError(f"LRN: depth_radius must be at least 0, got {depth_radius}")
        if norm_region != "ACROSS_CHANNELS":
            raise SettingError(f"LRN: norm_region must be 'ACROSS_CHANNELS', got {norm_region!r}")
        for name, value in (("bias", bias), ("alpha", alpha), ("beta", beta)):
            if not isinstance(value, float):
                raise SettingTypeError(f"LRN: {name} must be a float, got {value!r}")
        super().__init__(attrs={
            "input_names": ["x"], "norm_region": norm_region, "output_names": ["y"], "beta": float(beta),
            "depth_radius": depth_radius, "bias": float(bias), "alpha": float(alpha),
        })  # fmt: skip


class MirrorPad(Primitive):
    """A tensor's own elements around it; the paddings are an argument."""

    def __init__(self, mode: str = "REFLECT") -> None:
        if mode not in ("REFLECT", "SYMMETRIC"):
            raise SettingError(f"MirrorPad: mode must be 'REFLECT' or 'SYMMETRIC', got {mode!r}")
        super().__init__(attrs={"output_names": ["y"], "mode": mode, "input_names": ["x", "paddings"]})


class ClipByNorm(Primitive):
    """A tensor made shorter where its norm is above a bound."""

    def __init__(self, axis: Any = None) -> None:
        over = () if axis is None else axis
        super().__init__(attrs={"output_names": ["output"], "input_names": ["x", "clip_norm"], "axis": over})


class EmbeddingLookup(Primitive):
    """Rows of a table, at indices less an offset."""

    def __init__(self) -> None:
        names = {"output_names": ["output"], "bprop_return_sparse": False,
                 "input_names": ["params", "indices", "offset"]}  # fmt: skip
        super().__init__(attrs=names)


class Gelu(Primitive):
    """GeLU under its older name."""

    op = "GeLU"

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["output"], "input_names": ["x"]})


class Meshgrid(Primitive):
    """Grids of coordinates of a tuple of vectors."""

    def __init__(self, indexing: str = "xy") -> None:
        if indexing not in ("xy", "ij"):
            raise SettingError(f"Meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
        self.indexing = indexing
        super().__init__()

    def __call__(self, inputs: Any) -> Any:
        from harness.framework.ops.functions.create import meshgrid

        return meshgrid(*inputs, indexing=self.indexing)


class ScalarCast(Primitive):
    """A number in another dtype: a constant."""

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, input_x: Any, input_y: Any) -> Any:
        return input_y.numpy.type(input_x).item()


class ScalarToTensor(Primitive):
    """A number as a 0-d constant."""

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, input_x: Any, dtype: Any = None) -> Any:
        return Tensor(input_x, dtype)


class TupleToArray(Primitive):
    """A tuple of numbers as a constant."""

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, input_x: Any) -> Any:
        from harness.framework.ops.primitives.composition import tuple_to_array

        return tuple_to_array(input_x)
