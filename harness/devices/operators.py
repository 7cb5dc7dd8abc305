"""Classes of operators that devices treat alike: by the unit that computes them, or because they only move bits."""

from __future__ import annotations

#: matrix products; their first two arguments are the factors
MATMUL = frozenset({"MatMul", "BatchMatMul", "MatMulExt", "BatchMatMulExt", "Dense", "Linear"})

#: convolutions and their gradients; their first two arguments are the factors
CONVOLUTION = frozenset(
    {
        "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "DepthwiseConv2dNative", "Conv2DTranspose",
        "Conv3D", "Conv3DBackpropInput", "Conv3DBackpropFilter",
    }
)  # fmt: skip

#: arguments of a product that are factors (a bias, a shape are not)
FACTORS = (0, 1)

#: results that are bits of their arguments: overflow handling leaves them alone
MOVES = frozenset(
    {
        "Assign", "BroadcastTo", "Concat", "Depend", "Diag", "Embedding", "ExpandDims", "Flatten", "Gather",
        "GatherD", "GatherNd", "Identity", "Load", "MaskedFill", "MaskedFillScalar", "InplaceMaskedFillTensor",
        "InplaceScatterSrc", "Meshgrid", "Pad", "PadV3", "Reshape", "ReverseSequence", "ReverseV2", "Select", "Slice",
        "Split", "SplitWithSize", "Squeeze", "Stack", "StopGradient", "StridedSlice", "TensorCopySlices", "TensorMove",
        "TensorScatterElements", "TensorScatterUpdate", "Tile", "Transpose", "Tril", "Triu", "Unstack", "Print",
    }
)  # fmt: skip

#: collectives; their stream is that of their group
COMMUNICATION = frozenset(
    {
        "AllGather", "AllReduce", "AllSwap", "AlltoAll", "AlltoAllV", "Barrier", "Broadcast", "CollectiveGather",
        "CollectiveScatter", "NeighborExchange", "NeighborExchangeV2", "Reduce", "ReduceScatter",
    }
)  # fmt: skip

#: point to point, each with a stream of its own
TRANSFER = frozenset({"Send", "Receive"})
