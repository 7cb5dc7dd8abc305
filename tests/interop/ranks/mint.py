"""``mint.distributed.all_reduce`` in every reduction and dtype, in groups; what ``new_group`` gives and refuses."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.communication import create_group, get_group_size, get_rank, init
from mindspore.mint import distributed as dist
from said import said, tried

ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()
draw = np.random.default_rng(40 + rank)
whole, real = draw.integers(-100, 101, (3, 5)), draw.integers(-4, 5, (3, 5)) / 2
everyone, pair = list(range(size)), [rank // 2 * 2, rank // 2 * 2 + 1]


def reduced(op, dtype, group=None):
    y = Tensor(whole if "Int" in str(dtype) else real).astype(dtype)
    dist.all_reduce(y, op, group)
    return y.astype(ms.float32) if "Float" in str(dtype) else y


for dtype in (ms.float32, ms.float16, ms.float64, ms.bfloat16, ms.int64, ms.int32, ms.int8, ms.uint8, ms.bool_):
    for op in ("sum", "max", "min", "prod", "avg"):
        tried(f"{op} {dtype}", lambda op=op, dtype=dtype: reduced(op, dtype))
    tried(f"avg {dtype} of two", lambda dtype=dtype: reduced("avg", dtype, dist.new_group(pair)))
tried("backend", dist.get_backend)
x = Tensor(np.float32(rank + 1.0))
handle = dist.all_reduce(x, async_op=True)
said("later", type(handle).__name__, handle.wait(), x)
first = dist.new_group([0])
said("of one", first, dist.get_rank(first or None))
for name, ranks in {"all": None, "reversed": everyone[::-1], "twice": [0, 0], "far": [0, 99], "tuple": (0, 1)}.items():
    tried(name, lambda ranks=ranks: dist.new_group(ranks))
tried("nccl", lambda: dist.new_group(everyone, backend="nccl"))
for wrong in ("mean", 3, None):
    tried(f"op {wrong}", lambda wrong=wrong: dist.all_reduce(Tensor([1.0]), wrong))
tried("an array", lambda: dist.all_reduce(np.ones(2)))
tried("async a number", lambda: dist.all_reduce(Tensor([1.0]), "sum", None, 1))
if rank == 0:
    create_group("alone", [0])
    tried("sum alone", lambda: ops.AllReduce(group="alone")(x))
    tried("gathered alone", lambda: ops.AllGather(group="alone")(x.reshape(1)))
    tried("shared alone", lambda: ops.Broadcast(0, group="alone")((x,)))
