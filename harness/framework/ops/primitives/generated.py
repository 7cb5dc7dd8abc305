"""Primitives that MindSpore generates from its tables of operators, of operators whose kernels are here.

Each row is a class's settings and, behind the stroke, the arguments of its call, with what they are if they are not
given. Source: the constructors and calls that MindSpore 2.10.0 installs; what they compute is held by
``tests/data/programs/generated_primitives.txt``.
"""

from __future__ import annotations

import ast
import functools
import inspect
from typing import Any

from harness.errors import SettingTypeError
from harness.framework.ops.primitive import Primitive
from harness.framework.tensor import call

__all__: list[str] = []  # names below ``ops.auto_generate`` alone

_ROWS = """
ACosGrad: / x dout
AcoshGrad: / out dout
AddExt: / input other alpha=1
AddN: / x
AsinGrad: / x dout
AsinhGrad: / out dout
AtanGrad: / x dout
BatchNormGrad: is_training=False epsilon=1e-05 data_format='NCHW' / dout x scale saved_mean saved_variance reserve
BiasAddGrad: data_format='NCHW' / dout
BitwiseAndTensor: / input other
CdistGrad: p=2.0 / grad input_x input_y cdist
ClampScalar: / input min=None max=None
ClampTensor: / input min=None max=None
Diagonal: offset=0 dim1=0 dim2=1 / input
DivMod: / input other rounding_mode=None
Divs: / input other
EluGrad: / dout out
ExpandDimsView: / input dim
FFT2: / input s=None dim=(-2,-1) norm=None
FFT: / input n=None dim=-1 norm=None
FFTFreq: / n d=1.0 dtype=None
FFTN: / input s=None dim=None norm=None
FFTShift: / input dim=None
FastGeLUGrad: / dy x
GatherDGradV2: / x dim index dout
GeLUGrad: / dy x y
GroupNorm: / input num_groups weight=None bias=None eps=1e-05
HFFT2: / input s=None dim=(-2,-1) norm=None
HFFT: / input n=None dim=-1 norm=None
HFFTN: / input s=None dim=None norm=None
HShrinkGrad: lambd=0.5 / gradients features
HSigmoidGrad: / grads input_x
HSwishGrad: / y_grad x
IFFT2: / input s=None dim=(-2,-1) norm=None
IFFT: / input n=None dim=-1 norm=None
IFFTN: / input s=None dim=None norm=None
IFFTShift: / input dim=None
IHFFT2: / input s=None dim=(-2,-1) norm=None
IHFFT: / input n=None dim=-1 norm=None
IHFFTN: / input s=None dim=None norm=None
IRFFT2: / input s=None dim=(-2,-1) norm=None
IRFFT: / input n=None dim=-1 norm=None
IRFFTN: / input s=None dim=None norm=None
LayerNormGrad: begin_norm_axis=1 begin_params_axis=1 / x dy variance mean gamma
LogSoftmaxGrad: axis=-1 / logits grad
LogitGrad: eps=-1.0 / grad input
MaskedSelectGrad: / input mask grad
MatMulExt: / input other
Max: / input
MaxDim: / input dim keepdim=False
MaximumGrad: grad_x=True grad_y=True / x y grads
MeanExt: / input dim=None keepdim=False dtype=None
Min: / input
MinDim: / input dim keepdim=False
Muls: / input other
NLLLossGrad: reduction='mean' ignore_index=-100 / logits loss_grad labels weight total_weight
PReLUGrad: / dy x weight
PowTensorScalar: / input exponent
ProdExt: / input dim=None keepdim=False dtype=None
RFFT2: / input s=None dim=(-2,-1) norm=None
RFFT: / input n=None dim=-1 norm=None
RFFTFreq: / n d=1.0 dtype=None
RFFTN: / input s=None dim=None norm=None
ReLU6Grad: / y_backprop x
ReluGrad: / y_backprop x
ResizeBicubicGrad: align_corners=False half_pixel_centers=False / grads image
ResizeBilinearGrad: align_corners=False half_pixel_centers=False / grads image
ResizeLinear1DGrad: coordinate_transformation_mode='align_corners' / grads x
ResizeNearestNeighborGrad: align_corners=False half_pixel_centers=False / grads size
ResizeNearestNeighborV2Grad: align_corners=False half_pixel_centers=False / grads size
RsqrtGrad: / y_backprop x
Scatter: / input dim index src reduce='none'
ScatterValue: / input dim index src reduce='none'
SelectExtView: / input dim index
SiLU: / input
SiLUGrad: / dout x
SigmoidGrad: / y dy
SmoothL1LossGrad: beta=1.0 reduction='none' / prediction target dout
SoftShrinkGrad: lambd=0.5 / input_grad input_x
SoftplusExt: / input beta=1 threshold=20
SplitWithSize: / input split_size dim=0
SqrtGrad: / dy y
Sub: / input other
SubExt: / input other alpha=1
SumExt: / input dim=None keepdim=False dtype=None
Tan: / input
TanhGrad: / y dy
TraceV2: / input offset=0 axis1=1 axis2=0 dtype=None
TraceV2Grad: / dout shape offset=0 axis1=1 axis2=0
UpsampleNearest1D: / x output_size=None scales=None
UpsampleNearest1DGrad: / dy input_size output_size=None scales=None
UpsampleNearest2D: / x output_size=None scales=None
UpsampleNearest2DGrad: / dy input_size output_size=None scales=None
UpsampleNearest3DGrad: / dy input_size output_size=None scales=None
UpsampleTrilinear3DGrad: align_corners=False / dy input_size output_size=None scales=None
"""


def as_signature(words: str) -> inspect.Signature:
    """``a b=1`` as a signature."""
    parameters = []
    for word in words.split():
        name, given, default = word.partition("=")
        value = ast.literal_eval(default) if given else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return inspect.Signature(parameters)


def bound(owner: str, signature: inspect.Signature, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """The values of all parameters in a call, or ``SettingTypeError``."""
    try:
        found = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise SettingTypeError(f"{owner}: {error}") from None
    found.apply_defaults()
    return found.args


def _made(name: str, settings: inspect.Signature, arguments: inspect.Signature) -> type[Primitive]:
    def init(self: Primitive, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, trailing=bound(name, settings, args, kwargs))

    def called(self: Primitive, *args: Any, **kwargs: Any) -> Any:
        return call(name, *bound(name, arguments, args, kwargs), *self.trailing, **self.marks)

    own = {"__init__": init, "__call__": called, "__doc__": f"Primitive ``{name}``.", "__module__": __name__}
    return type(name, (Primitive,), own)


@functools.cache
def _classes() -> dict[str, type[Primitive]]:
    rows = (line.partition(":") for line in _ROWS.strip().splitlines())
    parts = ((name, *words.split("/")) for name, _, words in rows)
    return {name: _made(name, as_signature(settings), as_signature(arguments)) for name, settings, arguments in parts}


def find(name: str) -> type[Primitive] | None:
    """The class of this name; None if there is none."""
    return _classes().get(name)
