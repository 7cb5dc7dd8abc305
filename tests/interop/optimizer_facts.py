"""Facts about optimizers: kernels, parameters and states after steps, from the real MindSpore.

``python tests/interop/optimizer_facts.py PYTHON [WORD...]`` (PYTHON has MindSpore 2.10.0) records the cases of
``tests/data/nn/optimizers.json`` again (those that hold a WORD); ``tests/framework/nn/test_optimizer_facts.py`` runs
the same script under ``msdump run``. To add a case, add its key, an expression over ``params``, with any value.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness.graph.ir_parse import parse
from tests.interop import recording
from tests.interop.operator_facts import kernels

FACTS = Path(__file__).resolve().parents[1] / "data" / "nn" / "optimizers.json"

_NOTE = """
def gradient(start, *shape):
    return (((np.arange(np.prod(shape)) * 7 + start) % 11 - 5).reshape(shape) / 8).astype(np.float32)
def note(index, make):
    params = [Parameter(Tensor(gradient(s, *shape)), name=name)
              for s, name, shape in ((1, "dense.weight", (2, 3)), (4, "norm.gamma", (3,)), (2, "dense.bias", (2,)))]
    steps, failed = [], ""
    try:
        opt = make(params)
        named = {p.name: p for p in [*params, *opt.get_parameters()]}
        for step in range(3):
            opt(tuple(Tensor(gradient(step + 3 * at, *p.shape)) for at, p in enumerate(params)))
            steps.append({name: p.asnumpy().tolist() for name, p in named.items()})
    except Exception as error:
        failed = type(error).__name__
        if os.environ.get("VERBOSE"):
            import traceback; traceback.print_exc()
    told(index, steps, failed)
"""


def run(rows: Sequence[str], command: Sequence[str], **environ: str) -> dict[str, Any]:
    """Runs three steps of each case by ``command``: its kernels and what its parameters hold after each step."""
    calls = (f"note({i}, lambda params: {row})" for i, row in enumerate(rows))
    found: dict[str, Any] = {}
    source = "\n".join([recording.PRELUDE, _NOTE, *calls]) + "\n"
    for texts, (index, steps, failed) in recording.run(source, command, **environ):
        listed = kernels([parse(t) for t in texts])
        shown = [re.sub(r"\b(success|gradients?)([._]\d+)*\b", "gradient", k) for k in listed]
        found[rows[index]] = failed or {"kernels": shown, "steps": steps}
    return found


def recorded() -> dict[str, Any]:
    """The facts of ``tests/data/nn/optimizers.json``."""
    return json.loads(FACTS.read_text())


if __name__ == "__main__":
    recording.record_again(FACTS, run, sys.argv[1], sys.argv[2:])
