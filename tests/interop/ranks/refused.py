"""What a CPU has of each collective in PyNative mode, and what it refuses."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.communication import get_group_size, get_rank, init
from said import tried

ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()
x = Tensor(np.arange(4 * size, dtype=np.float32).reshape(size, 4) + rank)
for dtype in (ms.float32, ms.float16, ms.float64, ms.bfloat16, ms.int32, ms.int8, ms.bool_):
    tried(f"AllReduce {dtype}", lambda dtype=dtype: ops.AllReduce()(x.astype(dtype)))
for dtype in (ms.float32, ms.float16, ms.float64, ms.int32, ms.int64, ms.int8, ms.bool_):
    tried(f"AllGather {dtype}", lambda dtype=dtype: ops.AllGather()(x.astype(dtype)))
for op in ("max", "min", "prod"):
    tried(f"AllReduce {op}", lambda op=op: ops.AllReduce(op)(x))
tried("Broadcast", lambda: ops.Broadcast(size - 1)((x,))[0])
tried("ReduceScatter", lambda: ops.ReduceScatter()(x))
tried("Reduce", lambda: ops.Reduce(0)(x))
tried("CollectiveScatter", lambda: ops.CollectiveScatter(0)(x))
tried("CollectiveGather", lambda: ops.CollectiveGather(0)(x))
tried("AlltoAll", lambda: ops.AlltoAll(size, 0, 1)(x))
tried("Barrier", lambda: ops.Barrier()())
tried("AllReduce again", lambda: ops.AllReduce()(x))
