"""A capture in memory equals the dump tree of the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings

from harness import dtypes
from harness.capture import Capture, CaptureObserver, read_tree
from harness.dump import DumpObserver
from harness.errors import DtypeError
from harness.recording import Launch, Value
from harness.records import Array, Record, SlotKey
from harness.stats.digest import digest
from tests.capture.nets import Net, processes
from tests.dump.build import config, one_op, tensor
from tests.examples import examples


def content(record: Record) -> tuple[object, ...]:
    """Everything of a record that a comparison can see."""
    array = record.load()
    assert array is not None
    assert array.shape == record.shape
    return (
        record.key, record.op_type, record.dtype, record.shape, record.format, record.source, array.dtype,
        array.tobytes(),
    )  # fmt: skip


def both(nets: list[Net], calls: list[int], directory: str) -> tuple[Capture, Capture]:
    """The same process, captured in memory and read back from its dump tree."""
    memory, dump = CaptureObserver(rootdir="/home/me"), DumpObserver(config(Path(directory)))
    for net in nets:
        memory.graph_declared(net.graph)
        dump.graph_declared(net.graph)
    for call in calls:
        nets[call].run([memory, dump])
    dump.closed()
    return memory.capture("Net", "cpu"), read_tree(directory, rootdir="/home/me")


@examples(20, 100)
@given(processes())
def test_memory_and_tree_agree_record_by_record(process: tuple[list[Net], list[int]]) -> None:
    with TemporaryDirectory() as directory:
        memory, tree = both(*process, directory)
        assert [content(r) for r in memory.records()] == [content(r) for r in tree.records()]
        assert tree.problems == []
        assert tree.artefacts == memory.artefacts
        assert tree.execution_order == memory.execution_order
        assert (tree.network, tree.backend, tree.emulated) == (memory.network, memory.backend, memory.emulated)


@settings(max_examples=20, deadline=None)
@given(processes())
def test_keys_are_unique_and_digests_are_those_of_the_values(process: tuple[list[Net], list[int]]) -> None:
    nets, calls = process
    observer = CaptureObserver()
    for call in calls:
        nets[call].run([observer])
    records = list(observer.capture("Net", "cpu").records())
    assert len({r.key for r in records}) == len(records)
    assert all(r.digest == digest(r.load(), r.dtype) for r in records)  # type: ignore[arg-type]


def test_equal_tensors_are_kept_once() -> None:
    net = one_op()
    observer = CaptureObserver()
    for _ in range(3):
        net.run(observer)
    kept: dict[bytes | None, set[int]] = {}
    for record in observer.capture("Net", "cpu").records():
        kept.setdefault(record.digest, set()).add(id(record.values))
    assert {len(ids) for ids in kept.values()} == {1}


def test_arrays_are_copied() -> None:
    array = tensor(dtypes.float32, (2, 3))
    net = one_op(arrays=[array, array])
    observer = CaptureObserver()
    net.run(observer)
    before = array.copy()
    array += 1
    assert all(np.array_equal(r.load(), before) for r in observer.capture("Net", "cpu").records())


def test_a_large_array_that_is_looked_up_is_not_copied() -> None:
    large, small = tensor(dtypes.float32, (128, 128)), tensor(dtypes.float32, (2, 3))
    net = one_op(arrays=[large, small, small.copy()])
    asked: list[tuple[SlotKey, bytes]] = []
    elsewhere = large.copy()

    def lookup(key: SlotKey, content: bytes) -> Callable[[], Array] | None:
        asked.append((key, content))
        return (lambda: elsewhere) if content == digest(elsewhere, "Float32") else None

    observer = CaptureObserver()
    observer.lookup = lookup
    net.run(observer)
    before = small.copy()
    small += 1
    large += 1
    records = {record.key.slot_name: record for record in observer.capture("Net", "cpu").records()}
    assert records["input.0"].load() is elsewhere
    assert np.array_equal(records["input.1"].load(), before)
    assert all(records[key.slot_name].digest == content for key, content in asked)
    assert "input.0" in [key.slot_name for key, _ in asked]
    assert "input.1" not in [key.slot_name for key, _ in asked]


def test_a_capture_does_not_grow_with_its_observer() -> None:
    net = one_op()
    observer = CaptureObserver()
    net.run(observer)
    first = observer.capture("Net", "cpu")
    count = len(list(first.records()))
    net.run(observer)
    assert len(list(first.records())) == count
    assert len(list(observer.capture("Net", "cpu").records())) == 2 * count


def test_a_step_that_failed_gives_its_label_again() -> None:
    net = one_op()
    observer = CaptureObserver()
    net.run(observer)
    with pytest.raises(RuntimeError, match="no"), net.step(observer):
        raise RuntimeError("no")
    net.run(observer)
    assert {r.key.iteration for r in observer.capture("Net", "cpu").records()} == {0, 1}


def test_a_kernel_of_another_graph_is_recorded_there() -> None:
    net, other = one_op(), one_op("Default/Sub-op0", graph_id=7)
    node = other.graph.order[0]
    observer = CaptureObserver()
    net.slots |= other.slots
    with net.step(observer) as step, other.launch(step, node) as launch:
        launch.done(other.slots[node][1])
    graphs = {r.key.operator: r.key.graph for r in observer.capture("Net", "cpu").records()}
    assert graphs == {"Default/Sub-op0": 7, "x": 0}


def test_a_kernel_outside_of_a_step_is_refused() -> None:
    net, observer = one_op(), CaptureObserver()
    node = net.graph.order[0]
    inputs, outputs = net.slots[node]
    launch = Launch(net.step(observer), node, inputs, None)  # a runtime's short way; its step did not begin
    launch.begin()
    with pytest.raises(RuntimeError, match="Default/Add-op0 ran outside of a step"):
        launch.end(outputs)


def test_a_slot_that_is_not_of_its_dtype_is_refused() -> None:
    net = one_op()
    node = net.graph.order[0]
    net.slots[node] = ([], [Value.known(np.zeros((2, 3), np.int32), dtypes.float32, 0, False)])
    with pytest.raises(DtypeError, match="int32 was given as Float32"):
        net.run(CaptureObserver())
