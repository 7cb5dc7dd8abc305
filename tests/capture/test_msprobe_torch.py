"""Dumps of PyTorch in msprobe's layout: whatever an entry states becomes a slot, a statistic or a text."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.capture import read_tree
from harness.capture.msprobe_facts import type_of
from harness.capture.msprobe_json import JsonEntries
from harness.cli import main
from harness.dtypes import ARGUMENT_FORMAT, TORCH_FORMAT
from harness.store import GoldenStore
from tests.capture.msprobe_build import call, dump, scalar, tensor
from tests.capture.torch_files.build import one


def outcome(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(list(map(str, arguments)))
    return code, "".join(capsys.readouterr())


def relu(**more: Any) -> dict[str, Any]:
    return {"Torch.relu.0.forward": call([tensor()], [tensor(**more)])}


# --- identifiers of a run ---------------------------------------------------------------------------------------------
@given(st.integers(1, 999_999_999), st.integers(1, 999_999_999))
def test_the_number_of_a_process_is_no_rank(
    tmp_path_factory: pytest.TempPathFactory, one_id: int, other_id: int
) -> None:
    root = tmp_path_factory.mktemp("d")
    one_side, other = dump(root / "a", relu(), rank=f"proc{one_id}"), dump(root / "b", relu(), rank=f"proc{other_id}")
    assert {record.key.rank for record in read_tree(one_side).records()} == {0}
    assert main(["diff", str(one_side), str(other)]) == 0


@pytest.mark.parametrize("rank", ["rank", "proc7", "rank3"])
def test_a_process_without_a_rank_stands_beside_any(
    rank: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_side = dump(tmp_path / "a", relu(), rank="proc88")
    assert outcome(capsys, "diff", one_side, dump(tmp_path / "b", relu(), rank=rank))[0] == 0
    code, said = outcome(capsys, "diff", one_side, dump(tmp_path / "c", relu(Max=9.0), rank=rank))
    assert code == 1
    assert "max 2.5 -> 9" in said


def test_two_ranks_are_two_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [dump(tmp_path / name, relu(), rank=rank) for name, rank in (("a", "rank0"), ("b", "rank1"))]
    code, said = outcome(capsys, "diff", *sides)
    assert code != 0, said


def test_several_processes_are_told_apart_in_a_line(tmp_path: Path) -> None:
    for step in (0, 1):
        for process, high in ((30, 1.0), (4, 2.0), (100, 3.0)):
            dump(tmp_path, relu(Max=high), step=step, rank=f"proc{process}")
    capture = read_tree(tmp_path)
    outputs = [r for r in capture.records() if r.key.io == "output"]
    assert {(r.key.rank, r.extra.row["max"]) for r in outputs} == {(0, "2"), (1, "1"), (2, "3")}
    (note,) = capture.problems
    assert note.why == "proc4, proc30, proc100 state no rank: read in this order as the ranks 0 to 2"
    assert capture.lost == []


def test_a_process_for_each_step(tmp_path: Path) -> None:
    for step, process in ((0, 30), (1, 4)):
        dump(tmp_path, relu(), step=step, rank=f"proc{process}")
    assert {(r.key.iteration, r.key.rank) for r in read_tree(tmp_path).records()} == {(0, 0), (1, 0)}


def test_steps_are_paired_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in (0, 1):
        dump(tmp_path / "a", relu(Max=3.0 + step), step=step)
        dump(tmp_path / "b", relu(Max=3.0 + step), step=step + 5)
    code, said = outcome(capsys, "diff", tmp_path / "a", tmp_path / "b")
    assert (code, "were compared 5 with 0, 6 with 1" in said) == (0, True), said
    dump(tmp_path / "b", relu(Max=9.0), step=6)
    code, said = outcome(capsys, "diff", tmp_path / "a", tmp_path / "b")
    assert code == 1
    assert "First divergence: iteration 1, Torch.relu.0.forward, output.0" in said
    assert "proven" not in said
    golden = tmp_path / "x.h5"
    assert main(["import", str(tmp_path / "a"), str(golden)]) == 0
    assert outcome(capsys, "check", tmp_path / "b", golden)[0] == 1
    dump(tmp_path / "b", relu(Max=4.0), step=6)
    code, said = outcome(capsys, "check", tmp_path / "b", golden)
    assert (code, "5 with 0" in said) == (0, True), said


def test_steps_that_both_have_keep_their_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in (0, 1, 2):
        dump(tmp_path / "a", relu(Max=3.0 + step), step=step)
        if step:
            dump(tmp_path / "b", relu(Max=3.0 + step), step=step)
    code, said = outcome(capsys, "diff", tmp_path / "a", tmp_path / "b")
    assert code == 1
    assert "Steps in their order" not in said


def test_whose_dump_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = outcome(capsys, "diff", dump(tmp_path / "a", relu()), dump(tmp_path / "b", relu()))
    assert (code, said.splitlines()[0][:22]) == (0, "Net [torch-statistic] ")
    (first, *_) = read_tree(tmp_path / "a").records()
    assert first.format == TORCH_FORMAT
    dump(tmp_path / "c", relu(), framework="mindspore")
    assert read_tree(tmp_path / "c").backend == "mindspore"


# --- statistics -------------------------------------------------------------------------------------------------------
NUMBER = st.floats(allow_nan=True, allow_infinity=True, width=32)


@given(
    st.sampled_from(["torch.float16", "torch.bfloat16", "torch.float32", "torch.int64", "torch.complex64"]),
    st.sampled_from([(), (3,), (4, 8)]), st.sampled_from(["Max", "Min", "Mean", "Norm"]), NUMBER, NUMBER,
)  # fmt: skip
def test_every_statistic_counts(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, shape: tuple[int, ...], item: str, one_: float, other: float
) -> None:
    """Of every dtype and shape: equal agree, and what is far apart differs."""
    root = tmp_path_factory.mktemp("d")
    sides = [
        dump(root / name, {"Torch.relu.0.forward": call([], [tensor(dtype, shape, **{item: value})])})
        for name, value in (("a", one_), ("b", other), ("c", one_))
    ]
    same = one_ == other or (math.isnan(one_) and math.isnan(other))
    # "--exact" tells the signs of zeros apart; those of NaNs are not stated.
    signs = math.isnan(one_) or math.copysign(1, one_) == math.copysign(1, other)
    near = math.isfinite(one_) and math.isfinite(other) and abs(one_ - other) <= 0.1 * (abs(one_) + 4)
    if not near:
        assert main(["diff", str(sides[0]), str(sides[1])]) == (0 if same else 1)
    assert main(["diff", "--exact", str(sides[0]), str(sides[1])]) == (0 if same and signs else 1)
    assert main(["diff", str(sides[0]), str(sides[2])]) == 0


def test_all_digits_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [dump(tmp_path / name, relu(Mean=value)) for name, value in (("a", 0.1234567), ("b", 0.12345678))]
    assert outcome(capsys, "diff", *sides)[0] == 0
    code, said = outcome(capsys, "diff", "--exact", *sides)
    assert code == 1
    assert "avg 0.1234567 -> 0.12345678" in said


@pytest.mark.parametrize("numbers", [True, False])
def test_a_checksum_alone(numbers: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more: dict[str, Any] = {} if numbers else dict.fromkeys(("Max", "Min", "Mean", "Norm"))
    sides = [dump(tmp_path / name, relu(md5=check, **more)) for name, check in (("a", "99066e15"), ("b", "deadbeef"))]
    for options in ([], ["--exact"]):
        code, said = outcome(capsys, "diff", *options, *sides)
        assert code == 1
        assert "md5 (checksum) 99066e15 -> deadbeef" in said
    assert outcome(capsys, "diff", sides[0], sides[0])[0] == 0


@pytest.mark.parametrize(
    ("op", "slot"),
    [
        ("Tensor.add_", 0),
        ("Tensor.__imul__", 0),
        ("Torch._foreach_add_", 0),
        ("Tensor.__setitem__", 0),
        ("Functional.batch_norm", 1),
        ("Functional.batch_norm", 2),
        ("Torch.instance_norm", 2),
    ],
)
def test_a_checksum_of_what_a_call_overwrites_is_of_any_moment(
    op: str, slot: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real one makes it in a thread: of equal runs one has the input's bits before the call, one those after it."""

    def side(name: str, at: int, check: str, **more: Any) -> Path:
        inputs = [tensor(md5=f"{each:08x}", **(more if each == slot else {})) for each in range(4)]
        inputs[at] = inputs[at] | {"md5": check}
        return dump(tmp_path / name, {f"{op}.0.forward": call(inputs, [tensor(md5="0000000f")])}, summary_mode="md5")

    one = side("a", slot, "99066e15")
    code, said = outcome(capsys, "diff", one, side("b", slot, "0000000f"))
    assert code == 0, said
    assert re.search(r"checksums of [12] inputs? that calls overwrite are not compared", said)
    assert outcome(capsys, "diff", one, side("c", slot, "0000000f", Max=2.75))[0] == 1, "its statistics count"
    assert outcome(capsys, "diff", one, side("d", 3, "deadbeef"))[0] == 1, "so do the checksums of all else"
    other = [op.replace("add_", "add").replace("imul", "mul").replace("set", "get").replace("_norm", "_norms")]
    plain = [dump(tmp_path / f"{x}", {f"{other[0]}.0.forward": call([tensor(md5=x)] * 4, [])}) for x in "ef"]
    assert outcome(capsys, "diff", *plain)[0] == 1


def test_inputs_whose_statistics_agree_are_no_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four numbers may agree where values differ: what differs before then counts first."""

    def side(name: str, other: float) -> Path:
        first = call([tensor(Max=other)], [tensor(Mean=other)])
        return dump(tmp_path / name, {
            "Functional.conv2d.0.forward": first,
            "Functional.relu.0.forward": call([tensor()], [tensor()]),
            "Torch.mean.0.forward": call([tensor()], [tensor(Norm=other)]),
        })  # fmt: skip

    code, said = outcome(capsys, "diff", "--exact", side("a", 1.0), side("b", 1.125))
    assert code == 1
    assert "First divergence: iteration 0, Functional.conv2d.0.forward" in said


def test_a_statistic_of_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank, norm in ((0, 8.0), (1, 9999.0)):
        half = tensor("torch.bfloat16", (4, 8), Norm=norm)
        dump(tmp_path, {"Torch.tanh.0.forward": call([half], [half])}, rank=f"rank{rank}")
    code, said = outcome(capsys, "ranks", "--equal", "*", tmp_path)
    assert code == 1, said


def test_tensors_of_which_nothing_is_stated_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = dict.fromkeys(("Max", "Min", "Mean", "Norm"))
    data = {"Torch.x.0.forward": call([tensor("torch.float8_e4m3fn", **nothing)], [tensor(shape=(0, 3), **nothing)])}
    sides = [dump(tmp_path / name, data) for name in "ab"]
    code, said = outcome(capsys, "diff", *sides)
    assert code == 2
    assert "of 1 tensors it states dtype and shape alone" in said


# --- arguments --------------------------------------------------------------------------------------------------------
ARGUMENT = (
    st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8)
).map(scalar) | st.sampled_from([
    {"type": "torch.Size", "value": [4, 8]}, {"type": "torch.Size", "value": [4, 9]},
    {"type": "slice", "value": [1, None, 2]}, {"type": "slice", "value": [1, 9, 2]},
    {"type": "torch.dtype", "value": "torch.float16"}, {"type": "torch.dtype", "value": "torch.float32"},
    {"type": "torch.memory_format", "format": "channels_last"}, {"type": "ellipsis", "value": "..."},
    {"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "a"},
    {"type": "torch.ProcessGroup", "group_ranks": [0, 2], "group_id": "b"},
    {"type": "torch.distributed.ReduceOp", "value": "RedOpType.SUM"},
])  # fmt: skip


@given(ARGUMENT, ARGUMENT, st.booleans())
def test_every_argument_counts(
    tmp_path_factory: pytest.TempPathFactory, one_: dict[str, Any], other: dict[str, Any], named: bool
) -> None:
    root = tmp_path_factory.mktemp("d")
    sides = []
    for name, said in (("a", one_), ("b", other)):
        entry = call([tensor()], [tensor()], eps=said) if named else call([tensor(), said], [tensor()])
        sides.append(dump(root / name, {"Functional.f.0.forward": entry}))
    close = one_ != other and one_["type"] == other["type"] == "float" and math.isclose(
        one_["value"], other["value"], rel_tol=1e-9
    )  # fmt: skip
    same = json.dumps(one_) == json.dumps(other)
    if not close:
        assert main(["diff", str(sides[0]), str(sides[1])]) == (0 if same else 1)


def test_an_argument_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def side(name: str, eps: float, mode: str, *, moves: bool) -> Path:
        after = tensor(Max=9.0) if moves else tensor()
        data = {
            "Torch.relu.0.forward": call([tensor()], [tensor()]),
            "Functional.batch_norm.0.forward": call([tensor(), scalar(True)], [after], eps=scalar(eps)),
            "Module.norm.BatchNorm1d.forward.0": call([tensor()], [after]),
            "Functional.gelu.0.forward": call([after], [after], approximate=scalar(mode)),
        }
        return dump(tmp_path / name, data)

    first = side("a", 1e-05, "none", moves=False)
    code, said = outcome(capsys, "diff", first, side("b", 0.9, "none", moves=True))
    assert code == 1
    assert "input.2 (eps) 1e-05 -> 0.9" in said
    assert "First divergence: iteration 0, Functional.batch_norm.0.forward" in said
    code, said = outcome(capsys, "diff", first, side("c", 1e-05, "tanh", moves=False))
    assert code == 1
    assert "Cause, likely: approximate 'none' -> 'tanh'" in said
    (found,) = [r for r in read_tree(first).records() if r.extra.named == "approximate"]
    assert (found.format, bytes(found.load())) == (ARGUMENT_FORMAT, b"none")  # type: ignore[arg-type]
    assert outcome(capsys, "show", "--all", first)[1].count("float") >= 1


def test_arguments_are_kept_in_a_golden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def side(name: str, eps: float) -> Path:
        return dump(tmp_path / name, {"Functional.f.0.forward": call([tensor(), scalar(eps), scalar("x")], [tensor()])})

    golden = tmp_path / "x.h5"
    assert main(["import", str(side("a", 1e-5)), str(golden)]) == 0
    with GoldenStore.open(golden) as store:
        assert list(map(str, store.runs())) == ["torch/statistic"]
    assert main(["check", str(tmp_path / "a"), str(golden)]) == 0
    assert outcome(capsys, "check", side("b", 0.9), golden)[0] == 1


def test_parameters_of_a_module_are_its_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def side(name: str, high: float) -> Path:
        entry = call([tensor()], [tensor(Max=high)]) | {"parameters": {"weight": tensor(Max=high)}}
        return dump(tmp_path / name, {"Module.fc.Linear.forward.0": entry}, level="L0")

    code, said = outcome(capsys, "diff", side("a", 1.0), side("b", 7.0))
    assert code == 1
    assert "its input agrees" not in said.partition("First divergence")[0]
    assert "Module.fc.Linear.forward.0" in said


# --- beside values ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "change",
    [{"requires_grad": True}, {"type": "torch.distributed.tensor.DTensor", "placements": [{"Shard": {"dim": 0}}]}],
)
@pytest.mark.parametrize("kept", [True, False])
def test_what_is_stated_beside_values_counts(
    change: dict[str, Any], kept: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = []
    for name, more in (("a", {}), ("b", change)):
        leaf = tensor(**({"data_name": "x.pt"} if kept else {}), **more)
        root = dump(tmp_path / name, {"Torch.x.0.forward": call([], [leaf])}, task="tensor" if kept else "statistics")
        if kept:
            (root / "step0" / "rank0" / "dump_tensor_data").mkdir()
            one(root / "step0" / "rank0" / "dump_tensor_data" / "x.pt", np.ones((2, 3), np.float32), "Float32")
        sides.append(root)
    code, said = outcome(capsys, "diff", *sides)
    assert code == 1
    assert next(iter(change.values())) is True or "placements=" in said
    assert outcome(capsys, "diff", sides[0], sides[0])[0] == 0


def test_order_and_callers_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = {f"Torch.{name}.0.forward": call([tensor()], [tensor(Max=at)]) for at, name in enumerate(("abs", "exp"))}
    parents = dict.fromkeys(calls, "Module.a.A.forward.0")
    first = dump(tmp_path / "a", calls, beside={"construct.json": parents})
    moved = dump(tmp_path / "b", dict(reversed(calls.items())), beside={"construct.json": parents})
    code, said = outcome(capsys, "diff", first, moved)
    assert code == 1
    assert "First divergence: iteration 0, Torch.abs.0.forward" in said
    parents["Torch.exp.0.forward"] = "Module.b.B.forward.0"
    code, said = outcome(capsys, "diff", first, dump(tmp_path / "c", calls, beside={"construct.json": parents}))
    assert code == 1
    assert "Module.b.B.forward.0" in said


def test_task_structure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """dump.json is empty, construct.json has everything (26.2.0)."""
    sides = []
    for name, last in (("a", "exp"), ("b", "exp"), ("c", "log")):
        parents = {"Torch.abs.0.forward": "Module.a.A.forward.0", f"Torch.{last}.0.forward": None}
        sides.append(dump(tmp_path / name, {}, task="structure", beside={"construct.json": parents}))
    assert outcome(capsys, "diff", sides[0], sides[1])[0] == 0
    code, said = outcome(capsys, "diff", sides[0], sides[2])
    assert code == 1
    assert "Torch.log.0.forward" in said


# --- values of PyTorch ------------------------------------------------------------------------------------------------
def with_values(root: Path, array: np.ndarray[Any, Any], file: bytes | None = None, **more: Any) -> Path:
    leaf = tensor("torch.bfloat16", array.shape, data_name="Torch.x.0.forward.output.0.pt", **more)
    dump(root, {"Torch.x.0.forward": call([], [leaf])}, task="tensor")
    folder = root / "step0" / "rank0" / "dump_tensor_data"
    folder.mkdir()
    path = one(folder / "Torch.x.0.forward.output.0.pt", array, "BFloat16")
    if file is not None:
        path.write_bytes(file)
    return root


def test_values_of_torch_save(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    array = np.arange(6, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(2, 3)
    changed = array.copy()
    changed[1, 2] = 9
    first = with_values(tmp_path / "a", array)
    (record,) = read_tree(first).records()
    assert (record.dtype, record.load().tobytes()) == ("BFloat16", array.tobytes())  # type: ignore[union-attr]
    code, said = outcome(capsys, "diff", first, with_values(tmp_path / "b", changed))
    assert code == 1
    assert "at [1, 2] expected 5, found 9" in said


@pytest.mark.parametrize("file", [b"", b"placeholder", b"PK\3\4" + bytes(100)])
def test_statistics_where_values_cannot_be_read(
    file: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    array = np.ones((2, 3), ml_dtypes.bfloat16)
    first = with_values(tmp_path / "a", array, file)
    code, said = outcome(capsys, "diff", first, with_values(tmp_path / "b", array, file, Max=9.0))
    assert code == 1
    assert "max 2.5 -> 9" in said
    assert "damaged" in said
    code, said = outcome(capsys, "diff", first, first)
    assert code == 2
    assert "Not compared: 1 file of" in said


# --- the file itself --------------------------------------------------------------------------------------------------
@given(st.data())
def test_a_cut_file_is_told(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    root = tmp_path_factory.mktemp("d")
    calls = {f"Torch.f{at}.0.forward": call([tensor()], [tensor()]) for at in range(3)}
    for step in (0, 1):
        dump(root, calls, step=step)
    file = root / "step1" / "rank0" / "dump.json"
    whole = file.read_text()
    file.write_text(whole[: data.draw(st.integers(0, len(whole) - 1))])
    capture = read_tree(root)
    found = [record.key for record in capture.records()]
    assert [key for key in found if key.iteration == 0] == [k._replace(iteration=0) for k in found[:6]]
    (problem,) = capture.lost
    assert (problem.path, problem.kind) == ("step1/rank0/dump.json", "incomplete")


@given(st.text(max_size=6), st.integers(0, 4), st.booleans())
def test_entries_are_those_of_json(
    tmp_path_factory: pytest.TempPathFactory, name: str, indent: int, first: bool
) -> None:
    """Whatever the spaces, the order of the fields and the names: as ``json`` reads it."""
    path = tmp_path_factory.mktemp("d") / "dump.json"
    data = {"a": [1, {"b": None}], name: {"c": name}, "z": 3.5}
    head = {"task": "statistics", "level": [name]}
    content: dict[str, Any] = {**head, "data": data} if not first else {"data": data, **head}
    path.write_text(json.dumps(content, indent=indent or None, ensure_ascii=first), encoding="utf-8")
    entries = JsonEntries(str(path), str(path.parent))
    assert dict(iter(entries)) == data
    assert entries.head == head


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("Functional.conv2d.0.forward", "conv2d"), ("Cell.fc1.Dense.forward.0", "Dense"),
        ("Tensor.__mul__.0.backward", "__mul__"), ("Aten.mm.default.3.forward", "mm"),
        ("NPU.npu_fusion_attention.0.forward", "npu_fusion_attention"),
    ],
)  # fmt: skip
def test_types(entry: str, kind: str) -> None:
    assert type_of(entry) == kind


# --- where a difference begins ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("recorded", [True, False])
def test_a_backward_call_takes_what_its_forward_call_did(
    recorded: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its listed inputs agree, and its result differs: it is no new difference where its forward call differs, and
    unsure where that was not recorded."""

    def side(name: str, high: float) -> Path:
        data = {
            "Functional.linear.0.forward": call([tensor(), tensor(shape=(3, 3), Max=high)], [tensor(Max=high)]),
            "Tensor.sum.0.backward": {"input": [tensor()], "output": [tensor(Norm=2.0)]},
            "Functional.linear.0.backward": {"input": [tensor(Norm=2.0)], "output": [tensor(Max=high)]},
        }
        if not recorded:
            del data["Functional.linear.0.forward"]
        return dump(tmp_path / name, data)

    code, said = outcome(capsys, "diff", side("a", 1.0), side("b", 7.0))
    assert code == 1
    first = "Functional.linear.0.forward" if recorded else "Functional.linear.0.backward"
    assert f"First divergence: iteration 0, {first}" in said
    assert recorded or "not all of its inputs were compared" in said


# --- further layouts --------------------------------------------------------------------------------------------------
def test_both_modes_of_mindspore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory for each mode; entries of both are read, and told apart in the texts."""

    def side(name: str, high: float) -> Path:
        root = tmp_path / name
        dump(root / "graph", {"Kernel.Default.Add-op0.forward.0": call([], [tensor()])}, framework="mindspore")
        dump(root / "pynative", {"Mint.add.0.forward": call([], [tensor(Max=high)])}, framework="mindspore")
        return root

    names = {record.key.operator for record in read_tree(side("a", 1.0)).records()}
    assert names == {"Kernel.Default.Add-op0.forward.0", "Mint.add.0.forward"}
    assert len(read_tree(tmp_path / "a").artefacts) == 2
    code, said = outcome(capsys, "diff", tmp_path / "a", side("b", 9.0))
    assert (code, "Mint.add.0.forward" in said) == (1, True)
    assert outcome(capsys, "diff", tmp_path / "a", tmp_path / "a")[0] == 0


def test_level_debug_beside_another_one_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    debug = {"data": {"d.0.debug": {"a": [tensor(), scalar(3.5)], "b": scalar("text")}}, "framework": "pytorch"}
    root = dump(tmp_path / "a", relu(), beside={"debug.json": debug})
    code, said = outcome(capsys, "diff", root, root)
    assert (code, "give it as the operand" in said) == (2, True)
    file = root / "step0" / "rank0" / "debug.json"
    found = [(r.key.operator, r.key.slot_name, r.format == ARGUMENT_FORMAT) for r in read_tree(file).records()]
    assert found == [
        ("d.0.debug.a", "output.0", False), ("d.0.debug.a", "output.1", True), ("d.0.debug.b", "output.0", True),
    ]  # fmt: skip
    code, said = outcome(capsys, "show", "--all", file)
    assert (code, "'text'" in said, "3.5" in said) == (0, True, True)


def test_a_step_without_ranks(tmp_path: Path) -> None:
    (tmp_path / "step3").mkdir()
    dump(tmp_path / "step3", relu(), step=None)
    assert {(r.key.iteration, r.key.rank) for r in read_tree(tmp_path).records()} == {(3, 0)}


@pytest.mark.parametrize("first", [True, False])
def test_a_module_only_passes_on_what_a_module_within_it_did(
    first: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """MindSpore lists a cell before the cells within it, PyTorch a module after them."""

    def side(name: str, high: float) -> Path:
        inner = {
            "Cell.net.0.Dense.forward.0": call([tensor()], [tensor()]),
            "Cell.net.1.Dense.forward.0": call([tensor()], [tensor(Max=high)])
            | {"parameters": {"w": tensor(Max=high)}},
            "Cell.net.2.ReLU.forward.0": call([tensor(Max=high)], [tensor(Max=high)]),
        }
        outer = {"Cell.net.SequentialCell.forward.0": call([tensor()], [tensor(Max=high)])}
        return dump(tmp_path / name, outer | inner if first else inner | outer, framework="mindspore", level="L0")

    code, said = outcome(capsys, "diff", side("a", 2.5), side("b", 9.0))
    assert code == 1
    assert "First divergence: iteration 0, Cell.net.1.Dense.forward.0" in said


# --- what a golden is held against ------------------------------------------------------------------------------------
def test_check_compares_what_calls_state_beside_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one_side = dump(tmp_path / "a", relu(requires_grad=False))
    golden = tmp_path / "g.h5"
    assert outcome(capsys, "import", one_side, golden)[0] == 0
    code, said = outcome(capsys, "check", dump(tmp_path / "b", relu(requires_grad=False), rank="proc9"), golden)
    assert code == 0
    assert "1 text of what calls state beside values: identical" in said
    code, said = outcome(capsys, "check", dump(tmp_path / "c", relu(requires_grad=True)), golden)
    assert code == 1
    assert "requires_grad" in said
    called = {"Torch.relu.0.forward": "Module.fc.Linear.forward.0"}
    code, said = outcome(
        capsys, "check", dump(tmp_path / "d", relu(requires_grad=False), beside={"construct.json": called}), golden
    )
    assert code == 1
    assert "Module.fc.Linear.forward.0" in said


def test_check_counts_what_it_cannot_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = tmp_path / "g.h5"
    assert outcome(capsys, "import", dump(tmp_path / "a", relu()), golden)[0] == 0
    other = dump(tmp_path / "b", relu(), framework="mindspore")
    said = outcome(capsys, "check", other, golden, "--run", "torch/statistic")[1]
    assert "Not compared: 1 text of what calls state beside values; another backend made them" in said


# --- tasks that write the values of some calls alone ------------------------------------------------------------------
@pytest.mark.parametrize("task", ["diff_check", "overflow_check"])
def test_a_task_that_singles_out_calls_lacks_no_values(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = relu(data_name="Torch.relu.0.forward.output.0.pt")
    sides = [dump(tmp_path / name, named, rank=f"proc{at}", task=task) for at, name in enumerate("ab")]
    code, said = outcome(capsys, "diff", *sides)
    assert (code, "cannot be used" in said, "2 statistics agree" in said) == (0, False, True), said
    changed = dump(tmp_path / "c", relu(data_name="Torch.relu.0.forward.output.0.pt", Norm=9.0), task=task)
    assert outcome(capsys, "diff", sides[0], changed)[0] == 1
    kept = tmp_path / "b" / "step0" / "proc1" / "dump_tensor_data"
    kept.mkdir()
    (kept / "Torch.relu.0.forward.output.0.pt").write_bytes(b"no tensor")
    code, said = outcome(capsys, "diff", *sides)
    assert (code, "Not compared: 1 file" in said) == (2, True), said
