"""The begin of each program of ``rows.txt``, here and under the real MindSpore."""
# ruff: noqa: F401 - the programs use them

import json
import os

os.environ.setdefault("GLOG_v", "4")
import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

f = Tensor(np.arange(1, 7).reshape(2, 3).astype(np.float32))


def shown(value):
    """A value as a line: numbers with five digits, an object by its class."""
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(shown(each) for each in value) + ")"
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype}{list(value.shape)} " + " ".join(shown(each) for each in value.ravel()[:12].tolist())
    if isinstance(value, (float, complex)):
        return f"{value:.5g}"
    return repr(value) if isinstance(value, (bool, int, str, dict, type(None))) else type(value).__name__


def tell(what, *args, **named):
    """Prints what a call gives, or which of Python's own errors it raises."""
    try:
        print(shown(what(*args, **named)), flush=True)
    except Exception as error:
        kind = next(each for each in type(error).__mro__ if each.__module__ == "builtins")
        print(f"error: {kind.__name__}", flush=True)


def graph(what, *args):
    """Calls a cell, or a function as the body of one, in graph mode."""
    ms.set_context(mode=0)
    if isinstance(what, nn.Cell):
        return what(*args)

    class Graph(nn.Cell):
        def construct(self, *args):
            return what(*args)

    return Graph()(*args)


def at_end(tell_of):
    """Hands over the path and the name of each dumped file, in order of names."""
    for place, _, names in sorted(os.walk("tree")):
        for name in sorted(names):
            tell_of(os.path.join(place, name), name)


def configure(**fields):
    """Changes fields of the dump's configuration, before the first compilation."""
    with open("data_dump.json", encoding="utf-8") as file:
        found = json.load(file)
    found["common_dump_settings"].update(fields)
    with open("data_dump.json", "w", encoding="utf-8") as file:
        json.dump(found, file)
