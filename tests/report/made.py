"""Contents of pages for the tests: a run in which the second operator of several is off."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from harness.compare import Comparison, check
from harness.compare.spread import spread
from harness.explain import (
    Cause,
    Certainty,
    Change,
    Element,
    Evidence,
    Explanation,
    Origin,
    block,
    explain,
)  # fmt: skip
from harness.report import Run, content
from tests.compare.helpers import operator

#: A graph whose text has the operators of ``made``, long enough to be folded.
GRAPH = "\n".join(f"  %{n}(CNode_{n}) = PrimFunc_Add(%{n - 1}, F32(1))" for n in range(1, 60))
CHANGED = GRAPH.replace("CNode_20) = PrimFunc_Add", "CNode_20) = PrimFunc_Sub").replace("(CNode_50)", "(CNode_5000)")
#: What both sides wrote: one of each state, and one that differs as another does.
TEXTS: tuple[dict[str, bytes], dict[str, bytes]] = (
    {
        "compared/training_0.txt": b"loss 1\nloss 2\n", "execution_order/ms_execution_order_graph_0.csv": b"a\nb\n",
        "rdr/2/PIPELINE.01_type_inference.ir": GRAPH.encode(), "rdr/2/PIPELINE.02_auto_monad.ir": GRAPH.encode(),
        "rdr/2/SESSION.graph_exec_order.0.txt": b"Default/Add-op0\n",
    },
    {
        "compared/training_0.txt": b"loss 1\nloss <script>alert(1)</script>\n",
        "execution_order/ms_execution_order_graph_0.csv": b"a\nb\n",
        "rdr/2/PIPELINE.01_type_inference.ir": CHANGED.encode(), "rdr/2/PIPELINE.02_auto_monad.ir": CHANGED.encode(),
        "rdr/2/RUNTIME_FRAMEWORK.mem_address_list.txt": b"0x7f0000000000 512\n",
    },
)  # fmt: skip

NASTY = "Default/</script><script>alert(1)</script>&quot;/Add-op0"


def _verdict(comparison: Comparison) -> str:
    return "identical" if comparison.holds else "differs"


def made(name: str = "net [cpu-tensor]", operators: int = 3, scale: float = 1.5) -> dict[str, Any]:
    """The content of a run in which the second operator of several is off."""
    rng = np.random.default_rng(1)
    sides: list[list[Any]] = [[], []]
    for side, factor in zip(sides, (1.0, scale), strict=True):
        value = rng.standard_normal((4, 6)).astype(np.float32) if side is sides[0] else sides[0][0].values
        for iteration in range(2):
            for number in range(operators):
                other = (value * np.float32(factor if number == 1 else 1) + np.float32(1)).astype(np.float32)
                where = NASTY if number == 2 else f"Default/layer{number}-Dense/Add-op{number}"
                side += operator(where, [value], [other], iteration=iteration)
                value = other
    comparison = check(*sides)
    evidence = [Evidence(lambda side=side: side, dict, "cpu", True) for side in sides]  # type: ignore[misc]
    made_of = explain(comparison, *evidence, title="net [cpu-tensor] differs from golden")
    course, text = spread(comparison), block(made_of)
    return content(
        Run(
            name,
            "golden",
            "run",
            comparison,
            course,
            made_of,
            text,
            TEXTS,
            ["emulated"],
            lambda: sides[0],
            verdict=_verdict(comparison),
        )
    )


def known() -> dict[str, Any]:
    """A run whose cause is known, with a name that must not be taken for markup."""
    value = np.ones((2, 3), np.float32)
    where = "Default/fc-Dense/MatMul-op0"
    sides = [[*operator(where, [value], [value * k]), *operator("Add-op0", [value], [value])] for k in (0.25, 0.5)]
    comparison = check(*sides)
    key = sides[0][1].key
    cause = Cause(Certainty.REPLAY, "attribute", "<b>eps</b> 1e-05 -> 0.001", (Change("<b>eps</b>", "1e-05", "0.001"),))
    origin = Origin(
        "output.0 Float32[2, 3]", where, key, source="net.py:7", element=Element((0, 1), "0.25", "0.5"), differing=6,
        count=6, inputs="its input agrees",
    )  # fmt: skip
    told = Explanation("net differs", origin, cause, ("Parameter fc.weight differs from the start",), 1, 2, 4)
    return content(
        Run(
            "net [cpu-tensor]",
            "golden",
            "run",
            comparison,
            spread(comparison),
            told,
            block(told),
            verdict=_verdict(comparison),
        )
    )


def network(inserted: bool = False) -> dict[str, Any]:
    """A run of a few cells in which a product is off; or one in which another operator stands in the place of one."""
    rng = np.random.default_rng(2)
    start = rng.standard_normal((3, 3)).astype(np.float32)
    sides: list[list[Any]] = []
    for off in (1.0, 1.5):
        side: list[Any] = []
        value = start
        other = inserted and off != 1.0
        for name, factor in (
            ("Default/Add-op0", 1.0), ("Default/body-Block/ReLU-op0", 1.0), ("Default/body-Block/MatMul-op0", off),
            ("Default/body-Block/Tanh-op0" if other else "Default/body-Block/ReLU-op1", 1.0),
            ("Default/tail-Dense/MatMul-op1", 1.0),
        ):  # fmt: skip
            made_of = (value * np.float32(factor) + np.float32(1)).astype(np.float32)
            side += operator(name, [value], [made_of], op_type=name.split("/")[-1].split("-")[0])
            value = made_of
        sides.append(side)
    return _of(sides)


@cache
def wide(operators: int) -> dict[str, Any]:
    """A run of many operators, in cells of a hundred and in one cell; the last 200 are off."""
    sides: list[list[Any]] = [[], []]
    for side, off in zip(sides, (1, 2), strict=True):
        value = np.zeros(2, np.int32)
        for number in range(operators):
            cell = f"block{number // 100}-Block/" if number < operators // 2 else ""
            made_of = value + np.int32(off if number == operators - 200 else 1)
            side += operator(f"Default/{cell}Add-op{number}", [value], [made_of])
            value = made_of
    return _of(sides)


def _of(sides: list[list[Any]]) -> dict[str, Any]:
    comparison = check(*sides)
    return content(
        Run("net [cpu-tensor]", "golden", "run", comparison, spread(comparison), verdict=_verdict(comparison))
    )
