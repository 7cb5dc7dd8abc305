"""Prints, as JSON, what MindSpore makes of settings of parameters, of ``set_data``, of assignments between dtypes, and
of tensors as numbers: a dtype and shape, or Python's class of the error.

Run under the real one it makes ``tests/data/tensor/parameters.json``; ``msdump run`` must print the same.
"""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool_")
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (2, 3), (3, 2))
SETTINGS = ("requires_grad", "layerwise_parallel", "parallel_optimizer", "cache_enable", "comm_fusion", "key", "name",
            "cache_shape")  # fmt: skip
VALUES: tuple[Any, ...] = (0, 1, True, "w", None, (), 2.5)


def outcome(act: Callable[[], Any]) -> str:
    """What a call comes to."""
    try:
        made = act()
    except Exception as raised:
        bases = [k.__name__ for k in type(raised).__mro__ if k.__module__ == "builtins"]
        return next(name for name in bases if name.endswith("Error"))
    return f"{made.dtype} {tuple(made.shape)}" if isinstance(made, Tensor) else type(made).__name__


def ones(dtype: str, shape: tuple[int, ...] = (2,)) -> Tensor:
    return Tensor(np.ones(shape), getattr(ms, dtype))


def weight(dtype: str = "float32", shape: tuple[int, ...] = (2, 3)) -> Parameter:
    return Parameter(ones(dtype, shape), name="w")


def with_setting(name: str, value: Any) -> Parameter:
    made = weight()
    setattr(made, name, value)
    return made


class Assigning(nn.Cell):
    """Assigns its input to its weight, in one of several ways."""

    def __init__(self, dtype: str, how: str) -> None:
        super().__init__()
        self.w = Parameter(ones(dtype), name="w")
        self.how = how

    def construct(self, x: Tensor) -> Tensor:
        if self.how == "assign":
            ops.assign(self.w, x)
        elif self.how == "assign_sub":
            ops.assign_sub(self.w, x)
        else:
            ops.scatter_update(self.w, Tensor([0], ms.int32), x[:1])
        return self.w


def facts() -> dict[str, str]:
    """What was tried -> what it came to."""
    found = {}
    for name in SETTINGS:
        for value in VALUES:
            found[f"{name} = {value!r}"] = outcome(lambda n=name, v=value: with_setting(n, v))  # type: ignore[misc]
    for a in SHAPES:
        for b in SHAPES:
            found[f"set_data {a} {b}"] = outcome(
                lambda a=a, b=b: weight("float32", a).set_data(ones("float32", b))  # type: ignore[misc]
            )
    for dtype in ("float32", "int32"):
        for value in (*VALUES, [1, 2], np.ones(2)):
            found[f"{dtype} set_data {value!r}"] = outcome(
                lambda d=dtype, v=value: weight(d).set_data(v)  # type: ignore[misc]
            )
    for value in ((), (1, 2), [1, 2], 3, True, None, "w", {}):
        found[f"Parameter({value!r})"] = outcome(lambda v=value: Parameter(v, name="w"))  # type: ignore[misc]
    for shape, dtype in (((2, 3), "float32"), ((2,), "int32"), ((1,), "int32"), ((1,), "float32"), ((0,), "int32")):
        x = ones(dtype, shape)
        for act in (int, float, bool, round, operator.index, lambda x: x.item(), lambda x: [1, 2][x], range):
            name = getattr(act, "__name__", "")
            found[f"{len(found)} {name} {dtype} {shape}"] = outcome(lambda a=act, x=x: a(x))  # type: ignore[misc]
    for given in ({"shape": (2,)}, {"init": ones("float32")}):
        found[f"Tensor {sorted(given)}"] = outcome(
            lambda given=given: Tensor([1, 2], ms.float32, **given)  # type: ignore[misc]
        )
    for mode in (1, 0):
        ms.set_context(mode=mode)
        for how in ("assign", "assign_sub", "scatter_update"):
            for a in DTYPES:
                for b in DTYPES:
                    found[f"{mode} {how} {a} {b}"] = outcome(
                        lambda a=a, b=b, how=how: Assigning(a, how)(ones(b))  # type: ignore[misc]
                    )
    return found


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(facts(), file, indent=0, sort_keys=True)
        file.write("\n")
