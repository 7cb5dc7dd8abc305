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
CdistGrad: p=2.0 / grad input_x input_y cdist
Diagonal: offset=0 dim1=0 dim2=1 / input
DivMod: / input other rounding_mode=None
Divs: / input other
EluGrad: / dout out
ExpandDimsView: / input dim
FFT: / input n=None dim=-1 norm=None
FFT2: / input s=None dim=(-2,-1) norm=None
FFTFreq: / n d=1.0 dtype=None
FFTN: / input s=None dim=None norm=None
FFTShift: / input dim=None
FastGeLUGrad: / dy x
GatherDGradV2: / x dim index dout
GeLUGrad: / dy x y
HFFT: / input n=None dim=-1 norm=None
HShrinkGrad: lambd=0.5 / gradients features
HSigmoidGrad: / grads input_x
HSwishGrad: / y_grad x
IFFT: / input n=None dim=-1 norm=None
IFFTShift: / input dim=None
IHFFT: / input n=None dim=-1 norm=None
IRFFT: / input n=None dim=-1 norm=None
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
ProdExt: / input dim=None keepdim=False dtype=None
RFFT: / input n=None dim=-1 norm=None
RFFTFreq: / n d=1.0 dtype=None
ReLU6Grad: / y_backprop x
ReluGrad: / y_backprop x
ResizeBilinearGrad: align_corners=False half_pixel_centers=False / grads image
ResizeNearestNeighborGrad: align_corners=False half_pixel_centers=False / grads size
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
UpsampleNearest2D: / x output_size=None scales=None
UpsampleNearest2DGrad: / dy input_size output_size=None scales=None
"""


def _signature(words: str) -> inspect.Signature:
    parameters = []
    for word in words.split():
        name, given, default = word.partition("=")
        value = ast.literal_eval(default) if given else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return inspect.Signature(parameters)


def _bound(owner: str, signature: inspect.Signature, args: Any, kwargs: Any) -> tuple[Any, ...]:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise SettingTypeError(f"{owner}: {error}") from None
    bound.apply_defaults()
    return bound.args


def _made(name: str, settings: inspect.Signature, arguments: inspect.Signature) -> type[Primitive]:
    def init(self: Primitive, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, trailing=_bound(name, settings, args, kwargs))

    def called(self: Primitive, *args: Any, **kwargs: Any) -> Any:
        return call(name, *_bound(name, arguments, args, kwargs), *self.trailing, **self.marks)

    own = {"__init__": init, "__call__": called, "__doc__": f"Primitive ``{name}``.", "__module__": __name__}
    return type(name, (Primitive,), own)


@functools.cache
def _classes() -> dict[str, type[Primitive]]:
    rows = (line.partition(":") for line in _ROWS.strip().splitlines())
    parts = ((name, *words.split("/")) for name, _, words in rows)
    return {name: _made(name, _signature(settings), _signature(arguments)) for name, settings, arguments in parts}


def find(name: str) -> type[Primitive] | None:
    """The class of this name; None if there is none."""
    return _classes().get(name)
