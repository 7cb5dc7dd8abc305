"""Constants of every kind, for the way they are printed; only the graph of this run is kept."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
SEVEN = np.array([1e-5, 1.5, -2.25e10, np.nan, np.inf, -np.inf, -0.0], np.float32)
BOOLS = np.arange(29) % 3 == 0
CONSTANTS = [Tensor(value) for value in (
    SEVEN, np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7, np.arange(29, dtype=np.int32), BOOLS[:2, None],
    np.arange(6, dtype=np.int64).reshape(2, 3) * -1000, np.array([1.5, 2.5], np.float16), np.array([1, 200], np.uint8),
    np.float32(1e-20), np.float16(0.1), np.ones((1, 1, 1), np.float32), np.int64(2**62), np.float32(123456789),
    np.array([1e-300, 1e300]), np.arange(29, dtype=np.float32).reshape(1, 29), np.arange(29.0).reshape(29, 1), BOOLS,
    BOOLS.reshape(1, 29), np.float32(np.nan), np.arange(28, dtype=np.int8) - 3, np.array([2**63], np.uint64),
    np.zeros((2, 0), np.float32), np.arange(31, dtype=np.float32), np.array(True),
)]  # fmt: skip


class Net(nn.Cell):
    def construct(self, x, row):
        out = []
        for value in CONSTANTS:
            out.append(ops.equal(value, ops.cast(x, value.dtype)))
        out.append(ops.concat((row, row), axis=-1))
        out.append(ops.split(row, 2, axis=1))
        out.append(ops.topk(row, 2))
        out.append(row[:, None, 1:])
        return tuple(out)


Net()(Tensor(np.float32(1)), Tensor(np.ones((1, 4), np.float32)))
