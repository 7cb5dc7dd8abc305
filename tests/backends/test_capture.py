"""What an emulated backend captures in memory is what its dump tree of the same run holds, in every mode."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from harness import context
from harness.backends import get
from harness.backends.everything import configuration
from harness.capture import Capture, CaptureObserver, read_tree
from harness.devices import DEVICES
from harness.dump.environment import observer_for
from harness.dump.names import mangle
from harness.records import Record, SlotKey
from harness.runtime import session
from tests.compile.build import graph_mode
from tests.gate.emulated import BACKENDS
from tests.gate.networks import brain
from tests.gate.networks.recorder import Recorder

VARIANTS = [(backend, mode) for backend, modes in BACKENDS.items() for mode in modes]
# a network for each thing that can differ: convolutions and training, loops and branches, 16-bit dtypes, fused chains
NETWORKS = ("residual", "control", "half", "brain")


def both(backend: str, mode: str, network: str, folder: Path) -> tuple[Capture, Capture]:
    """A run of a shipped network, captured in memory and read back from its tree."""
    context.set_seed(1)
    with graph_mode(), get(backend).open(network="net", mode=mode) as process:
        play = importlib.import_module(f"tests.gate.networks.{network}").play
        observer = process.dump(folder)
        process.execute(lambda: play(Recorder()), [observer])
        observer.closed()
        return process.capture(), read_tree(folder, backend=backend)


def content(record: Record) -> tuple[object, ...]:
    """What a comparison sees of a record."""
    array = record.load()
    kept = record.digest if array is None else array.tobytes()
    where = record.extra.get("stream", 0), record.extra.get("task", 0)
    return record.op_type, record.dtype, record.shape, where, kept


def by_slot(capture: Capture, *, sunk: bool) -> dict[SlotKey, tuple[object, ...]]:
    """Contents by slot. The tree of a sunk graph has no graph: names of operators stay mangled, sources unknown."""
    if not sunk:
        return {r.key: (*content(r), r.format, r.source) for r in capture.records()}
    return {r.key._replace(operator=mangle(r.key.operator)): content(r) for r in capture.records()}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("backend", "mode"), VARIANTS)
def test_memory_and_tree_agree(backend: str, mode: str, network: str, tmp_path: Path) -> None:
    memory, tree = both(backend, mode, network, tmp_path)
    sunk = backend == "ascend-o2"
    expected, found = by_slot(memory, sunk=sunk), by_slot(tree, sunk=sunk)
    assert tree.problems == []
    assert found.keys() == expected.keys()
    assert [key for key in expected if expected[key] != found[key]] == []
    assert len(expected) == len(list(memory.records()))
    assert tree.artefacts == memory.artefacts
    assert tree.execution_order == memory.execution_order


def test_a_sunk_graph_s_tensors_lie_in_the_devices_formats(tmp_path: Path) -> None:
    memory, tree = both("ascend-o2", "tensor", "residual", tmp_path)
    formats = {record.key: record.format for record in memory.records()}
    assert {"FRACTAL_Z", "FRACTAL_NZ", "NC1HWC0", "DefaultFormat"} == set(formats.values())
    assert {r.key: r.format.replace("ND", "DefaultFormat") for r in tree.records()} == formats


@pytest.mark.parametrize("backend", ["gpu", "ascend-o0", "ascend-o1"])
def test_full_has_the_rows_of_statistic_beside_the_values(backend: str, tmp_path: Path) -> None:
    full, tree = both(backend, "full", "residual", tmp_path)
    rows = {record.key: record.extra["statistics"] for record in tree.records()}
    assert {record.key: repr(record.extra["statistics"]) for record in full.records()} == {
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
        with session.within(process):
            brain.play(Recorder())
        process.close()
    records = list(read_tree(tmp_path, backend=backend).records())
    assert {record.key.rank for record in records} == {3}
    expected = memory.capture("net", backend)
    sunk = backend == "ascend-o2"
    assert by_slot(expected, sunk=sunk).keys() == {
        r.key._replace(operator=mangle(r.key.operator)) if sunk else r.key for r in records
    }
