"""Runs many operators and their gradients in every floating dtype; prints a digest of each result's bytes as JSON.

For a process of its own: numpy chooses its kernels by the environment when it is imported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness import Tensor, dtypes, ops
from harness.dtypes import DType
from harness.errors import HarnessError
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.ops import taken
from harness.framework.runtime.session import fresh
from harness.framework.tensor import call
from harness.stats.digest import digest
from tests.framework.ops.test_gradient_coverage import CASES

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
#: sums of many terms, where an order that depends on the machine would show
LONG: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "long sum": (lambda x: ops.sum(x), ((40_001,),)),
    "long mean of columns": (lambda x: x.mean(0), ((1_003, 17),)),
    "long matmul": (ops.matmul, ((33, 1_021), (1_021, 29))),
    "wide conv2d": (lambda x, w: ops.conv2d(x, w, None, 1, "same"), ((2, 9, 17, 17), (5, 9, 3, 3))),
    "long softmax": (lambda x: ops.softmax(x, 1), ((3, 4_099),)),
    "long layer_norm": (lambda x, g, b: ops.LayerNorm(-1, -1)(x, g, b)[0], ((5, 2_053), (2_053,), (2_053,))),
    "long cumsum": (lambda x: ops.cumsum(x, 0), ((5_003,),)),
    "exp": (ops.exp, ((4_099,),)), "log": (lambda x: ops.log(ops.abs(x)), ((4_099,),)), "tanh": (ops.tanh, ((4_099,),)),
    "erf": (ops.erf, ((4_099,),)), "sin": (lambda x: ops.sin(x * 100), ((4_099,),)),
    "pow": (lambda x, y: ops.pow(ops.abs(x), y), ((4_099,), (4_099,))),
    "sqrt": (lambda x: ops.sqrt(ops.abs(x)), ((4_099,),)), "div": (lambda x, y: x / y, ((4_099,), (4_099,))),
    "dropout": (lambda x: call("Dropout", x, 0.5, 1, 2)[0], ((4_099,),)),
}  # fmt: skip


def inputs(shapes: tuple[tuple[int, ...], ...]) -> tuple[np.ndarray[Any, Any], ...]:
    """float64 values with full mantissas, in (-3, 3); the same whatever numpy's distributions do."""
    found = []
    for at, shape in enumerate(shapes):
        words = np.random.PCG64(at + 1).random_raw(int(np.prod(shape)))
        found.append(((words >> np.uint64(11)).astype(np.float64) / 2.0**52 * 3 - 3).reshape(shape))
    return tuple(found)


def results(function: Callable[..., Any], arrays: tuple[np.ndarray[Any, Any], ...], dtype: DType) -> Iterator[bytes]:
    """Digests of a function's result and of its gradients."""

    def ones(out: Any) -> Any:
        """Of the result's shape, which may be known only when it runs."""
        return call("OnesLike", out)

    def both(*args: Any) -> Any:
        out, slopes, _ = value_and_grad_traced(function, args, range(len(args)), sens=ones)
        return out, slopes

    with fresh(hooked=False) as session:
        out, slopes = session.run_function(both, [Tensor(a, dtype) for a in arrays], {})
    for tensor in (out, *slopes):
        yield digest(tensor.asnumpy(), tensor.dtype.name)


def measured() -> dict[str, list[str]]:
    """``name dtype`` to digests, or to the error of what a dtype is not supported for."""
    # Kernels are run in every dtype, also where users may not give it.
    taken.TAKEN = {}
    taken.refused = dict
    cases = {name: (case.function, case.inputs) for name, case in CASES.items()}
    cases |= {name: (function, inputs(shapes)) for name, (function, shapes) in LONG.items()}
    found = {}
    for name, (function, arrays) in cases.items():
        for dtype in FLOATS:
            try:
                found[f"{name} {dtype.name}"] = [d.hex() for d in results(function, arrays, dtype)]
            except HarnessError as error:
                found[f"{name} {dtype.name}"] = [type(error).__name__]
    return found


if __name__ == "__main__":
    print(json.dumps(measured()))
