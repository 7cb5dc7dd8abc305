"""The asynchronous dump of a run: the content of its tree, the time of writing, its cost for the run."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import dtypes
from harness.devices import DEVICES
from harness.dump import DumpConfig
from harness.dump.asynchronous import opdebug, writing
from harness.dump.asynchronous.dump_data import DumpFile
from harness.dump.asynchronous.names import parse
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.npy import Array
from harness.dump.writer import MAPPING
from harness.errors import DumpWriteError
from harness.recording import Operator, Value
from tests.dump.asynchronous.build import LATEST, config, values
from tests.dump.build import Net, graph_of, one_op, tensor

O2 = DEVICES.get("ascend-o2")
OLD = "2.0-2.2"


def dumped(settings: DumpConfig, *nets: Net, steps: int = 1, device: Any = O2) -> AsyncDumpObserver:
    """Runs nets one after the other."""
    observer = AsyncDumpObserver(settings, device)
    for net in nets:
        observer.graph_declared(net.graph)
    for net in nets:
        for _ in range(steps):
            net.run(observer)
    observer.closed()
    return observer


def raw_files(root: Path) -> list[Path]:
    """Files of operators, oldest first."""
    named = [(parse(path.name), path) for path in root.rglob("*") if path.is_file()]
    return [path for name, path in sorted((n.timestamp, p) for n, p in named if n is not None)]  # type: ignore[misc]


def tensors(path: Path) -> dict[tuple[str, int], Array]:
    """Every tensor of a file as the host has it, by io and slot."""
    with DumpFile(path) as file:
        lists = (("input", file.header.inputs), ("output", file.header.outputs))
        return {(io, at): file.host(e) for io, entries in lists for at, e in enumerate(entries) if not e.is_hole}


def check_tensors(path: Path, net: Net) -> None:
    """A file holds exactly the slots of the net's one operator."""
    inputs, outputs = net.slots[net.graph.order[0]]
    wanted = {("input", s.index): s.array for s in inputs} | {("output", s.index): s.array for s in outputs}
    found = tensors(path)
    assert found.keys() == wanted.keys()
    for key, array in wanted.items():
        assert found[key].dtype == array.dtype
        assert np.array_equal(found[key], array)


def convolution(name: str = "Default/conv1-Conv2d/Conv2D-op0", **fields: Any) -> Net:
    shapes = ((2, 3, 4, 4), (5, 3, 3, 3), (2, 5, 4, 4))
    return one_op(name, [values(dtypes.float16, shape, at) for at, shape in enumerate(shapes)], **fields)


# --- what is in the tree ----------------------------------------------------------------------------------------------


def test_one_file_an_operator_and_step(tmp_path: Path) -> None:
    net = convolution()
    dumped(config(tmp_path), net, steps=2)
    files = raw_files(tmp_path)
    assert [path.relative_to(tmp_path).parts[0] for path in files] == ["0", "1"]
    for step, path in enumerate(files):
        name = parse(path.name)
        assert name is not None
        assert name[:4] == ("Conv2D", "Default_conv1-Conv2d_Conv2D-op0", 1, 0)
        assert path.relative_to(tmp_path).parts[2:6] == ("0", "Net", "0", str(step))
        assert path.stat().st_mode & 0o777 == 0o400
        check_tensors(path, net)
        with DumpFile(path) as file:
            assert (file.header.op_name, file.header.dump_time) == ("Default/conv1-Conv2d/Conv2D-op0", name.timestamp)
            formats = [e.format_name for e in (*file.header.inputs, *file.header.outputs)]
            assert formats == ["NC1HWC0", "FRACTAL_Z", "NC1HWC0"]


def test_slots_keep_their_positions(tmp_path: Path) -> None:
    net = one_op("Default/Add-op0", [tensor(dtypes.float32, (2,)), tensor(dtypes.int8, (3,)), tensor(dtypes.bool_, ())])
    node = net.graph.order[0]
    inputs, outputs = net.slots[node]
    node.inputs = (None,) * 6
    net.slots[node] = [Value(v.array, v.dtype, index=at) for v, at in zip(inputs, (2, 5), strict=True)], outputs
    dumped(config(tmp_path), net)
    (path,) = raw_files(tmp_path)
    check_tensors(path, net)


def test_npy_in_the_order_of_the_host(tmp_path: Path) -> None:
    net = convolution()
    dumped(config(tmp_path, file_format="npy"), net)
    found = sorted(path.name.split(".", 5)[5] for path in tmp_path.rglob("*.npy"))
    assert found == ["input.0.NCHW.float16.npy", "input.1.NCHW.float16.npy", "output.0.NCHW.float16.npy"]
    for path in tmp_path.rglob("*.npy"):
        io, slot = path.name.split(".")[5:7]
        inputs, outputs = net.slots[net.graph.order[0]]
        wanted = (inputs if io == "input" else outputs)[int(slot)].array
        assert np.array_equal(np.load(path), wanted)


def test_bfloat16_is_widened_in_npy_alone(tmp_path: Path) -> None:
    array = values(dtypes.bfloat16, (2, 3))
    for kind in ("npy", "bin"):
        dumped(config(tmp_path / kind, file_format=kind), one_op("Default/Cast-op0", [array, array]))
    paths = list((tmp_path / "npy").rglob("*.bfloat16.npy"))
    assert len(paths) == 2
    assert all(np.array_equal(np.load(path), array.astype(np.float32)) for path in paths)
    (path,) = raw_files(tmp_path / "bin")
    assert tensors(path)["input", 0].dtype == array.dtype


def test_statistics_beside_or_instead_of_tensors(tmp_path: Path) -> None:
    for saved in ("full", "statistic"):
        dumped(config(tmp_path / saved, file_format="npy", saved_data=saved), convolution(), steps=2)
    for saved, files in (("full", 6), ("statistic", 0)):
        assert len(list((tmp_path / saved).rglob("*.npy"))) == files
        tables = list((tmp_path / saved).rglob("statistic.csv"))
        assert [len(path.read_text().splitlines()) for path in tables] == [4, 4]
        assert tables[0].read_text().splitlines()[1].startswith("Conv2D,Default/conv1-Conv2d/Conv2D-op0,1,0,")


@pytest.mark.parametrize(("mode", "io"), [(1, {"input"}), (2, {"output"}), (0, {"input", "output"})])
def test_input_output(mode: int, io: set[str], tmp_path: Path) -> None:
    dumped(config(tmp_path, input_output=mode), convolution())
    (path,) = raw_files(tmp_path)
    assert {key[0] for key in tensors(path)} == io


def joined(*nets: Net) -> Net:
    """One net of the operators of several."""
    slots = {node: shown for net in nets for node, shown in net.slots.items()}
    for node in slots:
        node.graph = None
    held = {parameter: array for net in nets for parameter, array in net.values.items()}
    return Net(graph_of(list(slots), list(held)), slots, held)


def two_operators() -> Net:
    return joined(one_op("Default/a/Add-op0"), one_op("Default/b/MatMul-op0", parameter="y"))


def test_selection_by_kernels_iteration_and_marks(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    dumped(config(tmp_path / "a", dump_mode=1, kernels=["MatMul", "Nothing"], iteration="1"), two_operators(), steps=3)
    (path,) = raw_files(tmp_path / "a")
    assert path.name.startswith("MatMul.")
    assert path.relative_to(tmp_path / "a").parts[0] == "1"
    assert [record.getMessage() for record in caplog.records if "matched nothing" in record.getMessage()] == [
        "dump: the kernels entry 'Nothing' matched nothing that was dumped"
    ]
    net = two_operators()
    net.graph.order[0].attributes["dump"] = "true"
    dumped(config(tmp_path / "b", OLD, "ascend", dump_mode=2), net, device=DEVICES.get("ascend-o0"))
    assert [path.name.split(".")[0] for path in raw_files(tmp_path / "b")] == ["Add"]


def test_nothing_is_made_where_nothing_is_dumped(tmp_path: Path) -> None:
    dumped(config(tmp_path, iteration="7"), convolution())
    assert [path.name for path in tmp_path.iterdir()] == ["acl_dump_0.json"]
    assert "dump_step" in json.loads((tmp_path / "acl_dump_0.json").read_text())["dump"]


def test_the_runtime_is_told_of_each_step(tmp_path: Path) -> None:
    observer = AsyncDumpObserver(config(tmp_path), O2, rank=3)
    net = convolution()
    observer.graph_declared(net.graph)
    for _ in range(2):
        net.run(observer)
    observer.closed()
    assert json.loads((tmp_path / "acl_dump_3.json").read_text())["dump"]["dump_path"] == f"{tmp_path}/1"
    assert {path.relative_to(tmp_path).parts[2] for path in raw_files(tmp_path)} == {"3"}


def test_old_releases_have_ranks_graphs_and_short_names(tmp_path: Path) -> None:
    dumped(config(tmp_path, OLD, "ascend"), convolution(), device=DEVICES.get("ascend-o0"))
    (path,) = raw_files(tmp_path)
    assert path.relative_to(tmp_path).parts[:-1] == ("rank_0", "Net", "0", "0")
    assert path.name.startswith("Conv2D.Conv2D-op0.0.0.")
    assert {p.name for p in (tmp_path / "rank_0" / "graphs").iterdir()} == {
        "ms_output_trace_code_graph_0.ir", "ms_output_trace_code_graph_0.pb"
    }  # fmt: skip
    assert not (tmp_path / "acl_dump_0.json").exists()


def test_operators_whose_files_could_be_taken_for_one_anothers(tmp_path: Path) -> None:
    net = joined(one_op("Default/a/Add-op0"), one_op("Default/b/Add-op0", parameter="y"))
    dumped(config(tmp_path / "bin", OLD, "ascend"), net)
    names = set()
    for path in raw_files(tmp_path / "bin"):
        with DumpFile(path) as file:
            names.add(file.header.op_name)
    assert names == {"Default/a/Add-op0", "Default/b/Add-op0"}
    dumped(config(tmp_path / "npy", OLD, "ascend", file_format="npy"), net)
    rows = next((tmp_path / "npy").rglob(MAPPING)).read_text().splitlines()
    assert {row.split(".")[2] for row in rows} == {"Default/a/Add-op0", "Default/b/Add-op0"}
    assert all(row.endswith(".ND.npy") for row in rows)


# --- overflow and exception -------------------------------------------------------------------------------------------


def wild(*arrays: Array) -> Net:
    """Operators of one output each, run in turn."""
    names = [f"Default/Mul-op{at}" for at in range(len(arrays))]
    given = tensor(dtypes.float16, (3,))
    return joined(*(one_op(n, [given, a], f"x{n[-1]}") for n, a in zip(names, arrays, strict=True)))


INF = np.array([1, np.inf, 2], np.float16)
TAME = np.array([1, 2, 3], np.float16)


@pytest.mark.parametrize(
    ("generation", "backend", "mode"), [(LATEST, "ascend-o2", 3), (OLD, "ascend", 1), (OLD, "ascend", 3)]
)
def test_overflowing_operators_leave_a_record(generation: str, backend: str, mode: int, tmp_path: Path) -> None:
    settings = config(tmp_path, generation, backend, op_debug_mode=mode)
    dumped(settings, wild(TAME, INF, np.array([1, 2, 3], np.int32), INF))
    files = raw_files(tmp_path)
    assert [path.name.split(".")[0] for path in files] == ["Opdebug", "Mul"] * 2
    for record, tensors_ in zip(files[::2], files[1::2], strict=True):
        name, kernel = parse(record.name), parse(tensors_.name)
        assert name is not None
        assert kernel is not None
        assert name[1:4] == ("Node_OpDebug", kernel.task, kernel.stream)
        with DumpFile(record) as file:
            (entry,) = file.header.outputs
            found = opdebug.parse(file.payload(entry).tobytes(), "f")
        core = found["AI Core"] if generation == OLD else found["acc_list"]["data"]
        assert (core["task_id"], core["stream_id"]) == (kernel.task, kernel.stream)
        in_debug_files = record.parent.relative_to(tmp_path).parts[:2] == ("rank_0", "debug_files")
        assert in_debug_files == (generation == OLD)


def test_overflow_as_json(tmp_path: Path) -> None:
    dumped(config(tmp_path, op_debug_mode=3, file_format="npy"), wild(INF))
    (path,) = tmp_path.rglob("Opdebug*")
    assert path.name.endswith(".output.0.json")
    assert opdebug.from_json(path.read_text(), "f")["acc_list"]["data"]["status"]


def test_the_number_of_overflows_is_limited(tmp_path: Path) -> None:
    settings = config(tmp_path, op_debug_mode=3, overflow_number=2)
    assert dumped(settings, wild(INF, INF, INF)).overflows == 2
    assert len(raw_files(tmp_path)) == 4


def test_no_emulated_kernel_adds_atomically(tmp_path: Path) -> None:
    dumped(config(tmp_path, OLD, "ascend", op_debug_mode=2), wild(INF))
    assert not raw_files(tmp_path)


def test_the_failing_operator_leaves_its_inputs(tmp_path: Path) -> None:
    net = two_operators()
    observer = AsyncDumpObserver(config(tmp_path, op_debug_mode=4), O2)
    observer.graph_declared(net.graph)

    def each(node: Operator) -> None:
        if node is net.graph.order[1]:
            raise RuntimeError("kernel")

    with pytest.raises(RuntimeError, match="kernel"):
        net.run(observer, each)
    observer.closed()
    (path,) = raw_files(tmp_path)
    assert path.name.startswith("MatMul.")
    assert {key[0] for key in tensors(path)} == {"input"}


# --- when it is written -----------------------------------------------------------------------------------------------


class Slow:
    """Holds the first write back until it is let go; then all go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        original = writing.write_raw

        def held(*args: Any) -> None:
            self.begun.set()
            assert self.go_on.wait(600)
            original(*args)

        monkeypatch.setattr(writing, "write_raw", held)


def test_tensors_are_those_of_the_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parameter is overwritten while the file waits; results of kernels are not copied."""
    slow, net = Slow(monkeypatch), convolution()
    observer = AsyncDumpObserver(config(tmp_path), O2)
    observer.graph_declared(net.graph)
    inputs, outputs = net.slots[net.graph.order[0]]
    before = [slot.array.copy() for slot in inputs]
    net.run(observer)
    for slot in inputs:
        slot.array[...] = -1
    assert not raw_files(tmp_path)
    slow.go_on.set()
    observer.closed()
    (path,) = raw_files(tmp_path)
    found = tensors(path)
    assert all(np.array_equal(found["input", at], array) for at, array in enumerate(before))
    assert np.array_equal(found["output", 0], outputs[0].array)


def test_results_are_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, net = Slow(monkeypatch), convolution()
    observer = AsyncDumpObserver(config(tmp_path), O2)
    observer.graph_declared(net.graph)
    net.run(observer)
    net.slots[net.graph.order[0]][1][0].array[...] = 7
    slow.go_on.set()
    observer.closed()
    (path,) = raw_files(tmp_path)
    assert (tensors(path)["output", 0] == 7).all()


def test_the_bound_holds_and_larger_tensors_are_written_at_once(tmp_path: Path) -> None:
    queue = WriteQueue(5000)
    observer = AsyncDumpObserver(config(tmp_path), O2, queue=queue)
    small, large = one_op(), one_op("Default/Add-op1", [tensor(dtypes.float32, (4000,))] * 2, graph_id=1)
    for net in (small, large):
        observer.graph_declared(net.graph)
    for _ in range(20):
        small.run(observer)
        large.run(observer)
    observer.closed()
    assert len(raw_files(tmp_path)) == 40
    assert 0 < queue.peak <= 5000
    for path in raw_files(tmp_path):
        check_tensors(path, small if "op0" in path.name else large)


def failing(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """The disk is full from the ``after``-th file on."""
    left = iter(range(after))
    original = os.writev

    def writev(fd: int, buffers: Any) -> int:
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        return original(fd, buffers)

    monkeypatch.setattr(os, "writev", writev)


def test_a_full_disk_stops_the_run_at_the_next_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = two_operators()
    observer = AsyncDumpObserver(config(tmp_path), O2)
    observer.graph_declared(net.graph)
    net.run(observer)
    observer.queue.drain()
    failing(monkeypatch, 1)  # the file that tells the runtime of the step
    ran = []

    def kernels() -> None:
        with net.step(observer) as step:
            for node in net.graph.order:
                with net.launch(step, node) as launch:
                    ran.append(node)
                    launch.done(net.slots[node][1])
                observer.queue.drain()

    with pytest.raises(DumpWriteError, match="No space left on device"):
        kernels()
    assert ran == net.graph.order[:1]  # the second kernel was not launched
    observer.closed()  # says nothing twice
    assert len(raw_files(tmp_path)) == 2
    for path in raw_files(tmp_path):
        assert tensors(path)


def test_a_full_disk_is_told_at_the_end_if_no_kernel_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = convolution()
    observer = AsyncDumpObserver(config(tmp_path), O2)
    observer.graph_declared(net.graph)
    observer.queue.drain()
    failing(monkeypatch, 1)
    gate = threading.Event()
    observer.queue.submit(lambda: gate.wait(600))
    net.run(observer)
    gate.set()
    with pytest.raises(DumpWriteError, match="No space left on device"):
        observer.closed()
    observer.closed()


def test_a_path_that_cannot_be_made_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "x").write_text("in the way")
    dumped(config(tmp_path / "x"), convolution(), steps=2)
    errors = [record for record in caplog.records if record.levelname == "ERROR"]
    assert errors
    assert all("cannot be written to" in record.getMessage() for record in errors)


def test_many_tensors_of_one_operator(tmp_path: Path) -> None:
    net = one_op("Default/AddN-op0", [values(dtypes.float32, (2,), at) for at in range(1500)])
    dumped(config(tmp_path), net)
    (path,) = raw_files(tmp_path)
    check_tensors(path, net)


def test_operators_no_graph_announced(tmp_path: Path) -> None:
    net, other = convolution(), one_op("Default/Sub-op0", [tensor(dtypes.float32, (2,))], graph_id=1)
    observer = AsyncDumpObserver(config(tmp_path), O2)
    observer.graph_declared(net.graph)
    with net.step(observer, [other]) as step:
        (node,) = other.graph.order
        with other.launch(step, node) as launch:
            launch.done(other.slots[node][1])
    observer.closed()
    assert [path.name.split(".")[0] for path in raw_files(tmp_path)] == ["Sub"]
