"""Runs the networks of ``nets`` under a real MindSpore and keeps their kernel graphs in ``graphs.json``.

``python make.py PYTHON DIRECTORY [NET...]``: PYTHON is an interpreter that has MindSpore 2.10.0; DIRECTORY a scratch
directory. With names of networks, only these are run, and the others stay as they are recorded.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))


def run(python: str, scratch: Path, script: Path) -> Path:
    """Runs one script with its graphs dumped; returns the tree."""
    tree = scratch / script.stem
    shutil.rmtree(tree, ignore_errors=True)
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": str(tree), "net_name": "Net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
    }  # fmt: skip
    config = scratch / f"{script.stem}.json"
    config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    environment = os.environ | {"MINDSPORE_DUMP_CONFIG": str(config), "GLOG_v": "3"}
    subprocess.run([python, str(script)], env=environment, cwd=scratch, check=True)
    return tree / "rank_0"


def graphs(tree: Path) -> list[dict[str, Any]]:
    """The facts of every graph, by id."""
    from tests.data.graphs.facts import facts

    counted: Counter[str] = Counter()
    texts = (tree / "graphs").glob("*.ir")
    found = {int(re.findall(r"_(\d+)\.ir$", path.name)[0]): path for path in texts}
    return [
        {
            "graph": number,
            **facts(
                found[number].read_text(),
                (tree / "execution_order" / f"ms_execution_order_graph_{number}.csv").read_text(),
                counted,
            ),
        }
        for number in sorted(found)
    ]


def text(recorded: dict[str, list[dict[str, Any]]]) -> str:
    """JSON, a line for each node, so that a change shows as one."""
    return json.dumps(recorded, indent=0, ensure_ascii=False) + "\n"


def record(python: str, scratch: Path, nets: list[str]) -> None:
    """Runs the networks named, or all, and writes what is recorded of all."""
    store = HERE / "graphs.json"
    recorded = json.loads(store.read_text()) if nets else {}
    for net in nets or sorted(path.stem for path in (HERE / "nets").glob("*.py")):
        script, in_python = HERE / "nets" / f"{net}.py", HERE / "nets" / "python" / f"{net}.py"
        recorded[net] = graphs(run(python, scratch, in_python if in_python.is_file() else script))
    store.write_text(text({net: recorded[net] for net in sorted(recorded)}))


if __name__ == "__main__":
    record(sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3:])
