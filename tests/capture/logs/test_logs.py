"""Others' logs as captures: what is stated is read exactly, a difference is seen, damage is one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.capture import read_tree
from harness.capture.logs import LOGS, LogReader
from harness.cli import main
from harness.errors import HarnessError, TreeError
from tests.capture.logs import build

NAMES = ("mm", "relu", "add")
WRITERS: dict[str, tuple[str, Callable[..., str]]] = {
    "debug-mode": ("x.log", build.debug_mode),
    "torchtitan": ("x.log", build.torchtitan),
    "polygraphy": ("x.json", build.polygraphy),
    "hugging-face": ("x.json", build.hugging_face),
    "sglang": ("x.jsonl", build.sglang),
    "csv-table": ("x.csv", build.table),
}
ARRAYS = {name: np.arange(6, dtype=np.float32).reshape(2, 3) + at for at, name in enumerate(NAMES)}


def written(root: Path, kind: str, arrays: build.Arrays = ARRAYS, **more: Any) -> Path:
    name, write = WRITERS[kind]
    root.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(write(arrays, **more))
    return root / name


def outcome(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(list(map(str, arguments)))
    return code, "".join(capsys.readouterr())


def test_every_reader_is_in_the_table() -> None:
    assert {*WRITERS, "executorch"} == set(LOGS)
    assert all(issubclass(LOGS.get(name), LogReader) and LOGS.get(name).name == name for name in LOGS)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_log_agrees_with_itself_and_differs_where_a_tensor_does(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = written(tmp_path / "a", kind)
    code, said = outcome(capsys, "diff", one, written(tmp_path / "b", kind))
    assert code == 0, said
    for name in NAMES:
        changed = {each: array + (each == name) for each, array in ARRAYS.items()}
        code, said = outcome(capsys, "diff", one, written(tmp_path / name, kind, changed))
        assert code == 1, said
        assert "First divergence" in said
        assert name in said.split("First divergence", 1)[1].split("\n")[0]


@settings(max_examples=20, deadline=None)
@given(
    kind=st.sampled_from(sorted(WRITERS)),
    seed=st.integers(0, 2**32 - 1),
    shapes=st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=3),
)
def test_looks_are_those_that_were_written(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seed: int, shapes: list[list[int]]
) -> None:
    drawn = np.random.default_rng(seed)
    arrays = {f"op{at}": drawn.standard_normal(shape).astype(np.float32) for at, shape in enumerate(shapes)}
    records = list(read_tree(str(written(tmp_path_factory.mktemp("log"), kind, arrays))).records())
    outputs = [r for r in records if r.key.io == "output" and r.dtype == "Float32" and r.format != "argument"]
    for at, array in enumerate(arrays.values()):
        mine = [record for record in outputs if f"op{at}" in record.key.operator]
        assert mine
        assert {record.shape for record in mine} == {array.shape}
        for record in mine:
            if record.values is not None:
                assert record.load().tobytes() == array.tobytes()  # type: ignore[union-attr]
            elif array.size and "max" in record.extra.row:
                assert math.isclose(float(record.extra.row["max"]), array.max(), rel_tol=1e-4, abs_tol=1e-30)


def test_values_of_polygraphy_are_those_that_were_saved(tmp_path: Path) -> None:
    kinds = ("float32", "float64", "int8", "bool", "float16", "uint16")
    arrays = {kind: np.array([[1, 0, 1]], kind) for kind in kinds} | {"f": np.asfortranarray(np.ones((2, 3)))}
    records = list(read_tree(str(written(tmp_path, "polygraphy", arrays, iterations=2))).records())
    assert [(r.key.iteration, r.key.operator) for r in records] == [(step, n) for step in (0, 1) for n in arrays]
    for record in records:
        found = record.load()
        assert found is not None
        wanted = arrays[record.key.operator]
        assert (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes("C"))


def test_equal_norms_prove_nothing_and_that_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turned = {name: -array for name, array in ARRAYS.items()}  # which an L1 norm cannot see
    one = written(tmp_path / "a", "debug-mode")
    code, said = outcome(capsys, "diff", one, written(tmp_path / "b", "debug-mode", turned))
    assert code == 0
    assert "an L1 norm sees no change of sign, of order or of shape" in said
    assert "6 slots have nothing else" in said
    code, said = outcome(
        capsys, "diff", *(written(tmp_path / n, "torchtitan", a) for n, a in (("c", ARRAYS), ("d", turned)))
    )
    assert code == 1, said


def test_printed_values_cannot_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [written(tmp_path / name, "hugging-face", printed=True) for name in ("a", "b")]
    code, said = outcome(capsys, "diff", *sides)
    assert code == 2, said
    assert "the values of 6 tensors are printed, rounded and cut" in said


def test_stored_values_of_hugging_face_are_read(tmp_path: Path) -> None:
    from tests.capture.named_tensors.test_named_tensors import as_safetensors

    path = written(tmp_path, "hugging-face", {"mm": ARRAYS["mm"]})
    (tmp_path / "mm.safetensors").write_bytes(as_safetensors({"data": ARRAYS["mm"]}))
    path.write_text(path.read_text().replace('"dtype"', '"value": "./mm.safetensors", "dtype"'))
    tensors = [r for r in read_tree(str(path)).records() if r.dtype == "Float32"]
    assert [r.load().tobytes() for r in tensors] == [ARRAYS["mm"].tobytes()] * 2  # type: ignore[union-attr]
    path.write_text(path.read_text().replace("./mm.safetensors", "../mm.safetensors"))
    with pytest.raises(TreeError, match="does not name a file beside it"):
        list(read_tree(str(path)).records())


def test_arguments_that_are_no_tensors_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [written(tmp_path / text, "hugging-face", text=text) for text in ("mean", "sum")]
    code, said = outcome(capsys, "diff", *sides)
    assert code == 1
    assert "mode" in said


def test_hashes_of_inputs_and_places_are_kept(tmp_path: Path) -> None:
    records = list(read_tree(str(written(tmp_path, "torchtitan", hashes=True))).records())
    assert [(r.key.io, r.extra.named) for r in records[:3]] == [
        ("input", "l1 norm"),
        ("input", "l1 norm"),
        ("output", None),
    ]
    assert records[2].source == "net.py:1"
    assert records[2].key.operator == "layers.0/op_0_mm"


def test_a_step_is_an_iteration(tmp_path: Path) -> None:
    records = list(read_tree(str(written(tmp_path, "sglang", step=7))).records())
    assert {record.key.iteration for record in records} == {7}
    assert {"mm", "baseline/mm", "n", "baseline/n"} <= {record.key.operator for record in records}


def test_gaps_of_executorch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, gap in (("a", 0.5), ("b", 0.5), ("c", 0.75)):
        (tmp_path / f"{name}.csv").write_text(build.inspector({"mm": 0.1, "relu": gap}))
    assert outcome(capsys, "diff", tmp_path / "a.csv", tmp_path / "b.csv")[0] == 2  # printed tensors are not compared
    code, said = outcome(capsys, "diff", tmp_path / "a.csv", tmp_path / "c.csv")
    assert code == 1
    assert "0.5 -> 0.75" in said


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_tables_by_any_separator(between: str, tmp_path: Path) -> None:
    path = tmp_path / ("x.tsv" if between == "\t" else "x.csv")
    path.write_text(build.table(ARRAYS, between))
    assert [record.key.operator for record in read_tree(str(path)).records()] == list(NAMES)


def test_a_table_without_dtypes_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("name,max,min\na,1.5,0\na,2.5,1\n")
    capture = read_tree(str(path))
    assert [(r.key.slot, r.extra.row["max"]) for r in capture.records()] == [(0, "1.5"), (1, "2.5")]
    assert [(p.kind, "no column dtype (float32 is taken)" in p.why) for p in capture.problems] == [("note", True)]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("x.log", "[a/op_0_mm]\n  Shape: (2, 3)\n", "its shape is"),
        ("x.log", "[a/op_0_mm]\n  Shape: torch.Size([2]), Dtype: torch.float33\n", "float33"),
        ("x.log", "[a/op_0_mm]\n  Input hashes: 1.0, x\n", "no number among its input hashes"),
        ("x.log", "  aten::mm(t: q32[2])  ->  t: f32[2]", "q32"),
        ("x.json", '{"lst": [3], "polygraphy_class": "RunResults"}', "no pairs of a runner"),
        ("x.json", '{"lst": [["r", [{"outputs": {"a": {"array": "!"}}}]]], "polygraphy_class": 1}', "in base64"),
        ("x.json", '{"lst": [["r", [{"outputs": {"a": {"array": "AAAA"}}}]]], "polygraphy_class": 1}', "'a'"),
        ("x.json", '{"module_path": "a", "inputs": null, "children": [3]}', "no module_path"),
        ("x.json", '{"module_path": "a", "inputs": {"args": [{"shape": "2", "dtype": "torch.float32"}]}}', "its shape"),
        ("x.jsonl", '{"type": "comparison", "name": "a", "target": {}}', "states no statistics"),
        ("x.jsonl", '{"type": "config"}\n{"type": "odd"}', "line 2 is no record"),
        ("x.jsonl", '{"type": "config"}\n{', "line 2"),
        ("x.csv", "name,max,shape\na,1,2,3\nb,1,q\n", "line 3: no shape"),
        ("x.csv", "name,max,step\na,1,x\n", "no number of a slot or a step"),
        ("x.csv", "name,max\n,1\n", "names no tensor"),
        ("x.csv", "aot_ops,runtime_ops,gap\na,a,x\n", "no number"),
        ("x.txt", "hello", "files of this kind are not read"),
        ("x.jsonl", "hello", "files of this kind are not read"),
    ],
)  # fmt: skip
def test_damage_is_one_line(name: str, text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(HarnessError, match=why) as caught:
        list(read_tree(str(path)).records())
    assert name in str(caught.value)
    code, said = outcome(capsys, "show", path)
    assert code == 2
    assert len(said.strip().splitlines()) == 1, said


def test_a_tensor_of_torch_save_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"lst": [["r", [{"outputs": {"a": {"tensor": "AAAA"}}}]]], "polygraphy_class": "RunResults"}')
    capture = read_tree(str(path))
    assert list(capture.records()) == []
    assert [problem.kind for problem in capture.lost] == ["skipped"]


def test_what_a_table_lacks_or_has_more_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = {
        "good": "a,1.5,0.5,0.25,7,1\n", "std": "a,1.5,0.5,3,7,1\n", "crc": "a,1.5,0.5,0.25,8,1\n", "cut": "a,1.5,0.5\n",
        "empty": "a,1.5,0.5,,7,2\n", "open": "a,1.5,0.5,0.25,7,1",
    }  # fmt: skip
    for name, row in tables.items():
        (tmp_path / f"{name}.csv").write_text(f"name,max,min,std,crc,other\n{row}")
    good = tmp_path / "good.csv"
    assert outcome(capsys, "diff", good, tmp_path / "std.csv")[0] == 1
    assert outcome(capsys, "diff", good, tmp_path / "crc.csv")[0] == 1
    code, said = outcome(capsys, "diff", good, tmp_path / "cut.csv")
    assert (code, said.splitlines()[-1].partition(": ")[2]) == (
        2, f"{tmp_path / 'cut.csv'}: line 2 is cut: it has 3 cells, the first line 6",
    )  # fmt: skip
    assert outcome(capsys, "diff", good, tmp_path / "open.csv")[0] == 2
    code, said = outcome(capsys, "diff", good, tmp_path / "empty.csv")
    assert code == 0
    assert "Not compared: 1 statistic that one side alone states (std of a, output.0)" in said
    assert "columns that are not compared: other" in said
