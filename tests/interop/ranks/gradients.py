"""Gradients of collectives, in a graph and in PyNative mode, and which of them a CPU refuses."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.communication import get_group_size, get_rank, init
from said import tried

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()


def drawn(seed, *shape):
    return Tensor((np.random.default_rng(10 * seed + rank).integers(-8, 9, shape) / 4).astype(np.float32))


x, weight, wide = drawn(1, size, 3), drawn(2, size, 3), drawn(3, size * size, 3)


def all_reduce(x):
    return (ops.AllReduce()(x * x) * weight).sum()


def of_half(x):
    return (ops.AllReduce()(ops.cast(x, ms.float16)) * ops.cast(weight, ms.float16)).sum()


def twice(x):
    return (ops.AllReduce()(ops.AllReduce()(x) * weight) * x).sum()


def largest(x):
    return (ops.AllReduce("max")(x) * weight).sum()


def all_gather(x):
    return (ops.AllGather()(x * x) * wide).sum()


def broadcast(x):
    return (ops.Broadcast(1)((x * x,))[0] * weight).sum()


def reduce_scatter(x):
    return (ops.ReduceScatter()(x * x) * weight[:1]).sum()


def all_to_all(x):
    return (ops.AlltoAll(split_count=size, split_dim=0, concat_dim=1)(x) * 2).sum()


for call in (all_reduce, of_half, twice, all_gather, broadcast, largest, reduce_scatter, all_to_all):
    name = call.__name__
    tried(name, lambda call=call: ms.jit(ms.value_and_grad(call))(x))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    tried(f"{name}, PyNative", lambda call=call: ms.value_and_grad(call)(x))
    ms.set_context(mode=ms.GRAPH_MODE)
