"""``mint.distributed`` outside of graphs: what a CPU has of it."""

import mindspore as ms
import numpy as np
from mindspore import Tensor
from mindspore.communication import get_group_size, get_rank, init
from mindspore.mint import distributed as dist
from said import said, tried

ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
tried("another backend", lambda: dist.init_process_group("mccl"))
init()
rank, size = get_rank(), get_group_size()


def mine():
    return Tensor(np.arange(4, dtype=np.float32).reshape(2, 2) + rank)


def empty(count):
    return [Tensor(np.zeros((2, 2), np.float32)) for _ in range(count)]


said("who", dist.get_rank(), dist.get_world_size(), dist.is_initialized(), dist.is_available())
for name, call in {
    "all_reduce": lambda x: dist.all_reduce(x),
    "broadcast": lambda x: dist.broadcast(x, 1),
}.items():
    x = mine()
    tried(name, lambda call=call, x=x: call(x))
    said(f"{name} gives", x)
tried("barrier", lambda: dist.barrier())
parts = empty(size)
tried("all_gather", lambda: dist.all_gather(parts, mine()))
said("all_gather gives", parts)
parts = empty(size)
tried("gather", lambda: dist.gather(mine(), parts, 0))
said("gather gives", parts)
part = empty(1)
tried("scatter", lambda: dist.scatter(part[0], [mine() * (at + 1) for at in range(size)], 1))
said("scatter gives", part)
things = [None] * size
tried("all_gather_object", lambda: dist.all_gather_object(things, {"rank": rank}))
print("said all_gather_object gives", things, flush=True)
