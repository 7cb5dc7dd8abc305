"""The CPU of MindSpore 2.10.0, as far as graphs show it."""

#: operators whose CPU kernel has no float16: the graph holds ``Cast`` nodes around them and their result is float32
#: (measured, one graph per operator)
FLOAT16_AS_FLOAT32 = frozenset(
    {
        "AvgPoolGrad", "BatchMatMul", "BatchNorm", "BatchNormGrad", "BiasAdd", "BiasAddGrad", "Conv2D",
        "Conv2DBackpropFilter", "Conv2DBackpropInput", "Exp", "GatherDGradV2", "GeLU", "GeLUGrad", "LogSoftmax",
        "LogSoftmaxGrad", "MatMul", "MaxPoolGrad", "Pow", "ReLU6Grad", "RealDiv", "Reciprocal", "ReduceMean",
        "ReduceProd", "ReduceSum", "ScatterNd", "SoftplusGrad", "SparseSoftmaxCrossEntropyWithLogits", "SqrtGrad",
        "StridedSliceGrad", "Tanh", "TanhGrad",
    }
)  # fmt: skip

#: (operator, argument) whose CPU kernel takes int32 only: int64 is cast (measured)
INT64_AS_INT32 = frozenset({("Gather", 1), ("TopK", 1)})
