"""Facts about operators on shapes, indices, matrices, windows, norms and losses, recorded from the real MindSpore.

``python tests/interop/array_facts.py [PYTHON]`` (PYTHON: an interpreter that has MindSpore 2.10.0, default this one)
rewrites ``tests/data/ops/array_*.json``; ``tests/framework/ops/test_arrays.py`` computes the same over ``harness``.
How cases are written: see ``operator_facts``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness.graph.ir_parse import parse
from tests.interop import operator_facts as facts

MODULES = {
    "functions": ("convolution", "create", "indexing", "join", "loss", "matrix", "shape", "softmax"),
    "primitives": ("convolution", "indexing", "nn", "shape"),
}


def names() -> list[str]:
    """What the modules of these operators add to ``ops``."""
    found: list[str] = []
    for room, modules in MODULES.items():
        for module in modules:
            found += importlib.import_module(f"harness.framework.ops.{room}.{module}").__all__
    return sorted(found)


def signature(it: Any) -> list[list[Any]]:
    """Name, kind and default of each argument of a function, or of a class's ``__init__`` after ``self``."""
    given = list(inspect.signature(it).parameters.values())
    return [[p.name, str(p.kind), None if p.default is p.empty else str(p.default)] for p in given]


def main(python: str) -> None:
    """Rewrites the recorded facts."""
    rows = facts.cases("array_graphs")
    found = zip(rows, facts.run(rows, python), strict=True)
    facts._write(
        "array_graphs", {row: failed or facts.kernels([parse(t) for t in texts]) for row, (texts, _, failed) in found}
    )
    rows = facts.cases("array_values")
    results = zip(rows, facts.run(rows, python), strict=True)
    facts._write("array_values", {row: failed or out for row, (_, out, failed) in results})
    source = facts._SIGNATURES
    done = subprocess.run([python, "-c", source], input=json.dumps(names()), capture_output=True, text=True, check=True)
    facts._write("array_signatures", json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
