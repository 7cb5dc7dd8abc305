"""Facts about functions, Tensor methods and older primitives that scripts use less often, recorded from MindSpore.

``python tests/interop/function_facts.py [PYTHON]`` (PYTHON: an interpreter that has MindSpore 2.10.0, default this
one) rewrites ``tests/data/ops/function_graphs.json`` (the kernels of graphs) and ``function_values.json`` (results in
PyNative mode), and ``later_graphs.json`` and ``later_values.json`` likewise, of names that scripts use seldom;
``tests/framework/ops/test_functions.py`` computes the same over ``harness``. How cases are written: see
``operator_facts``. A case that MindSpore refuses has the name of its error.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness.graph.ir_parse import parse
from tests.interop import operator_facts as facts


def main(python: str) -> None:
    """Rewrites the recorded facts."""
    for name in ("function", "later"):
        rows = facts.cases(f"{name}_graphs")
        found = zip(rows, facts.run(rows, python), strict=True)
        graphs = {row: failed or facts.kernels([parse(t) for t in texts]) for row, (texts, _, failed) in found}
        facts._write(f"{name}_graphs", graphs)
        rows = facts.cases(f"{name}_values")
        results = zip(rows, facts.run(rows, python, "PYNATIVE_MODE"), strict=True)
        facts._write(f"{name}_values", {row: failed or out for row, (_, out, failed) in results})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
