"""What goes wrong in runtimes that nobody wrote for us: names and numbers of their own, wrong dtypes, settings of
another runtime in the same process, forks, kernels that nobody selected."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import dtypes, instruments
from harness.capture import read_tree
from harness.errors import RecordingError
from harness.recording import Operator, Parameter, Recording, SourceLine, TensorSpec, Value, Want
from tests.instruments.rough import MODES, Rough, asking, device_of, wrong
from tests.instruments.test_opening import forked

SPEC = TensorSpec(dtypes.float32, (2,))
TYPES = ("MatMul", "Add", "aten.mm.default", "ai.onnx.ml::Scaler", "custom-call", "Op-op1", "a[b]<c>", "dot_general")
SCOPES = (
    "Default", "Default/fc1-Dense", "Default/a.b", "Default/a_b", "Default/layers.0/attn", "/model/layers.0/Conv", "..",
    "Default/two words", "Default/é", "Default/a-op3", "main/jit(f)/tanh", "a//b", "Default/x*?", 'Default/"q",', "a:0",
    "x" * 230,
)  # fmt: skip


def ran(recording: Recording, kinds: list[tuple[str, str]], numbers: list[int]) -> dict[str, tuple[str, int, float]]:
    """Runs a graph of these types and scopes; the type, line and result of each operator by its name."""
    made = [
        Operator(
            *kind, inputs=[Parameter("x", SPEC, False)], outputs=[SPEC], number=number, mutates=(),
            source=[SourceLine("/a/train.py", 10 + at, 10 + at, None, None, "")],
        )
        for at, (kind, number) in enumerate(zip(kinds, numbers, strict=True))
    ]  # fmt: skip
    with recording.compiling("net") as compiling:
        graph = compiling.graph(made)
    with recording.step(graph) as step:
        for at, operator in enumerate(made):
            with step.launch(operator, [np.zeros(2, np.float32)]) as launch:
                launch.done(np.full(2, at, np.float32))
    return {operator.name: (operator.type, 10 + at, float(at)) for at, operator in enumerate(made)}


@st.composite
def kinds_and_numbers(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[int]]:
    kinds = draw(st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(SCOPES)), min_size=1, max_size=5))
    unique = st.lists(st.integers(0, 40), min_size=len(kinds), max_size=len(kinds), unique=True)
    return kinds, draw(st.just([-1] * len(kinds)) | unique)


@given(st.sampled_from(["synchronous", "asynchronous", "overlapped"]), kinds_and_numbers())
@settings(max_examples=12)
def test_names_are_read_back_whatever_they_hold_and_however_they_are_numbered(
    mode: str, drawn: tuple[list[tuple[str, str]], list[int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump"
        with instruments.open(device_of(mode), engine="tiny 1", environ=asking(mode, path)) as recording:
            truth = ran(recording, *drawn)
        found = {}
        for record in read_tree(path).records():
            if record.key.io == "output" and record.op_type != "Parameter":
                line = int(record.source.rpartition(":")[2]) if record.source else None
                found[record.key.operator] = record.op_type, line, float(record.load()[0])
    if mode == "asynchronous":  # that dump has no graphs, and so no lines
        truth = {name: (kind, None, value) for name, (kind, _, value) in truth.items()}  # type: ignore[misc]
    assert found == truth


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\x00b", "a\u2028b", "\ud800"])
def test_names_that_no_file_can_hold_are_refused(text: str) -> None:
    for arguments in ((text,), ("MatMul", text)):
        with pytest.raises(RecordingError, match=r"no control characters|no '/', blanks"):
            Operator(*arguments)
    with pytest.raises(RecordingError, match=r"no '/', blanks, brackets"):
        Operator("custom op")


def test_an_array_of_another_dtype_than_stated_leaves_no_file(tmp_path: Path) -> None:
    with instruments.open("cpu", engine="tiny 1", environ=asking("synchronous", tmp_path / "dump")) as recording:
        graph = recording.eager()

        def run(result: Any) -> None:
            with recording.step(graph) as step, step.launch(graph.operator("Foo", mutates=())) as launch:
                launch.done(result())

        run(lambda: np.zeros((2, 3), np.float32))
        for bad in (
            lambda: Value(np.arange(6.0).reshape(2, 3), dtypes.float32),
            lambda: Value(lambda: np.arange(6.0).reshape(2, 3), dtypes.float32, (2, 3)),
            lambda: Value(lambda: np.zeros((3, 2), np.float32), dtypes.float32, (2, 3)),
        ):
            with pytest.raises(RecordingError, match="was given for a value stated as float32"):
                run(bad)
    assert [record.load().tolist() for record in read_tree(tmp_path / "dump").records()] == [[[0.0] * 3] * 2]


@pytest.mark.parametrize("mode", ["GRAPH_MODE", "PYNATIVE_MODE"])
def test_the_recorder_of_a_runtime_asks_no_other_runtime_for_its_mode(mode: str, tmp_path: Path) -> None:
    import harness

    before = harness.get_context("mode")
    harness.set_context(mode=getattr(harness, mode))
    try:
        environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "1", "MS_RDR_PATH": str(tmp_path)}
        with instruments.open("cpu", engine="tiny 1", environ=environ) as recording:
            with recording.compiling("net", ["x"]) as compiling:
                graph = compiling.graph([Operator("Div", outputs=[SPEC], mutates=())])

            def run() -> None:
                with recording.step(graph) as step, step.launch(graph.operators[0]):
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                run()
    finally:
        harness.set_context(mode=before)
    assert sorted(path.name.split(".2")[0] for path in tmp_path.rglob("*.*")) == [
        "PIPELINE.00_bootstrap", "RUNTIME_FRAMEWORK.mem_address_list", "SESSION.graph_build.0", "SESSION.graph_build.0",
        "SESSION.graph_exec_order.0",
    ]  # fmt: skip


def test_an_eager_step_that_fails_leaves_the_addresses_of_what_it_launched(tmp_path: Path) -> None:
    environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "1", "MS_RDR_PATH": str(tmp_path)}
    with instruments.open("cpu", engine="tiny 1", environ=environ) as recording:
        graph = recording.eager()

        def run(types: str) -> None:
            with recording.step(graph) as step:
                for kind in types:
                    with step.launch(graph.operator(kind, mutates=()), [np.ones(2)]) as launch:
                        if kind == types[-1]:
                            raise ZeroDivisionError
                        launch.done(np.ones(2))

        listed = []
        for types in ("AB", "ABC", "CAXB", "AB"):
            with pytest.raises(ZeroDivisionError):
                run(types)
            text = max(tmp_path.rglob("*mem_address_list*"), key=lambda path: path.stat().st_mtime_ns).read_text()
            listed.append([line for line in text.splitlines() if line.startswith("Default/")])
    assert listed == [[f"Default/{kind}-op0" for kind in types] for types in ("AB", "ABC", "CAXB", "AB")]


def test_a_forked_child_exports_nothing_of_its_parents_recorder(tmp_path: Path) -> None:
    environ = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": str(tmp_path)}
    with instruments.open("cpu", engine="rough 1", environ=environ) as recording:
        runtime = Rough(recording, threads=1)
        runtime.run()
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

        def child() -> None:
            runtime.run()
            Rough(recording, threads=1).run()
            recording.close()

        assert forked(child) == 0
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        runtime.run()
    assert len(list(tmp_path.rglob("*"))) > len(before)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "msprobe"])
def test_what_nobody_selected_is_not_read(mode: str, tmp_path: Path) -> None:
    environ = asking(mode, tmp_path / "dump")
    file = Path(next(iter(environ.values())))
    settings = json.loads(file.read_text())
    chosen = "Default/layer0-Layer/Twice-op0"
    settings["common_dump_settings"] |= {"dump_mode": 1, "kernels": [chosen]}
    file.write_text(json.dumps(settings))
    reads = []
    with instruments.open(device_of(mode), engine="tiny 1", environ=environ) as recording:
        runtime = Rough(recording, count=9)
        graph = runtime._graph
        with recording.step(graph) as step:
            for operator in graph.operators:

                def read(name: str = operator.name) -> Any:
                    reads.append(name)
                    return np.zeros((3, 5), np.float32)

                with step.launch(operator, [Value(read, dtypes.float32, (3, 5))]) as launch:
                    is_wanted = launch.wants("output", 0) is not Want.NOTHING
                    assert is_wanted == (operator.name == chosen)
                    launch.done(Value(read, dtypes.float32, (3, 5)))
    assert reads == [chosen] * 2


def test_each_of_two_engines_has_its_own_observers_and_environment(tmp_path: Path) -> None:
    saved = dict(os.environ)
    opened = [
        instruments.open("cpu", engine="one 1", environ=asking("synchronous", tmp_path / "first")),
        instruments.open("cpu", engine="other 1", environ={}),
        instruments.open("gpu", engine="third 1", environ=asking("statistics", tmp_path / "third")),
    ]
    assert dict(os.environ) == saved
    runtimes = [Rough(recording, threads=1, seed=at) for at, recording in enumerate(opened)]
    for runtime in runtimes:
        runtime.run()
    for recording in opened:
        recording.close()
    assert wrong(tmp_path / "first", runtimes[0].truth) == []
    assert wrong(tmp_path / "third", runtimes[2].truth) == []
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"first", "third"}
