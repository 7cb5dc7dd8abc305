"""``msdump diff`` of the texts that a run leaves: trees, directories of the recorder, goldens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.store import RunData, RunId, update
from tests.compare.helpers import operator
from tests.store.helpers import record
from tests.subprocesses import ROOT

SCRIPT = """\
import sys
import numpy as np
from harness import Tensor, context, nn
context.set_context(mode=0)
class Net(nn.Cell):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor
    def construct(self, x):
        return x * self.factor + x
Net(float(sys.argv[1]))(Tensor(np.arange(4, dtype=np.float32)))
"""
CONFIG = """{"common_dump_settings": {"dump_mode": 0, "path": "PATH", "net_name": "net", "iteration": "all",
"saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0},
"e2e_dump_settings": {"enable": true, "trans_flag": true}}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``tree2``, ``tree3``: dumps with the recorder's files, of other factors; ``rdr2``, ``rdr3``: its files alone."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "net.py").write_text(SCRIPT)
    for factor in ("2", "3"):
        config = folder / f"{factor}.json"
        config.write_text(CONFIG.replace("PATH", str(folder / f"tree{factor}")))
        base = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2"}
        for more in (
            {"MINDSPORE_DUMP_CONFIG": str(config), "MS_RDR_PATH": str(folder / f"tree{factor}")},
            {"MS_RDR_PATH": str(folder / f"rdr{factor}")},
        ):
            command = [sys.executable, "net.py", factor]
            subprocess.run(command, cwd=folder, env=base | more, check=True, stdin=subprocess.DEVNULL)
    return folder


def compared(folder: Path, one: str, other: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    sides = [str(folder / name) for name in (one, other)]
    code = main(["diff", *sides, "--json", str(folder / "out.json")])
    return code, json.loads((folder / "out.json").read_text()), capsys.readouterr().out


@pytest.mark.long
def test_trees_with_the_recorders_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, content, out = compared(folder, "tree2", "tree2", capsys)
    assert code == HOLDS
    assert "31 texts: 31 identical" in out
    assert {each["state"] for each in content["texts"]} == {"identical"}
    code, content, out = compared(folder, "tree2", "tree3", capsys)
    assert code == DIFFERS
    assert "Texts that are results differ:" in out
    assert "F32(2)" in out
    texts = {each["name"]: each for each in content["texts"]}
    changed = texts["rdr/PIPELINE.01_type_inference.ir"]
    assert (changed["state"], changed["kind"], changed["removed"], changed["added"]) == (
        "differs", "graph after a compile action", 1, 1,
    )  # fmt: skip
    assert "time stamp" in changed["normalised"]
    assert texts["rdr/PIPELINE.00_bootstrap.ir"]["state"] == "identical"


@pytest.mark.long
def test_directories_of_the_recorder_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, content, out = compared(folder, "rdr2", "rdr2", capsys)
    assert code == HOLDS
    assert content["holds"] is True
    assert "no tensor on either side" in out
    code, content, out = compared(folder, "rdr2", "rdr3", capsys)
    assert code == DIFFERS
    assert content["holds"] is False
    main(["diff", str(folder / "rdr2"), str(folder / "rdr3"), "--report", str(folder / "page.html")])
    assert '"holds":false' in (folder / "page.html").read_text()
    capsys.readouterr()
    assert "28 texts: 3 identical, 25 differing" in out
    # Of a tree that has tensors, too, only the texts are compared, as msdump check does.
    for one, other, code in (("rdr2", "tree2", HOLDS), ("tree2", "rdr2", HOLDS), ("tree2", "rdr3", DIFFERS)):
        found, _, out = compared(folder, one, other, capsys)
        assert found == code
        assert "no tensor was compared, " in out


@pytest.mark.long
def test_a_golden_holds_both_modes_of_the_recorder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.capture import read_tree
    from harness.capture.recorder import read_recorder

    capture = read_tree(folder / "tree2")
    written = read_recorder(folder / "tree2")
    texts = dict(capture.artefacts) | {f"rdr/2/{name}": text for name, text in written.items()}
    texts["rdr/1/SESSION.graph_exec_order.0.txt"] = b"Default/Other-op0\n"
    attrs = {"emulated": True}
    update(folder / "g.h5", "net", {RunId("cpu", "tensor"): RunData(list(capture.records()), texts, attrs)})
    code, content, out = compared(folder, "g.h5", "tree2", capsys)
    assert (code, content["counts"]["differs"]) == (HOLDS, 0)
    assert "31 texts: 31 identical" in out
    code, content, _ = compared(folder, "tree2", "g.h5", capsys)
    assert code == HOLDS
    update(folder / "h.h5", "net", {RunId("cpu", "tensor"): RunData(list(capture.records()), capture.artefacts, attrs)})
    code, _, out = compared(folder, "h.h5", "tree2", capsys)
    assert code == HOLDS
    assert f"only {folder / 'tree2'} has texts of the recorder (28): not compared" in out


def test_other_texts_only_describe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def data(text: bytes, emulated: bool, name: str) -> RunData:
        return RunData(operator("Default/Add-op0", [], [record([1.0]).values]), {name: text}, {"emulated": emulated})

    for emulated, name, code in (
        (True, "graphs/x.txt", HOLDS),
        (True, "compared/x", DIFFERS),
        (False, "rdr/1/x", DIFFERS),
        (None, "rdr/1/x", HOLDS),
    ):
        path = tmp_path / f"{code}{emulated}.h5"
        runs = {RunId("cpu", "a"): data(b"1\n", emulated is not False, name)}
        other = RunId("torch" if emulated is None else "cpu", "b")
        update(path, "net", {**runs, other: data(b"2\n", bool(emulated), name)})
        assert main(["diff", f"{path}::cpu/a", f"{path}::{other}"]) == code, name
        assert name in capsys.readouterr().out


def test_texts_are_judged_again_as_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, attrs = tmp_path / "out.json", {"emulated": True}
    for slots in (operator("Default/Add-op0", [], [record([1.0]).values]), []):
        path = tmp_path / f"{len(slots)}.h5"
        runs = {RunId("cpu", m): RunData(slots, {"compared/x": m.encode()[:1]}, attrs) for m in ("a", "b", "aa")}
        update(path, "net", runs)
        for mode, code in (("b", DIFFERS), ("aa", HOLDS)):
            assert main(["diff", f"{path}::cpu/a", f"{path}::cpu/{mode}", "--json", str(made)]) == code
            capsys.readouterr()
            assert main(["judge", str(made)]) == main(["judge", str(made), "--rtol", "1"]) == code
            assert ("texts that are results differ" in capsys.readouterr().out) is (code == DIFFERS)


def test_nothing_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    update(tmp_path / "x.h5", "net", {RunId("cpu", mode): RunData([]) for mode in "ab"})
    assert main(["diff", f"{tmp_path / 'x.h5'}::cpu/a", f"{tmp_path / 'x.h5'}::cpu/b"]) == CANNOT_TELL
    assert "Nothing was compared" in capsys.readouterr().out
