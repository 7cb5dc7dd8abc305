"""The registry of PyTorch's kernels, by MindSpore's operator names.

A kernel computes with PyTorch what the operator's numpy kernel computes. It takes tensors, numbers and tuples as the
numpy kernel does. Its result may have any dtype and is cast to the one the graph shows. Operators that update in place
write into the tensors they are given.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.registry import Registry, instance_of

Function = TypeVar("Function", bound=Callable[..., Any])


class NoKernel(Exception):
    """PyTorch has no kernel that means the same for these arguments: the harness's own computes this call.

    Args:
        what: the missing thing, in a word or two (``UInt64``).
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass(frozen=True, slots=True)
class Kernel:
    """How PyTorch computes an operator.

    Attributes:
        function: ``function(call, *arguments)`` gives a tensor or a tuple of tensors.
        wide: float16 and bfloat16 are computed in Float32 and rounded once, because the kernel has several steps or
            PyTorch has no kernel in them.
        moves: it only moves bits: unsigned integers come as signed ones of the same bits.
        wraps: it treats the bits of signed integers like those of unsigned ones, so UInt64 comes as Int64.
    """

    function: Callable[..., Any]
    wide: bool = False
    moves: bool = False
    wraps: bool = False


def _populate() -> None:
    package = importlib.import_module("harness.framework.engines.torch.kernels")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


#: packages outside add kernels of their own operators through the entry-point group ``harness.framework.engines.torch``
KERNELS: Registry[Kernel] = Registry(
    "PyTorch kernel", "harness.framework.engines.torch", _populate, instance_of(Kernel)
)

_COLLECTIVES = (
    "AllGather", "AllReduce", "AlltoAll", "Barrier", "Broadcast", "CollectiveGather", "CollectiveScatter", "Receive",
    "Reduce", "ReduceScatter", "Send",
)  # fmt: skip
_NOT_WRITTEN = """
    AdamNoUpdateParam AdaptiveAvgPool3D AdaptiveAvgPool3DGrad AdaptiveMaxPool2D AdaptiveMaxPool2DGrad
    AdaptiveMaxPool3D AdaptiveMaxPool3DGrad AffineGrid AffineGridGrad ApplyAdagradDA ApplyAdamWithAmsgradV2
    ApplyAddSign ApplyGradientDescent ApplyPowerSign ApplyProximalGradientDescent ApproximateEqual BartlettWindow
    BatchNormGradGrad BatchToSpaceND BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e
    BesselK1 BesselK1e BesselY0 BesselY1 Bincount BitwiseAndTensor BlackmanWindow BoundingBoxDecode BoundingBoxEncode
    CTCGreedyDecoder CTCLoss CTCLossV2 CTCLossV2Grad Cdist CdistGrad ChannelShuffle CheckValid Cholesky
    CholeskyInverse CholeskySolve ClipByNorm Col2Im Conv3D Conv3DBackpropFilter Conv3DBackpropInput Conv3DTranspose
    CropAndResize CropAndResizeGradImage Cross Cummax Cummin CumulativeLogsumexp DepthToSpace DiagPart Diagonal
    Digamma DivNoNan Dropout2D Dropout3D Eigh EmbeddingLookup Eps Erfinv ExpandDimsView FFT FFT2 FFTFreq FFTN FFTShift
    FillDiagonal FloatStatus Fmax FractionalMaxPool3DGradWithFixedKsize FractionalMaxPool3DWithFixedKsize
    FractionalMaxPoolWithFixedKsize Gcd Geqrf Ger GridSampler2D GridSampler2DGrad GridSampler3D GridSampler3DGrad HFFT
    HFFT2 HFFTN HSVToRGB HammingWindow Heaviside Histogram IFFT IFFT2 IFFTN IFFTShift IHFFT IHFFT2 IHFFTN IOU IRFFT
    IRFFT2 IRFFTN Igamma IgammaGradA Igammac Im2Col InTopK IndexAdd IndexFill InplaceAdd InplaceCopy InplaceSub
    InplaceUpdateV2 Inv InvGrad Invert IsClose KLDivLoss KLDivLossGrad L2Loss LRN LRNGrad LayerNormGradGrad Lcm
    LeftShift Lgamma ListDiff LogMatrixDeterminant LogSpace Logit LogitGrad LpNorm Lstsq LuSolve LuUnpack MaskedSelect
    MaskedSelectGrad MatrixBandPart MatrixDeterminant MatrixDiagPartV3 MatrixDiagV3 MatrixInverse MatrixPower
    MatrixSetDiagV3 MatrixSolve MaxDim MaxPool3D MaxPool3DGrad MaxPoolGradWithArgmax MaxPoolWithArgmax MaxUnpool2D
    MaxUnpool2DGrad MaxUnpool3D MaxUnpool3DGrad MaximumGrad Median MedianGrad MinDim MirrorPad MirrorPadGrad MulNoNan
    MultiMarginLoss MultiMarginLossGrad Mvlgamma MvlgammaGrad NMSWithMask NanToNum NextAfter Orgqr Padding Pdist
    PdistGrad Polygamma PopulationCount Qr RFFT RFFT2 RFFTFreq RFFTN RGBToHSV ROIAlign ROIAlignGrad
    RandomChoiceWithMask Renorm ResizeBicubic ResizeBicubicGrad ResizeBilinearGrad ResizeBilinearV2 ResizeLinear1D
    ResizeLinear1DGrad ResizeNearestNeighbor ResizeNearestNeighborGrad ResizeNearestNeighborV2
    ResizeNearestNeighborV2Grad RightShift Rint STFT Scatter ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul
    ScatterNdAdd ScatterNdDiv ScatterNdMax ScatterNdMin ScatterNdMul ScatterNdSub ScatterNdUpdate ScatterSub
    ScatterUpdate ScatterValue SearchSorted SegmentMax SegmentMin SegmentSum SelectExtView
    SigmoidCrossEntropyWithLogits SigmoidCrossEntropyWithLogitsGrad Sinc SpaceToBatchND SpaceToDepth SquareSumAll Svd
    TensorScatterAdd TensorScatterDiv TensorScatterMax TensorScatterMin TensorScatterMul TensorScatterSub Trace
    TraceGrad TraceV2 TraceV2Grad TransposeExtView TrilIndices TriuIndices Unique UniqueConsecutive UnsortedSegmentMax
    UnsortedSegmentMin UnsortedSegmentProd UpsampleNearest1D UpsampleNearest1DGrad UpsampleNearest2D
    UpsampleNearest2DGrad UpsampleNearest3D UpsampleNearest3DGrad UpsampleTrilinear3D UpsampleTrilinear3DGrad Xdivy
    Xlogy Zeta
"""

#: operators whose numpy kernel is the only one, and why; a capture names those that ran
NUMPY = {
    **dict.fromkeys(_NOT_WRITTEN.split(), "no kernel of PyTorch's is written for it; the harness's own computes it"),
    **dict.fromkeys(_COLLECTIVES, "it exchanges tensors with other ranks"),
    "Print": "it writes text",
    "RealMakeTuple": "it puts numbers of the graph together, and computes nothing",
    **dict.fromkeys(
        (
            "Bernoulli",
            "LogUniformCandidateSampler",
            "Multinomial",
            "RandomCategorical",
            "RandomGamma",
            "RandomPoisson",
            "RandomShuffle",
            "RandpermV2",
            "StandardLaplace",
            "StandardNormal",
            "UniformCandidateSampler",
            "UniformInt",
            "UniformReal",
        ),
        "the harness's own stream of random numbers, so that engines can be compared",
    ),
}


def kernel(*names: str, wide: bool = False, moves: bool = False, wraps: bool = False) -> Callable[[Function], Function]:
    """Registers a function as the kernel of the operators called ``names``; see ``Kernel``."""

    def register(function: Function) -> Function:
        for name in names:
            KERNELS.register(name, Kernel(function, wide, moves, wraps))
        return function

    return register
