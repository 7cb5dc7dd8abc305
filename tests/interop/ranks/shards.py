"""Rows that each rank gets of a dataset."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.communication import get_group_size, get_rank, init
from said import said, tried

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()
rows = np.arange(4 * size + 1, dtype=np.int32)


class Source:
    def __getitem__(self, at):
        return (np.array(at * 10, np.int32),)

    def __len__(self):
        return len(rows)


def shown(name, data):
    said(name, [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)])


shards = {"num_shards": size, "shard_id": rank}
shown("in order", ds.NumpySlicesDataset(rows, ["x"], shuffle=False, **shards))
shown("batches", ds.NumpySlicesDataset(rows, ["x"], shuffle=False, **shards).batch(2))
shown("generated", ds.GeneratorDataset(Source(), ["x"], shuffle=False, **shards).repeat(2))
shown("some", ds.NumpySlicesDataset(rows, ["x"], shuffle=False, num_samples=3, **shards))
sampler = ds.DistributedSampler(size, rank, shuffle=False)
shown("sampler", ds.NumpySlicesDataset(rows, ["x"], sampler=sampler))
sampler = ds.DistributedSampler(size, rank, shuffle=False, offset=1)
shown("offset", ds.NumpySlicesDataset(rows, ["x"], sampler=sampler))
tried("too large", lambda: ds.NumpySlicesDataset(rows, ["x"], num_shards=size, shard_id=size))
tried("one alone", lambda: ds.NumpySlicesDataset(rows, ["x"], num_shards=size))
