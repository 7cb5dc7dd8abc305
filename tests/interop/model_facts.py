"""Facts about the operators and layers that public models use: kernels, results and gradients, from the real MindSpore.

``python tests/interop/model_facts.py PYTHON [WORD...]`` (PYTHON has MindSpore 2.10.0) records the cases of
``tests/data/ops/models.json`` again (those whose text holds a WORD); ``tests/framework/ops/test_models.py`` runs the
same script under ``msdump run``. To add a case, add its key with any value. A case is a text
``what | how it is called | inputs | gradient of the result``: ``ops.L2Loss() | f(x) | grid(2,3) | given(1.0)``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FACTS = ROOT / "tests" / "data" / "ops" / "models.json"

_PRELUDE = """
import json, os, sys
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, float16, float32, int32, int64, nn, ops
ms.set_context(mode=ms.GRAPH_MODE); ms.set_device("CPU"); ms.set_seed(1)
INF, NAN = float("inf"), float("nan")
def grid(*shape):
    return Tensor(((np.arange(np.prod(shape)) * 7 % 11 + 1).reshape(shape) / 8).astype(np.float32))
def given(values, dtype="float32"):
    return Tensor(np.array(values), getattr(ms, dtype))
def plain(value):
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return [str(value.dtype), value.asnumpy().tolist()] if isinstance(value, Tensor) else value
def note(index, kind, net, inputs):
    out, failed = None, ""
    try:
        out = plain(net(*inputs))
    except Exception as error:
        failed = type(error).__name__
        if os.environ.get("VERBOSE"):
            import traceback; traceback.print_exc()
    graphs = os.environ["TREE"] + "/rank_0/graphs"
    names = sorted(g for g in os.listdir(graphs) if g.endswith(".ir")) if os.path.isdir(graphs) else []
    print("@@@" + json.dumps([index, kind, names, out, failed]), flush=True)
"""

_CASE = """
try:
    note({i}, "{kind}", {net}, [{inputs}])
except Exception as error:
    print("@@@" + json.dumps([{i}, "{kind}", [], None, "made: " + type(error).__name__]), flush=True)
"""


def script(rows: Sequence[str]) -> str:
    """A program that runs each case and says which graphs it made and what came out."""
    out = [_PRELUDE]
    for i, row in enumerate(rows):
        made, called, inputs, *sens = (part.strip() for part in row.split(" | "))
        used = [n for n in "xyzw" if re.search(rf"\b{n}\b", called)]
        args = ", ".join(used)
        out.append(
            f"class N{i}(nn.Cell):\n    def __init__(self):\n        super().__init__()\n        self.f = {made}\n"
            f"    def construct(self, {args}):\n        f = self.f\n        return {called}"
        )
        out.append(_CASE.format(i=i, kind="forward", net=f"N{i}()", inputs=inputs))
        if sens:
            back = "ops.GradOperation(get_all=True, sens_param=True)(self.net)"
            out.append(
                f"class G{i}(nn.Cell):\n    def __init__(self, net):\n        super().__init__()\n"
                f"        self.net = net\n    def construct(self, {args}, s):\n        return {back}({args}, s)"
            )
            given = f"{inputs}, {sens[0]}"
            out.append(_CASE.format(i=i, kind="backward", net=f"G{i}(N{i}())", inputs=given))
    return "\n".join(out)


def run(rows: Sequence[str], command: Sequence[str], **environ: str) -> dict[str, Any]:
    """Runs the cases by ``command``: for each its kernels, its result and the error's name, if there was one."""
    sys.path.insert(0, str(ROOT))
    from harness.graph.ir_parse import parse
    from tests.interop.operator_facts import kernels

    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory) / "tree"
        common = {
            "op_debug_mode": 0, "dump_mode": 0, "path": str(tree), "net_name": "Net", "iteration": "all",
            "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
        }  # fmt: skip
        config = Path(directory) / "dump.json"
        config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
        source = Path(directory) / "cases.py"
        source.write_text(script(rows))
        env = {**os.environ, "MINDSPORE_DUMP_CONFIG": str(config), "TREE": str(tree), "GLOG_v": "3", **environ}
        done = subprocess.run([*command, source], env=env, capture_output=True, text=True, check=False, cwd=directory)
        if done.returncode or environ.get("VERBOSE"):
            print(done.stderr[-4000:], file=sys.stderr)
        before: set[str] = set()
        for line in done.stdout.splitlines():
            if line.startswith("@@@"):
                index, kind, graphs, out, failed = json.loads(line[3:])
                new = sorted(set(graphs) - before, key=lambda g: int(re.sub(r"\D", "", g)))
                before |= set(graphs)
                texts = [(tree / "rank_0" / "graphs" / g).read_text() for g in new]
                shown = [re.sub(r"/net-N\d+", "", k) for k in kernels([parse(t) for t in texts])]
                found.setdefault(rows[index], {})[kind] = failed or {"kernels": shown, "result": out}
    return found


def recorded() -> dict[str, Any]:
    """The facts of ``tests/data/ops/models.json``."""
    return json.loads(FACTS.read_text()) if FACTS.exists() else {}


def main(python: str, words: Sequence[str]) -> None:
    """Records the cases again."""
    facts = recorded()
    rows = [row for row in facts if not words or any(word in row for word in words)]
    facts |= run(rows, [python])
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items())
    FACTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
