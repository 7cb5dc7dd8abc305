"""Facts about the operators and layers that public models use: kernels, results and gradients, from the real MindSpore.

``python tests/interop/model_facts.py PYTHON [WORD...]`` (PYTHON has MindSpore 2.10.0) records the cases of
``tests/data/ops/models.json`` again (those whose text holds a WORD); ``tests/framework/ops/test_models.py`` runs the
same script under ``msdump run``. To add a case, add its key with any value. A case is a text
``what | how it is called | inputs | gradient of the result``: ``ops.L2Loss() | f(x) | grid(2,3) | given(1.0)``.
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

FACTS = Path(__file__).resolve().parents[1] / "data" / "ops" / "models.json"

_NOTE = """
def note(index, kind, net, inputs):
    out, failed = None, ""
    try:
        out = plain(net(*inputs))
    except Exception as error:
        failed = type(error).__name__
        if os.environ.get("VERBOSE"):
            import traceback; traceback.print_exc()
    told(index, kind, out, failed)
"""

_CASE = """
try:
    note({i}, "{kind}", {net}, [{inputs}])
except Exception as error:
    told({i}, "{kind}", None, "made: " + type(error).__name__)
"""


def script(rows: Sequence[str]) -> str:
    """A program that runs each case and says which graphs it made and what came out."""
    out = [recording.PRELUDE, _NOTE]
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
    found: dict[str, Any] = {}
    for texts, (index, kind, out, failed) in recording.run(script(rows), command, **environ):
        shown = [re.sub(r"/net-N\d+", "", k) for k in kernels([parse(t) for t in texts])]
        found.setdefault(rows[index], {})[kind] = failed or {"kernels": shown, "result": out}
    return found


def recorded() -> dict[str, Any]:
    """The facts of ``tests/data/ops/models.json``."""
    return json.loads(FACTS.read_text())


if __name__ == "__main__":
    recording.record_again(FACTS, run, sys.argv[1], sys.argv[2:])
