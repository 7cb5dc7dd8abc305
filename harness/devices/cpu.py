"""The CPU of MindSpore 2.10.0, as far as graphs and files show.

Everything here is measured, except constants: the documents promise them, MindSpore 2.10 writes none, and the harness
does (``docs/differences.md``).
"""

from __future__ import annotations

from harness.devices.capabilities import Capabilities, ignored, refused, warned
from harness.devices.device import Device, device
from harness.devices.kernels import Kernels
from harness.devices.memory import Memory
from harness.devices.numerics import Numerics
from harness.devices.storage import Storage
from harness.devices.streams import Streams

#: operators without a float16 CPU kernel: the graph holds ``Cast`` nodes around them and their result is float32
#: (measured, one graph per operator)
FLOAT16_AS_FLOAT32 = frozenset(
    {
        "Abs", "AffineGrid", "AsinhGrad", "AvgPool3DGrad", "AvgPoolGrad", "BatchMatMul", "BatchNorm", "BatchNormGrad",
        "BiasAdd", "BiasAddGrad", "Cdist", "CeLU", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Elu",
        "EluGrad", "Erfinv", "Exp", "FFTFreq", "Floor", "GatherDGradV2", "GeLU", "GeLUGrad", "Ger",
        "GridSampler2DGrad", "GridSampler3D", "GridSampler3DGrad", "HShrink", "HShrinkGrad", "HSigmoid",
        "HSigmoidGrad", "LayerNormGradGrad", "LogSoftmax", "LogSoftmaxGrad", "LpNorm", "MatMul", "MatrixBandPart",
        "MatrixDeterminant", "MatrixSolve", "MaxPool3DGrad", "MaxPoolGrad", "Minimum", "Mish", "Pow", "ReLU6",
        "ReLU6Grad", "RealDiv", "Reciprocal", "ReduceMax", "ReduceMean", "ReduceProd", "ReduceSum", "ReverseSequence",
        "ScatterNd", "SoftShrink", "SoftShrinkGrad", "Softplus", "SoftplusGrad", "Softsign",
        "SparseSoftmaxCrossEntropyWithLogits", "SqrtGrad", "Square", "StridedSlice", "StridedSliceGrad", "Tan", "Tanh",
        "TanhGrad",
    }
)  # fmt: skip

#: operators whose CPU kernel has no float64 either, and computes it in float32 (measured, one graph per operator)
FLOAT64_AS_FLOAT32 = frozenset(
    {
        "BatchNormGradGrad", "Digamma", "GridSampler2D", "LogSoftmax", "LogSoftmaxGrad", "LuSolve", "Mish", "Softplus",
        "SoftplusGrad", "Sort",
    }
)  # fmt: skip

#: (operator, argument) whose CPU kernel accepts only int32: int64 is cast (measured)
INT64_AS_INT32 = frozenset({("CumulativeLogsumexp", 1), ("Gather", 1), ("TopK", 1)})

CPU = device(
    Device(
        name="cpu",
        target="CPU",
        level="",
        capabilities=Capabilities(
            {
                "statistic": refused("saved_data statistic is for GPU and Ascend only"),
                "full": refused("saved_data full is for GPU and Ascend only"),
                "device_statistics": warned("stat_calc_mode device is for Ascend only; host is used"),
                "sample": ignored("tensors are written whole"),
                "overflow": ignored("nothing is checked; everything is dumped, inputs and outputs"),
                "exception": warned("op_debug_mode 4 is for Ascend only; parameters alone are written, each step"),
                "kernel_args": ignored("no json is written"),
                "set_dump": refused("dump_mode 2 is for Ascend only; 0 or 1"),
                "asynchronous": warned("without e2e_dump_settings the dump is synchronous all the same"),
                "trans_flag": ignored("a tensor on the CPU is in the host's order"),
                "support_device": ignored("every device dumps"),
                "useless_outputs": ignored("every output is written"),
            }
        ),
        kernels=Kernels(
            FLOAT16_AS_FLOAT32,
            INT64_AS_INT32,
            FLOAT64_AS_FLOAT32,
            frozenset({("Conv2DBackpropFilter", 2)}),
            frozenset({"MaskedFill"}),
        ),
        numerics=Numerics(),
        formats=Storage(),
        streams=Streams(),
        memory=Memory(),
        rules={
            "device": "CPU of MindSpore 2.10.0, measured",
            "products": "float32 and float64 factors as they are, one rounding of the result",
            "overflow": "INFNAN",
            "formats": "the host's order",
        },
    )
)
