"""Runs one operator of the runtime again: what proves a cause."""

import numpy as np

from harness.recording import Facts, Replayed, Replayer
from tiny_extension.engine import KERNELS


class TinyReplayer(Replayer):
    def facts(self, operator):
        return Facts() if operator.type in KERNELS else None

    def replay(self, call):
        kernel = KERNELS.get(call.operator.type)
        arrays = [each for _, each in sorted(call.before.items())]
        if kernel is None or not arrays or not all(isinstance(each, np.ndarray) for each in arrays):
            return None
        try:
            out = np.empty(np.broadcast_shapes(*(each.shape for each in arrays)), arrays[0].dtype)
            return Replayed((kernel(out, *arrays, *call.operator.attributes.values()),))
        except (ValueError, TypeError):
            return None
