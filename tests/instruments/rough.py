"""A runtime as real ones are: it reuses its buffers, updates inputs in place, and launches from many threads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import local
from typing import Any

import numpy as np

from harness import dtypes
from harness.capture import read_tree
from harness.recording import Operator, Recording, TensorSpec

Array = np.ndarray[Any, np.dtype[Any]]
SHAPE = (3, 5)
#: device and configuration of each way to write
MODES = ("synchronous", "asynchronous", "overlapped", "statistics", "msprobe")
_SAVED = {"statistics": "statistic"}
_DEVICES = {"synchronous": "cpu", "asynchronous": "ascend-o2", "overlapped": "ascend-o0", "statistics": "gpu"}


def device_of(mode: str) -> str:
    return _DEVICES.get(mode, "ascend-o2")


def asking(mode: str, path: Path) -> dict[str, str]:
    """The environment that asks for a dump of ``mode`` below ``path``."""
    file = path.parent / f"{path.name}.json"
    if mode == "msprobe":
        file.write_text(json.dumps({"task": "tensor", "dump_path": str(path), "level": "L2", "tensor": {}}))
        return {"MSDUMP_MSPROBE_CONFIG": str(file)}
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": str(path), "net_name": "Net", "iteration": "all",
        "saved_data": _SAVED.get(mode, "tensor"), "input_output": 0, "kernels": [], "support_device": [*range(8)],
    }  # fmt: skip
    settings: dict[str, Any] = {"common_dump_settings": common}
    if mode == "asynchronous":
        common["file_format"] = "npy"
    else:
        settings["e2e_dump_settings"] = {"enable": mode != "overlapped", "trans_flag": True}
    file.write_text(json.dumps(settings))
    return {"MINDSPORE_DUMP_CONFIG": str(file)}


@dataclass
class Rough:
    """Runs ``count`` operators a step from ``threads`` threads, each with one buffer for inputs and one for results.

    Attributes:
        truth: what each slot held when its launch was over, by iteration, operator and slot.
    """

    recording: Recording
    count: int = 8
    threads: int = 8
    seed: int = 0
    eager: bool = False
    truth: dict[tuple[int, str, str], Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._buffers = local()
        self._step = 0
        if self.eager:
            self._graph: Any = self.recording.eager()
            return
        spec = TensorSpec(dtypes.float32, SHAPE)
        made = [Operator(*_kind(at), {"at": at}, outputs=[spec], mutates=_mutates(at)) for at in range(self.count)]
        with self.recording.compiling("net") as compiling:
            self._graph = compiling.graph(made)

    def run(self, steps: int = 1) -> None:
        with ThreadPoolExecutor(self.threads) as pool:
            for _ in range(steps):
                with self.recording.step(self._graph) as step:
                    list(pool.map(lambda at: self._launch(step, at), range(self.count)))
                self._step += 1

    def _launch(self, step: Any, at: int) -> None:
        if not hasattr(self._buffers, "read"):
            self._buffers.read, self._buffers.made = np.empty(SHAPE, np.float32), np.empty(SHAPE, np.float32)
        read, made = self._buffers.read, self._buffers.made
        random = np.random.default_rng([self.seed, self._step, at])
        read[...] = random.standard_normal(SHAPE)
        if self.eager:
            operator = self._graph.operator(*_kind(at), {"at": at}, mutates=_mutates(at))
        else:
            operator = self._graph.operators[at]
        with step.launch(operator, [read], order=None if self.eager else at) as launch:
            np.multiply(read, 2, out=made)
            if _mutates(at):
                read += 1
            self.truth[self._step, operator.name, "input.0"] = read.copy()
            self.truth[self._step, operator.name, "output.0"] = made.copy()
            launch.done(made)
        read[...], made[...] = np.nan, np.nan


def _kind(at: int) -> tuple[str, str]:
    return ("Twice", "Add", "Scale")[at % 3], f"Default/layer{at // 4}-Layer"


def _mutates(at: int) -> tuple[int, ...]:
    return (0,) if at % 3 == 1 else ()


def wrong(path: Path, truth: Mapping[tuple[int, str, str], Array], rank: int | None = None) -> list[str]:
    """What of a tree is not what the runtime computed: other values, slots that lack, slots too many."""
    left = dict(truth)
    found = []
    for record in read_tree(path, rank).records():
        key = record.key
        name = f"{key.iteration} {key.operator} {key.slot_name}"
        expected = left.pop((key.iteration, key.operator, key.slot_name), None)
        if expected is None:
            found.append(f"{name}: nobody computed it")
        elif record.values is None:
            if not (row := record.row()) or (told := row.changes(expected)):
                found.append(f"{name}: {told if row else 'no statistics'}")
        elif not np.array_equal(record.load(), expected):
            found.append(f"{name}: other values")
    return found + [f"{' '.join(map(str, each))}: it has no file" for each in left]
