"""Prints the parameters of every public callable as JSON: under the real MindSpore, and by ``msdump run`` here.

For each name (``nn.Dense``, ``Tensor.sum``): ``[name, kind, text of the default]`` of each parameter but ``self``; None
where Python cannot tell.
"""

import inspect
import json
import re

import mindspore as ms
import mindspore.dataset as ds
import mindspore.numpy as mnp
from mindspore import mint, nn, ops, train
from mindspore.common import initializer
from mindspore.dataset import transforms, vision

SPACES = {
    "nn": nn, "ops": ops, "train": train, "ms": ms, "amp": ms.amp, "Tensor": ms.Tensor, "Parameter": ms.Parameter,
    "Cell": nn.Cell, "Optimizer": nn.Optimizer, "Model": train.Model, "Callback": train.Callback, "ds": ds,
    "transforms": transforms, "vision": vision, "mnp": mnp, "initializer": initializer, "mint": mint,
    "mint.nn": mint.nn, "Dataset": ds.Dataset, "RunContext": train.RunContext, "ParameterTuple": ms.ParameterTuple,
}  # fmt: skip


def parameters(function, method):
    """The parameters of one callable."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    shown = lambda value: re.sub(r" at 0x\w+|(mindspore|harness)\.([a-z_]\w*\.)*", "", repr(value))  # noqa: E731
    rows = [[p.name, p.kind.name, None if p.default is p.empty else shown(p.default)] for p in found]
    return rows[1:] if rows and (method or rows[0][0] == "self") else rows


def table():
    """The parameters of all."""
    rows = {}
    for space, holder in SPACES.items():
        for name in dir(holder):
            found = None if name.startswith("_") else getattr(holder, name, None)
            if isinstance(found, type):
                rows[f"{space}.{name}"] = [] if found.__init__ is object.__init__ else parameters(found.__init__, True)
            elif callable(found):
                rows[f"{space}.{name}"] = parameters(found, isinstance(holder, type) and inspect.isfunction(found))
    return rows


print(json.dumps(table()))
