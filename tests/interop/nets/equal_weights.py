"""Runs a MindSpore script with weights that depend only on their names and shapes: ``equal_weights.py SCRIPT [ARGS]``.

Every parameter of a cell but its optimizer's is set before the cell's first call. Works under the real MindSpore and
under ``msdump run`` alike.
"""

import runpy
import sys
import zlib

import mindspore
import numpy as np
from mindspore import nn

STATE = ("moments.", "moment1.", "moment2.", "adam_", "accum.", "stat.")
SCALARS = ("learning_rate", "momentum", "global_step", "beta1_power", "beta2_power")


def values(name, shape):
    """Multiples of 2**-12 in [-0.5, 0.5), from the raw stream of PCG64: the same with every numpy."""
    words = np.random.PCG64(zlib.crc32(name.encode())).random_raw(int(np.prod(shape)))
    return ((words >> np.uint64(52)).astype(np.float32) / 4096 - 0.5).reshape(shape)


def fill(cell):
    """Sets the parameters of ``cell`` that training starts from."""
    for parameter in cell.get_parameters():
        name = parameter.name
        if not name.startswith(STATE) and name not in SCALARS:
            parameter.set_data(mindspore.Tensor(values(name, parameter.shape), parameter.dtype))


def first_call_fills(call):
    """Wraps ``Cell.__call__``: the outermost cell is filled once."""
    filled = set()

    def wrapped(self, *args, **kwargs):
        if not filled & {id(cell) for _, cell in self.cells_and_names()}:
            fill(self)
        filled.add(id(self))
        return call(self, *args, **kwargs)

    return wrapped


if __name__ == "__main__":
    nn.Cell.__call__ = first_call_fills(nn.Cell.__call__)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
