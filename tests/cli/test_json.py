"""``--json``: every command's result in the one schema that docs/reference/json.md describes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.capture import Capture
from harness.capture.capture import Problem
from harness.ci import VARIABLES as CI_VARIABLES
from harness.cli import check as check_module
from harness.cli import main, operands
from harness.cli import parser as parser_module
from harness.cli import ranks as ranks_module
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.records import Record
from harness.report import results
from harness.store import RunData, RunId, manifest, update
from harness.store.bundle import seal
from tests.compare.helpers import operator
from tests.subprocesses import ROOT

PAGE = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
#: parts with keys of their own: described elsewhere, or names from the data
_OPEN = {"counts", "arguments", "explanation", "steps", "pairing", "sides", "earliest", "features", "learned"}
X = np.linspace(1, 2, 6, dtype=np.float32)


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from () if name in _OPEN else keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from keys(each)


def undocumented(found: dict[str, Any]) -> set[str]:
    """Keys of a document that the page does not name, and what every document has and this lacks."""
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    of_slots = {"slots", "texts"} if found["command"] == "diff" else set()
    given = {name: each for name, each in found.items() if name not in of_slots}
    needed = {"format", "version", "tool", "command", "exit_code", "verdict", "comparisons"}
    return (set(keys(given)) - named) | (needed - set(found))


def run(factor: float = 1.0, rank: int = 0) -> list[Record]:
    made = X * np.float32(factor)
    return [*operator("Default/Mul-op0", [X], [made], "Mul", rank=rank), *operator("Default/Neg-op0", [X], [-X], "Neg")]


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    folder = tmp_path / "golden"
    folder.mkdir()
    update(
        folder / "net.h5", "net", {RunId("mindspore", "tensor"): RunData(run(), attrs={"tolerance": {"rtol": 1e-2}})}
    )
    manifest.rebuild(folder)
    return folder


def told(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    assert (found["format"], found["version"]) == (results.FORMAT, results.VERSION)
    assert not undocumented(found)
    return found


@pytest.mark.parametrize(("factor", "lost", "code"), [(1, 0, HOLDS), (1.5, 0, DIFFERS), (1, 1, CANNOT_TELL)])
def test_check_and_diff(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, lost: int, code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    problems = [Problem("Mul.npy", "damaged", "it is cut")] * lost
    capture = Capture("net", "mindspore", False, lambda: iter(run(factor)), problems=problems)
    for module in (check_module, operands):
        monkeypatch.setattr(module, "read_tree", lambda *_, **__: capture)
    tree, out = str(golden), tmp_path / "out.json"
    assert main(["check", tree, str(golden / "net.h5"), "--json", str(out)]) == code
    by_check = told(out)
    assert main(["diff", str(golden / "net.h5"), tree, "--json", str(out)]) == code
    by_diff = told(out)
    for found in (by_check, by_diff):
        (one,) = found["comparisons"]
        assert found["exit_code"] == code
        assert one["holds"] is (code == HOLDS)
        assert one["gaps"]["count"] == lost
        assert [each["why"] for each in one["gaps"]["listed"]] == ["it is cut"] * lost
        assert one["rule"] == "stored with the golden"
        assert (one["cause"] or {}).get("text") == (
            "output.0: found is expected times 1.5" if code == DIFFERS else None
        )
    assert main(["judge", str(out), "--rtol", "0.01"]) == code
    capsys.readouterr()
    assert main(["check", tree, str(golden / "net.h5"), "--json", "-"]) == code
    assert json.loads(capsys.readouterr().out)["comparisons"] == by_check["comparisons"]


def test_verify_and_audit(golden: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert main(["verify", str(golden), "--json", str(out)]) == HOLDS
    assert {name: told(out)[name] for name in ("problems", "stores", "runs", "tensors")} == {
        "problems": [], "stores": 1, "runs": 1, "tensors": 4,
    }  # fmt: skip
    (golden / "net.manifest.json").write_text("{}")
    assert main(["verify", str(golden), "--json", str(out)]) == DIFFERS
    assert len(told(out)["problems"]) == 1
    assert main(["audit", str(golden / "net.h5"), "--all", "--limit", "1e-4", "--json", str(out)]) == DIFFERS
    (audited,) = told(out)["runs"]
    assert (audited["slots"], audited["too_loose"], len(audited["listed"])) == (4, 4, 4)
    assert audited["largest"] == max(each["noise"] for each in audited["listed"]) > 1e-3


def test_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        each
        for rank, factor in ((0, 1), (1, 1), (3, 2))
        for each in operator("Default/Mul-op0", [X], [X * factor], rank=rank)
    ]
    capture = Capture("net", "cpu", True, lambda: iter(records))
    monkeypatch.setattr(ranks_module, "read_tree", lambda *_, **__: capture)
    out = tmp_path / "out.json"
    assert main(["ranks", str(tmp_path), "--equal", "*Mul*:*", "--json", str(out)]) == DIFFERS
    found = told(out)
    assert (found["slots"], found["ranks"], found["ranks_missing"]) == (2, [0, 1, 3], [2])
    (leaving,) = found["leaving"]
    assert (leaving["slot"], leaving["equal_on"], leaving["differs_on"]) == ("output.0", [0, 1], [3])


def test_ranks_that_left(golden: Path, tmp_path: Path) -> None:
    for name, factor in (("good.h5", 1.0), ("bad.h5", 2.0)):
        made = [
            each
            for rank in range(3)
            for each in operator("Default/Mul-op0", [X], [X * np.float32(factor if rank == 1 else 1)], rank=rank)
        ]
        update(tmp_path / name, "net", {RunId("torch", "tensor"): RunData(made)})
    good, bad, out = str(tmp_path / "good.h5"), str(tmp_path / "bad.h5"), tmp_path / "out.json"
    assert main(["ranks", bad, good, "--json", str(out)]) == DIFFERS
    found = told(out)
    assert (found["first"]["ranks"], found["first"]["operator"], found["gaps"]["count"]) == ([1], "Default/Mul-op0", 0)
    assert main(["ranks", good, good, "--json", str(out)]) == HOLDS
    assert (told(out)["first"], told(out)["also"]) == (None, [])


def test_review(golden: Path, tmp_path: Path) -> None:
    bundle, out = tmp_path / "bundle", tmp_path / "out.json"
    bundle.mkdir()
    for name, factor in (("net.h5", 1.5), ("new.h5", 1.0)):
        update(bundle / name, "net", {RunId("mindspore", "tensor"): RunData(run(factor))})
    seal(bundle, {})
    assert main(["review", str(bundle), "--golden", str(golden), "--json", str(out)]) == DIFFERS
    first, second = told(out)["candidates"]
    assert first["comparison"]["counts"]["differs"] == 1
    assert (second["comparison"], second["why"]) == (None, "there is no golden yet: all is new")


def test_every_command_has_it() -> None:
    lacking = {
        name
        for name, each in parser_module._own().items()
        if not each.hidden and "as_json" not in inspect.signature(each.callback).parameters  # type: ignore[arg-type]
    }
    assert lacking == {"run", "env"}


def test_what_writes_and_shows(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store, out = str(golden / "net.h5"), tmp_path / "out.json"

    def does(*words: str, code: int = HOLDS) -> dict[str, Any]:
        assert main([*words, "--json", str(out)]) == code
        found = told(out)
        assert (found["command"], found["exit_code"]) == (words[0], code)
        capsys.readouterr()
        return found

    (listed,) = does("show", str(golden))["stores"]
    assert (listed["store"], listed["runs"]) == ("net.h5", [{"run": "mindspore/tensor", "slots": 4}])
    (shown,) = does("show", store)["runs"]
    assert (shown["run"], shown["count"], len(shown["slots"])) == ("mindspore/tensor", 4, 4)
    assert {each["max"] for each in does("show", store, "--operator", "Neg")["runs"][0]["slots"]} == {2.0, -1.0}
    assert {each["name"] for each in does("backends")["backends"]} >= {"cpu", "gpu", "mindspore"}
    assert [each["name"] for each in does("backends", "gpu")["devices"]] == ["gpu"]
    project = tmp_path / "project"
    made = does("init", str(project))
    assert (len(made["written"]), made["there"], made["next"]) == (4, [], "(cd project && msdump regen)")
    assert not does("init", str(project))["written"]
    assert any("msdump regen" in each["todo"] for each in does("doctor", str(project), code=DIFFERS)["findings"])
    assert does("convert", store, "x.npz")["tensors"] == 4
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    update(bundle / "net.h5", "net", {RunId("mindspore", "tensor"): RunData(run(1.5))})
    seal(bundle, {})
    main(["diff", store, str(bundle / "net.h5"), "--json", "diff.json"])
    assert does("judge", "diff.json", "--rtol", "1e-3", code=DIFFERS)["counts"]["identical"] == 3
    learned = does("learn", store, f"{bundle / 'net.h5'}", "--dry-run", code=DIFFERS)
    assert not learned["kept"]
    assert learned["refused"]
    (accepted,) = does("accept", str(bundle), "--golden", str(golden))["accepted"]
    assert (accepted["changed"], accepted["unchanged"]) == (1, 3)
    main(["diff", store, store, "--report", "page.html"])
    (page,) = does("report", "page.html", "--join", "all.html")["runs"]
    assert page["holds"]


@pytest.mark.long
def test_what_runs_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_a.py").write_text("def test_it(msdump):\n    msdump.check('a', 1)\n")
    assert main(["regen", "--json", "-"]) == HOLDS
    found = json.loads(capfd.readouterr().out)
    assert (found["command"], found["act"], found["comparisons"][0]["new"]) == ("pytest", "regen", 1)
    (tmp_path / "test_a.py").write_text("")
    for words, key in ((["--dry-run"], "unused"), ([], "removed")):
        assert main(["prune", *words, "--json", "out.json"]) == HOLDS
        assert told(tmp_path / "out.json")[key] == ["test_a/test_it.h5"]
