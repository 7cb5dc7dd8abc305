"""Any valid configuration gives a tree that reads back to exactly the tensors the run produced; any other gives one
named error and no tree."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness import dtypes
from harness.capture import read_tree
from harness.devices import DEVICES
from harness.dtypes import DType
from harness.dump import DumpConfig, parse
from harness.dump.counter import IterationCounter
from harness.dump.environment import VARIABLE, DumpEnvironment
from harness.dump.environment import observer_for as made_observer
from harness.errors import DumpConfigError
from harness.graph import Graph, Node, TensorSpec
from harness.records import Record
from harness.runtime.observer import Array, Observer, Slot, Step
from harness.stats.printed import COLUMNS, device_texts, host_texts
from tests.capture.nets import Net, processes

DEVICES_HERE = ("cpu", "gpu", "ascend-o0", "ascend-o1")


class Key(NamedTuple):
    """What tells one tensor from another."""

    graph: int
    label: int
    operator: str
    execution: int
    io: str
    slot: int


class Produced(Observer):
    """What a run produced and a configuration asks for, in words as plain as the documents'."""

    def __init__(self, config: DumpConfig, asked: dict[str, Any], device: str) -> None:
        self.config = config
        self.asked = asked
        self.target = DEVICES.get(device).target
        self.counter = IterationCounter(config.initial_iteration)
        self.tensors: dict[Key, tuple[str, DType, Array]] = {}
        self.executions: Counter[tuple[int, int, str, str]] = Counter()
        self.overflows = 0
        self.graph: Graph | None = None

    def wants_label(self) -> bool:
        text = self.asked["iteration"].replace(" ", "")
        if text == "all":
            return True
        ends = [[int(end) for end in part.split("-")] for part in text.split("|")]
        return any(each[0] <= self.counter.label <= each[-1] for each in ends)

    def selects(self, name: str, marked: bool = False) -> bool:
        mode = self.asked["dump_mode"] if self.asked["op_debug_mode"] == 0 else 0
        if mode != 1 or not self.asked["kernels"]:
            return mode != 2 or marked
        kind = name.rpartition("/")[2]
        kind = kind.rpartition("-")[0] or kind
        return any(
            re.fullmatch(rule[11:-1], name) is not None if rule.startswith("name-regex") else
            name == rule if "/" in rule else rule.lower() in kind.lower()
            for rule in self.asked["kernels"]
        )  # fmt: skip

    def step_begin(self, step: Step) -> None:
        self.graph = step.graph

    def kernel_outputs(self, node: Node, inputs: Sequence[Slot], outputs: Sequence[Slot]) -> None:
        if not self.wants_label() or not self.selects(node.name, node.attrs.get("dump") == "true"):
            return
        checks = self.asked["op_debug_mode"] == 3
        if checks and self.target == "Ascend":
            half = (dtypes.float16, dtypes.bfloat16, dtypes.float32)
            if all(np.isfinite(slot.array).all() for slot in outputs if slot.dtype in half):
                return
            self.overflows += 1
            if self.overflows > (self.asked["overflow_number"] or self.overflows):
                return
        which = 0 if checks else self.asked["input_output"]
        kept = [("input", slot) for slot in inputs if which != 2] + [("output", slot) for slot in outputs if which != 1]
        self.keep(node.op, node.name, [(io, slot.index, slot.dtype, slot.array) for io, slot in kept])

    def step_end(self, step: Step) -> None:
        outputs = self.asked["input_output"] != 1 or self.asked["op_debug_mode"] == 3
        if self.wants_label() and outputs and self.target != "Ascend":
            for parameter, array in step.parameters():
                if self.selects(parameter.name):
                    assert isinstance(parameter.spec, TensorSpec)
                    self.keep("Parameter", parameter.name, [("output", 0, parameter.spec.dtype, array)])
        self.counter.finished(step.run)

    def keep(self, op: str, name: str, found: Sequence[tuple[str, int, DType, Array]]) -> None:
        assert self.graph is not None
        present = [each for each in found if each[3].size]
        where = self.graph.id, self.counter.label, op, name
        if present:
            self.executions[where] += 1
        for io, slot, dtype, array in present:
            key = Key(self.graph.id, self.counter.label, name, self.executions[where] - 1, io, slot)
            self.tensors[key] = op, dtype, self.sampled(array)

    def sampled(self, array: Array) -> Array:
        number = self.asked["sample_num"]
        if self.target != "Ascend" or not self.asked["sample_mode"] or array.size <= number:
            return array.copy()
        return array.reshape(-1)[:number].copy()


CATEGORIES = st.lists(st.sampled_from([item for item in COLUMNS if item != "sha1"] + ["hash"]), unique=True)
KERNELS = ["Add", "matm", "name-regex(.*Add-op.)", "Default/Add-op0", "Default/a_b/MatMul-op1", "a", "name-regex(x|w+)"]


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A device, and fields that are valid on it."""
    device = draw(st.sampled_from(DEVICES_HERE))
    ascend = device.startswith("ascend")
    saved = draw(st.sampled_from(["tensor"] if device == "cpu" else ["tensor", "statistic", "full"]))
    debug = draw(st.sampled_from([0, 0, 3]))
    return device, {
        "dump_mode": draw(st.sampled_from([0, 1, 2] if ascend else [0, 1])),
        "iteration": draw(st.sampled_from(["all", "0", "1 | 3 - 9", "2-11|0", "7"])),
        "input_output": draw(st.integers(0, 2)),
        "kernels": draw(st.lists(st.sampled_from(KERNELS), max_size=3, unique=True)),
        "saved_data": saved,
        "statistic_category": draw(CATEGORIES),
        "op_debug_mode": debug,
        "overflow_number": draw(st.integers(0, 3)) if debug == 3 else 0,
        "initial_iteration": draw(st.sampled_from([0, 0, 1, 2**32 - 1])),
        "enable": draw(st.booleans()),
        "trans_flag": draw(st.booleans()),
        "sample_mode": draw(st.sampled_from([1, 1, 0])),
        "sample_num": draw(st.integers(1, 4)),
        "stat_calc_mode": draw(st.sampled_from(["host", "device"])),
        "device_stat_precision_mode": draw(st.sampled_from(["high", "low"])),
        "save_kernel_args": draw(st.booleans()),
    }


E2E = (
    "enable", "trans_flag", "sample_mode", "sample_num", "stat_calc_mode", "device_stat_precision_mode",
    "save_kernel_args",
)  # fmt: skip


def text(fields: dict[str, Any], root: str) -> str:
    common = {"path": root, "net_name": "Net", "support_device": [0]} | {
        name: value for name, value in fields.items() if name not in E2E
    }
    if fields["op_debug_mode"] != 3:
        del common["overflow_number"]
    return json.dumps({"common_dump_settings": common, "e2e_dump_settings": {name: fields[name] for name in E2E}})


def key(record: Record) -> Key:
    return Key(record.key.graph, record.key.iteration, *record.key[3:])


def mark(nets: Sequence[Net]) -> None:
    for net in nets:
        for node in net.graph.execution_order[::2]:
            node.attrs["dump"] = "true"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(asked(), processes())
def test_a_valid_configuration_gives_a_tree_that_reads_back(
    wanted: tuple[str, dict[str, Any]], process: tuple[list[Net], list[int]]
) -> None:
    (device, fields), (nets, calls) = wanted, process
    mark(nets)
    with TemporaryDirectory() as directory:
        config = parse(text(fields, directory), device, environ={})
        observer = made_observer(config, DEVICES.get(device))
        assert observer is not None
        produced = Produced(config, fields, device)
        for net in nets:
            observer.graph_compiled(net.graph)
        for call in calls:
            nets[call].run([observer, produced])
        observer.closed()
        check(config, produced, Path(directory))


def check(config: DumpConfig, produced: Produced, root: Path) -> None:
    """The tree holds what was produced, and nothing else."""
    capture = read_tree(root)
    records = {key(record): record for record in loaded(capture.records())}
    expected = produced.tensors
    if config.saved_data == "statistic":
        expected = {k: v for k, v in expected.items() if v[1].kind != "c"}
    assert set(records) == set(expected)
    assert capture.problems == []
    for k, (op, dtype, array) in expected.items():
        record = records[k]
        assert (record.op_type, record.dtype) == (op, dtype.name)
        if config.saved_data != "statistic":
            found = record.load()
            assert found is not None
            assert (found.shape, found.dtype, found.tobytes()) == (array.shape, array.dtype, array.tobytes())
        if config.saved_data != "tensor":
            items = config.statistic_category
            if config.stat_calc_mode == "device":
                texts = device_texts(array, dtype, items, high=config.device_stat_precision_mode == "high")
            else:
                texts = host_texts(array, dtype, items)
            assert record.extra["row"] == dict(zip(items, texts, strict=True))


def loaded(records: Iterator[Record]) -> Iterator[Record]:
    """The records with their values at hand, as the tree is gone afterwards."""
    for record in records:
        if record.values is not None:
            record.values = record.load()
        yield record


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """As ``asked``, with one field that no release takes."""
    device, fields = draw(asked())
    faults: dict[str, Any] = {
        "dump_mode": 3, "iteration": "0,1", "input_output": 3, "kernels": "Add", "saved_data": "all",
        "op_debug_mode": 9, "initial_iteration": -1, "enable": 1, "trans_flag": "true", "sample_mode": 2,
        "stat_calc_mode": "gpu", "device_stat_precision_mode": "", "save_kernel_args": None,
    }  # fmt: skip
    name = draw(st.sampled_from(sorted(faults)))
    return device, fields | {name: faults[name]}


@settings(max_examples=100, deadline=None)
@given(broken())
@example(("gpu", {"statistic_category": ["max", "foo"]}))
def test_an_invalid_configuration_gives_one_named_error_and_no_tree(wanted: tuple[str, dict[str, Any]]) -> None:
    device, fields = wanted
    plain: dict[str, Any] = {
        "dump_mode": 0, "iteration": "all", "input_output": 0, "kernels": [], "saved_data": "statistic",
        "op_debug_mode": 0, "overflow_number": 0, "initial_iteration": 0, "enable": True, "trans_flag": True,
        "sample_mode": 0, "sample_num": 1, "stat_calc_mode": "host", "device_stat_precision_mode": "high",
        "save_kernel_args": False,
    }  # fmt: skip
    with TemporaryDirectory() as directory:
        file = Path(directory) / "dump.json"
        file.write_text(text(plain | fields, "/nowhere"))
        dump = DumpEnvironment()
        try:
            dump.install({VARIABLE: str(file)}, DEVICES.get(device))
        except DumpConfigError as error:
            found = error
        assert found.kind
        assert str(found).startswith("dump configuration: ")
        assert list(Path(directory).iterdir()) == [file]
        assert not Path("/nowhere").exists()
