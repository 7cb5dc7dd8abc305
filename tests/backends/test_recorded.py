"""Engines that record what they run, as backends: open recordings and those that a program opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import instruments
from harness.backends import RecordedBackend
from harness.errors import RecordingError, UnsupportedError
from harness.recording import Operator, Recording

ONES = np.ones(3, np.float32)


def tiny(engine: str = "tiny 1") -> tuple[Recording, Callable[[], Any]]:
    """A recording of a compiled graph, and what runs it."""
    recording = instruments.open("cpu", engine=engine, environ={})
    with recording.compiling("net", ["x"]) as compiling:
        graph = compiling.graph([Operator("Neg", mutates=()), Operator("Exp", mutates=())])

    def run() -> None:
        value = ONES
        with recording.step(graph) as step:
            for operator in graph.order:
                with step.launch(operator, [value]) as launch:
                    value = launch.done(value + 1)

    return recording, run


def test_a_recording_that_is_open_before() -> None:
    recording, run = tiny()
    run()
    capture = RecordedBackend("tiny").run(run, network="Net")
    run()
    assert (capture.backend, capture.emulated, capture.rules) == ("tiny", False, {"engine": "tiny 1"})
    assert [record.key.slot_name for record in capture.records()] == ["input.0", "output.0"] * 2
    assert capture.execution_order == {0: ("Default/Neg-op0", "Default/Exp-op0")}
    assert [path for path in capture.artefacts if path.endswith(".ir")] == ["graphs/ms_output_trace_code_graph_0.ir"]
    assert recording.observers[-1].__class__.__name__ == "_Ending"


def test_a_recording_that_the_program_opens_and_runs_that_add_up() -> None:
    with RecordedBackend("tiny").open(network="Net") as process:
        recording, run = None, None

        def first() -> None:
            nonlocal recording, run
            recording, run = tiny()
            run()

        process.execute(first)
        assert run is not None
        process.execute(run)
        assert len(list(process.capture().records())) == 8


def test_an_eager_graph_that_ran_before() -> None:
    recording = instruments.open("cpu", engine="tiny 1", environ={})
    graph = recording.eager()

    def run() -> None:
        with recording.step(graph) as step, step.launch(graph.operator("Neg", mutates=()), [ONES]) as launch:
            launch.done(-ONES)

    run()
    capture = RecordedBackend("tiny").run(run, network="Net")
    assert len(list(capture.records())) == 2
    assert len([path for path in capture.artefacts if path.endswith(".ir")]) == 1


def test_other_engines_and_a_second_recording() -> None:
    _, other = tiny("other 1")
    _, run = tiny()
    assert not list(RecordedBackend("tiny").run(other, network="Net").records())
    _, second = tiny()

    compiled_only = tiny()

    def both() -> None:
        run()
        second()

    with pytest.raises(RecordingError, match="two recordings of tiny run in one program"):
        RecordedBackend("tiny").run(both, network="Net")
    capture = RecordedBackend("tiny").run(second, network="Net")
    assert (len(list(capture.records())), len(capture.execution_order)) == (4, 1)
    assert compiled_only


def test_statistics_and_modes_it_lacks() -> None:
    _, run = tiny()
    capture = RecordedBackend("tiny").run(run, network="Net", mode="statistic")
    assert capture.mode == "statistic"
    assert all(record.values is None for record in capture.records())
    with pytest.raises(UnsupportedError, match="no dump mode 'sample'"):
        RecordedBackend("tiny").run(run, network="Net", mode="sample")
