"""Throughput of the dump: ``python -m benchmarks.bench_dump``.

Synchronous: the dump of a step beside ``numpy.save`` of the same tensors. Asynchronous: dense layers, whose products
dominate, with and without their dump, in CPU seconds of all threads and in wall time, and what waited in the queue. CPU
seconds are the time of a run without the other work. Files of a round are removed before the next, outside the
measurement; ratios are medians over rounds in which contenders take turns.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import harness
from benchmarks import _trees
from benchmarks._measure import fact, measured
from harness import dtypes, nn
from harness.devices import DEVICES
from harness.dump import DumpConfig, DumpObserver, parse
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.asynchronous.overlapped import OverlappedDumpObserver
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.framework.runtime import session
from harness.recording import Observer, Operator, Recording, TensorSpec, Value

ROUNDS = 15
BOUND = 2 * 2**20
WIDTH, ROWS, LAYERS, STEPS = 512, 128, 2, 2


def config(path: Path, backend: str = "cpu", generation: str = "2.7-2.10") -> DumpConfig:
    """A configuration that dumps everything below ``path``; asynchronous for ``ascend-o2``."""
    common = {
        "dump_mode": 0, "path": str(path), "net_name": "Net", "iteration": "all", "input_output": 0, "kernels": [],
        "support_device": [0], "op_debug_mode": 0,
    }  # fmt: skip
    sections: dict[str, Any] = {"common_dump_settings": common}
    if backend != "ascend-o2":
        sections["e2e_dump_settings"] = {}
    return parse(json.dumps(sections), backend=backend, generation=generation)


class Kernels:
    """A graph of kernels that show one output each."""

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        self._shown = []
        for at, array in enumerate(arrays):
            spec = TensorSpec(dtypes.float32, array.shape)
            operator = Operator("MatMul", f"Default/layer{at}-Dense", outputs=[spec], mutates=())
            self._shown.append((operator, [Value(array, dtypes.float32, index=0)]))
        operators = [operator for operator, _ in self._shown]
        with Recording("by hand").compiling("kernels") as compiling:
            self.graph = compiling.graph(operators, outputs=operators)

    def recording(self, observer: Observer) -> Recording:
        """A recording of them, whose observer knows the graph."""
        observer.graph_declared(self.graph)
        return Recording("by hand", observers=[observer])

    def run(self, recording: Recording) -> None:
        """Records one step."""
        with recording.step(self.graph) as step:
            for operator, outputs in self._shown:
                launch = step.launch(operator)
                launch.begin()
                launch.end(outputs)


def synchronous(title: str, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
    """CPU seconds of a dumped step and of ``numpy.save``."""
    kernels = Kernels(arrays)

    def save(directory: Path) -> Callable[[], None]:
        directory.mkdir()

        def run() -> None:
            for at, array in enumerate(arrays):
                np.save(directory / f"{at}.npy", array)

        return run

    def dump(directory: Path) -> Callable[[], None]:
        recording = kernels.recording(DumpObserver(config(directory)))
        return lambda: kernels.run(recording)

    prepare = {"numpy.save": save, "dump, synchronous": dump}
    ratios = []
    for _ in range(ROUNDS):
        spent = []
        for make in prepare.values():
            with tempfile.TemporaryDirectory() as scratch:
                run = make(Path(scratch) / "x")
                spent.append(measured(run))
        ratios.append(spent[1] / spent[0])
    print(f"\n{title}: {len(arrays)} tensors, {sum(a.nbytes for a in arrays) / 1e6:.0f} MB")
    fact("CPU of the synchronous dump / numpy.save", statistics.median(ratios), "", 1 / 0.9)


def played(observer: Any, device: Any) -> tuple[float, float]:
    """CPU and wall seconds of some steps, until everything they dump is written; compiling does not count."""
    layers = [nn.Dense(WIDTH, WIDTH, activation="relu") for _ in range(LAYERS)]
    network, rows = nn.SequentialCell(*layers), harness.Tensor(np.ones((ROWS, WIDTH), np.float32))
    observers = [] if observer is None else [observer]
    with session.in_session(session.Session(observers, hooked=False, device=device)):
        network(rows)
        for each in observers:
            each.queue.drain()
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(STEPS):
            network(rows)
    for each in observers:
        each.closed()
    return time.process_time() - cpu, time.perf_counter() - wall


def asynchronous() -> None:
    """A network beside its dump, each against the same device without one."""
    harness.set_context(mode=harness.GRAPH_MODE)

    def by_kernel(path: Path, queue: WriteQueue) -> Observer:
        return OverlappedDumpObserver(config(path, "ascend"), queue=queue)

    def whole(path: Path, queue: WriteQueue) -> Observer:
        return AsyncDumpObserver(config(path, "ascend-o2", "2.4-2.6"), queue=queue)

    kinds: dict[str, tuple[str, Callable[[Path, WriteQueue], Observer]]] = {
        "kernel by kernel": ("ascend-o0", by_kernel),
        "DumpData": ("ascend-o2", whole),
    }
    print(f"\n{LAYERS} dense layers of {WIDTH} beside their dump")
    for name, (device_name, make) in kinds.items():
        device, ratios, seconds, peak, written = DEVICES.get(device_name), [], [], 0, 0
        for _ in range(ROUNDS):
            plain = played(None, device)
            with tempfile.TemporaryDirectory() as scratch:
                queue = WriteQueue(BOUND)
                dumped = played(make(Path(scratch) / "x", queue), device)
                written = sum(path.stat().st_size for path in Path(scratch).rglob("*") if path.is_file())
                peak = max(peak, queue.peak)
            seconds.append(plain[0])
            ratios.append((dumped[0] / plain[0], dumped[1] / plain[1]))
        fact(f"{name}: no dump, CPU", statistics.median(seconds), "s")
        fact(f"{name}: written", written / 1e6, "MB")
        fact(f"{name}: CPU, all threads / no dump", statistics.median(r[0] for r in ratios), "", 1.2)
        fact(f"{name}: wall / no dump", statistics.median(r[1] for r in ratios), "", 1.2)
        fact(f"{name}: most that waited", peak, "bytes", BOUND)


def main() -> None:
    """Measures and prints."""
    synchronous("Small tensors", _trees.equal_sizes(2000))
    synchronous("Tensors of 1 MiB", _trees.equal_sizes(50, 2**20))
    synchronous("Sizes as in real dumps", _trees.mixed(50 * 10**6))
    asynchronous()


if __name__ == "__main__":
    main()
