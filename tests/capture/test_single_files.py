"""Files in place of dump trees: read where they can be; else one line says what to give instead."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.capture import read_tree
from harness.capture.directory_kinds import is_single_file
from harness.cli import main
from harness.store import RunId, update
from tests.capture.msprobe_build import call, dump, scalar, tensor
from tests.capture.torch_files.build import Writer, number, one
from tests.store.helpers import run_data

ROW = "MatMul,Default/MatMul-op0,0,0,{time},{io},0,4,float32,[1],{value},\n"
HEAD = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,\n"


def outcome(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(list(map(str, arguments)))
    said = capsys.readouterr()
    return code, said.out, said.err


@given(arrays.arrays(np.float32, arrays.array_shapes(max_dims=3, max_side=3)), st.booleans())
def test_an_array_beside_an_array(tmp_path_factory: pytest.TempPathFactory, array: np.ndarray, changed: bool) -> None:
    folder = tmp_path_factory.mktemp("f")
    np.save(folder / "a.npy", array)
    other = array.copy()
    if changed:
        other.reshape(-1)[0] = 1e9 if other.reshape(-1)[0] != 1e9 else 7
    np.save(folder / "b.npy", other)
    one(folder / "b.pt", other, "Float32")
    for name in ("b.npy", "b.pt"):
        assert main(["diff", "--exact", str(folder / "a.npy"), str(folder / name)]) == int(changed)


def test_named_tensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value, steps in (("a", 1.0, 3), ("b", 2.0, 3), ("c", 1.0, 4)):
        writer = Writer()
        weights = {"fc.weight": writer.tensor(np.full(3, value, np.float32), "Float32"), "steps": number(steps)}
        (tmp_path / f"{name}.pt").write_bytes(writer.bytes(writer.mapping(weights)))
    code, said, _ = outcome(capsys, "diff", tmp_path / "a.pt", tmp_path / "b.pt")
    assert (code, "fc.weight, output.0 torch.float32[3]" in said) == (1, True), said
    code, said, _ = outcome(capsys, "diff", tmp_path / "a.pt", tmp_path / "c.pt")
    assert (code, "3 -> 4" in said) == (1, True), said
    assert outcome(capsys, "diff", tmp_path / "a.pt", tmp_path / "a.pt")[0] == 0
    code, said, _ = outcome(capsys, "show", tmp_path / "a.pt")
    assert (code, "fc.weight" in said) == (0, True)


def test_a_dump_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = {"Functional.f.0.forward": call([tensor(), scalar(1e-5)], [tensor()])}
    root = dump(tmp_path / "a", data)
    alone = root / "step0" / "rank0" / "dump.json"
    other = tmp_path / "renamed.json"
    other.write_text(json.dumps(json.loads(alone.read_text())))
    for pair in ((alone, other), (root, other), (other, root)):
        assert outcome(capsys, "diff", *pair)[0] == 0
    changed = json.loads(other.read_text())
    changed["data"]["Functional.f.0.forward"]["output"][0]["Max"] = 9
    other.write_text(json.dumps(changed))
    code, said, _ = outcome(capsys, "diff", alone, other)
    assert (code, "max 2.5 -> 9" in said) == (1, True)
    assert outcome(capsys, "show", other)[0] == 0
    golden = tmp_path / "x.h5"
    assert outcome(capsys, "import", alone, golden)[0] == 0
    assert outcome(capsys, "check", alone, golden)[0] == 0
    assert outcome(capsys, "check", other, golden)[0] == 1


@pytest.mark.parametrize("plain", [True, False])
def test_a_table_of_statistics(plain: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("a", "2"), ("b", "3")):
        rows = [ROW.format(time=time, io=io, value=value) for time in (1, 2) for io in ("input", "output")]
        (tmp_path / f"{name}.csv").write_text((HEAD if plain else HEAD.replace("IO", "Input/Output")) + "".join(rows))
    found = [(r.key.execution, r.key.slot_name) for r in read_tree(tmp_path / "a.csv").records()]
    assert found == [(0, "input.0"), (0, "output.0"), (1, "input.0"), (1, "output.0")]
    assert outcome(capsys, "diff", tmp_path / "a.csv", tmp_path / "a.csv")[0] == 0
    code, said, _ = outcome(capsys, "diff", tmp_path / "a.csv", tmp_path / "b.csv")
    assert (code, "max 2 -> 3" in said) == (1, True)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.pkl", b"\x80\x04.", "dump again with msprobe"), ("a.pb", b"\x08\x01", "give the directory"),
        ("a.ir", b"# IR", "give the directory"), ("a.bin", bytes(8), "neither shape nor dtype"),
        ("a.csv", b"Op Type,Op Name\n", "statistic.csv"), ("a.json", b"{}", "msprobe's dump.json"),
        ("a.json", b"[]", "msprobe's dump.json"), ("a.json", b"{", "not JSON"), ("a.npy", b"x", "npy"),
        ("a.pt", b"x", "no zip archive"), ("a.py", b"import os", "accepted are"), ("a.txt", b"", "accepted are"),
        ("a.xlsx", b"PK", "the two dumps"), ("a.ckpt", b"x", ".npy or .pt"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["diff", "check", "import"])
def test_one_line_says_what_to_give(
    command: str, name: str, content: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, golden = tmp_path / name, tmp_path / "x.h5"
    path.write_bytes(content)
    update(golden, "Net", {RunId("cpu", "tensor"): run_data()})
    operands = (path, path) if command == "diff" else (path, golden)
    code, out, said = outcome(capsys, command, *operands)
    assert (code, out, said.count("\n")) == (2, "", 1), said
    assert why in said
    assert "HDF5" not in said


def test_a_golden_under_any_name_stays_one(tmp_path: Path) -> None:
    golden = tmp_path / "x.h5"
    update(golden, "Net", {RunId("cpu", "tensor"): run_data()})
    (tmp_path / "x.json").write_bytes(golden.read_bytes())
    assert not is_single_file(str(tmp_path / "x.json"))
    assert main(["show", str(tmp_path / "x.json")]) == 0


def test_trees_of_which_nothing_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As offline debuggers' test data lies there: names of tests, a graph alone, metadata alone."""
    names = tmp_path / "names" / "rank_0" / "Net" / "0" / "0"
    names.mkdir(parents=True)
    for at in range(5):
        np.save(names / f"tensor{at}.npy", np.ones(2))
    metadata = tmp_path / "metadata" / "rank_0" / ".dump_metadata"
    metadata.mkdir(parents=True)
    (metadata / "data_dump.json").write_text("{}")
    graphs = tmp_path / "graphs" / "rank_0" / "graphs"
    graphs.mkdir(parents=True)
    (graphs / "ms_output_trace_code_graph_0.pb").write_bytes(b"\x08\x01")
    for name in ("names", "metadata", "graphs"):
        code, out, said = outcome(capsys, "show", tmp_path / name)
        assert (code, out, said.count("\n")) == (2, "", 1), (name, out, said)
        code, out, said = outcome(capsys, "diff", tmp_path / name, tmp_path / name)
        assert code == 2
        assert out.count("\n") + said.count("\n") <= 4, out + said
