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
from tests.rdr.process import found as left

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent / "ranks"
#: what a row says -> ranks, script and its arguments
CASES = {
    "collectives, 2 ranks": (2, "collectives.py"),
    "collectives, 4 ranks": (4, "collectives.py"),
    "PyNative, 2 ranks": (2, "reducer.py"),
    "Adam, sum, 4 ranks": (4, "training.py", "adam"),
    "Momentum, mean, 2 ranks": (2, "training.py", "mean"),
    "Momentum, sum, 4 ranks": (4, "training.py"),
    "Adam, mean, 2 ranks": (2, "training.py", "adam", "mean"),
    "groups of 4 ranks": (4, "groups.py"),
    "tensor parallelism, 2 ranks": (2, "tensor_parallel.py"),
    "tensor parallelism, 4 ranks": (4, "tensor_parallel.py"),
    "pipeline, 2 ranks": (2, "pipeline.py"),
    "pipeline, 4 ranks": (4, "pipeline.py"),
    "loss scale, BatchNorm, 2 ranks": (2, "scaled.py"),
    "weight decay, Momentum, 2 ranks": (2, "decay.py", "momentum"),
    "weight decay, Adam, groups, loss scale, 4 ranks": (4, "decay.py", "adam", "groups", "scaled"),
    "weight decay, Adagrad, changing, 2 ranks": (2, "decay.py", "adagrad", "changing"),
    "weight decay, FTRL, 2 ranks": (2, "decay.py", "ftrl"),
    "weight decay, PyNative, 2 ranks": (2, "decay.py", "momentum", "pynative"),
    "sums and reductions, 2 ranks": (2, "sums.py"),
}
#: scripts whose lines are compared: they dump nothing, or sums that cancel
SAID = {
    "checkpoints, evaluation, 2 ranks": (2, "checkpoints.py"),
    "refused by a CPU, 2 ranks": (2, "refused.py"),
    "refused by a CPU, 4 ranks": (4, "refused.py"),
    "functions of mint.distributed, 2 ranks": (2, "functions.py"),
    "reductions of mint.distributed, 2 ranks": (2, "mint.py"),
    "gradients, 2 ranks": (2, "gradients.py"),
    "gradients, 4 ranks": (4, "gradients.py"),
    "sharded datasets, 2 ranks": (2, "shards.py"),
    "sharded datasets, 4 ranks": (4, "shards.py"),
}
FAILING = {"one rank raises, 2 ranks": (2, "failing.py", "raises"), "one rank exits, 2 ranks": (2, "failing.py")}
INTRO = """
Each script runs as so many ranks under `msrun` of MindSpore 2.10.0 on a CPU, and under `msdump run --ranks`:
directories, operators, order, slots and dtypes are equal on each rank, and so are the lines that the script prints.
A sum over ranks is added in the order of a ring there, and is exact here. There all ranks append to the files
`ms_global_execution_order_graph_N.csv` of `rank_0`, as they come; here rank 0 alone does, and they are not compared.
"""
SAID_INTRO = """
These print what each call gives, or the class of its error; the lines of each rank are equal. Where one rank fails,
both launchers end with another exit code than 0, and no line comes that a later sum would give.
"""


def environment(out: Path, size: int, rdr: int = 0, **settings: object) -> dict[str, str]:
    """Of a process that dumps everything of every rank below ``out`` (made here), or records in mode ``rdr``;
    ``settings``: of the dump."""
    out.mkdir(parents=True)
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": str(out / "tree"), "net_name": "Net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": list(range(size)),
        **settings,
    }  # fmt: skip
    config = out / "data_dump.json"
    config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    given = {**os.environ, "GLOG_v": "3", "OMP_NUM_THREADS": "1"}
    if rdr:
        return given | {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": str(rdr), "MS_RDR_PATH": str(out / "rdr")}
    return given | {"MINDSPORE_DUMP_CONFIG": str(config)}


def real(python: str, out: Path, size: int, *script: str, rdr: int = 0, **settings: object) -> int:
    """Runs a script under ``msrun``; gives its exit code."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    given = environment(out, size, rdr, **settings)
    given["PATH"] = f"{Path(python).parent}{os.pathsep}{given['PATH']}"
    given.pop("PYTHONPATH", None)
    return subprocess.run(
        [str(Path(python).with_name("msrun")), f"--worker_num={size}", f"--local_worker_num={size}",
         f"--master_port={port}", f"--log_dir={out / 'log'}", "--join=True", str(HERE / script[0]), *script[1:]],
        cwd=out, env=given, capture_output=True, text=True, timeout=500, check=False,
    ).returncode  # fmt: skip


def own(out: Path, size: int, *script: str, rdr: int = 0, **settings: object) -> int:
    """Runs a script under ``msdump run --ranks``; gives its exit code."""
    given = {**environment(out, size, rdr, **settings), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "harness.cli", "run", "--ranks", str(size), "--logs", str(out / "log")]
    return subprocess.run(
        [*command, str(HERE / script[0]), *script[1:]],
        cwd=out, env=given, capture_output=True, text=True, timeout=500, check=False,
    ).returncode  # fmt: skip


def lines(out: Path, size: int) -> list[list[str]]:
    """What the script says on each rank, for the other side."""
    logs = [(out / "log" / f"worker_{rank}.log").read_text(encoding="utf-8") for rank in range(size)]
    return [[line for line in log.splitlines() if line.startswith("said ")] for log in logs]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_the_same_trees(name: str, mindspore_python: str, tmp_path: Path, interop_table: Table) -> None:
    size, *script = CASES[name]
    there, here = tmp_path / "real", tmp_path / "own"
    assert (real(mindspore_python, there, size, *script), own(here, size, *script)) == (0, 0)
    assert lines(here, size) == lines(there, size)
    assert {path.name for path in (here / "tree").iterdir()} == {f"rank_{rank}" for rank in range(size)}
    assert files(here / "tree") == files(there / "tree")
    found = compared(here / "tree", there / "tree")
    interop_table.section("Several ranks", intro=INTRO, head="script", names=[*CASES]).add(name, found)
    assert found.slots
    assert not found.faults, "\n".join(found.faults[:40])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [*SAID, *FAILING])
def test_the_same_lines(name: str, mindspore_python: str, tmp_path: Path, interop_table: Table) -> None:
    size, *script = {**SAID, **FAILING}[name]
    there, here = tmp_path / "real", tmp_path / "own"
    codes = real(mindspore_python, there, size, *script), own(here, size, *script)
    assert [bool(code) for code in codes] == [name in FAILING] * 2
    found = lines(here, size)
    columns, names = ("lines", "refused", "ends with"), [*SAID, *FAILING]
    section = interop_table.section("Several ranks: what is said", columns, SAID_INTRO, "script", names)
    refused = sum(" refused: " in line for line in found[0])
    cells = {"lines": len(found[0]), "refused": refused, "ends with": "an error" if codes[1] else "0"}
    section.rows[name] = cells
    assert found[0]
    assert found == lines(there, size)


#: settings of a dump that differ from rank to rank, or choose operators
SETTINGS = {
    "support_device [0]": {"support_device": [0]},
    "support_device [1]": {"support_device": [1]},
    "AllReduce alone, iteration 1": {"kernels": ["AllReduce"], "dump_mode": 1, "iteration": "1"},
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_files_under_settings(name: str, mindspore_python: str, tmp_path: Path) -> None:
    there, here = tmp_path / "real", tmp_path / "own"
    given = SETTINGS[name]
    assert real(mindspore_python, there, 2, "training.py", **given) == 0
    assert own(here, 2, "training.py", **given) == 0
    assert tensors(here / "tree") == tensors(there / "tree")


def tensors(tree: Path) -> list[tuple[str, ...]]:
    """Directories and tensors of a tree, without the numbers that a launch gives."""
    found = []
    for path in sorted(tree.rglob("*")):
        *folder, name = path.relative_to(tree).parts
        if "constants" in (*folder, name):
            continue
        parts = name.split(".")
        found.append((*folder, ".".join([*parts[:2], *parts[5:]]) if path.suffix == ".npy" else name))
    return sorted(found)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("how", ["compile", "kernel", "script"])
def test_the_recorder_of_a_failing_rank(how: str, mode: int, mindspore_2_7_python: str, tmp_path: Path) -> None:
    found = []
    for run in (lambda out: real(mindspore_2_7_python, out, 2, "recorded.py", how, rdr=mode),
                lambda out: own(out, 2, "recorded.py", how, rdr=mode)):  # fmt: skip
        out = tmp_path / str(len(found))
        assert run(out) != 0
        assert lines(out, 2)[0] == ["said first Float32[[4.0, 4.0], [4.0, 4.0]]"]
        found.append([artefacts_of(out / "rdr" / f"rank_{rank}") for rank in range(2)])
    assert found[1] == found[0]


def artefacts_of(folder: Path) -> dict[object, int]:
    """How often each artefact is there; a second list of addresses has the name of the first if both are of one
    second, so that one counts."""
    return {key: 1 if "mem_address_list" in key else count for key, count in left(folder).items()}


def files(tree: Path) -> set[tuple[str, ...]]:
    """Directories and texts of a tree, without the constants that the real one leaves out, and without the global
    orders, see ``INTRO``."""
    return {
        path.relative_to(tree).parts
        for path in tree.rglob("*")
        if path.suffix != ".npy" and "constants" not in path.parts and "ms_global_execution_order" not in path.name
    }
