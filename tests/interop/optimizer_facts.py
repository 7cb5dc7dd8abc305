"""Facts about optimizers: kernels, parameters and states after steps, from the real MindSpore.

``python tests/interop/optimizer_facts.py PYTHON [WORD...]`` (PYTHON has MindSpore 2.10.0) records the cases of
``tests/data/nn/optimizers.json`` again (those that hold a WORD); ``tests/framework/nn/test_optimizer_facts.py`` runs
the same script under ``msdump run``. To add a case, add its key, an expression over ``params``, with any value.
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
FACTS = ROOT / "tests" / "data" / "nn" / "optimizers.json"

_PRELUDE = """
import json, os
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
ms.set_context(mode=ms.GRAPH_MODE); ms.set_device("CPU"); ms.set_seed(1)
def grid(start, *shape):
    return (((np.arange(np.prod(shape)) * 7 + start) % 11 - 5).reshape(shape) / 8).astype(np.float32)
def note(index, make):
    params = [Parameter(Tensor(grid(s, *shape)), name=name)
              for s, name, shape in ((1, "dense.weight", (2, 3)), (4, "norm.gamma", (3,)), (2, "dense.bias", (2,)))]
    steps, failed = [], ""
    try:
        opt = make(params)
        named = {p.name: p for p in [*params, *opt.get_parameters()]}
        for step in range(3):
            opt(tuple(Tensor(grid(step + 3 * at, *p.shape)) for at, p in enumerate(params)))
            steps.append({name: p.asnumpy().tolist() for name, p in named.items()})
    except Exception as error:
        failed = type(error).__name__
        if os.environ.get("VERBOSE"):
            import traceback; traceback.print_exc()
    graphs = os.environ["TREE"] + "/rank_0/graphs"
    names = sorted(g for g in os.listdir(graphs) if g.endswith(".ir")) if os.path.isdir(graphs) else []
    print("@@@" + json.dumps([index, names, steps, failed]), flush=True)
"""


def run(rows: Sequence[str], command: Sequence[str], **environ: str) -> dict[str, Any]:
    """Runs three steps of each case by ``command``: its kernels and what its parameters hold after each step."""
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
        calls = (f"note({i}, lambda params: {row})" for i, row in enumerate(rows))
        source.write_text("\n".join([_PRELUDE, *calls]) + "\n")
        env = {**os.environ, "MINDSPORE_DUMP_CONFIG": str(config), "TREE": str(tree), "GLOG_v": "3", **environ}
        done = subprocess.run([*command, source], env=env, capture_output=True, text=True, check=False, cwd=directory)
        if done.returncode or environ.get("VERBOSE"):
            print(done.stderr[-4000:], file=sys.stderr)
        before: set[str] = set()
        for line in done.stdout.splitlines():
            if line.startswith("@@@"):
                index, graphs, steps, failed = json.loads(line[3:])
                new = sorted(set(graphs) - before, key=lambda g: int(re.sub(r"\D", "", g)))
                before |= set(graphs)
                texts = [(tree / "rank_0" / "graphs" / g).read_text() for g in new]
                listed = kernels([parse(t) for t in texts])
                shown = [re.sub(r"\b(success|gradients?)([._]\d+)*\b", "gradient", k) for k in listed]
                found[rows[index]] = failed or {"kernels": shown, "steps": steps}
    return found


def recorded() -> dict[str, Any]:
    """The facts of ``tests/data/nn/optimizers.json``."""
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
