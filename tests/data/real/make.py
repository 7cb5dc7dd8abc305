"""Runs the scripts beside it under a real MindSpore and packs what its Dump wrote.

``python make.py PYTHON DIRECTORY``: PYTHON is an interpreter that has MindSpore 2.10.0; DIRECTORY a scratch directory
whose path may be seen in the results (the scripts are copied there).
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
NETS = ("train", "two_nets", "control", "odd", "values")
GRAPHS_ONLY = ("values",)


def run(python: str, scratch: Path, net: str) -> Path:
    """Runs one script with the dump of everything; returns its tree."""
    tree = scratch / net
    config = {
        "common_dump_settings": {
            "op_debug_mode": 0, "dump_mode": 0, "path": str(tree), "net_name": "Net", "iteration": "all",
            "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
        },
        "e2e_dump_settings": {"enable": True, "trans_flag": True},
    }  # fmt: skip
    (scratch / f"{net}.json").write_text(json.dumps(config))
    script = shutil.copy(HERE / f"{net}.py", scratch)
    environment = os.environ | {"MINDSPORE_DUMP_CONFIG": str(scratch / f"{net}.json"), "GLOG_v": "3"}
    subprocess.run([python, script], env=environment, cwd=scratch, check=True)
    return tree


def pack(tree: Path, target: Path, *, graphs_only: bool) -> None:
    """Packs a tree, owners and times left out, modes kept."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(tree.rglob("*")):
            name = path.relative_to(tree).as_posix()
            if graphs_only and "/Net" in name:
                continue
            entry = archive.gettarinfo(path, name)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = 0
            with path.open("rb") if path.is_file() else io.BytesIO() as file:
                archive.addfile(entry, file if path.is_file() else None)
    target.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))


if __name__ == "__main__":
    for one in NETS:
        pack(run(sys.argv[1], Path(sys.argv[2]), one), HERE / f"{one}.tar.gz", graphs_only=one in GRAPHS_ONLY)
