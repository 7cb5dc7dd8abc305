"""An emulated backend captures in memory what the dump tree of the same run holds, in every mode."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness import context, ops
from harness.backends import get
from harness.backends.dump_tree import configuration
from harness.capture import Capture, CaptureObserver, read_tree
from harness.capture.sample import SAMPLE
from harness.capture.watching import WATCHED
from harness.devices import DEVICES
from harness.dump.environment import observer_for
from harness.dump.names import mangle
from harness.errors import KernelError
from harness.framework.runtime import session
from harness.framework.tensor import Tensor
from harness.records import Record, SlotKey
from tests.examples import diagonal
from tests.framework.compile.build import Net, graph_mode
from tests.gate.emulated import BACKENDS
from tests.gate.networks import brain, residual
from tests.gate.networks.recorder import Recorder

VARIANTS = [(backend, mode) for backend, modes in BACKENDS.items() for mode in modes]
# a network for each thing that can differ: convolutions and training, loops and branches, 16-bit dtypes, fused chains
NETWORKS = ("residual", "control", "half", "brain")


def both(backend: str, mode: str, network: str, folder: Path) -> tuple[Capture, Capture]:
    """A run of a shipped network, captured in memory and read back from its tree."""
    play = importlib.import_module(f"tests.gate.networks.{network}").play
    return both_of(backend, mode, lambda: play(Recorder()), folder)


def both_of(backend: str, mode: str, program: Callable[[], object], folder: Path) -> tuple[Capture, Capture]:
    """The same for any program; what it raises is dropped."""
    context.set_seed(1)
    with graph_mode(), get(backend).open(network="net", mode=mode) as process:
        observer = process.dump(folder)
        process.session.recording.add(observer)
        with contextlib.suppress(KernelError):
            process.execute(program)
        observer.closed()
        return process.capture(), read_tree(folder, backend=backend)


def content(record: Record) -> tuple[object, ...]:
    """What a comparison sees of a record."""
    array = record.load()
    kept = record.digest if array is None else array.tobytes()
    where = (record.extra.stream or 0), (record.extra.task or 0)
    return record.op_type, record.dtype, record.shape, where, kept


def by_slot(capture: Capture, *, sunk: bool) -> dict[SlotKey, tuple[object, ...]]:
    """Contents by slot. The tree of a sunk graph has no graph: names of operators stay mangled, sources unknown."""
    if not sunk:
        return {r.key: (*content(r), r.format, r.source) for r in capture.records()}
    return {r.key._replace(operator=mangle(r.key.operator)): content(r) for r in capture.records()}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("variant", "network"), diagonal(VARIANTS, NETWORKS))
def test_memory_and_tree_agree(variant: tuple[str, str], network: str, tmp_path: Path) -> None:
    backend, mode = variant
    memory, tree = both(backend, mode, network, tmp_path)
    sunk = backend == "ascend-o2"
    expected, found = by_slot(memory, sunk=sunk), by_slot(tree, sunk=sunk)
    assert tree.problems == []
    assert found.keys() == expected.keys()
    assert [key for key in expected if expected[key] != found[key]] == []
    assert len(expected) == len(list(memory.records()))
    # What was watched is not a part of a tree.
    assert tree.artefacts == {name: text for name, text in memory.artefacts.items() if name != WATCHED}
    assert tree.execution_order == memory.execution_order


def test_a_sunk_graph_s_tensors_lie_in_the_devices_formats(tmp_path: Path) -> None:
    memory, tree = both("ascend-o2", "tensor", "residual", tmp_path)
    formats = {record.key: record.format for record in memory.records()}
    assert {"FRACTAL_Z", "FRACTAL_NZ", "NC1HWC0", "DefaultFormat"} == set(formats.values())
    assert {r.key: r.format.replace("ND", "DefaultFormat") for r in tree.records()} == formats


ASCEND = ("ascend-o0", "ascend-o1", "ascend-o2")


def agree(memory: Capture, tree: Capture, *, sunk: bool) -> None:
    assert tree.problems == []
    assert by_slot(tree, sunk=sunk) == by_slot(memory, sunk=sunk)


@pytest.mark.parametrize("mode", ["overflow", "exception"])
@pytest.mark.parametrize("backend", ASCEND)
def test_a_run_without_trouble_says_what_was_watched(backend: str, mode: str) -> None:
    with graph_mode():
        runs = [get(backend).run(lambda: brain.play(Recorder()), network="net", mode=m) for m in (mode, "tensor")]
    watched, whole = runs
    steps = {(r.key.graph, r.key.iteration) for r in whole.records()}
    kernels = {step: {r.key[3:5] for r in whole.records() if (r.key.graph, r.key.iteration) == step} for step in steps}
    assert list(watched.records()) == []
    assert sorted(watched.artefacts[WATCHED].decode().splitlines()) == sorted(
        f"graph {graph} iteration {label}: {len(found)} kernels" for (graph, label), found in kernels.items()
    )


@pytest.mark.parametrize("backend", ASCEND)
def test_kernels_that_overflow(backend: str, tmp_path: Path) -> None:
    """The second step overflows, and only kernels in or after the overflow are kept."""
    net = Net(lambda net, x: ops.ReduceSum()(ops.exp(x) @ net.w.T))

    def program() -> None:
        for factor in (1, 1000):
            net(Tensor(np.full((2, 3), factor, np.float32)))

    memory, tree = both_of(backend, "overflow", program, tmp_path)
    agree(memory, tree, sunk=backend == "ascend-o2")
    assert {(r.key.iteration, r.op_type) for r in memory.records()} == {(1, "Exp"), (1, "MatMul"), (1, "ReduceSum")}
    assert {r.key.io for r in memory.records()} == {"input", "output"}


@pytest.mark.parametrize("backend", ASCEND)
def test_the_kernel_that_fails(backend: str, tmp_path: Path) -> None:
    """Its inputs are kept, nothing else; the step's label is given again."""
    net = Net(lambda net, x, rows: ops.exp(ops.gather(net.w * x, rows, 0)))
    x = Tensor(np.ones((2, 3), np.float32))
    good, bad = Tensor(np.array([0, 1])), Tensor(np.array([0, 7]))

    def program() -> None:
        net(x, good)
        with contextlib.suppress(KernelError):
            net(x, bad)
        net(x, bad)

    memory, tree = both_of(backend, "exception", program, tmp_path)
    found = [(r.key.iteration, r.op_type, r.key.execution, r.key.slot_name) for r in memory.records()]
    agree(memory, tree, sunk=backend == "ascend-o2")
    assert found == [(1, "Gather", n, f"input.{slot}") for n in (0, 1) for slot in range(len(found) // 2)]
    assert [r.load().tolist() for r in memory.records()][1] == [0, 7]  # type: ignore[union-attr]
    assert memory.artefacts[WATCHED].decode() == "graph 0 iteration 0: 3 kernels\ngraph 0 iteration 1: 4 kernels\n"


@pytest.mark.parametrize("backend", ["ascend-o0", "ascend-o1"])
def test_samples_are_the_first_elements(backend: str) -> None:
    with graph_mode():
        sample, whole = (
            {r.key: r for r in get(backend).run(lambda: residual.play(Recorder()), network="net", mode=mode).records()}
            for mode in ("sample", "tensor")
        )
    assert sample.keys() == whole.keys()
    cut = 0
    for key, record in sample.items():
        array, full = record.load(), whole[key].load()
        assert array is not None
        assert full is not None
        assert array.shape == ((SAMPLE,) if full.size > SAMPLE else full.shape)
        assert array.tobytes() == full.tobytes()[: array.nbytes]
        cut += full.size > SAMPLE
    assert cut > 100


@pytest.mark.parametrize("backend", ["gpu", "ascend-o0", "ascend-o1"])
def test_arguments_of_operators_are_compared(backend: str, tmp_path: Path) -> None:
    net = Net(lambda net, x: ops.exp(x) @ net.w.T)
    memory, _tree = both_of(backend, "kernel-args", lambda: net(Tensor(np.ones((2, 3), np.float32))), tmp_path)
    (name,) = [name for name in memory.artefacts if name.startswith("compared/")]
    assert name == "compared/kernel_args_graph_0.json"
    (files,) = json.loads(memory.artefacts[name]).values()
    assert set(files) == {path.name for path in tmp_path.rglob("*-op*.json")}
    assert files["MatMul.Expand__MatMulExt_MatMul-op0.json"] == {"transpose_a": "False", "transpose_b": "False"}


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["gpu", "ascend-o0", "ascend-o1"])
def test_full_has_the_rows_of_statistic_beside_the_values(backend: str, tmp_path: Path) -> None:
    full, tree = both(backend, "full", "residual", tmp_path)
    rows = {record.key: record.extra.statistics for record in tree.records()}
    assert {record.key: repr(record.extra.statistics) for record in full.records()} == {
        key: repr(row) for key, row in rows.items()
    }


@pytest.mark.parametrize("backend", ["cpu", "gpu", "ascend-o0", "ascend-o1", "ascend-o2"])
def test_another_rank(backend: str, tmp_path: Path) -> None:
    """A process of rank 3 captures, and writes, under its own rank."""
    device = DEVICES.get(backend)
    memory = CaptureObserver(rank=3, device=device)
    writer = observer_for(configuration(tmp_path, device), device, rank=3)
    assert writer is not None
    with graph_mode():
        process = session.Session([memory, writer], hooked=False, device=device)
        with session.in_session(process):
            brain.play(Recorder())
        process.close()
    records = list(read_tree(tmp_path, backend=backend).records())
    assert {record.key.rank for record in records} == {3}
    expected = memory.capture("net", backend)
    sunk = backend == "ascend-o2"
    assert by_slot(expected, sunk=sunk).keys() == {
        r.key._replace(operator=mangle(r.key.operator)) if sunk else r.key for r in records
    }


def test_nothing_holds_a_capture_but_who_asked_for_it() -> None:
    network = Net(lambda _, x: x + 1)
    gc.disable()
    try:
        with graph_mode():
            capture = get("cpu").run(lambda: network(Tensor(np.ones(3, np.float32))), network="net")
        values = weakref.ref(next(capture.records()).load())
        assert values() is not None
        del capture
        assert values() is None
    finally:
        gc.enable()
