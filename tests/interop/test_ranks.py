"""Scripts of several ranks under ``msdump run --ranks`` and MindSpore's ``msrun``: the same trees, rank by rank."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.table import Table
from tests.interop.trees import ROOT, compared

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent / "ranks"
CASES = {
    "collectives, 2 ranks": (2, "collectives.py"),
    "PyNative, 2 ranks": (2, "reducer.py"),
    "Adam, sum, 4 ranks": (4, "training.py", "adam"),
}
INTRO = """
Each script runs as so many ranks under `msrun` of MindSpore 2.10.0 on a CPU, and under `msdump run --ranks`:
directories, operators, order, slots and dtypes are equal on each rank. A sum over ranks is added in the order of a
ring there, and is exact here.
"""


def environment(out: Path, size: int) -> dict[str, str]:
    """Of a process that dumps everything of every rank below ``out`` (made here)."""
    out.mkdir(parents=True)
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": str(out / "tree"), "net_name": "Net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": list(range(size)),
    }  # fmt: skip
    config = out / "data_dump.json"
    config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    return {**os.environ, "MINDSPORE_DUMP_CONFIG": str(config), "GLOG_v": "3", "OMP_NUM_THREADS": "1"}


def real(python: str, out: Path, size: int, *script: str) -> Path:
    """The tree under ``msrun``."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    given = environment(out, size)
    given["PATH"] = f"{Path(python).parent}{os.pathsep}{given['PATH']}"
    given.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(Path(python).with_name("msrun")), f"--worker_num={size}", f"--local_worker_num={size}",
         f"--master_port={port}", f"--log_dir={out / 'log'}", "--join=True", str(HERE / script[0]), *script[1:]],
        cwd=out, env=given, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return out / "tree"


def own(out: Path, size: int, *script: str) -> Path:
    """The tree under ``msdump run --ranks``."""
    given = {**environment(out, size), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", "--ranks", str(size), str(HERE / script[0]), *script[1:]],
        cwd=out, env=given, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return out / "tree"


@pytest.mark.parametrize("name", CASES)
def test_the_same_trees(name: str, mindspore_python: str, tmp_path: Path, interop_table: Table) -> None:
    size, *script = CASES[name]
    there, here = real(mindspore_python, tmp_path / "real", size, *script), own(tmp_path / "own", size, *script)
    assert {path.name for path in here.iterdir()} == {f"rank_{rank}" for rank in range(size)}
    assert files(here) == files(there)
    found = compared(here, there)
    interop_table.section("Several ranks", intro=INTRO, head="script").add(name, found)
    assert found.slots
    assert not found.faults, "\n".join(found.faults[:40])


def files(tree: Path) -> set[tuple[str, ...]]:
    """Directories and texts of a tree, without the constants that the real one leaves out."""
    return {
        path.relative_to(tree).parts
        for path in tree.rglob("*")
        if path.suffix != ".npy" and "constants" not in path.parts
    }
