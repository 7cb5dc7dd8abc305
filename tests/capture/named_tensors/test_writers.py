"""What is written as files of named tensors is read again bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import dtypes
from harness.capture import Capture, read_tree
from harness.capture.named_tensors.writers import WRITERS, Naming, write_tensors
from harness.cli import main
from harness.errors import TreeError
from harness.records import Record, SlotKey
from tests.capture.msprobe_build import call, dump, tensor
from tests.store.helpers import CPU, run_data

KINDS = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "uint16", "bool", "complex64")
FILES = {"npz": "a.npz", "safetensors": "a.safetensors", "onnx": "a", "polygraphy": "a.json"}


def drawn(seed: int, shapes: list[list[int]]) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    made = []
    for at, shape in enumerate(shapes):
        kind = KINDS[(seed + at) % len(KINDS)]
        dtype = np.dtype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)
        raw = random.integers(0, 2 if kind == "bool" else 256, int(np.prod(shape)) * dtype.itemsize, np.uint8)
        made.append(raw.view(dtype).reshape(shape))
    return made


def capture(arrays: list[np.ndarray[Any, Any]], keys: list[SlotKey]) -> Capture:
    records = [
        Record(key, "op", dtypes.by_name(str(array.dtype)).name, array.shape, values=array)
        for key, array in zip(keys, arrays, strict=True)
    ]
    return Capture("Net", "cpu", False, records)


def read(path: Path) -> list[Record]:
    """The tensors, in the order of their names."""
    if path.is_dir():
        found = list(read_tree(str(path)).records())
        names = [(r.key.iteration, r.extra.named or "", r) for r in found]
        return [each for *_, each in sorted(names, key=lambda n: n[:2])]
    return sorted(read_tree(str(path)).records(), key=lambda r: r.key)


@pytest.mark.parametrize("kind", WRITERS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shapes=st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=4))
def test_bits_come_back(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seed: int, shapes: list[list[int]]
) -> None:
    arrays = drawn(seed, shapes)
    if kind in ("safetensors",):
        arrays = [each for each in arrays if each.dtype != np.complex64] or [np.ones(2)]
    keys = [SlotKey(0, 0, at // 2, f"op{at % 2}", 0, "output", 0) for at in range(len(arrays))]
    path = tmp_path_factory.mktemp("w") / FILES[kind]
    assert write_tensors(capture(arrays, keys).records, path, kind) == (len(arrays), 0)
    bits = sorted((str(a.dtype), a.shape, a.tobytes()) for a in arrays)
    held = [record.load() for record in read(path)]
    assert sorted((str(a.dtype), a.shape, a.tobytes()) for a in held if a is not None) == bits
    assert not list(path.parent.glob("*.part"))


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_is_itself_again(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrays = {"fc.weight": np.ones((2, 3), np.float32), "b": np.arange(4), "mask": np.array([True, False])}
    np.savez(tmp_path / "first.npz", **arrays)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert main(["convert", str(tmp_path / "first.npz"), str(tmp_path / name / FILES[kind]), "--to", kind]) == 0
    paths = [tmp_path / name / FILES[kind] for name in ("one", "two")]
    files = [sorted(p.rglob("*.pb")) if p.is_dir() else [p] for p in paths]
    assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]
    if kind != "onnx":  # its slots are those of one operator
        assert main(["convert", str(paths[0]), str(tmp_path / "again.npz")]) == 0
        capsys.readouterr()
        assert main(["diff", str(tmp_path / "first.npz"), str(tmp_path / "again.npz")]) == 0
        assert "3 slots: 3 identical" in capsys.readouterr().out


def test_a_golden_is_written(tmp_path: Path) -> None:
    from harness.store import update

    golden = tmp_path / "g.h5"
    update(golden, "Net", {CPU: run_data()})
    assert main(["convert", f"{golden}::{CPU}", str(tmp_path / "g.npz")]) == 0
    stored = {record.digest for record in run_data().records if record.digest}
    assert np.load(tmp_path / "g.npz").files
    assert len(np.load(tmp_path / "g.npz").files) >= len(stored)


def test_names_tell_slots_apart() -> None:
    plain = [SlotKey(0, 0, 0, name, 0, "output", 0) for name in "ab"]
    assert [Naming(plain).name(key) for key in plain] == ["a", "b"]
    keys = [*plain, SlotKey(1, 2, 3, "a", 4, "input", 5)]
    assert [Naming(keys).name(key) for key in keys] == [
        "rank_0/step_0/graph_0/a.output.0", "rank_0/step_0/graph_0/b.output.0", "rank_1/step_3/graph_2/a@4.input.5",
    ]  # fmt: skip


def test_slots_without_values_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = {"Torch.relu.0.forward": call([tensor(), {"type": "float", "value": 0.5}], [tensor()])}
    source = dump(tmp_path / "d", data)
    assert main(["convert", str(source), str(tmp_path / "a.npz")]) == 2
    said = capsys.readouterr().out
    assert "1 tensor" in said
    assert "Not written: 2 slots without values" in said


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("first.npz", "a.xyz"), "its suffix is none of"),
        (("first.npz", "missing/a.npz"), "missing"),
        (("first.npz", "there", "--to", "onnx"), "it is there already"),
        (("nothing.npz", "a.npz"), "nothing.npz"),
        (("complex.npz", "a.safetensors"), "safetensors has no dtype Complex128"),
        (("first.npz", "a.npz", "--to", "hdf5"), "--to takes npz"),
    ],
)
def test_what_cannot_be_written_is_one_line(
    arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    np.savez("first.npz", a=np.ones(2))
    np.savez("complex.npz", a=np.ones(2, np.complex128))
    (tmp_path / "there").mkdir()
    assert main(["convert", *arguments]) == 2
    said = capsys.readouterr()
    assert why in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not list(tmp_path.rglob("*.part"))


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="no slot has values"):
        write_tensors(list, tmp_path / "a.npz")


def test_a_source_and_files_of_dumps_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert"]) == 2
    assert "give SOURCE and TARGET, or -d" in capsys.readouterr().err
