"""How facts are recorded: a source runs under MindSpore's dump, says what each case gave, and its graphs are read.

A source prints a line for each case by its function ``note``: what it has to tell, as JSON, after the names of the
graphs that stand in the tree by then.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.interop.trees import dump_environment

#: What sources of facts have in common: names, values, and ``told(value...)``, which prints a case's line.
PRELUDE = """
import json, os, sys
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, float16, float32, int32, int64, mint, nn, ops
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
def told(*values):
    graphs = os.environ["TREE"] + "/rank_0/graphs"
    names = os.listdir(graphs) if os.path.isdir(graphs) else []
    print("@@@" + json.dumps([[name for name in names if name.endswith(".ir")], *values]), flush=True)
"""


def run(source: str, command: Sequence[str | Path], **environ: str) -> Iterator[tuple[list[str], Any]]:
    """Runs ``source`` by ``command``: for each case the ``.ir`` texts that are new since the last, and what it told.

    Args:
        environ: further variables; with ``VERBOSE`` what the process writes to its standard error is shown.

    Raises:
        subprocess.CalledProcessError: the source failed; what it wrote stands on standard error.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        env = {**dump_environment(out), "TREE": str(out / "tree"), **environ}
        script = out / "cases.py"
        script.write_text(source)
        done = subprocess.run([*command, script], env=env, capture_output=True, text=True, check=False, cwd=out)
        if done.returncode or environ.get("VERBOSE"):
            print(done.stderr[-4000:], file=sys.stderr)
        done.check_returncode()
        before: set[str] = set()
        for line in done.stdout.splitlines():
            if line.startswith("@@@"):
                graphs, *values = json.loads(line[3:])
                new = sorted(set(graphs) - before, key=lambda name: int(re.sub(r"\D", "", name)))
                before |= set(graphs)
                yield [(out / "tree" / "rank_0" / "graphs" / name).read_text() for name in new], values


def write(path: Path, facts: Mapping[str, Any]) -> None:
    """Writes facts, a line each."""
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def record_again(path: Path, record: Any, python: str, words: Sequence[str]) -> None:
    """Records the cases of ``path`` again, or those whose text holds one of ``words``."""
    facts = json.loads(path.read_text())
    rows = [row for row in facts if not words or any(word in row for word in words)]
    write(path, facts | record(rows, [python]))
