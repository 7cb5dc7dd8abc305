"""What a session records, when it is exported, and that it never changes the program's result."""

from __future__ import annotations

import functools
import itertools
import json
import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import Tensor, context, nn, ops
from harness.devices import DEVICES
from harness.errors import KernelError, ShapeError
from harness.framework.runtime import session
from harness.graph import pb
from harness.memory import Addresses, parse
from harness.rdr.config import RdrConfig
from harness.rdr.listing import artefacts
from harness.rdr.observer import ACTIONS, RdrObserver
from harness.rdr.read import memory_addresses
from harness.rdr.recorders import Recorder
from harness.rdr.recorders.memory import MemoryRecorder
from harness.recording import Operator, Recording
from tests.framework.compile.build import floats, graph_mode

X = floats(2, 4)
PIPELINE = [("PIPELINE", f"{at:02d}_{action}", "ir") for at, action in enumerate(ACTIONS)]


def of_graph(number: int) -> list[tuple[str, str, str]]:
    return [
        ("SESSION", f"graph_build.{number}", "ir"), ("SESSION", f"graph_build.{number}", "pb"),
        ("SESSION", f"graph_exec_order.{number}", "txt"),
    ]  # fmt: skip


MEMORY = [("RUNTIME_FRAMEWORK", "mem_address_list", "txt")]


class Gather(nn.Cell):
    def construct(self, x: Any, index: Any) -> Any:
        return ops.sin(ops.gather_d(ops.exp(x), 0, index))


class Chain(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.tanh(ops.exp(ops.cos(ops.sin(x))))


class Wrong(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.matmul(x, x)


def index(value: int) -> Tensor:
    return Tensor(np.full((2, 4), value, np.int32))


def observer(path: Path, mode: int, device: str = "cpu", **options: Any) -> RdrObserver:
    return RdrObserver(
        RdrConfig(True, mode, f"{path}/"), DEVICES.get(device), clock=lambda: "20260102030405", **options
    )  # fmt: skip


def keys(path: Path) -> list[tuple[str, str, str]]:
    return sorted(found.key for found in artefacts(path))


def text_of(path: Path, name: str, extension: str = "txt") -> str:
    (found,) = [f for f in artefacts(path) if f.name == name and f.extension == extension]
    return found.read().decode()


@pytest.mark.parametrize("mode", [1, 2])
def test_normal_end(tmp_path: Path, mode: int) -> None:
    with graph_mode(), session.fresh([observer(tmp_path, mode)], hooked=False):
        net = Chain()
        net(X)
        after_compile = keys(tmp_path)
        net(X)
    if mode == 1:
        assert not tmp_path.exists() or not list(tmp_path.iterdir())
        return
    assert after_compile == PIPELINE + of_graph(0)
    assert keys(tmp_path) == sorted(PIPELINE + of_graph(0) + MEMORY)
    assert set(Counter(keys(tmp_path)).values()) == {1}


@pytest.mark.parametrize("mode", [1, 2])
def test_a_kernel_error_exports_at_once_also_if_it_is_caught(tmp_path: Path, mode: int) -> None:
    with graph_mode(), session.fresh([observer(tmp_path, mode)], hooked=False):
        net = Gather()
        good = net(X, index(0))
        with pytest.raises(KernelError, match="GatherD"):
            net(X, index(9))
        assert keys(tmp_path) == sorted(PIPELINE + of_graph(0) + MEMORY)
        assert np.array_equal(net(X, index(0)).asnumpy(), good.asnumpy())
    order = text_of(tmp_path, "graph_exec_order.0")
    assert order.count("execution_order size: 3") == 1


def test_errors_one_after_the_other_in_mode_1(tmp_path: Path) -> None:
    counts = []
    with graph_mode(), session.fresh([observer(tmp_path, 1)], hooked=False):
        for _ in range(3):
            with pytest.raises(KernelError):
                Gather()(X, index(9))
            counts.append(len(artefacts(tmp_path)))
    # Each error exports everything again: the newest compilation's stages, every graph so far, one list of addresses.
    assert counts == [28, 28 + 24 + 1 + 3, 56 + 24 + 2 + 3]
    assert text_of(tmp_path, "graph_exec_order.0").count("execution_order size") == 3
    assert text_of(tmp_path, "graph_exec_order.2").count("execution_order size") == 1


@pytest.mark.parametrize("mode", [1, 2])
def test_a_compile_error(tmp_path: Path, mode: int) -> None:
    with graph_mode(), session.fresh([observer(tmp_path, mode)], hooked=False):
        with pytest.raises(ShapeError):
            Wrong()(X)
        assert not artefacts(tmp_path)
    assert keys(tmp_path) == (PIPELINE[:1] if mode == 2 else [])


def test_a_compile_error_with_the_trigger_of_our_own(tmp_path: Path) -> None:
    with graph_mode(), session.fresh([observer(tmp_path, 1, triggers_compile=True)], hooked=False):
        with pytest.raises(ShapeError):
            Wrong()(X)
        assert keys(tmp_path) == PIPELINE[:1]
    assert keys(tmp_path) == PIPELINE[:1]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_error(tmp_path: Path, error: type[BaseException]) -> None:
    watcher = observer(tmp_path, 1)
    watcher.recorders.record("text", "OPTIMIZER", "a", "x")
    recording = Recording("by hand", observers=[watcher])
    with pytest.raises(error), recording.compiling("Wrong_construct"):
        raise error
    with recording.compiling("Net_construct") as compiling:
        graph = compiling.graph([Operator("Add", mutates=())])
    with pytest.raises(error), recording.step(graph):
        raise error
    assert not artefacts(tmp_path)


def test_a_function_in_pynative_mode_leaves_addresses_only(tmp_path: Path) -> None:
    assert context.get_context("mode") == context.PYNATIVE_MODE
    with session.fresh([observer(tmp_path, 2)], hooked=False):
        Chain()(X)  # kernel by kernel: nobody is told
        assert not artefacts(tmp_path)
        session.current().run_function(lambda x: ops.exp(ops.sin(x)), (X,), {})
    assert keys(tmp_path) == MEMORY


def test_a_new_graph_in_mode_2(tmp_path: Path) -> None:
    with graph_mode(), session.fresh([observer(tmp_path, 2)], hooked=False):
        Chain()(X)
        Gather()(X, index(0))
    assert Counter(keys(tmp_path)) == Counter(PIPELINE * 2 + of_graph(0) + of_graph(1) + MEMORY * 2)


def test_control_flow_gives_one_set_a_kernel_graph(tmp_path: Path) -> None:
    class Choice(nn.Cell):
        def construct(self, x: Any, flag: Any) -> Any:
            return ops.cond(flag, lambda v: ops.exp(v), lambda v: ops.sin(v), ops.cos(x))

    with graph_mode(), session.fresh([observer(tmp_path, 2)], hooked=False) as running:
        Choice()(X, Tensor(np.array(True)))
        graphs = running._next_graph
    assert graphs > 1
    expected = PIPELINE + [key for number in range(graphs) for key in of_graph(number)] + MEMORY
    assert keys(tmp_path) == sorted(expected)
    assert f"# Total subgraphs: {graphs}" in text_of(tmp_path, "01_type_inference", "ir")


def test_a_function_that_gives_back_its_input_has_stages_only(tmp_path: Path) -> None:
    class Same(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x

    with graph_mode(), session.fresh([observer(tmp_path, 2)], hooked=False):
        Same()(X)
    assert keys(tmp_path) == PIPELINE


def test_addresses_are_those_of_the_latest_step_in_launch_order(tmp_path: Path) -> None:
    watcher = observer(tmp_path, 2)
    with graph_mode(), session.fresh([watcher], hooked=False):
        net = Chain()
        for _ in range(3):
            net(X)
    text = text_of(tmp_path, "mem_address_list")
    assert re.findall(r"^Default/\S+$", text, re.MULTILINE) == [
        f"Default/{op}-op0" for op in ("Sin", "Cos", "Exp", "Tanh")
    ]
    outputs = re.findall(r"kernel_outputs 1\n(&\S+ #\d+)\n", text)
    inputs = re.findall(r"kernel_inputs 1\n(&\S+ #\d+)\n", text)
    assert outputs[:-1] == inputs[1:]  # what one writes the next reads
    assert all(line.endswith(" #32") for line in outputs + inputs)
    assert len(set(outputs)) == 4


def test_graphs_lie_in_memory_of_their_own(tmp_path: Path) -> None:
    watcher = observer(tmp_path, 1)
    with graph_mode(), session.fresh([watcher], hooked=False):
        Chain()(X)
        first = {a.start for of in watcher._records.addresses.values() for a in (*of.inputs, *of.outputs)}
        Chain()(X)
        both = {a.start for of in watcher._records.addresses.values() for a in (*of.inputs, *of.outputs)}
    assert len(both) == 2 * len(first)


def test_memory_is_shared_and_its_texts_recorded_at_o1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(context._values, "memory_optimize_level", "O1")
    with graph_mode(), session.fresh([observer(tmp_path, 2)], hooked=False):
        Chain()(X)
    plans = {f"CPU_somas_{name}.0" for name in ("initial_info", "pre_processed_info", "offline_log")}
    assert {f.name for f in artefacts(tmp_path) if f.module == "OPTIMIZER"} == plans
    assert len(parse(text_of(tmp_path, "CPU_somas_initial_info.0")).tensors) == 4
    outputs = re.findall(r"kernel_outputs 1\n(&\S+)", text_of(tmp_path, "mem_address_list"))
    assert len(set(outputs)) < 4


@pytest.mark.parametrize("off", ["dump", "mem_reuse"])
def test_reuse_is_off_with_a_synchronous_dump_and_without_mem_reuse(
    tmp_path: Path, off: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(context._values, "memory_optimize_level", "O1")
    config = RdrConfig(True, 2, f"{tmp_path}/", mem_reuse=off != "mem_reuse")
    watcher = RdrObserver(config, synchronous_dump=off == "dump")
    with graph_mode(), session.fresh([watcher], hooked=False):
        Chain()(X)
    assert not [f for f in artefacts(tmp_path) if f.module == "OPTIMIZER"]
    assert len(set(re.findall(r"kernel_outputs 1\n(&\S+)", text_of(tmp_path, "mem_address_list")))) == 4


@pytest.mark.parametrize("device", ["gpu", "ascend-o0", "ascend-o1", "ascend-o2"])
def test_what_other_devices_have(tmp_path: Path, device: str) -> None:
    watcher = observer(tmp_path, 2, device)
    with graph_mode(), session.in_session(session.Session([watcher], hooked=False, device=DEVICES.get(device))):
        Chain()(X)
    watcher.closed()
    found = {f.key for f in artefacts(tmp_path)} - set(PIPELINE + of_graph(0) + MEMORY)
    ascend = {("SESSION", "assign_stream.0", "json"), ("", "hwopt_d_before_graph_0", "ir")}
    sunk = {("DEVICE", "task_info_graph.0", "ir")}
    expected: dict[str, set[Any]] = {"gpu": set(), "ascend-o2": ascend | sunk}
    assert found == expected.get(device, ascend)
    if device != "gpu":
        order = json.loads(text_of(tmp_path, "assign_stream.0", "json"))
        kernels = text_of(tmp_path, "graph_exec_order.0").count("\t@kernel_graph0")
        assert [row["index"] for row in order] == list(range(kernels))
    if device == "ascend-o2":
        assert text_of(tmp_path, "task_info_graph.0", "ir").count("op_name:Default/") == kernels


def test_the_graph_files_say_the_same(tmp_path: Path) -> None:
    with graph_mode(), session.fresh([observer(tmp_path, 2)], hooked=False):
        Chain()(X)
    (found,) = [f for f in artefacts(tmp_path) if f.extension == "pb"]
    message = pb.read(found.read())
    text = text_of(tmp_path, "graph_build.0", "ir")
    names = [node.full_name for node in message.graph.node]
    assert re.findall(r"# Fullname with scope: \((.*)\)", text)[: len(names)] == names
    assert found.read()[:3] == b"\x08\x01\x22"


def test_stages_show_scopes_and_one_source_line(tmp_path: Path) -> None:
    with graph_mode(), session.fresh([observer(tmp_path, 2)], hooked=False):
        Chain()(X)
    stages = [text_of(tmp_path, f"{at:02d}_{ACTIONS[at]}", "ir") for at in range(24)]
    assert "%para1_x: <null>" in stages[0]
    assert "resolve(" in stages[0]
    for text in stages[1:]:
        assert text.count("# Scope: (Default)") == text.count("\n      : (")
        assert "Fullname" not in text
        assert text.count("# In file") == 4
        assert "0x0" in text
        assert "0x7" not in text


def test_a_fault_while_recording_is_told_and_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> str:
        raise ArithmeticError("of its own")

    monkeypatch.setattr("harness.framework.runtime.session.stage_text", broken)
    monkeypatch.setattr("harness.rdr.of_graph.build_text", broken)
    with graph_mode():
        plain = Chain()(X).asnumpy()
        with session.fresh([observer(tmp_path, 2)], hooked=False):
            assert np.array_equal(Chain()(X).asnumpy(), plain)
    assert "cannot be recorded: ArithmeticError('of its own')" in caplog.text
    assert keys(tmp_path) == sorted(PIPELINE[:1] + MEMORY)


def test_an_unwritable_directory_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with graph_mode(), session.fresh([observer(tmp_path / "file", 2)], hooked=False):
        Gather()(X, index(0))
        with pytest.raises(KernelError):
            Gather()(X, index(9))
    assert "Get real path failed" in caplog.text


def test_no_exec_order_in_eager_mode_even_if_a_graph_is_shown(tmp_path: Path) -> None:
    watcher = observer(tmp_path, 1)
    with session.fresh([watcher], hooked=False):
        session.current().run_function(lambda x: ops.exp(x), (X,), {})
    assert watcher.recorders.find("SESSION", "graph_exec_order.0") is None


def test_equal_runs_give_equal_files(tmp_path: Path) -> None:
    contents = []
    for run in range(2):
        with graph_mode(), session.fresh([observer(tmp_path / str(run), 2)], hooked=False):
            Chain()(X)
        contents.append({f.path.name: f.read() for f in artefacts(tmp_path / str(run))})
    assert contents[0] == contents[1]


def test_the_list_of_addresses_is_made_by_the_first_kernel(tmp_path: Path) -> None:
    watcher = observer(tmp_path, 1)
    with graph_mode(), session.fresh([watcher], hooked=False):
        Chain()(X)
        found = watcher.recorders.find("RUNTIME_FRAMEWORK", "mem_address_list")
        assert isinstance(found, MemoryRecorder)
        assert found.content[0][0] == "Default/Sin-op0"


def test_kernels_of_many_threads_are_all_there(tmp_path: Path) -> None:
    stamps = itertools.count()
    watcher = RdrObserver(RdrConfig(True, 2, f"{tmp_path}/"), clock=lambda: f"{next(stamps):014d}")
    threads = 16
    barrier = threading.Barrier(threads)

    def add(recorder: Recorder, name: str) -> None:
        assert isinstance(recorder, MemoryRecorder)
        recorder.add(name, Addresses((), (), ()))

    def work(thread: int) -> None:
        barrier.wait()
        for kernel in range(50):
            change = functools.partial(add, name=f"{thread}.{kernel}")
            watcher.recorders.note("mem_address_list", "RUNTIME_FRAMEWORK", "mem_address_list", change)
            if kernel % 10 == 0:
                watcher.recorders.snapshot()

    running = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    watcher.closed()
    kernels = [kernel.name for found in artefacts(tmp_path) for kernel in memory_addresses(found.read().decode())]
    assert set(kernels) == {f"{thread}.{kernel}" for thread in range(threads) for kernel in range(50)}
