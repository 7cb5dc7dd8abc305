"""Weights and inputs that are the same on every machine, backend and numpy.

They come from the raw stream of PCG64, whose bits numpy keeps from release to release (its distributions may change),
and are multiples of 2**-12 below 1, so that no rounding enters before a network's own arithmetic.
"""

from __future__ import annotations

import math
import zlib

import numpy as np

from harness import Tensor


def uniform(shape, name):
    """Values in [-1, 1), float32 array of ``shape``; ``name`` chooses which."""
    count = math.prod(shape)
    words = np.random.PCG64(zlib.crc32(name.encode())).random_raw(count) if count else np.zeros(0, np.uint64)
    return ((words >> np.uint64(51)).astype(np.float32) / 4096 - 1).reshape(shape)


def tensor(shape, name, dtype):
    """The same values as a ``Tensor`` of ``dtype``."""
    return Tensor(uniform(shape, name), dtype)


def fill(network):
    """Sets every parameter of ``network``, each from its own name; gives the network back.

    Weights get a spread of about ``1 / sqrt(fan in)``, rounded to a power of two; scales and variances stay near 1.
    """
    for name, parameter in network.parameters_and_names():
        values = uniform(parameter.shape, name)
        kind = name.rsplit(".", 1)[-1]
        if kind in ("gamma", "moving_variance"):
            values = 1 + values / 4
        else:
            fan_in = math.prod(parameter.shape[1:]) if len(parameter.shape) > 1 else 16
            values = values * 2.0 ** -round(math.log2(fan_in) / 2)
        parameter.set_data(Tensor(values.astype(np.float32), parameter.dtype))
    return network
