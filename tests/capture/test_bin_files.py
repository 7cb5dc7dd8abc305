"""The synchronous dump of MindSpore 1.0 to 1.2: raw files whose names say what they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.capture import read_tree
from harness.capture.bin_files import parse
from harness.cli import main
from harness.errors import TreeError

MATMUL = "Default--fc-Dense--MatMul-op1"


def written(
    root: Path, arrays: dict[str, np.ndarray], *, network: str = "Net", device: int = 0, iteration: int = 1
) -> Path:
    """A dump with files of these operators and slots (``MatMul-op1_output_0``)."""
    folder = root / network / f"device_{device}" / f"iteration_{iteration}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        sizes = "".join(f"_{size}" for size in array.shape)
        kind = dtypes.from_numpy(array.dtype).name
        array.tofile(folder / f"{name}_shape{sizes}_{kind}_DefaultFormat.bin")
    return root


@given(
    st.from_regex(r"[A-Za-z0-9_.\-]{1,20}", fullmatch=True), st.sampled_from(["input", "output"]),
    st.integers(0, 99), st.lists(st.integers(0, 5), max_size=4), st.sampled_from(dtypes.ALL),
    st.sampled_from(["DefaultFormat", "NCHW", "FRACTAL_NZ", "NC1HWC0"]),
)  # fmt: skip
def test_names(name: str, io: str, slot: int, shape: list[int], dtype: dtypes.DType, layout: str) -> None:
    text = f"{name}_{io}_{slot}_shape{''.join(f'_{size}' for size in shape)}_{dtype.name}_{layout}.bin"
    found = parse(text)
    assert found == (name, io, slot, tuple(shape), dtype, layout)


@given(st.text(max_size=40))
def test_other_names(text: str) -> None:
    assert parse(text) is None or parse(text) == parse(text.strip())


@pytest.mark.parametrize("part", ["", "Net", "Net/device_0", "Net/device_0/iteration_1"])
def test_what_may_be_named(part: str, tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    written(tmp_path, {f"{MATMUL}_output_0": array, f"{MATMUL}_input_1": array.astype(np.float16)})
    capture = read_tree(tmp_path / part)
    found = {(r.key.operator, r.key.slot_name, r.key.iteration, r.op_type): r.load() for r in capture.records()}
    name = "Default/fc-Dense/MatMul-op1"
    assert list(found) == [(name, "input.1", 1, "MatMul"), (name, "output.0", 1, "MatMul")]
    given, made = found.values()
    assert (given.dtype, np.array_equal(made, array)) == (np.float16, True)  # type: ignore[union-attr, arg-type]


def test_the_execution_order_gives_order_and_names(tmp_path: Path) -> None:
    one = np.ones((), np.int32)
    written(tmp_path, {"Default--b--Add-op2_output_0": one, "Default--a--Sub-op9_output_0": one, "z_output_0": one})
    folder = tmp_path / "Net" / "device_0" / "execution_order"
    folder.mkdir()
    (folder / "ms_execution_order_graph_0.csv").write_text(
        "NodeExecutionOrder-FullNameWithScope\nDefault/b/Add-op2\nDefault/a/Sub-op9\n"
    )
    found = list(read_tree(tmp_path).records())
    assert [record.key.operator for record in found] == ["Default/b/Add-op2", "Default/a/Sub-op9", "z"]
    assert found[0].shape == ()


def test_devices_iterations_networks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for device in (0, 3):
        for iteration in (1, 2):
            written(tmp_path, {"a_output_0": np.ones(2)}, device=device, iteration=iteration)
    capture = read_tree(tmp_path)
    assert {(r.key.rank, r.key.iteration) for r in capture.records()} == {(0, 1), (0, 2), (3, 1), (3, 2)}
    assert {r.key.rank for r in read_tree(tmp_path, 3).records()} == {3}
    with pytest.raises(TreeError, match="no device 1 in it; it holds 0, 3"):
        read_tree(tmp_path, 1)
    written(tmp_path, {"a_output_0": np.ones(2)}, network="Other")
    assert main(["show", str(tmp_path)]) == 2
    assert "Net, Other" in capsys.readouterr().err


def test_files_of_another_size_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, {"a_output_0": np.ones(3, np.float32), "b_output_0": np.ones(3, np.float32)})
    folder = tmp_path / "Net" / "device_0" / "iteration_1"
    file = next(folder.glob("a_*"))
    file.write_bytes(file.read_bytes()[:-1])
    (folder / "other.bin").write_bytes(b"")
    capture = read_tree(tmp_path)
    assert [record.key.operator for record in capture.records()] == ["b"]
    assert sorted(problem.kind for problem in capture.problems) == ["incomplete", "name"]
    assert main(["diff", str(tmp_path), str(tmp_path)]) == 2
    assert "Not compared: 2 files" in capsys.readouterr().out


def test_a_value_that_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [written(tmp_path / str(at), {f"{MATMUL}_output_0": np.full(3, at, np.float32)}) for at in (1, 2)]
    assert main(["diff", *map(str, sides)]) == 1
    assert "Default/fc-Dense/MatMul-op1, output.0 Float32[3]" in capsys.readouterr().out
    golden = tmp_path / "x.h5"
    assert main(["import", str(sides[0]), str(golden)]) == 0
    assert main(["check", str(sides[0]), str(golden)]) == 0
