"""``msdump show`` and ``msdump check`` of the recorder's files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from harness import backends, nn, ops
from harness.capture import read_tree
from harness.cli import main
from harness.rdr import RdrConfig, RdrObserver
from harness.store import RunData, RunId, update
from tests.framework.compile.build import floats, graph_mode

X = floats(2, 3)


class Net(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.exp(ops.sin(x))


class Other(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.exp(ops.cos(x))


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A golden of one run on ``cpu`` in mode ``tensor``, with what the recorder wrote."""
    with graph_mode():
        capture = backends.get("cpu").run(lambda: Net()(X), network="net", rdr=True)
    path = tmp_path / "net.h5"
    attrs = {"emulated": True}
    update(path, "net", {RunId("cpu", "tensor"): RunData(list(capture.records()), capture.artefacts, attrs)})
    return path


def run(folder: Path, network: type[nn.Cell] = Net, dumps: bool = False) -> Path:
    """A directory with what the recorder (and the dump) wrote of another run."""
    with graph_mode(), backends.get("cpu").open(network="net") as process:
        process.session.recording.add(RdrObserver(RdrConfig(True, 2, f"{folder}/")))
        if dumps:
            process.keep_tree(folder)
        process.execute(lambda: network()(X))
    return folder


def test_a_directory_of_the_recorder_is_checked(
    tmp_path: Path, golden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(tmp_path / "rec")
    for given in (folder, folder / "rank_0", folder / "rank_0" / "rdr"):
        assert main(["check", str(given), str(golden)]) == 0
    out = capsys.readouterr().out
    assert f"{folder} and run cpu/tensor of {golden}: recorder, mode 2\n28 texts: 28 identical" in out


def test_a_difference_is_shown(tmp_path: Path, golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(run(tmp_path / "rec", Other)), str(golden)]) == 1
    out = capsys.readouterr().out
    assert "Sin" in out
    assert "Cos" in out
    assert "PIPELINE.00_bootstrap.ir: golden " in out
    assert len(out.splitlines()) <= 40
    assert len(out.encode()) <= 4096


def test_tensors_and_artefacts_in_one_directory(
    tmp_path: Path, golden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = run(tmp_path / "same", dumps=True)
    assert main(["check", str(same), str(golden)]) == 0
    out = capsys.readouterr().out
    assert "slots: " in out
    assert "28 texts: 28 identical" in out
    next((same / "rank_0" / "rdr").glob("*exec_order*")).unlink()
    assert main(["check", str(same), str(golden)]) == 1
    assert "SESSION.graph_exec_order.0.txt: the golden has it" in capsys.readouterr().out


@pytest.mark.long
def test_a_golden_without_it(tmp_path: Path, golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with graph_mode():
        capture = backends.get("cpu").run(lambda: Net()(X), network="net")
    data = RunData(list(capture.records()), capture.artefacts, {"emulated": True})
    update(golden, "net", {RunId("cpu", "tensor"): data})
    assert main(["check", str(run(tmp_path / "rec")), str(golden)]) == 2
    assert main(["check", str(run(tmp_path / "both", dumps=True)), str(golden)]) == 0
    assert "28 artefacts were not compared" in capsys.readouterr().out


def test_show(tmp_path: Path, golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(tmp_path / "rec")
    assert main(["show", str(folder)]) == 0
    out = capsys.readouterr().out
    assert f"{folder}: 28 artefacts of the recorder" in out
    assert "SESSION.graph_exec_order.0.txt" in out
    for given in (folder, golden):
        assert main(["show", str(given), "--text", "graph_exec_order.0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    one, two = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    assert one[0] == "== SESSION.graph_exec_order.0.txt"
    assert two[0] == "== cpu/tensor rdr/2/SESSION.graph_exec_order.0.txt"
    assert one[1:] == two[1:]
    assert any("Sin" in line for line in one)
    assert main(["show", str(golden), "--text", "*.pb"]) == 0
    assert 'full_name: "Default/Sin-op0"' in capsys.readouterr().out
    assert main(["show", str(folder), "--text", "graph_exec_ordr.0"]) == 2
    assert "there are SESSION.graph_exec_order.0.txt" in capsys.readouterr().err
    for given in (folder, golden):
        assert main(["show", str(given)]) == 0
        out = capsys.readouterr().out
        (command,) = re.findall(r"`msdump (show .*)` prints the first", out)
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out.startswith("== ")


def test_what_to_run_next(tmp_path: Path, golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(tmp_path / "a directory of the recorder's", Other)
    text = next((folder / "rank_0" / "rdr").glob("*exec_order*"))
    for changed, count in ((lambda: None, 2), (lambda: text.rename(text.with_name("A.0.txt")), 1)):
        changed()
        assert main(["check", str(folder), str(golden)]) == 1
        steps = capsys.readouterr().out.partition("What to run next:\n")[2].splitlines()
        assert len(steps) == count
        for step in steps:
            program, *words = shlex.split(step)
            assert program == "msdump"
            assert main(words) == 0, step
            assert len([line for line in capsys.readouterr().out.splitlines() if line.startswith("== ")]) == 1


def test_show_of_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run(tmp_path / "both", dumps=True))]) == 0
    out = capsys.readouterr().out
    assert "dump tree, network" in out
    assert "28 artefacts of the recorder" in out
    assert main(["show", str(tmp_path / "both"), "--text", "*"]) == 0
    names = [line[3:] for line in capsys.readouterr().out.splitlines() if line.startswith("== ")]
    tree = read_tree(tmp_path / "both").artefacts
    assert tree
    assert names == [*tree, *(name for name in names if name not in tree)]
    assert len(names) == len(tree) + 28
    for name in tree:
        assert main(["show", str(tmp_path / "both"), "--text", name]) == 0
        assert tree[name].decode().splitlines()[0] in capsys.readouterr().out
