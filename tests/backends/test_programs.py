"""Processes that run more than one network in one shape, on every backend, in every mode, in the trees of every
release: control flow, several networks, recompilation, shapes known at run time, a function under jit in PyNative."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import context, jit, ops
from harness.backends import get
from harness.backends.dump_tree import configuration
from harness.capture import Capture, CaptureObserver, read_tree
from harness.capture.watching import WATCHED
from harness.devices import DEVICES
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.environment import observer_for
from harness.dump.names import mangle
from harness.framework.runtime import session
from harness.framework.tensor import Tensor
from tests.backends.test_capture import VARIANTS, by_slot
from tests.dump.asynchronous.build import config
from tests.examples import diagonal
from tests.framework.compile.build import Net, graph_mode

X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


def tensor(*shape: int) -> Tensor:
    return Tensor(np.resize(X, shape))


def control_flow() -> None:
    """Both branches, and a loop inside one of them; the same operator in the root graph and in those split off."""

    def grow(x: Any) -> Any:
        return ops.while_loop(lambda s: ops.ReduceSum()(s) < 9, lambda s: ops.exp(s) + 1, x) + 1

    net = Net(lambda net, x: ops.cond(ops.ReduceSum()(x) > 0, grow, lambda y: ops.exp(y) + net.w, x + 1))
    net(tensor(2, 3))
    net(Tensor(-9 + X))


def several_networks() -> None:
    one, other = Net(lambda net, x: x @ net.w.T), Net(lambda net, x: ops.ReduceSum()(x + net.w, 0))
    for net in (one, other, one):
        net(tensor(2, 3))


def recompilation() -> None:
    net = Net(lambda net, x: ops.exp(x) @ net.w.T)
    for rows in (2, 4, 2):
        net(tensor(rows, 3))


def dynamic_shapes() -> None:
    net = Net(lambda net, x: ops.exp(x * x) + 1)
    net.set_inputs(Tensor(shape=[None, 3], dtype=tensor(2, 3).dtype))
    for rows in (1, 4):
        net(tensor(rows, 3))


def one_function_under_jit() -> None:
    """In PyNative mode; what is called one by one there is in captures alone (``tests/backends/test_called.py``)."""
    context.set_context(mode=context.PYNATIVE_MODE)

    @jit
    def function(x: Any) -> Any:
        return ops.exp(x) + x

    for _ in range(2):
        function(tensor(2, 3))


PROGRAMS = {
    each.__name__: each
    for each in (control_flow, several_networks, recompilation, dynamic_shapes, one_function_under_jit)
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("variant", "program"), diagonal(VARIANTS, PROGRAMS))
def test_memory_and_tree_agree(variant: tuple[str, str], program: str, tmp_path: Path) -> None:
    backend, mode = variant
    with graph_mode(), get(backend).open(network="net", mode=mode) as process:
        observer = process.dump(tmp_path)
        process.session.recording.add(observer)
        process.execute(PROGRAMS[program])
        observer.closed()
        memory, tree = process.capture(), read_tree(tmp_path, backend=backend)
    sunk = backend == "ascend-o2"
    assert by_slot(tree, sunk=sunk) == by_slot(memory, sunk=sunk)
    assert tree.problems == []
    assert tree.artefacts == {name: text for name, text in memory.artefacts.items() if name != WATCHED}
    watches = mode in ("overflow", "exception")
    assert watches == (not list(memory.records()))
    assert watches == (WATCHED in memory.artefacts)


def both(observer: Any, memory: CaptureObserver, device: str, program: Callable[[], None]) -> Capture:
    """Runs the program with both observers; gives what the second captured."""
    with graph_mode():
        process = session.Session([memory, observer], hooked=False, device=DEVICES.get(device))
        with session.in_session(process):
            program()
        process.close()
    return memory.capture("Net", device)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("file_format", ["bin", "npy"])
@pytest.mark.parametrize("release", ["1.3", "1.6", "2.1", "2.5", "2.9"])
@pytest.mark.parametrize("device", ["ascend-o0", "ascend-o1", "ascend-o2"])
def test_asynchronous_trees_of_every_release(
    tmp_path: Path, device: str, release: str, file_format: str, program: str
) -> None:
    """Each tensor comes back under its operator's full name, or, from trees without graphs, under its mangled one."""
    if device == "ascend-o2":
        if release != "2.5":
            pytest.skip("a whole graph was sunk, by rules of its own, from 2.3 to 2.6")
        read = config(tmp_path, "2.4-2.6", "ascend-o2", file_format=file_format)
    else:
        if release == "1.3" and file_format == "npy":
            pytest.skip("file_format came with 1.5")
        read = config(tmp_path, release, device, file_format=file_format)
    raw = file_format == "bin"
    memory = CaptureObserver(device=DEVICES.get(device), raw=raw)
    captured = both(AsyncDumpObserver(read, DEVICES.get(device)), memory, device, PROGRAMS[program])
    tree = read_tree(tmp_path)
    has_graphs = release < "2.3"

    def content(capture: Capture) -> dict[Any, Any]:
        found = {}
        for record in capture.records():
            key = record.key if has_graphs else record.key._replace(operator=mangle(record.key.operator))
            array = record.load()
            assert array is not None
            found[key] = record.op_type, record.dtype, array.shape, array.tobytes()
        return found

    assert content(tree) == content(captured)
    assert tree.problems == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("backend", "mode"), [(b, m) for b, m in VARIANTS if m in ("tensor", "async-bin", "async-npy")]
)
def test_other_ranks(backend: str, mode: str, program: str, tmp_path: Path) -> None:
    """Two processes of a job write one tree; each rank is read by itself, and both together."""
    device = DEVICES.get(backend)
    expected: dict[Any, Any] = {}
    sunk = backend == "ascend-o2"
    for rank in (0, 3):
        writer = observer_for(configuration(tmp_path, device, mode), device, rank=rank)
        memory = CaptureObserver(rank=rank, device=device, raw=mode == "async-bin")
        mine = by_slot(both(writer, memory, backend, PROGRAMS[program]), sunk=sunk)
        assert {key.rank for key in mine} == {rank}
        assert by_slot(read_tree(tmp_path, rank, backend=backend), sunk=sunk) == mine
        expected |= mine
    assert by_slot(read_tree(tmp_path, backend=backend), sunk=sunk) == expected
