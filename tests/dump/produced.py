"""What a run of small graphs produces and a dump configuration asks for, in words as plain as the documents', and
whether a tree holds just that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness import dtypes
from harness.capture import read_tree
from harness.devices import DEVICES
from harness.dtypes import DType
from harness.dump import DumpConfig
from harness.dump.counter import IterationCounter
from harness.dump.names import mangle
from harness.dump.plan import NodePlan
from harness.dump.series import Series
from harness.recording import Graph, Launch, Observer, Operator, Step, TensorSpec, Value
from harness.recording.value import Array
from harness.records import Record
from harness.stats.printed import device_texts, host_texts
from tests.capture.nets import Net


class Key(NamedTuple):
    """What tells one tensor from another."""

    graph: int
    label: int
    operator: str
    execution: int
    io: str
    slot: int


class Produced(Observer):
    """What a run produced and a configuration asks for.

    Args:
        config: says only with which label steps begin.
        asked: the fields, in the words of the newest release. Beside them ``forces``: a debug mode overrules what else
            selects (so it is by default); ``empty_selects``: no kernel named means all of them (likewise); ``kinds``:
            what entries of ``kernels`` may be; ``never``: the debug mode waits for what does not come.
        device: name of the device.
    """

    def __init__(self, config: DumpConfig, asked: dict[str, Any], device: str) -> None:
        self.config = config
        self.asked = asked
        self.target = DEVICES.get(device).target
        self.counter = IterationCounter(config.initial_iteration)
        self.tensors: dict[Key, tuple[str, DType, Array]] = {}
        self.stored: dict[Key, Array] = {}
        self.device = DEVICES.get(device)
        self.executions: Counter[tuple[int, int, str, str]] = Counter()
        self.overflows = 0
        self.graph: Graph | None = None

    def wants_label(self) -> bool:
        if self.asked["op_debug_mode"] == 4:
            return True
        text = self.asked["iteration"].replace(" ", "")
        if text == "all":
            return True
        ends = [[int(end) for end in part.split("-")] for part in text.split("|")]
        return any(each[0] <= self.counter.label <= each[-1] for each in ends)

    def selects(self, name: str, marked: bool = False) -> bool:
        forced = self.asked["op_debug_mode"] != 0 and self.asked.get("forces", True)
        mode = 0 if forced else self.asked["dump_mode"]
        if mode == 1 and not self.asked["kernels"]:
            return bool(self.asked.get("empty_selects", True))
        return any(self.names(rule, name) for rule in self.asked["kernels"]) if mode == 1 else mode == 0 or marked

    def names(self, rule: str, name: str) -> bool:
        kinds = self.asked.get("kinds", ("regex", "name", "type"))
        if rule.startswith("name-regex") and "regex" in kinds:
            return re.fullmatch(rule[11:-1], name) is not None
        if "/" in rule or "type" not in kinds:
            return name == rule
        kind = name.rpartition("/")[2]
        return rule.lower() in (kind.rpartition("-")[0] or kind).lower()

    def step_begin(self, step: Step) -> None:
        self.graph = step.graph

    def launch_end(self, launch: Launch) -> None:
        node, inputs, outputs = launch.operator, launch.updated, launch.outputs
        if not self.wants_label() or not self.selects(node.name, node.attributes.get("dump") == "true"):
            return
        if self.asked["op_debug_mode"] == 4 or self.asked.get("never"):
            return
        checks = self.asked["op_debug_mode"] == 3
        if checks and self.target == "Ascend":
            half = (dtypes.float16, dtypes.bfloat16, dtypes.float32)
            if all(np.isfinite(slot.array).all() for slot in outputs if slot.dtype in half):
                return
            self.overflows += 1
            if self.overflows > (self.asked["overflow_number"] or self.overflows):
                return
        which = 0 if checks and self.asked.get("forces", True) else self.asked["input_output"]
        kept = [("input", slot) for slot in inputs if which != 2] + [("output", slot) for slot in outputs if which != 1]
        self.keep(node.type, node.name, [(io, slot.index, slot.dtype, slot.array) for io, slot in kept], node)

    def step_end(self, step: Step) -> None:
        outputs = self.asked["input_output"] != 1 or self.asked["op_debug_mode"] == 3
        if self.wants_label() and outputs and self.target != "Ascend":
            for parameter, array in step.parameters():
                if self.selects(parameter.name):
                    assert isinstance(parameter.spec, TensorSpec)
                    self.keep("Parameter", parameter.name, [("output", 0, parameter.spec.dtype, array)])
        self.counter.finished(step.run)

    def keep(
        self, op: str, name: str, found: Sequence[tuple[str, int, DType, Array]], node: Operator | None = None
    ) -> None:
        assert self.graph is not None
        present = [each for each in found if each[3].size]
        where = self.graph.id, self.counter.label, op, name
        if present:
            self.executions[where] += 1
        for io, slot, dtype, array in present:
            key = Key(self.graph.id, self.counter.label, name, self.executions[where] - 1, io, slot)
            lying = self.lying(node, io, Value(array, dtype, index=slot))
            stored = self.stored[key] = self.sampled(lying)
            # A sample stays as it lies; a whole tensor comes back in the host's order.
            self.tensors[key] = op, dtype, stored if stored.size < lying.size else array.copy()

    def lying(self, node: Operator | None, io: str, slot: Value) -> Array:
        """A tensor as the synchronous dump saves it: without ``trans_flag`` as it lies on the device."""
        if node is None or self.target != "Ascend" or self.config.method != "e2e" or self.config.trans_flag:
            return slot.array
        layout = NodePlan(node, Series(node.type, node.name, selected=True)).layout(self.device, io, slot)
        return slot.array if layout.is_default else layout.to_device(slot.array)

    @property
    def samples(self) -> bool:
        return self.target == "Ascend" and bool(self.asked["sample_mode"])

    def sampled(self, array: Array) -> Array:
        number = self.asked["sample_num"]
        return array.reshape(-1)[:number].copy() if self.samples and array.size > number else array.copy()


def key(record: Record) -> Key:
    return Key(record.key.graph, record.key.iteration, *record.key[3:])


def mark(nets: Sequence[Net]) -> None:
    for net in nets:
        for node in net.graph.order[::2]:
            node.attributes["dump"] = "true"


def check(config: DumpConfig, produced: Produced, root: Path) -> None:
    """The tree holds what was produced, and nothing else."""
    capture = read_tree(root)
    expected = produced.tensors
    # Trees without graphs have names only, mangled where that is clear.
    names = {(k.graph, mangle(k.operator)): k.operator for k in expected}
    whole = {(k.graph, k.operator) for k in expected}
    records = {}
    for record in loaded(capture.records()):
        found = key(record)
        if (found.graph, found.operator) not in whole:
            found = found._replace(operator=names.get((found.graph, found.operator), found.operator))
        records[found] = record
    if config.saved_data == "statistic":
        expected = {k: v for k, v in expected.items() if v[1].kind != "c"}
    assert set(records) == set(expected)
    assert capture.problems == []
    for k, (op, dtype, array) in expected.items():
        record = records[k]
        assert (record.op_type, record.dtype) == (op, dtype.name)
        if config.saved_data != "statistic":
            values = record.load()
            assert values is not None
            assert (values.shape, values.dtype, values.tobytes()) == (array.shape, array.dtype, array.tobytes())
        if config.saved_data != "tensor":
            items, array = config.statistic_category, produced.stored[k]
            if config.stat_calc_mode == "device":
                texts = device_texts(array, dtype, items, high=config.device_stat_precision_mode == "high")
            else:
                texts = host_texts(array, dtype, items)
            assert record.extra.row == dict(zip(items, texts, strict=True))


def loaded(records: Iterator[Record]) -> Iterator[Record]:
    """The records with their values at hand, as the tree is gone afterwards."""
    for record in records:
        if record.values is not None:
            record.values = record.load()
        yield record
