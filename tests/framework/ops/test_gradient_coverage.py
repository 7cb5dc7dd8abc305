"""Every operator with a gradient has a case that a difference confirms, or a reason why it needs none."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes, float32, float64, grad, nn, ops
from harness.errors import UnsupportedError
from harness.framework.ops import OPERATORS, Backward, Operator, taken
from harness.framework.tensor import call
from tests.framework.ops import function_slopes, test_array_gradients, test_gradients
from tests.framework.ops.slopes import Case, first, random, second

pytestmark = pytest.mark.usefixtures("every_dtype")


@pytest.fixture(autouse=True)
def _any_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slopes are taken in float64, which not every operator takes from users."""
    monkeypatch.setattr(taken, "TAKEN", {})


LENGTHS = Tensor(np.array([2, 4, 1]), dtypes.int64)
GRID = test_array_gradients.GRID
ELEMENTWISE = {
    name: Case(function, tuple(test_gradients.values(3 + i, shape) for i, shape in enumerate([(2, 3, 2), (3, 1)][:n])))
    for name, (function, n) in test_gradients.CASES.items()
    if name not in ("maximum", "minimum")  # their inputs meet in one element, where there is no second slope
}
ARRAYS = {name: Case(function, random(shapes, 7)) for name, (function, shapes) in test_array_gradients.CASES.items()}


def _places(*shape: int) -> Tensor:
    """The numbers from 0 on."""
    return Tensor(np.arange(np.prod(shape)).reshape(shape))


def in_place(method: str, other: Any = None) -> Callable[..., Any]:
    """A function that changes ``3 * x`` in place by ``other`` (None: by its second argument)."""

    def function(x: Any, *more: Any) -> Any:
        changed = x * 3
        changed = getattr(changed, method)(more[0] if other is None else other)
        return changed * x

    return function


#: what those two leave out
MORE = {
    name: Case(function, random(shapes, 11))
    for name, (function, shapes) in {
        "maximum apart": (lambda x, y: ops.maximum(x, y) * ops.minimum(x, y), ((3, 4), (4,))),
        "plus a number": (lambda x: call("AddScalar", x, 2, 1), ((3, 4),)),
        "minus a number": (lambda x: call("SubScalar", x, 2, 1), ((3, 4),)),
        "power of a number": (lambda x: call("PowTensorScalar", x, 3), ((3, 4),)),
        "remainder by a number": (lambda x: x % 0.7013, ((3, 4),)),
        "truncate_mod": (lambda x, y: ops.TruncateMod()(3 * x, y), ((3, 4), (4,))),
        "primitive Mod": (lambda x, y: ops.Mod()(3 * abs(x), abs(y)), ((3, 4), (4,))),
        "relu": (ops.relu, ((3, 4),)),
        "selu": (lambda x: ops.selu(abs(x)), ((3, 4),)),
        "hardshrink": (lambda x: ops.hardshrink(x, 0.25), ((3, 4),)),
        "softshrink": (lambda x: ops.softshrink(x, 0.25), ((3, 4),)),
        "flatten": (lambda x: ops.Flatten()(x), ((3, 2, 2),)),
        "matmul": (lambda x, y: ops.MatMul(True, False)(x, y), ((4, 3), (4, 2))),
        "matmul transposed": (lambda x, y: ops.MatMul(False, True)(x, y), ((3, 4), (2, 4))),
        "Pad": (lambda x: ops.Pad(((1, 0), (0, 2)))(x), ((3, 4),)),
        "reverse_sequence": (lambda x: ops.ReverseSequence(1, 0)(x, LENGTHS), ((3, 4),)),
        "sort": (lambda x: ops.Sort()(x)[0], ((3, 4),)),
        "fill": (lambda x: call("FillV2", (2, 3), x) * 2, ((),)),
        "baddbmm": (lambda x, y, z: call("Baddbmm", x, y, z, 0.5, 2), ((3, 1), (2, 3, 2), (2, 2, 4))),
        "log_softmax of mint": (lambda x: call("LogSoftmaxExt", x, 1, None), ((3, 4),)),
        "pad of mint": (lambda x: call("ConstantPadND", x, (1, 2), 3), ((3, 4),)),
        "depend": (lambda x, y: ops.depend(x, y) * y, ((3, 4), (3, 4))),
        "identity": (lambda x: ops.Identity()(x) * 2, ((3, 4),)),
        "ConvertToDynamic": (lambda x: call("ConvertToDynamic", x) * 2, ((3, 4),)),
        "moved": (lambda x: call("TensorMove", x) * 2, ((3, 4),)),
        "likes": (lambda x: (call("OnesLike", x) + call("ZerosLike", x)) * x, ((3, 4),)),
        "likes of a dtype": (lambda x: (call("OnesLikeExt", x, None) + call("ZerosLikeExt", x, None)) * x, ((3, 4),)),
        "rows put": (lambda x, y: (x * 3).with_items((1, slice(0, 2)), y), ((3, 4), (2,))),
        "scatter update": (lambda x, y: ops.tensor_scatter_update(x, GRID[:2], y), ((3, 4), (2,))),
        "split with sizes": (lambda x: call("SplitWithSize", x, (1, 3), 1)[1] * 2, ((3, 4),)),
        "soft cross entropy with logits": (
            lambda x: ops.SoftmaxCrossEntropyWithLogits()(x, Tensor(np.full((3, 4), 0.25)))[0], ((3, 4),),
        ),
        **{f"{name} in place": (in_place(name), ((3, 4), (4,))) for name in (
            "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__",
        )},
        **{f"{name} by a number in place": (in_place(name, 0.7013), ((3, 4),)) for name in (
            "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__",
        )},
        "max_pool3d": (lambda x: ops.MaxPool3DWithArgmax((1, 2, 2), 1, 0)(x)[0], ((1, 2, 1, 3, 4),)),
    }.items()
}  # fmt: skip
ROIS = Tensor(np.array([[0, 0.0, 0.0, 6.0, 6.0], [0, 1.0, 2.0, 5.0, 7.0]]))
ROWS = Tensor(np.array([2, 0]), dtypes.int64)
SPOTS = Tensor(np.array([[0, 2], [1, 0], [3, 1]]), dtypes.int64)
MASK = Tensor(np.arange(12).reshape(3, 4) % 3 == 0)
#: operators of detection, segmentation and other models
MODELS = {
    f"{name} of models": Case(function, random(shapes, 13))
    for name, (function, shapes) in {
        "AllReduce": (lambda x: ops.AllReduce()(x) * x, ((3, 4),)),
        "AllGather": (lambda x: ops.AllGather()(x) * x, ((3, 4),)),
        "ReduceScatter": (lambda x: ops.ReduceScatter()(x) * x, ((3, 4),)),
        "ClipByNorm": (lambda x: ops.ClipByNorm()(x, Tensor(0.5, float64)), ((3, 4),)),
        "Conv3D": (lambda x, w: ops.Conv3D(3, 2, pad_mode="same")(x, w), ((1, 2, 3, 3, 4), (3, 2, 2, 2, 2))),
        "Conv3DTranspose": (lambda x, w: ops.Conv3DTranspose(2, 3, 2)(x, w), ((1, 2, 2, 2, 3), (2, 3, 2, 2, 2))),
        "DepthToSpace": (lambda x: ops.DepthToSpace(2)(x) * 3, ((1, 4, 2, 3),)),
        "SpaceToDepth": (lambda x: ops.SpaceToDepth(2)(x) * 3, ((1, 1, 4, 6),)),
        "DiagPart": (lambda x: ops.DiagPart()(x) * 3, ((3, 3),)),
        "EmbeddingLookup": (lambda x: call("EmbeddingLookup", x, ROWS, Tensor(0, dtypes.int64)) * 3, ((3, 4),)),
        "KLDivLoss": (lambda x: ops.KLDivLoss()(x, Tensor(np.full((3, 4), 0.25))), ((3, 4),)),
        "L2Loss": (lambda x: ops.L2Loss()(x), ((3, 4),)),
        "LRN": (lambda x: ops.LRN()(x), ((1, 4, 2, 2),)),
        "Lerp": (lambda x, y, w: ops.lerp(x, y, w), ((3, 4), (3, 4), (4,))),
        "Addcmul": (lambda x, y, z: ops.addcmul(x, y, z, 0.5), ((3, 4), (4,), (3, 1))),
        "Addcdiv": (lambda x, y, z: ops.addcdiv(x, y, ops.exp(z), 0.5), ((3, 4), (4,), (3, 1))),
        "SquaredDifference": (lambda x, y: ops.SquaredDifference()(x, y), ((3, 4), (4,))),
        "SubExt": (lambda x, y: x.subtract(y, alpha=3), ((3, 4), (4,))),
        "AddExt": (lambda x, y: x.add(y, alpha=3), ((3, 4), (4,))),
        "MeanExt": (lambda x: x.mean(dim=1) * 3, ((3, 4),)),
        "MaxDim": (lambda x: x.max(dim=1)[0], ((3, 4),)),
        "MinDim": (lambda x: x.min(dim=1, keepdim=True)[0], ((3, 4),)),
        "NanToNum": (lambda x: x.nan_to_num() * 3, ((3, 4),)),
        "SelectExtView": (lambda x: x.select(1, 2) * 3, ((3, 4),)),
        "ExpandDimsView": (lambda x: call("ExpandDimsView", x, 1) * 3, ((3, 4),)),
        "TransposeExtView": (lambda x: x.transpose(dim0=0, dim1=1) * 3, ((3, 4),)),
        "Diagonal": (lambda x: x.diagonal(1, 2, 1) * 3, ((2, 3, 4),)),
        "Trace": (lambda x: ops.trace(x) * 3, ((3, 4),)),
        "TraceV2": (lambda x: x.trace(1) * 3, ((3, 4),)),
        "Scatter": (lambda x, y: x.scatter(1, SPOTS, y) * 3, ((3, 4), (3, 2))),
        "ScatterValue": (lambda x: x.scatter(1, SPOTS, 2.0) * 3, ((3, 4),)),
        "IndexFill": (lambda x: x.index_fill(1, ROWS, 2.0) * 3, ((3, 4),)),
        "TensorScatterAdd": (lambda x, y: x.scatter_add(GRID[:2], y) * 3, ((3, 4), (2,))),
        "TensorScatterSub": (lambda x, y: ops.tensor_scatter_sub(x, GRID[:2], y) * 3, ((3, 4), (2,))),
        "FlattenExt": (lambda x: x.flatten(1, 2) * 3, ((2, 3, 2),)),
        "GatherNdExt": (lambda x: call("GatherNdExt", x, GRID) * 3, ((3, 4),)),
        "Median": (lambda x: x.median(1)[0] * 3, ((3, 5),)),
        "Hypot": (lambda x, y: ops.hypot(x, y), ((3, 4), (4,))),
        "LpNorm": (lambda x: ops.LpNorm(1)(x), ((3, 4),)),
        "LpNorm of 3": (lambda x: ops.LpNorm(1, 3)(x), ((3, 4),)),
        "MaskedSelect": (lambda x: ops.masked_select(x, MASK) * 3, ((3, 4),)),
        "MaxPool3D": (lambda x: ops.MaxPool3D(2, 2)(x), ((1, 2, 4, 4, 4),)),
        "AvgPool3D": (lambda x: nn.AvgPool3d(2, 1, "pad", 1, count_include_pad=False)(x), ((1, 1, 2, 3, 2),)),
        "AdaptiveAvgPool3D": (lambda x: ops.adaptive_avg_pool3d(x, (2, 1, 2)), ((1, 1, 3, 2, 3),)),
        "AdaptiveMaxPool2D": (lambda x: ops.adaptive_max_pool2d(x, (2, 3)), ((1, 2, 3, 4),)),
        "AdaptiveMaxPool3D": (lambda x: ops.adaptive_max_pool3d(x, (2, 1, 2)), ((1, 1, 3, 2, 3),)),
        "MaxUnpool2D": (lambda x: ops.max_unpool2d(x, _places(1, 1, 2, 2), 2), ((1, 1, 2, 2),)),
        "MaxUnpool3D": (lambda x: ops.max_unpool3d(x, _places(1, 1, 1, 2, 2), 2), ((1, 1, 1, 2, 2),)),
        "MultiMarginLoss": (lambda x: ops.multi_margin_loss(x, _places(3), 2, reduction="none"), ((3, 4),)),
        "MirrorPad": (lambda x: ops.MirrorPad()(x, Tensor(np.array([[1, 1], [2, 0]]))) * 3, ((3, 4),)),
        "nearest": (lambda x: ops.ResizeNearestNeighbor((4, 5))(x), ((1, 2, 3, 4),)),
        "nearest V2": (lambda x: ops.interpolate(x, (4, 5)), ((1, 2, 3, 4),)),
        "bilinear": (lambda x: ops.interpolate(x, (4, 5), mode="bilinear"), ((1, 2, 3, 4),)),
        "linear": (lambda x: ops.interpolate(x, 7, mode="linear", align_corners=True), ((1, 2, 4),)),
        "ROIAlign": (lambda x: ops.ROIAlign(2, 2, 0.5)(x, ROIS), ((1, 1, 4, 4),)),
        "SigmoidCrossEntropyWithLogits": (
            lambda x: ops.SigmoidCrossEntropyWithLogits()(x, Tensor(np.full((3, 4), 0.25))), ((3, 4),),
        ),
    }.items()
}  # fmt: skip
FUNCTIONS = {
    f"{name} of functions": Case(function, random(shapes, 17))
    for name, (function, shapes) in function_slopes.CASES.items()
}
CASES = {**MODELS, **ELEMENTWISE, **{f"{name} of arrays": case for name, case in ARRAYS.items()}, **MORE, **FUNCTIONS}
parts = (MODELS, ELEMENTWISE, ARRAYS, MORE, FUNCTIONS)
assert len(CASES) == sum(map(len, parts)), "a name stands for two cases"

_UPDATES = "it updates a parameter; no gradient flows back"
_STEPS = "its result is constant almost everywhere: every gradient is None"
_MADE = "its result depends on no tensor's values: every gradient is None"
_SEVERAL = "it needs several ranks: tests/framework/communication/test_ranks.py"
NO_CASE = {
    **dict.fromkeys(("AlltoAll", "Broadcast", "Reduce"), _SEVERAL),
    **dict.fromkeys(
        ("Adam", "AdamNoUpdateParam", "AdamWeightDecay", "ApplyAdamWithAmsgradV2", "ApplyMomentum", "SGD"), _UPDATES
    ),
    **dict.fromkeys(("ApplyAdagrad", "ApplyAdagradV2", "ApplyCenteredRMSProp", "ApplyRMSProp"), _UPDATES),
    **dict.fromkeys(("ApplyAdaMax", "ApplyAdadelta", "ApplyFtrl", "ApplyProximalAdagrad", "ApplyAdagradDA"), _UPDATES),
    **dict.fromkeys([f"Apply{kind}" for kind in ("PowerSign", "AddSign", "GradientDescent")], _UPDATES),
    "ApplyProximalGradientDescent": _UPDATES,
    **dict.fromkeys(("Assign", "AssignAdd", "AssignSub"), _UPDATES),
    **dict.fromkeys(("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"), _STEPS),
    **dict.fromkeys(("EqScalar", "GreaterEqualScalar", "LessScalar"), _STEPS),
    **dict.fromkeys(("LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "ReduceAll", "ReduceAny"), _STEPS),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor", "IsFinite", "IsInf", "IsNan", "NonZero"), _STEPS),
    **dict.fromkeys(("NonZeroExt", "OneHotExt"), _STEPS),
    **dict.fromkeys(("Argmax", "ArgMaxExt", "Argmin", "Ceil", "Floor", "FloorDiv", "Round", "Sign", "Trunc"), _STEPS),
    **dict.fromkeys(("InTopK", "SearchSorted"), _STEPS),
    **dict.fromkeys(("TruncateDiv", "OneHot", "RemainderScalarTensor", "DivMod"), _STEPS),
    **dict.fromkeys(("FillScalar", "LinSpace", "StandardNormal", "UniformReal", "Zeros", "Ones", "Print"), _MADE),
    **dict.fromkeys(
        (
            f"Scatter{how}"
            for how in (
                "Add",
                "Div",
                "Max",
                "Min",
                "Mul",
                "NdAdd",
                "NdDiv",
                "NdMax",
                "NdMin",
                "NdMul",
                "NdSub",
                "NdUpdate",
                "Sub",
                "Update",
            )
        ),
        _UPDATES,
    ),
    "IndexAdd": _UPDATES,
    **dict.fromkeys(
        (base + end for base in ("HFFT", "IHFFT", "RFFT", "IRFFT") for end in ("", "2", "N")),
        "refused but over one axis: recorded in gradients_of_half_transforms.told, RFFT and IRFFT among the cases",
    ),
    **dict.fromkeys(("InplaceAdd", "InplaceSub", "InplaceUpdateV2"), "none flows through, as in MindSpore"),
    "InplaceCopy": "it changes its tensor; its gradient is recorded in function_values.json",
    "CropAndResize": "its results are Float32; test_crops.py",
    "FractionalMaxPoolWithFixedKsize": "refused: MindSpore's CPU refuses its gradient, too",
    "CTCLoss": "its gradient is its second result; recorded in later_values.json",
    "CTCLossV2": "its slope is that of scores whose powers of e sum to 1; test_drawing.py",
    "Depend": "the compiler itself hands its gradient on",
    "StopGradient": "stopping the gradient is what it is for",
    "Embedding": "refused: MindSpore has no CPU kernel for its gradient",
    **dict.fromkeys(("Angle", "Complex", "ComplexAbs", "Conj", "Imag", "Real"), "complex numbers; test_complex.py"),
    "Cast": "a difference does not see the dtypes; test_cast",
    "Dropout": "random; test_dropout",
    "DropoutGrad": "random; test_dropout",
    **dict.fromkeys(("Dropout2D", "Dropout3D"), "random; test_dropped_channels"),
}
#: the gradient of these gradients is missing in the named operator
NO_SECOND = {
    "prelu": "PReLUGrad", "relu6": "ReLU6Grad", "gelu_tanh": "GeLUGrad", "elu": "EluGrad",
    "max": "InplaceMaskedFillTensor", "min": "InplaceMaskedFillTensor", "max_axis": "InplaceScatterSrc",
    "min_axis": "InplaceScatterSrc", "fast_gelu": "FastGeLUGrad", "hardswish": "HSwishGrad",
    "hardsigmoid": "HSigmoidGrad", "l2_normalize of arrays": "L2NormalizeGrad",
    "max_pool_with_argmax of arrays": "MaxPoolGradWithArgmax", "cdist of arrays": "CdistGrad",
    "cdist of stacks of arrays": "CdistGrad", "Pdist of functions": "PdistGrad",
    "MaxPool3DWithArgmax of functions": "MaxPool3DGradWithArgmax",
    "GridSampler2D of functions": "GridSampler2DGrad", "GridSampler3D of functions": "GridSampler3DGrad",
    "GridSampler2D, reflected of functions": "GridSampler2DGrad",
    "max_pool of arrays": "MaxPoolGrad", "max_pool2d of arrays": "MaxPoolGradWithArgmaxV2",
    "group_norm of arrays": "GroupNormGrad",
    "sparse cross entropy of arrays": "SparseSoftmaxCrossEntropyWithLogits", "nll_loss of arrays": "NLLLossGrad",
    "bce of arrays": "BinaryCrossEntropyGrad",
    "bce with logits of arrays": "SoftplusExt", "smooth l1 of arrays": "SmoothL1LossGrad", "lstm of arrays": "LSTMGrad",
    "selu": "EluGrad", "hardshrink": "HShrinkGrad", "softshrink": "SoftShrinkGrad",
    "max_pool3d": "MaxPool3DGradWithArgmax",
    "ClipByNorm of models": "MaximumGrad", "Conv3D of models": "Conv3DBackpropFilter",
    "Conv3DTranspose of models": "Conv3DBackpropFilter", "KLDivLoss of models": "KLDivLossGrad",
    "LRN of models": "LRNGrad", "MaskedSelect of models": "MaskedSelectGrad", "MaxPool3D of models": "MaxPool3DGrad",
    "AdaptiveMaxPool2D of models": "AdaptiveMaxPool2DGrad", "AdaptiveMaxPool3D of models": "AdaptiveMaxPool3DGrad",
    "MaxUnpool2D of models": "MaxUnpool2DGrad", "MaxUnpool3D of models": "MaxUnpool3DGrad",
    "MultiMarginLoss of models": "MultiMarginLossGrad",
    "bilinear of models": "ResizeBilinearGrad",
    "linear of models": "ResizeLinear1DGrad", "MaxDim of models": "InplaceScatterSrc",
    "MinDim of models": "InplaceScatterSrc", "Median of models": "MedianGrad",
    "SigmoidCrossEntropyWithLogits of models": "SigmoidCrossEntropyWithLogitsGrad",
    "Igamma of functions": "IgammaGradA", "Igammac of functions": "IgammaGradA", "Inv of functions": "InvGrad",
    "Logit of functions": "LogitGrad", "Logit within of functions": "LogitGrad",
    "Mvlgamma of functions": "MvlgammaGrad", "ResizeBicubic of functions": "ResizeBicubicGrad",
    "FractionalMaxPool3D of functions": "FractionalMaxPool3DGradWithFixedKsize",
}  # fmt: skip

#: mistakes of MindSpore 2.10.0 that are kept, and what it was seen to give (float32)
MISTAKES: dict[str, tuple[Callable[..., Any], tuple[list[float], ...], list[float]]] = {
    "the second argument of Mod, whose remainder has the sign of x, is as for floor": (
        lambda x, y: grad(ops.Mod(), 1)(x, y), ([-2.5, -0.7, 0.3, 2.6], [0.9, -0.8, 1.1, -0.7]), [3, -0.0, -0.0, 4],
    ),
    "SeLU below 0 is taken for ELU": (
        grad(ops.selu), ([-2.5, -0.7, 0.3, 2.6],),
        [-0.6449053287506104, 0.12077488750219345, 1.0507010221481323, 1.0507010221481323],
    ),
    "SoftmaxCrossEntropyWithLogits has no second order": (
        lambda x: grad(lambda x: (grad(_cross_entropy)(x) * Tensor(np.arange(4, dtype=np.float32))).sum())(x),
        ([-2.5, -0.7, 0.3, 2.6],), [0, 0, 0, 0],
    ),
}  # fmt: skip


def _cross_entropy(x: Any) -> Any:
    return ops.SoftmaxCrossEntropyWithLogits()(x.reshape((1, 4)), Tensor(np.full((1, 4), 0.25, np.float32)))[0]


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_kept(name: str) -> None:
    function, inputs, expected = MISTAKES[name]
    got = function(*(Tensor(np.array(x, np.float32)) for x in inputs))
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-6)


#: the slopes that were taken since ``rules`` watches; the other process of two takes the others
TAKEN: set[tuple[Callable[..., tuple[float, float]], str]] = set()


@pytest.fixture(scope="module")
def rules() -> Iterator[set[str]]:
    """Names of the operators whose gradient rule was asked for so far by tests of this module."""
    TAKEN.clear()
    asked: set[str] = set()

    def watched(name: str, rule: Any) -> Any:
        def gradient(b: Backward) -> Any:
            asked.add(name)
            return rule(b)

        return gradient

    with pytest.MonkeyPatch.context() as patch:
        for name in OPERATORS:
            patch.setattr(OPERATORS.get(name), "gradient", watched(name, OPERATORS.get(name).gradient))
        yield asked


def confirm(got: float, expected: float) -> None:
    assert got == pytest.approx(expected, rel=2e-5, abs=2e-6)


#: mistakes of MindSpore's: in test_mistakes_are_kept, and the gradient of an adjoint inverse, which is that of a plain
#: one (recorded: ``MatrixInverse(True)`` in function_values.json)
MISTAKEN = frozenset(
    {"soft cross entropy with logits", "LogMatrixDeterminant of functions", "MatrixDeterminant of functions"}
)


def _layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
    mean = ops.ReduceMean(keep_dims=True)
    centred = x - mean(x, -1)
    return centred / ops.sqrt(mean(centred * centred, -1)) * gamma + beta


#: in place of operators whose results are Float32 (here mean and variance), where a difference of the gradient shows
#: nothing but rounding: the same of operators that keep float64, whose own second order is compared with a difference
PLAIN: dict[str, Callable[..., Any]] = {"layer_norm of arrays": _layer_norm}


def slopes(order: Callable[..., tuple[float, float]], name: str) -> tuple[float, float]:
    """A case's slope, and what a difference gives; ``order`` is ``first`` or ``second``."""
    TAKEN.add((order, name))
    case = CASES[name]
    shapes = tuple(a.shape for a in case.inputs)
    return order(case, *(random(shapes, seed) for seed in ((3,) if order is first else (3, 5))))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_first_order(name: str, rules: set[str]) -> None:
    confirm(*slopes(first, name))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [name for name in CASES if name not in MISTAKEN])
def test_second_order(name: str, rules: set[str]) -> None:
    if name in NO_SECOND:
        with pytest.raises(UnsupportedError, match=rf"\b{NO_SECOND[name]}\b"):
            slopes(second, name)
    elif name in PLAIN:
        case = CASES[name]
        directions = [random(tuple(a.shape for a in case.inputs), seed) for seed in (3, 5)]
        plain, expected = second(Case(PLAIN[name], case.inputs), *directions)
        confirm(plain, expected)
        confirm(slopes(second, name)[0], plain)
    else:
        confirm(*slopes(second, name))


def test_every_rule_has_a_case(rules: set[str]) -> None:
    for order, name in sorted(set(itertools.product((first, second), CASES)) - TAKEN, key=lambda each: each[1]):
        if order is not second or name not in MISTAKEN:
            with contextlib.suppress(UnsupportedError):
                slopes(order, name)
    with_rule = {name for name in OPERATORS if type(OPERATORS.get(name)).gradient is not Operator.gradient}
    assert sorted(with_rule - rules - set(NO_CASE)) == []
    assert sorted(set(NO_CASE) - with_rule) == [], "reasons for operators that have no rule"


def test_cast() -> None:
    x = Tensor(np.array([1.0, 2.5, -3.25]), float64)
    slope = grad(lambda x: ops.cast(x, float32) * 3)(x)
    assert slope.dtype is float64
    assert slope.asnumpy().tolist() == [3.0, 3.0, 3.0]


def test_dropout() -> None:
    x = Tensor(np.arange(1.0, 101.0), float64)

    def dropped(x: Any) -> tuple[Any, Any]:
        out = call("Dropout", x, 0.75, 1, 2)[0]
        return ops.sum(out * x), out

    slope, (out,) = grad(dropped, has_aux=True)(x)
    kept = out.asnumpy() != 0
    assert 0 < kept.sum() < 100
    np.testing.assert_allclose(slope.asnumpy(), 2 * x.asnumpy() * kept / 0.75)
