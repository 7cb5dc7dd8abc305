"""Facts about operators, recorded from the real MindSpore: what calls emit, what kernels give, and signatures.

``python tests/interop/operator_facts.py [PYTHON]`` (PYTHON: an interpreter that has MindSpore 2.10.0, default this
one) rewrites ``tests/data/ops/*.json``; ``tests/framework/ops`` computes the same over ``harness``. To add a case,
add its key
with any value and run this. A case is a text ``expression | inputs | gradient of the result`` (the last part asks for
gradients).
"""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness.graph.ir_parse import parse
from tests.interop import recording

DATA = Path(__file__).resolve().parents[1] / "data" / "ops"
NAMES = "xyzw"

MODULES = {
    "functions": (
        "activation",
        "arithmetic",
        "clip",
        "comparison",
        "math",
        "printing",
        "random",
        "reduction",
        "search",
    ),
    "primitives": ("elementwise", "optimizer", "printing", "random", "reduction"),
}

_SIGNATURES = """
import inspect, json, sys
from mindspore import ops
found = {}
for name in json.load(sys.stdin):
    it = getattr(ops, name, None)
    if it is not None and name not in ("less", "lt"):
        given = inspect.signature(it).parameters.values()
        found[name] = [[p.name, str(p.kind), None if p.default is p.empty else str(p.default)] for p in given]
print(json.dumps(found))
"""


def cases(name: str) -> list[str]:
    """The cases of ``tests/data/ops/{name}.json``, which are its keys."""
    return list(json.loads((DATA / f"{name}.json").read_text()))


def parts(case: str) -> tuple[str, str, str]:
    """Expression, inputs, gradient of the result (empty where none is asked for)."""
    expression, inputs, *rest = (p.strip() for p in case.split(" | "))
    return expression, inputs, rest[0] if rest else ""


def count(inputs: str) -> int:
    """How many inputs a case has: commas outside brackets, and one."""
    depth = commas = 0
    for letter in inputs:
        depth += (letter in "([") - (letter in ")]")
        commas += letter == "," and depth == 0
    return commas + 1


def kernels(graphs: Sequence[Any]) -> list[str]:
    """The kernels of parsed ``.ir`` texts, one line each, without numbers that depend on what else was compiled.

    What the compiler says of a ``Cast`` or ``AddN`` it inserted is left out.
    """
    lines: list[str] = []
    for graph in graphs:
        meant: dict[str, str] = {}
        for node in graph.nodes:
            args = [_argument(a, meant) for a in node.args]
            if node.op == "TupleGetItem":
                meant[f"%{node.number}"] = f"{args[0]}.{re.sub(r'[^0-9]', '', args[1])}"
            elif not node.kernel:
                meant[f"%{node.number}"] = args[0] if args else node.op
            else:
                meant[f"%{node.number}"] = f"k{len(lines)}"
                prefix = "PrimFunc_" if node.functional else ""
                scope = re.sub(r"/net-N\d+", "", node.name.rsplit("/", 1)[0])
                result = ", ".join(f"{o.dtype}{list(o.shape)}" if o.is_tensor else o.text for o in node.outputs)
                shown = args[:1] if node.op == "Cast" else args
                lines.append(f"{prefix}{node.op}({', '.join(shown)}){_attributes(node)} -> {result} @{scope}")
    return lines


def _argument(text: str, meant: dict[str, str]) -> str:
    if text.startswith("%para"):
        return text.split("_", 1)[1]
    return " ".join(meant.get(text, text).split())


def _attributes(node: Any) -> str:
    if node.op in ("Cast", "AddN"):
        return ""
    found = re.search(r"primitive_attrs: \{(.*?)\}(?: cnode|$)", node.brackets, re.DOTALL)
    text = re.sub(r"IsFeatureMap\w+: (?:\([^)]*\)|Bool\(\d\))(?:, )?", "", found[1]).strip(", ") if found else ""
    return f" {{{text}}}" if text else ""


def script(rows: Sequence[str], mode: str) -> str:
    """A script that runs each case under MindSpore and says which graphs it made and what came out."""
    out = [recording.PRELUDE, f"ms.set_context(mode=ms.{mode})"]
    for i, row in enumerate(rows):
        expression, inputs, sens = parts(row)
        args = ", ".join(NAMES[: count(inputs)])
        out.append(f"class N{i}(nn.Cell):\n    def construct(self, {args}):\n        return {expression}")
        net = f"N{i}()"
        if sens:
            back = "ops.GradOperation(get_all=True, sens_param=True)(self.net)"
            out.append(
                f"class G{i}(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
                f"        self.net = N{i}()\n    def construct(self, {args}, s):\n        return {back}({args}, s)"
            )
            net, inputs = f"G{i}()", f"{inputs}, {sens}"
        out.append(f"try:\n    told(plain({net}({inputs})), '')")
        out.append("except Exception as error:\n    told(None, type(error).__name__)")
    return "\n".join(out)


def run(rows: Sequence[str], python: str, mode: str = "GRAPH_MODE") -> list[tuple[list[str], Any, str]]:
    """Runs the cases under ``python``: for each, its ``.ir`` texts, its result, and the error's name."""
    return [(texts, out, failed) for texts, (out, failed) in recording.run(script(rows, mode), [python])]


def main(python: str) -> None:
    """Rewrites the recorded facts."""
    rows = cases("graphs")
    found = zip(rows, run(rows, python), strict=True)
    _write("graphs", {row: kernels([parse(t) for t in texts]) for row, (texts, _, _) in found})
    rows = cases("values")
    _write("values", {row: failed or out for row, (_, out, failed) in zip(rows, run(rows, python), strict=True)})
    done = subprocess.run(
        [python, "-c", _SIGNATURES], input=json.dumps(names()), capture_output=True, text=True, check=True
    )
    _write("signatures", json.loads(done.stdout.splitlines()[-1]))


def names() -> list[str]:
    """What the modules of elementwise, reducing, searching and random operators add to ``ops``."""
    found: list[str] = []
    for room, modules in MODULES.items():
        for module in modules:
            found += importlib.import_module(f"harness.framework.ops.{room}.{module}").__all__
    return sorted(found)


def _write(name: str, facts: dict[str, Any]) -> None:
    recording.write(DATA / f"{name}.json", facts)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
