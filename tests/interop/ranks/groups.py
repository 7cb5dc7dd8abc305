"""Groups of two of four ranks: what they are asked, sums in them, and what is refused."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import (
    create_group,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_process_group_ranks,
    get_rank,
    get_world_rank_from_group_rank,
    init,
)
from said import said, tried

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()
tried("two names", lambda: create_group(f"pair{rank // 2}", [rank // 2 * 2, rank // 2 * 2 + 1]))
tried("again", lambda: create_group(f"pair{rank // 2}", [rank // 2 * 2, rank // 2 * 2 + 1]))
tried("every other", lambda: create_group(f"side{rank % 2}", [rank % 2, rank % 2 + 2]))
for group in (f"pair{rank // 2}", f"side{rank % 2}"):
    said(group, get_rank(group), get_group_size(group), get_process_group_ranks(group))
    said("local", get_local_rank(group), get_local_rank_size(group))
    said("among all", [get_world_rank_from_group_rank(group, at) for at in (0, 1)])
    said("in it", get_group_rank_from_world_rank(rank, group))
said("all", get_local_rank(), get_local_rank_size(), get_process_group_ranks())
for name, ranks in {"one": [rank], "none": [], "twice": [0, 0], "tuple": (0, 1)}.items():
    tried(name, lambda name=name, ranks=ranks: create_group(name, ranks))
tried("a number", lambda: create_group(5, [0, 1]))
tried("unknown", lambda: get_rank("nobody"))


class Net(nn.Cell):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.CellList(list(layers))

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Summed(nn.Cell):
    def __init__(self, group):
        super().__init__()
        self.op = ops.AllReduce(group=group)

    def construct(self, x):
        return ops.relu(self.op(x * 2) - 3)


x = Tensor((np.arange(6).reshape(2, 3) + rank).astype(np.float32))
said("sums", Net(Summed(f"pair{rank // 2}"), Summed(f"side{rank % 2}"))(x))
said("slope", ms.grad(Net(Summed(f"pair{rank // 2}"), Summed("hccl_world_group")))(x))
tried("gathered in a group", lambda: ops.AllGather(group=f"pair{rank // 2}")(x))
tried("shared in a group", lambda: ops.Broadcast(0, group=f"pair{rank // 2}")((x,)))
