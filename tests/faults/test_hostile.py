"""Goldens, trees and bundles from elsewhere: no command prints control characters, follows a link, waits for a pipe, or
ends with a traceback."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness import Tensor, float32, save_checkpoint
from harness.cli import main
from harness.graph import pb
from harness.store import RunData, manifest, update
from tests.faults.steps import AFTER, run
from tests.store.helpers import CPU, record, run_data
from tests.test_escape import is_clean

pytestmark = pytest.mark.faults

NASTY = "Default/\x1b]0;owned\x07\x9b\u202e/MatMul-op0"
FORMULA = "=1+1|cmd"


def store(path: Path, operator: str, *values: float) -> Path:
    update(
        path,
        "n\x1b[2J",
        {CPU: RunData([record([*values], operator, source="a\x1b.py:1")], {"rdr/1/a\x07.txt": b"\x1b"})},
    )
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Two goldens that differ, of operators with hostile names."""
    return str(store(tmp_path / "a.h5", NASTY, 1.0, 2.0)), str(store(tmp_path / "b.h5", NASTY, 1.5, 2.0))


def test_no_command_prints_a_control_character(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = pair
    figures = str(tmp_path / "f.json")
    for arguments in (
        ["show", one], ["show", one, "--all"], ["show", one, "--text", "*"], ["show", one, "--operator", "*MatMul*"],
        ["show", one, "--slot", "output.0"], ["audit", one, "--all"], ["learn", one, other, "--dry-run"],
        ["diff", one, other], ["diff", one, other, "--csv", "-"], ["diff", one, other, "--json", "-"],
        ["diff", one, other, "--report", "-"], ["diff", one, other, "--json", figures], ["judge", figures],
        ["show", str(tmp_path)], ["show", one + NASTY], ["check", str(tmp_path), one],
    ):  # fmt: skip
        main(arguments)
        said = capsys.readouterr()
        assert is_clean(said.out + said.err, "\n\t"), arguments
        assert "Traceback" not in said.err


def test_no_name_begins_a_line_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = "\nFORGED\r\nFORGED\u2028FORGED"
    for at, name in enumerate(("a.h5", "b.h5", f"g/c{forged}.h5", f"bundle/c{forged}.h5")):
        first = record([1.0, at], f"Default/x{forged}/MatMul-op0", source=f"s{forged}.py:1")
        (tmp_path / name).parent.mkdir(exist_ok=True)
        data = RunData([first, record([2.0], "Default/y/Add-op0")], {f"rdr/1/a{forged}.txt": b"text"})
        update(tmp_path / name, f"n{forged}", {CPU: data})
    manifest.rebuild(tmp_path / "bundle")
    one, other, goldens, bundle, figures = (str(tmp_path / each) for each in ("a.h5", "b.h5", "g", "bundle", "f.json"))
    for arguments in (
        ["show", one], ["show", one, "--all"], ["show", one, "--text", "*"], ["show", one, "--operator", "*MatMul*"],
        ["show", one, "--slot", "output.0"], ["show", goldens], ["show", one + forged], ["audit", one, "--all"],
        ["diff", one, other], ["diff", one, other, "--exact"], ["learn", one, other, "--dry-run"],
        ["learn", one, other, "--force"], ["verify", goldens], ["verify", "--fix", goldens],
        ["review", bundle, "--golden", goldens, "--list"], ["accept", bundle, "--golden", goldens],
        ["import", one + forged, other],
        ["check", one + forged, other], ["diff", one, other, "--json", figures], ["judge", figures],
        ["judge", one + forged], ["convert", "-d", one + forged],
    ):  # fmt: skip
        main(arguments)
        said = capsys.readouterr()
        assert not [line for line in (said.out + said.err).splitlines() if line.startswith("FORGED")], arguments


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("errors", ["strict", "ascii:strict"])
def test_names_that_are_no_utf8(tmp_path: Path, errors: str) -> None:
    path = store(tmp_path / "a.h5", os.fsdecode(b"Default/\xff\xfe/MatMul-op0"), 1.0)
    coding = errors if ":" in errors else f"utf-8:{errors}"
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "show", "--all", str(path)],
        env={**os.environ, "PYTHONIOENCODING": coding},
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\udcff" in done.stdout


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    one, other = (str(store(tmp_path / f"{at}.h5", FORMULA, at)) for at in (1.0, 2.0))
    assert main(["diff", one, other, "--csv", str(tmp_path / "d.csv")]) == 1
    assert "'=1+1|cmd" in (tmp_path / "d.csv").read_text()
    assert ",=" not in (tmp_path / "d.csv").read_text()


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A directory of the recorder."""
    folder = tmp_path / "r" / "rank_0" / "rdr"
    folder.mkdir(parents=True)
    (folder / "SESSION.task.1.20260101000000.txt").write_text("inside\n")
    return tmp_path / "r"


def test_a_text_that_is_a_link_to_outside_is_refused(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_text("password")
    (recorded / "rank_0/rdr/SESSION.leak.2.20260101000000.txt").symlink_to(tmp_path / "secret")
    for arguments in (["show", str(recorded), "--text", "*"], ["show", str(recorded)]):
        assert main(arguments) == 2
        said = capsys.readouterr()
        assert "password" not in said.out + said.err
        assert "outside of the tree" in said.err
        assert said.err.count("\n") == 1


def test_a_text_that_is_a_pipe_is_refused(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(recorded / "rank_0/rdr/SESSION.pipe.2.20260101000000.txt")
    assert main(["show", str(recorded)]) == 2
    assert "a pipe" in capsys.readouterr().err


def test_a_graph_with_texts_that_are_none(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = pb.CLASSES["ModelProto"](ir_version=1)
    model.graph.node.add(name="1", op_type="Add", source_address="abcd")
    raw = model.SerializeToString().replace(b"abcd", b"a\xff\xfe\x1b")
    (recorded / "rank_0/rdr/SESSION.graph_build.0.1.20260101000000.pb").write_bytes(raw)
    assert main(["show", str(recorded), "--text", "*"]) == 0
    assert main(["diff", str(recorded), str(recorded)]) in (0, 2)
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert is_clean(said.out, "\n\t")


PIPED: list[list[str]] = [
    ["judge", "PIPE"], ["diff", "A", "A", "--tolerances", "PIPE"], ["run", "--config", "PIPE", "SCRIPT"],
    ["run", "--msprobe", "PIPE", "SCRIPT"], ["show", "PIPE"], ["show", "PIPE.npy"], ["accept", "PIPE"],
    ["check", "PIPE", "A"], ["diff", "A", "PIPE"], ["learn", "A", "PIPE"], ["audit", "PIPE"],
    ["import", "PIPE", "new.h5"], ["report", "--join", "new.html", "PIPE"], ["run", "--missing", "PIPE.py"], ["init"],
]  # fmt: skip


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("arguments", PIPED, ids=" ".join)
def test_no_command_waits_for_a_pipe(arguments: list[str], tmp_path: Path) -> None:
    for name in ("PIPE", "PIPE.npy", "PIPE.py", ".gitattributes"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "SCRIPT").write_text("")
    store(tmp_path / "A", "Default/Add-op0", 1.0)

    def command() -> None:
        os.chdir(tmp_path)
        sys.exit(main(arguments))

    outcome = run(command, under=tmp_path)  # a child that hangs is ended, and the run fails
    assert outcome.code == 2
    assert "Traceback" not in outcome.output


DAMAGED: dict[str, Any] = {"float": 1e999, "text": "x", "list": [1], "negative": -1, "none": None, "true": True}


@pytest.mark.parametrize("given", DAMAGED)
def test_a_comparison_with_odd_counts(
    given: str, pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.json"
    assert main(["diff", *pair, "--json", str(file)]) == 1
    content = json.loads(file.read_text())
    content["counts"]["identical"] = DAMAGED[given]
    file.write_text(json.dumps(content))
    capsys.readouterr()
    assert main(["judge", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "the counts of slots that agree" in said


def test_a_tolerance_of_very_many_digits(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (
        "default = " + "9" * 5000,
        "default = " + "[" * 50_000,
        "default = { rtol = " + "9" * 5000 + " }",
        "a." * 20_000 + "b = 1",
    ):
        (tmp_path / "t.toml").write_text("[tolerance]\n" + text)
        assert main(["diff", *pair, "--tolerances", str(tmp_path / "t.toml")]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def bundle(folder: Path) -> bytes:
    """A zip archive of a golden."""
    update(folder / "a.h5", "a", {CPU: run_data()})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "a.h5", "a.h5")
    return file.getvalue()


def test_a_bundle_with_any_damage_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = bundle(tmp_path)
    for at in range(0, len(whole), max(1, len(whole) // 60)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x55
        (tmp_path / "b.zip").write_bytes(damaged)
        code = main(["accept", str(tmp_path / "b.zip"), "--golden", str(tmp_path / "golden")])
        said = capsys.readouterr().err
        assert code == 0 or (code == 2 and said.count("\n") == 1 and said.startswith("msdump: ")), said


@pytest.mark.long
def test_temporary_files_of_killed_commands_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch, work = tmp_path / "tmp", tmp_path / "work"
    scratch.mkdir()
    work.mkdir()
    (tmp_path / "b.zip").write_bytes(bundle(work))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    def accept() -> None:
        sys.exit(main(["accept", str(tmp_path / "b.zip"), "--golden", str(tmp_path / "golden")]))

    seen = 0
    steps = run(accept, under=scratch).steps
    assert any(step.path.endswith("a.h5") for step in steps)
    for at in range(1, len(steps) + 1):
        assert run(accept, under=scratch, at=at, how=AFTER).code in (None, 0)  # the number of steps is not the same
        seen += bool(os.listdir(scratch))
        assert run(accept, under=scratch).code == 0
        assert os.listdir(scratch) == []
    assert seen > 3


@pytest.mark.long
def test_temporary_files_of_killed_savers_are_swept(tmp_path: Path) -> None:
    path = tmp_path / "net.ckpt"
    parameters = [{"name": "w", "data": Tensor([1.0, 2.0], float32)}]

    def save() -> None:
        save_checkpoint(parameters, str(path))

    steps = run(save, under=tmp_path).steps
    whole = path.read_bytes()
    left = 0
    for at in range(1, len(steps) + 1):
        assert run(save, under=tmp_path, at=at, how=AFTER).code in (None, 0)  # what is not there is not unlinked
        left += len(os.listdir(tmp_path)) > 1
        assert path.read_bytes() == whole
        assert run(save, under=tmp_path).code == 0
        assert os.listdir(tmp_path) == ["net.ckpt"]
    assert left > 0


def test_what_a_living_saver_writes_is_left_alone(tmp_path: Path) -> None:
    from harness.atomic import create_held, sweep_abandoned

    path = tmp_path / "net.ckpt"
    held = create_held(tmp_path / f".net.ckpt.{os.getpid()}.tmp")
    (tmp_path / ".net.ckpt.1.tmp").write_bytes(b"abandoned")
    (tmp_path / ".net.ckpt.x.tmp").write_bytes(b"somebody's")
    (tmp_path / ".net.ckpt.2.tmp").symlink_to("net.ckpt")
    outcome = run(lambda: sweep_abandoned(path), under=tmp_path)
    os.close(held)
    assert outcome.code == 0
    assert sorted(os.listdir(tmp_path)) == sorted(
        [f".net.ckpt.{os.getpid()}.tmp", ".net.ckpt.x.tmp", ".net.ckpt.2.tmp"]
    )


def test_manifests_of_nothing_are_read(tmp_path: Path) -> None:
    path = store(tmp_path / "x.h5", "Default/Add-op0", 1.0)
    manifest.rebuild(tmp_path)
    described = tmp_path / manifest.path_of(path.name)
    described.unlink(missing_ok=True)
    os.mkfifo(described)
    outcome = run(lambda: manifest.read(tmp_path), under=tmp_path)
    assert outcome.code == 70
    assert "a pipe" in outcome.output


def test_each_attack_of_the_page_has_its_test() -> None:
    root = Path(__file__).parents[2]
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (root / "docs" / "security.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    for file, test in named:
        assert f"\ndef {test}(" in (root / file).read_text(encoding="utf-8"), f"{file}::{test}"
