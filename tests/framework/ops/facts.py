"""Recorded facts about operators, and the same computed over the harness."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from harness import Parameter, Tensor, dtypes, mint, nn, ops
from harness.framework.compile.api import value_and_grad_traced
from harness.framework.compile.order import Numbering
from harness.framework.compile.program import compile_function
from harness.graph.ir import write
from harness.graph.ir_parse import parse
from tests.interop.operator_facts import DATA, NAMES, count, kernels, parts


def recorded(name: str) -> dict[str, Any]:
    """The facts of ``tests/data/ops/{name}.json``."""
    return json.loads((DATA / f"{name}.json").read_text())


def grid(*shape: int) -> Tensor:
    """Float32 values in (0, 1.5), none of them equal to its neighbour."""
    return Tensor(((np.arange(np.prod(shape)) * 7 % 11 + 1).reshape(shape) / 8).astype(np.float32))


def given(values: Any, dtype: str = "float32") -> Tensor:
    """These values."""
    return Tensor(np.array(values), dtypes.by_name(dtype))


WORDS = {
    "mint": mint, "nn": nn, "ops": ops, "grid": grid, "Parameter": Parameter, "given": given, "INF": float("inf"),
    "NAN": float("nan"),
    **{name: dtypes.by_name(name) for name in ("float16", "float32", "int32", "int64")},
}  # fmt: skip


def read(case: str) -> tuple[Any, list[Tensor], Any]:
    """A case's function, its inputs, and the gradient of its result or None."""
    expression, inputs, sens = parts(case)
    function = eval(f"lambda {', '.join(NAMES[: count(inputs)])}: {expression}", dict(WORDS))
    return function, list(eval(f"[{inputs}]", dict(WORDS))), eval(sens, dict(WORDS)) if sens else None


def emitted(case: str) -> list[str]:
    """The kernels of a case's graph, as ``operator_facts.kernels`` writes them."""
    function, inputs, sens = read(case)
    names = list(NAMES[: len(inputs)])
    if sens is None:
        program = compile_function(function, inputs, names, 0, Numbering())
    else:

        def backward(*args: Any) -> Any:
            _, grads, _ = value_and_grad_traced(function, args[:-1], range(len(inputs)), (), args[-1])
            return grads if len(grads) > 1 else grads[0]

        program = compile_function(backward, [*inputs, sens], [*names, "s"], 0, Numbering())
    return kernels([parse(write(graph)) for graph in program.graphs])
