"""Trees of every generation, written by the rules of the references, are read back to the same tensors. A damaged file
costs that file alone, or is one HarnessError."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import dtypes
from harness.capture import read_tree
from harness.cli import main
from harness.cli.app import HOLDS
from harness.dtypes import DType
from harness.dump import npy as written
from harness.dump.asynchronous.dump_data import Header, encode, entry_of
from harness.dump.names import mangle
from harness.errors import HarnessError, TreeError
from harness.stats import digest
from harness.stats.printed import COLUMNS, host_texts
from harness.store import GoldenStore, Level, RunData, RunId, update
from tests.examples import examples

Array = np.ndarray[Any, np.dtype[Any]]
FLOATS = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int32, dtypes.uint8]
SHAPES = st.lists(st.integers(1, 3), max_size=3).map(tuple)
RUN = RunId("mindspore", "tensor")


class Slot:
    """One tensor of a made tree.

    Attributes:
        operator: full name.
        io, slot, iteration, rank: where.
        array, dtype: what.
    """

    def __init__(
        self, operator: str, io: str, slot: int, iteration: int, rank: int, array: Array, dtype: DType
    ) -> None:
        self.operator, self.io, self.slot, self.iteration, self.rank = operator, io, slot, iteration, rank
        self.array, self.dtype = array, dtype

    @property
    def op_type(self) -> str:
        return self.operator.rpartition("/")[2].partition("-")[0]


@st.composite
def slots(draw: st.DrawFn) -> list[Slot]:
    """Operators of a few scopes, of up to two ranks and iterations; inputs before outputs, as they are dumped."""
    made = []
    for rank in range(draw(st.integers(1, 2))):
        for iteration in range(draw(st.integers(1, 2))):
            for number in range(draw(st.integers(1, 3))):
                name = f"Default/{draw(st.sampled_from(['fc1-Dense', 'network-Net/conv', 'x']))}/Add-op{number}"
                for io in ("input", "output"):
                    for slot in range(draw(st.integers(1, 2))):
                        dtype, shape = draw(st.sampled_from(FLOATS)), draw(SHAPES)
                        seed = len(made) + 100 * iteration + 1000 * rank
                        array = (np.random.default_rng(seed).standard_normal(shape) * 9).astype(dtype.numpy)
                        made.append(Slot(name, io, slot, iteration, rank, np.asarray(array), dtype))
    return made


def iteration_directory(root: Path, slot: Slot) -> Path:
    directory = root / f"rank_{slot.rank}" / "Net" / "0" / str(slot.iteration)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def stem(slot: Slot, at: int) -> str:
    return f"{slot.op_type}.{mangle(slot.operator)}.0.0.{10**15 + at}.{slot.io}.{slot.slot}.DefaultFormat"


def content(slot: Slot) -> bytes:
    return written.header(slot.dtype.descr, slot.array.shape) + slot.array.tobytes()


def ten_fields(root: Path, made: list[Slot]) -> None:
    """2.3 and later: the dtype in the name, as the CPU spells it."""
    for at, slot in enumerate(made):
        (iteration_directory(root, slot) / f"{stem(slot, at)}.{slot.dtype.name}.npy").write_bytes(content(slot))


def lower_case(root: Path, made: list[Slot]) -> None:
    """As Ascend spells it."""
    for at, slot in enumerate(made):
        (iteration_directory(root, slot) / f"{stem(slot, at)}.{slot.dtype.lower}.npy").write_bytes(content(slot))


def nine_fields(root: Path, made: list[Slot]) -> None:
    """Earlier: no dtype."""
    for at, slot in enumerate(made):
        (iteration_directory(root, slot) / f"{stem(slot, at)}.npy").write_bytes(content(slot))


def numpy_headers(root: Path, made: list[Slot]) -> None:
    """Files that went through numpy once."""
    for at, slot in enumerate(made):
        np.save(iteration_directory(root, slot) / f"{stem(slot, at)}.npy", slot.array)


def mapped(root: Path, made: list[Slot]) -> None:
    """Names too long for a file."""
    for at, slot in enumerate(made):
        directory = iteration_directory(root, slot)
        (directory / f"{at + 7}.npy").write_bytes(content(slot))
        with open(directory / "mapping.csv", "a") as rows:
            rows.write(f"{at + 7}.npy,{stem(slot, at)}.{slot.dtype.name}.npy\n")


def raw_files(root: Path, made: list[Slot]) -> None:
    """Asynchronous: the tensors of an operator in one file."""
    groups: dict[tuple[int, int, str], list[Slot]] = {}
    for slot in made:
        groups.setdefault((slot.rank, slot.iteration, slot.operator), []).append(slot)
    for at, ((_, _, operator), members) in enumerate(groups.items()):
        entries = {
            io: [entry_of(s.array, s.dtype, "ND", s.array.shape) for s in members if s.io == io]
            for io in ("input", "output")
        }
        head = Header(operator, 0, *(tuple(entry for entry, _ in entries[io]) for io in ("input", "output")))
        payload = b"".join(bytes(data) for io in ("input", "output") for _, data in entries[io])
        name = f"{members[0].op_type}.{mangle(operator)}.0.0.{10**15 + at}"
        (iteration_directory(root, members[0]) / name).write_bytes(encode(head) + payload)


def probe(root: Path, made: list[Slot]) -> None:
    """msprobe's."""
    for rank in {slot.rank for slot in made}:
        for step in {slot.iteration for slot in made if slot.rank == rank}:
            directory = root / f"step{step}" / f"rank{rank}"
            (directory / "dump_tensor_data").mkdir(parents=True)
            data: dict[str, Any] = {}
            for slot in made:
                if (slot.rank, slot.iteration) != (rank, step):
                    continue
                entry = data.setdefault(slot.operator, {"input_args": [], "input_kwargs": {}, "output": []})
                name = f"{mangle(slot.operator)}.{slot.io}.{slot.slot}.npy"
                np.save(directory / "dump_tensor_data" / name, slot.array)
                leaf = {"type": "mindspore.Tensor", "dtype": slot.dtype.name, "shape": list(slot.array.shape)}
                entry["input_args" if slot.io == "input" else "output"].append(leaf | {"data_name": name})
            whole = {"task": "tensor", "level": "L1", "data": data}
            (directory / "dump.json").write_text(json.dumps(whole))


Writer = Callable[[Path, list[Slot]], None]
TENSORS: list[Writer] = [ten_fields, lower_case, nine_fields, numpy_headers, mapped, raw_files, probe]
#: Whose files give the operator's full name; the others' a mangled one, where no graph tells more.
UNMANGLED = (raw_files, probe)


def distinct(made: list[Slot]) -> list[Slot]:
    """Without operators that stand twice in an iteration: those would be executions of one."""
    return list({(s.rank, s.iteration, s.operator, s.io, s.slot): s for s in made}.values())


@pytest.mark.parametrize("write", TENSORS)
@examples(6, 60)
@given(slots())
def test_what_was_dumped_is_read(write: Writer, made: list[Slot]) -> None:
    made = distinct(made)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "tree"
        write(root, made)
        capture = read_tree(root)
        found = {
            (r.key.rank, r.key.iteration, r.key.operator, r.key.execution, r.key.io, r.key.slot): r.load()
            for r in capture.records()
        }
        assert capture.problems == []
        full = str if write in UNMANGLED else mangle
        expected = {(s.rank, s.iteration, full(s.operator), 0, s.io, s.slot): s for s in made}
        assert found.keys() == expected.keys()
        for key, slot in expected.items():
            array = found[key]
            assert array is not None
            assert array.shape == slot.array.shape
            assert digest(array, slot.dtype.name) == digest(slot.array, slot.dtype.name)
        golden = Path(name) / "x.h5"
        update(golden, "Net", {RUN: RunData(read_tree(root, ahead=True).records())})
        with GoldenStore.open(golden) as store:
            assert len(store.run(*RUN)) == len(made)


ITEMS = [item for item in COLUMNS if item != "sha1"]
HEADS = {
    "today": "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape",
    "msprobe": "Op Type,Op Name,Task ID,Stream ID,Timestamp,Input/Output,Slot,Data Size,Data Type,Format,Shape",
}


@examples(10, 100)
@given(slots(), st.sampled_from(sorted(HEADS)), st.lists(st.sampled_from(ITEMS), unique=True), st.booleans())
def test_rows_of_every_age_are_read(made: list[Slot], head: str, items: list[str], old_shape: bool) -> None:
    made = distinct(made)
    with tempfile.TemporaryDirectory() as name:
        for at, slot in enumerate(made):
            path = iteration_directory(Path(name), slot) / "statistic.csv"
            if not path.exists():
                columns = [COLUMNS[item] + (" Value" if head == "msprobe" and item == "md5" else "") for item in items]
                path.write_text(",".join([HEADS[head], *columns]) + "\n")
            size = ",".join(map(str, slot.array.shape))
            shape = f'"({size})"' if old_shape else f'"[{size}]"'
            cells = [slot.op_type, slot.operator, "0", "0", str(10**15 + at), slot.io, str(slot.slot)]
            cells += [str(slot.array.nbytes), slot.dtype.lower, *(["ND"] if head == "msprobe" else []), shape]
            with open(path, "a") as rows:
                rows.write(",".join([*cells, *host_texts(slot.array, slot.dtype, items)]) + ",\n")
        capture = read_tree(name)
        found = {(r.key.rank, r.key.iteration, r.key.operator, r.key.io, r.key.slot): r for r in capture.records()}
        assert capture.problems == []
        expected = {(s.rank, s.iteration, s.operator, s.io, s.slot): s for s in made}
        assert found.keys() == expected.keys()
        for key, slot in expected.items():
            texts = dict(zip(items, host_texts(slot.array, slot.dtype, items), strict=True))
            assert dict(found[key].extra.row) == texts
            assert (found[key].dtype, found[key].shape) == (slot.dtype.name, slot.array.shape)
        golden = Path(name) / "x.h5"
        update(golden, "Net", {RUN: RunData(read_tree(name).records(), level="digest")})
        with GoldenStore.open(golden) as store:
            assert len(store.run(*RUN)) == len(made)


@st.composite
def damages(draw: st.DrawFn) -> Callable[[Path], None]:
    """Does harm to some files of a tree."""
    kinds = [draw(st.randoms(use_true_random=False)) for _ in range(draw(st.integers(1, 3)))]

    def harm(root: Path) -> None:
        for kind in kinds:
            files = sorted(path for path in root.rglob("*") if path.is_file())
            path = kind.choice(files)
            data = path.read_bytes()
            at = kind.randrange(len(data) + 1)
            path.write_bytes(
                kind.choice(
                    [
                        data[:at],
                        data[:at] + bytes([kind.randrange(256)]) + data[at + 1 :],
                        data + b"\0" * 9,
                        kind.randbytes(at),
                        data.replace(b"0", b"9", 3),
                        data.replace(b",", b"", 1),
                    ]
                )
            )

    return harm


def rows_and_files(root: Path, made: list[Slot]) -> None:
    """Mode full."""
    ten_fields(root, made)
    for at, slot in enumerate(made):
        path = iteration_directory(root, slot) / "statistic.csv"
        if not path.exists():
            path.write_text(",".join([HEADS["today"], *(COLUMNS[item] for item in ITEMS)]) + "\n")
        cells = [slot.op_type, slot.operator, "0", "0", str(10**15 + at), slot.io, str(slot.slot)]
        cells += [str(slot.array.nbytes), slot.dtype.lower, f'"[{",".join(map(str, slot.array.shape))}]"']
        with open(path, "a") as rows:
            rows.write(",".join([*cells, *host_texts(slot.array, slot.dtype, ITEMS)]) + ",\n")


@pytest.mark.parametrize("write", [ten_fields, mapped, raw_files, probe, rows_and_files])
@examples(10, 100)
@given(slots(), damages())
def test_damage_costs_a_file_or_is_our_error(write: Writer, made: list[Slot], harm: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "tree"
        write(root, distinct(made))
        harm(root)
        for ahead in (False, True):
            with suppress(HarnessError):
                capture = read_tree(root, ahead=ahead)
                golden = Path(name) / "x.h5"
                level: Level = "tensors" if capture.mode == "tensor" else "digest"
                update(golden, "Net", {RUN: RunData(capture.records(), level=level)})
                assert all(problem.why for problem in capture.problems)


def test_every_prefix_of_a_step_that_was_killed(tmp_path: Path) -> None:
    """Files appear one after the other; the last one may be cut anywhere."""
    array = np.arange(3, dtype=np.float32)
    made = [Slot(f"Default/x/Add-op{n}", "output", 0, 0, 0, array, dtypes.float32) for n in range(3)]
    for count in range(1, 4):
        for cut in (0, 5, 60, 130, 139, 140):
            root = tmp_path / f"{count}-{cut}"
            ten_fields(root, made[:count])
            last = sorted((root / "rank_0" / "Net" / "0" / "0").iterdir())[-1]
            last.write_bytes(content(made[0])[:cut])
            capture = read_tree(root)
            whole = cut == len(content(made[0]))
            assert len(list(capture.records())) == count - (not whole)
            assert [problem.kind for problem in capture.problems] == ([] if whole else ["incomplete"])


@pytest.mark.parametrize("write", [ten_fields, nine_fields, mapped, raw_files, rows_and_files])
def test_an_iteration_taken_out_of_its_tree(write: Writer, tmp_path: Path) -> None:
    array = np.arange(3, dtype=np.float32)
    made = [Slot(f"Default/x/Add-op{n}", "output", 0, 4, 0, array + n, dtypes.float32) for n in range(3)]
    write(tmp_path / "tree", made)
    for name in ("5", "taken"):
        taken = tmp_path / name
        iteration_directory(tmp_path / "tree", made[0]).rename(taken)
        capture = read_tree(taken)
        assert capture.mode == ("full" if write is rows_and_files else "tensor")
        found = [(r.key.iteration, r.key.slot_name) for r in capture.records()]
        assert found == [(5 if name == "5" else 0, "output.0")] * 3
        taken.rename(iteration_directory(tmp_path / "tree", made[0]))


@pytest.mark.parametrize("names", [[], ["notes.txt"], ["a.npy"], ["1.npy"]], ids=str)
def test_other_directories_are_no_trees(names: list[str], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(TreeError, match="no rank_N directory"):
        read_tree(tmp_path)


@pytest.mark.parametrize("items", [[], ["max", "min", "l2norm"]])
def test_a_sunk_graph_of_statistics_becomes_a_run(items: list[str], tmp_path: Path) -> None:
    """``STEP/TIME/DEVICE/MODEL/ID/ITERATION``, and rows that hold what a configuration asks for by default."""
    directory = tmp_path / "tree" / "0" / "20260101000000" / "0" / "Net" / "1" / "0"
    directory.mkdir(parents=True)
    texts = host_texts(np.arange(3, dtype=np.float32), dtypes.float32, items)
    row = ["Add", "Default/Add-op0", "1", "2", "3", "output", "0", "12", "float32", '"[3]"', *texts]
    head = [HEADS["today"], *(COLUMNS[item] for item in items)]
    (directory / "statistic.csv").write_text(",".join(head) + "\n" + ",".join(row) + ",\n")
    golden = str(tmp_path / "x.h5")
    assert main(["import", str(tmp_path / "tree"), golden, "--run", "npu"]) == HOLDS
    assert main(["check", str(tmp_path / "tree"), golden, "--run", "npu/statistic"]) == HOLDS
    assert main(["show", golden, "--all"]) == HOLDS
