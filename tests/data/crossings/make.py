"""Measures the crossing of each form under a real MindSpore and keeps them in ``crossings.json``.

``python make.py PYTHON DIRECTORY``: PYTHON is an interpreter that has MindSpore 2.10.0; DIRECTORY a scratch directory.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

#: No form is deeper.
MOST = 128

#: What the real one runs behind the classes: the order in a graph is read from the text it dumps.
MEASURE = """
import glob
import json
import os
import re


def is_nearer(number, depth):
    before = set(glob.glob("tree/rank_0/graphs/*.ir"))
    gradient(number, depth)
    made = set(glob.glob("tree/rank_0/graphs/*.ir")) - before
    texts = [open(name).read() for name in sorted(made, key=lambda name: int(re.findall(r"_(\\d+)\\.ir$", name)[0]))]
    return re.findall(r"(before|beside)-(?:Curve|Deep)[^ ]*Grad_Atan", "".join(texts))[0] == "beside"


def crossing(number):
    low, high = 1, 2
    while high <= MOST and is_nearer(number, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_nearer(number, middle) else (low, middle)
    return high


with open("crossings.json", "w") as file:
    json.dump([crossing(number) for number in range(COUNT)], file)
"""


def measured(python: str, scratch: Path) -> list[int]:
    """The crossing of each form."""
    from tests.data.crossings.forms import FORMS, classes

    shutil.rmtree(scratch / "tree", ignore_errors=True)
    common = {
        "op_debug_mode": 0, "dump_mode": 1, "path": str(scratch / "tree"), "net_name": "Net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": ["Default/none-op0"], "support_device": [0],
    }  # fmt: skip
    config = scratch / "dump.json"
    config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    script = scratch / "measure.py"
    script.write_text(classes() + f"\nMOST, COUNT = {MOST}, {len(FORMS)}\n" + MEASURE)
    environment = os.environ | {"MINDSPORE_DUMP_CONFIG": str(config), "GLOG_v": "4"}
    subprocess.run([python, str(script)], env=environment, cwd=scratch, check=True)
    return list(json.loads((scratch / "crossings.json").read_text()))


if __name__ == "__main__":
    from tests.data.crossings.forms import FORMS

    found = measured(sys.argv[1], Path(sys.argv[2]).resolve())
    rows = {form.expression if form.layer == "None" else form.layer: at for form, at in zip(FORMS, found, strict=True)}
    (HERE / "crossings.json").write_text(json.dumps(rows, indent=1) + "\n")
