# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.bias_add import BiasAdd as BiasAdd
from harness.framework.ops.primitives.classic import InTopK as InTopK
from harness.framework.ops.primitives.convolution import AvgPool as AvgPool
from harness.framework.ops.primitives.convolution import AvgPool3D as AvgPool3D
from harness.framework.ops.primitives.convolution import Conv2D as Conv2D
from harness.framework.ops.primitives.convolution import Conv2DBackpropInput as Conv2DBackpropInput
from harness.framework.ops.primitives.convolution import Conv2DTranspose as Conv2DTranspose
from harness.framework.ops.primitives.convolution import MaxPool as MaxPool
from harness.framework.ops.primitives.convolution import MaxPool3DWithArgmax as MaxPool3DWithArgmax
from harness.framework.ops.primitives.drawing import CTCGreedyDecoder as CTCGreedyDecoder
from harness.framework.ops.primitives.drawing import CTCLoss as CTCLoss
from harness.framework.ops.primitives.drawing import UpsampleNearest3D as UpsampleNearest3D
from harness.framework.ops.primitives.drawing import UpsampleTrilinear3D as UpsampleTrilinear3D
from harness.framework.ops.primitives.elementwise import CeLU as CeLU
from harness.framework.ops.primitives.elementwise import Elu as Elu
from harness.framework.ops.primitives.elementwise import HShrink as HShrink
from harness.framework.ops.primitives.elementwise import Mish as Mish
from harness.framework.ops.primitives.elementwise import SeLU as SeLU
from harness.framework.ops.primitives.elementwise import SoftShrink as SoftShrink
from harness.framework.ops.primitives.elementwise import Softplus as Softplus
from harness.framework.ops.primitives.elementwise import Softsign as Softsign
from harness.framework.ops.primitives.fractional import FractionalMaxPool3DWithFixedKsize as FractionalMaxPool3DWithFixedKsize
from harness.framework.ops.primitives.fractional import FractionalMaxPoolWithFixedKsize as FractionalMaxPoolWithFixedKsize
from harness.framework.ops.primitives.indexing import OneHot as OneHot
from harness.framework.ops.primitives.later import AdaptiveAvgPool3D as AdaptiveAvgPool3D
from harness.framework.ops.primitives.later import AdaptiveMaxPool2D as AdaptiveMaxPool2D
from harness.framework.ops.primitives.later import ChannelShuffle as ChannelShuffle
from harness.framework.ops.primitives.later import GridSampler2D as GridSampler2D
from harness.framework.ops.primitives.later import GridSampler3D as GridSampler3D
from harness.framework.ops.primitives.later import MaxUnpool2D as MaxUnpool2D
from harness.framework.ops.primitives.later import MaxUnpool3D as MaxUnpool3D
from harness.framework.ops.primitives.later import MultiMarginLoss as MultiMarginLoss
from harness.framework.ops.primitives.later import Pdist as Pdist
from harness.framework.ops.primitives.models import AdaptiveAvgPool2D as AdaptiveAvgPool2D
from harness.framework.ops.primitives.models import KLDivLoss as KLDivLoss
from harness.framework.ops.primitives.models import L2Loss as L2Loss
from harness.framework.ops.primitives.models import LRN as LRN
from harness.framework.ops.primitives.models import MirrorPad as MirrorPad
from harness.framework.ops.primitives.models import ROIAlign as ROIAlign
from harness.framework.ops.primitives.models import SigmoidCrossEntropyWithLogits as SigmoidCrossEntropyWithLogits
from harness.framework.ops.primitives.nn import BCEWithLogitsLoss as BCEWithLogitsLoss
from harness.framework.ops.primitives.nn import BatchNorm as BatchNorm
from harness.framework.ops.primitives.nn import BinaryCrossEntropy as BinaryCrossEntropy
from harness.framework.ops.primitives.nn import L2Normalize as L2Normalize
from harness.framework.ops.primitives.nn import LSTM as LSTM
from harness.framework.ops.primitives.nn import LayerNorm as LayerNorm
from harness.framework.ops.primitives.nn import LogSoftmax as LogSoftmax
from harness.framework.ops.primitives.nn import NLLLoss as NLLLoss
from harness.framework.ops.primitives.nn import SmoothL1Loss as SmoothL1Loss
from harness.framework.ops.primitives.nn import Softmax as Softmax
from harness.framework.ops.primitives.nn import SparseSoftmaxCrossEntropyWithLogits as SparseSoftmaxCrossEntropyWithLogits
from harness.framework.ops.primitives.optimizer import Adam as Adam
from harness.framework.ops.primitives.optimizer import AdamNoUpdateParam as AdamNoUpdateParam
from harness.framework.ops.primitives.optimizer import AdamWeightDecay as AdamWeightDecay
from harness.framework.ops.primitives.optimizer import ApplyAdaMax as ApplyAdaMax
from harness.framework.ops.primitives.optimizer import ApplyAdadelta as ApplyAdadelta
from harness.framework.ops.primitives.optimizer import ApplyAdagrad as ApplyAdagrad
from harness.framework.ops.primitives.optimizer import ApplyAdagradV2 as ApplyAdagradV2
from harness.framework.ops.primitives.optimizer import ApplyAdamWithAmsgradV2 as ApplyAdamWithAmsgradV2
from harness.framework.ops.primitives.optimizer import ApplyCenteredRMSProp as ApplyCenteredRMSProp
from harness.framework.ops.primitives.optimizer import ApplyFtrl as ApplyFtrl
from harness.framework.ops.primitives.optimizer import ApplyMomentum as ApplyMomentum
from harness.framework.ops.primitives.optimizer import ApplyProximalAdagrad as ApplyProximalAdagrad
from harness.framework.ops.primitives.optimizer import ApplyRMSProp as ApplyRMSProp
from harness.framework.ops.primitives.optimizer import SGD as SGD
from harness.framework.ops.primitives.random import Dropout as Dropout
from harness.framework.ops.primitives.shape import Pad as Pad
from harness.framework.ops.primitives.shape import PadV3 as PadV3
from harness.framework.ops.primitives.volumes import Conv3D as Conv3D
from harness.framework.ops.primitives.volumes import Conv3DTranspose as Conv3DTranspose
from harness.framework.ops.primitives.volumes import MaxPool3D as MaxPool3D
class Dense:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class FastGeLU:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class Flatten:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class GeLU:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class HSigmoid:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class HSwish:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class PReLU:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class ReLU6:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class ReLU:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class Sigmoid:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class SoftmaxCrossEntropyWithLogits:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class Tanh:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
