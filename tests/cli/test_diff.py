"""``msdump diff`` and ``msdump judge``: two runs beside one another, and their figures judged again."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.cli import main
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.compare.table import COLUMNS
from harness.records import Record
from harness.store import GoldenStore, RunData, RunId, update
from tests.compare.helpers import operator
from tests.subprocesses import ROOT

X, W = np.arange(12, dtype=np.float32).reshape(3, 4), np.full((4, 2), 0.5, np.float32)


def net(factor: float = 1.0, steps: int = 2) -> list[Record]:
    """MatMul and ReLU for each step; from the second on, the product is ``factor`` times what it should be."""
    records = []
    for iteration in range(steps):
        product = (X @ W * np.float32(factor if iteration else 1)).astype(np.float32)
        records += operator("Default/MatMul-op0", [X, W], [product], "MatMul", iteration=iteration)
        records += operator("Default/ReLU-op0", [product], [np.maximum(product, 0)], "ReLU", iteration=iteration)
    return records


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a run and two that are off by a little and by much."""
    path = tmp_path / "net.h5"
    runs = {"plain": net(), "near": net(1 + 2**-20), "far": net(1.5), "short": net()[:-2]}
    update(path, "net", {RunId("mindspore", name): RunData(records) for name, records in runs.items()})
    return path


def both(store: Path, other: str) -> list[str]:
    return ["diff", f"{store}::mindspore/plain", f"{store}::mindspore/{other}"]


def test_equal_runs(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(both(store, "plain")) == HOLDS
    assert "10 slots: 10 identical" in capsys.readouterr().out


def test_runs_within_the_table_by_dtype(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(both(store, "near")) == HOLDS
    assert main([*both(store, "near"), "--exact"]) == DIFFERS
    assert main([*both(store, "near"), "--rtol", "1e-9"]) == DIFFERS
    assert main([*both(store, "near"), "--rtol", "1e-5"]) == HOLDS


def test_runs_that_differ(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(both(store, "far")) == DIFFERS
    out = capsys.readouterr().out
    assert "Cause, proven bit for bit: output.0: found is expected times 1.5" in out
    assert "First divergence: iteration 1, Default/MatMul-op0" in out
    assert "Then 1 operator after it" in out


def test_missing_slots(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(both(store, "short")) == DIFFERS
    assert "missing, 0 unexpected" in capsys.readouterr().out


def test_json_and_csv(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, table = tmp_path / "out.json", tmp_path / "out.csv"
    assert main([*both(store, "far"), "--json", str(made), "--csv", str(table)]) == DIFFERS
    content = json.loads(made.read_text())
    assert content["holds"] is False
    assert content["counts"]["differs"] == len(content["slots"]) == 3
    assert [(step["where"]["operator"], step["role"]) for step in content["steps"]] == [
        ("Default/MatMul-op0", "new"), ("Default/ReLU-op0", "carried"),
    ]  # fmt: skip
    assert content["slots"][0]["noise"] == pytest.approx(0.5)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(COLUMNS)
    assert [row["verdict"] for row in rows].count("identical") == 7
    assert len(rows) == 10
    capsys.readouterr()
    assert main([*both(store, "far"), "--json", "-"]) == DIFFERS
    assert json.loads(capsys.readouterr().out) == content


def test_judging_again(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, file = tmp_path / "out.json", tmp_path / "t.toml"
    assert main([*both(store, "near"), "--exact", "--json", str(made)]) == DIFFERS
    assert main(["judge", str(made)]) == HOLDS
    assert main(["judge", str(made), "--rtol", "1e-9"]) == DIFFERS
    assert "it would pass with" not in capsys.readouterr().out  # only within ten times what was asked for
    assert main(["judge", str(made), "--rtol", "1e-4"]) == HOLDS
    file.write_text('[tolerance]\ndefault = "exact"\nReLU = 1e-5\n"Default/Mat*:output.0" = {max_ulp = 100}\n')
    assert main(["judge", str(made), "--tolerances", str(file)]) == HOLDS
    file.write_text("[tolerance]\nReLU = 1e-5\n")
    assert main(["judge", str(made), "--tolerances", str(file)]) == DIFFERS
    assert main([*both(store, "near"), "--tolerances", str(file)]) == DIFFERS


def test_what_judge_suggests_it_confirms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, made = tmp_path / "net.h5", tmp_path / "out.json"
    x = np.random.default_rng(0).normal(size=400).astype(np.float32)
    y = (x * (1 + np.linspace(-3e-4, 3e-4, 400))).astype(np.float32)
    runs = {RunId("mindspore", n): RunData(operator("Default/Abs-op0", [], [v])) for n, v in (("a", x), ("b", y))}
    update(path, "net", runs)
    sides = [f"{path}::mindspore/a", f"{path}::mindspore/b"]
    assert main(["diff", *sides, "--exact", "--json", str(made)]) == DIFFERS
    slot = json.loads(made.read_text())["slots"][0]
    capsys.readouterr()
    near = tmp_path / "near.toml"
    near.write_text("[tolerance]\nfloat32 = {rtol = 5e-5, atol = 2e-4, max_ulp = 900}\n")
    assert main(["judge", str(made), "--tolerances", str(near)]) != HOLDS
    suggested = re.search(r"rtol=(\S+) or atol=(\S+) or max_ulp=(\d+)", capsys.readouterr().out)
    assert suggested
    rtol, atol, max_ulp = suggested.groups()
    least = {"--rtol": slot["smallest_rtol"], "--atol": slot["smallest_atol"]}
    for option, value in (("--rtol", float(rtol)), ("--atol", float(atol)), *least.items()):
        assert main(["diff", *sides, option, repr(value)]) == HOLDS
        assert main(["judge", str(made), option, repr(value)]) == HOLDS
    for given, code in ((int(max_ulp), HOLDS), (int(max_ulp) - 1, DIFFERS)):
        file = tmp_path / "t.toml"
        file.write_text(f"[tolerance]\nfloat32 = {{max_ulp = {given}}}\n")
        assert main(["diff", *sides, "--tolerances", str(file)]) == code
        assert main(["judge", str(made), "--tolerances", str(file)]) == code


@pytest.mark.long
def test_files_are_written_when_nobody_reads_the_text(store: Path, tmp_path: Path) -> None:
    table, page, made = (tmp_path / f"out.{suffix}" for suffix in ("csv", "html", "json"))
    for more in (["--json", str(made)], ["--json", "-"]):
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-u", "-m", "harness.cli", *both(store, "far"), "--csv", str(table)]
        command += ["--report", str(page), *more]
        done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        os.close(writer)
        assert (done.returncode, done.stderr) == (CANNOT_TELL, b"")
        assert len(table.read_text().splitlines()) == 11
        assert page.read_text().endswith("</html>\n")
        table.unlink()
        page.unlink()
    assert json.loads(made.read_text())["holds"] is False


def test_standard_output_takes_one_thing(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*both(store, "far"), "--json", "-", "--csv", "-"]) == CANNOT_TELL
    out, err = capsys.readouterr()
    assert out == ""
    assert "only one of --json, --csv" in err


@pytest.mark.parametrize("option", ["--json", "--csv", "--report"])
def test_a_file_that_cannot_be_written_is_named_as_given(
    option: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = sorted(tmp_path.iterdir())
    for path in (tmp_path / "nowhere" / "x", tmp_path, Path()):
        assert main([*both(store, "far"), option, str(path)]) == CANNOT_TELL
        out, err = capsys.readouterr()
        assert err.startswith(f"msdump: {path}: ")
        assert ".part" not in err
        assert "Traceback" not in err
        assert "First divergence" in out
    assert sorted(tmp_path.iterdir()) == there


def test_missing_slots_stay_missing(store: Path, tmp_path: Path) -> None:
    made = tmp_path / "out.json"
    assert main([*both(store, "short"), "--json", str(made)]) == DIFFERS
    assert main(["judge", str(made), "--rtol", "1"]) == DIFFERS


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        ("{", "not JSON"),
        ("[]", "not a comparison"),
        ('{"format": "msdump-diff", "version": 1}', "damaged"),
        ('{"format": "msdump-diff", "version": 1, "counts": {}, "slots": [{}]}', "damaged"),
        ('{"format": "msdump-diff", "version": 1, "counts": {}, "slots": [7]}', "damaged"),
    ],
)
def test_bad_comparisons(content: str | None, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_text(content)
    assert main(["judge", str(path)]) == CANNOT_TELL
    err = capsys.readouterr().err
    assert says in err
    assert str(path) in err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"x = = 1", "no TOML"),
        (b"\xff", "no TOML"),
        (b"default = 1", "table [tolerance]"),
        (b"[tolerance]\nMatMul = true", "cannot read"),
        (b"[tolerance]\nMatMul = {rtol = -1}", "rtol"),
        (b"[tolerance]\nx = 1\n[other]\n", "'other'"),
    ],
)
def test_bad_files_of_tolerances(
    content: bytes | None, says: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.toml"
    if content is not None:
        path.write_bytes(content)
    assert main([*both(store, "near"), "--tolerances", str(path)]) == CANNOT_TELL
    err = capsys.readouterr().err
    assert says in err
    assert str(path) in err


def test_a_type_that_no_operator_has_is_told(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.toml"
    for types, told in (
        ("MatMul = 1e-3\nReLU = 1e-3\nfloat32 = 1e-3\n'*MatMul*' = 1e-3", []),
        ("MatMull = 1e-3\nReLU = 1e-3", ["'MatMull', the type or name of nothing here; MatMul is one"]),
        (
            "Zz = 1e-3\n'Conv*' = 1",
            ["'Zz', the type or name of nothing here", "'Conv*', the type or name of nothing here"],
        ),
    ):
        path.write_text(f"[tolerance]\ndefault = 1e-3\n{types}\n")
        assert main([*both(store, "near"), "--tolerances", str(path)]) == HOLDS
        err = capsys.readouterr().err.splitlines()
        assert err == [f"msdump: a tolerance is stated for {each}" for each in told]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing", "nothing"], "neither"),
        (["STORE", "STORE"], "--run BACKEND/MODE"),
        (["STORE::cpu/x", "STORE"], "cpu"),
        (["DIR::a/b", "STORE"], "is a directory"),
        (["STORE::mindspore/plain", "STORE::mindspore/near", "--exact", "--rtol", "1"], "exclude"),
    ],
)
def test_bad_arguments(
    arguments: list[str], says: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"STORE": store, "DIR": tmp_path}
    given = [arg.replace("STORE", str(names["STORE"])).replace("DIR", str(names["DIR"])) for arg in arguments]
    assert main(["diff", *given]) == CANNOT_TELL
    assert says in capsys.readouterr().err


@pytest.fixture
def renamed_store(tmp_path: Path) -> Path:
    """A run, and the same under other scopes, with one operator more."""
    path = tmp_path / "net.h5"
    names = {r.key.operator: r.key.operator.replace("Default/", "Default/net-Net/") for r in net()}
    other = [replace(r, key=r.key._replace(operator=names[r.key.operator])) for r in net()]
    for iteration in range(2):
        other += operator("Default/net-Net/Abs-op0", [X], [np.abs(X) + 1], "Abs", iteration=iteration)
    update(path, "net", {RunId("mindspore", "plain"): RunData(net()), RunId("mindspore", "other"): RunData(other)})
    return path


def test_operators_of_other_names_are_paired(
    renamed_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, table = tmp_path / "out.json", tmp_path / "out.csv"
    assert main([*both(renamed_store, "other"), "--json", str(made), "--csv", str(table)]) == DIFFERS
    out = capsys.readouterr().out
    assert "Paired: 4 operators (4 by flow)" in out
    content = json.loads(made.read_text())
    assert content["counts"]["identical"] == 10
    assert content["pairing"]["counts"] == {"flow": 4}
    (step,) = content["pairing"]["steps"]
    assert [pair["found"][1] for pair in step["pairs"]] == ["Default/net-Net/MatMul-op0", "Default/net-Net/ReLU-op0"]
    assert [lone["operator"][1] for lone in step["alone"]["found"]] == ["Default/net-Net/Abs-op0"]
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert rows[0]["operator"] == "Default/MatMul-op0"
    assert rows[0]["found_as"] == "Default/net-Net/MatMul-op0 input.0"
    page = tmp_path / "out.html"
    assert main([*both(renamed_store, "other"), "--report", str(page)]) == DIFFERS
    assert "Default/net-Net/MatMul-op0 input.0" in page.read_text()
    assert main(["judge", str(made)]) == DIFFERS


def test_another_name_of_one_backend_is_a_difference(
    renamed_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, path = tmp_path / "out.json", tmp_path / "same.h5"
    with GoldenStore.open(renamed_store) as store:
        kept = store.run("mindspore", "other").records()
        other = [replace(record, values=record.load()) for record in kept if record.op_type != "Abs"]
        runs = {RunId(backend, "other"): RunData(other) for backend in ("mindspore", "torch")}
        update(path, "net", {RunId("mindspore", "plain"): RunData(net()), **runs})
    assert main([*both(path, "other"), "--json", str(made)]) == DIFFERS
    assert "Renamed: 2 operators" in capsys.readouterr().out
    content = json.loads(made.read_text())
    assert (content["holds"], content["renamed"], content["slots"]) == (False, 2, [])
    assert main(["judge", str(made)]) == DIFFERS
    assert main([*both(path, "other"), "--match", "flow"]) == HOLDS
    assert main(["diff", f"{path}::mindspore/plain", f"{path}::torch/other"]) == HOLDS
    assert "Renamed" not in capsys.readouterr().out


def test_names_alone_pair_where_that_is_asked_for(renamed_store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*both(renamed_store, "other"), "--match", "names"]) == DIFFERS
    out = capsys.readouterr().out
    assert "Paired" not in out
    assert "Renamed? missing Default/MatMul-op0, unexpected Default/net-Net/MatMul-op0" in out


def test_flow_alone_pairs_where_that_is_asked_for(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*both(store, "plain"), "--match", "flow"]) == HOLDS
    assert "Paired: 4 operators (4 by flow)" in capsys.readouterr().out


def test_a_tree_of_other_names_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = tmp_path / "step0" / "rank0" / "dump_tensor_data"
    tree.mkdir(parents=True)
    data = {}
    for record in net(steps=1):
        name = f"Primitive.{record.op_type}.0.forward"
        entry = data.setdefault(name, {"input_args": [], "output": []})
        file = f"{name}.{record.key.slot_name}.npy"
        np.save(tree / file, record.values)
        said = {"type": "mindspore.Tensor", "dtype": "Float32", "shape": list(record.shape), "data_name": file}
        entry["input_args" if record.key.io == "input" else "output"].append(said)
    (tree.parent / "dump.json").write_text(json.dumps({"task": "tensor", "level": "L1", "data": data}))
    golden = tmp_path / "one.h5"
    update(golden, "net", {RunId("mindspore", "plain"): RunData(net(steps=1))})
    assert main(["check", str(tmp_path / "step0"), str(golden)]) == HOLDS
    assert "Paired: 2 operators (2 by flow)" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "step0"), str(golden), "--match", "names"]) == DIFFERS
    assert main(["check", str(tmp_path / "step0"), str(golden), "--match", "flow"]) == HOLDS


def test_a_run_of_other_sizes_is_compared_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.h5"
    wide = [replace(r, shape=(3, *r.shape), values=np.stack([r.load()] * 3), digest=None) for r in net()]
    update(path, "net", {RunId("mindspore", "plain"): RunData(net()), RunId("mindspore", "wide"): RunData(wide)})
    assert main(both(path, "wide")) == DIFFERS
    out = capsys.readouterr().out
    assert "Paired" not in out
    assert "shape is [3, 3, 4], expected [3, 4]" in out


def test_a_module_of_pytorch_is_laid_beside_an_emulated_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.h5"
    names = {"Default/MatMul-op0": "Default/fc-Linear/mm-op0", "Default/ReLU-op0": "Default/relu-ReLU/relu-op0"}
    types = {"MatMul": "mm", "ReLU": "relu"}
    theirs = [
        replace(r, key=r.key._replace(operator=names[r.key.operator]), op_type=types[r.op_type]) for r in net(1.5)
    ]
    runs = {RunId("cpu", "tensor"): net(), RunId("torch", "tensor"): theirs}
    update(path, "net", {run: RunData(records) for run, records in runs.items()})
    assert main(["diff", f"{path}::cpu/tensor", f"{path}::torch/tensor"]) == DIFFERS
    out = capsys.readouterr().out
    assert "Paired: 4 operators (4 by flow)" in out
    assert "First divergence: iteration 1, Default/MatMul-op0" in out
    assert "  found as Default/fc-Linear/mm-op0" in out


def test_what_could_be_paired_in_two_ways_is_listed_though_names_were_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.h5"
    runs = {}
    for side, numbers in (("ours", (0, 1)), ("theirs", (7, 8))):
        records = []
        for number in numbers:
            records += operator(f"Default/net-Net/ReLU-op{number}", [X], [X], "ReLU")
        runs[RunId("mindspore" if side == "ours" else "torch", side)] = RunData(records)
    update(path, "net", runs)
    assert main(["diff", f"{path}::mindspore/ours", f"{path}::torch/theirs"]) == DIFFERS
    out = capsys.readouterr().out
    assert "Paired:" not in out
    (line,) = [line for line in out.splitlines() if "is ambiguous: " in line]
    assert all(f"Default/net-Net/ReLU-op{number}" in line for number in (0, 1, 7, 8))
