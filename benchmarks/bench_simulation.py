"""Where shared work stops scaling: real scheduling, the real driver, and tasks that take and return what real ones do.

``python -m benchmarks.bench_simulation [--ranks 100 1000 10000]``. First a real part of 2,000
slots is compared on disk: its CPU time is what a simulated part sleeps, and its answer what a simulated part returns.
Then a ``LocalCluster`` of two processes with many threads stands for as many workers, and compares two trees of so many
ranks with 100 iterations each: tasks, time, memory and CPU time of this process, which has the driver and the scheduler
in it. What the driver does with answers is counted apart, too: a tree of reductions on workers could save no more.
Parts of which every slot is listed come first. The tables go to docs/scale.md after each row.
"""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._pages import put

SLOTS, ITERATIONS, PROCESSES, THREADS, FLYING = 2000, 100, 2, 400, 10_000
#: Names the seconds that a simulated part sleeps, to workers.
_COST = "MSDUMP_SIMULATED_COST"


def part_that_sleeps(*works: Any) -> Any:
    """What ``harness.scale.parts.part`` gives for parts whose slots are equal, after the time that this takes."""
    from harness.scale.wire import Done, Left, Read, folded

    time.sleep(float(os.environ[_COST]) * len(works))
    return folded([Done(Read(), Read(), [], True, Left(bytes(16), (SLOTS, 0, 0))) for _ in works])


def listed_slots(slots: int) -> Any:
    """What a part gives whose slots are all listed."""
    from harness.records import Record, SlotKey
    from harness.scale.wire import Done, Read, ReadExecution, Slot, folded

    read = Read()
    for number in range(slots):
        key = SlotKey(0, 0, 0, f"Default/network/layer{number // 3}-Dense/MatMul-op{number // 3}", 0, "output", 0)
        record = Record(key, "MatMul", "Float32", (32, 64), "DefaultFormat", None, None, number.to_bytes(16, "big"))
        read.steps.append(ReadExecution((number, 0, 0), [Slot(record, True)]))
    return folded([Done(None, read)])


def real_part(elements: int) -> tuple[float, int]:
    """CPU seconds that a worker takes to compare two equal parts of 2,000 slots on disk, and bytes of its answer."""
    from harness.compare.tolerances import Tolerances
    from harness.scale import parts, wire

    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        values = np.arange(elements, dtype=np.float32)
        for name in ("one", "two"):
            place = Path(folder, name, "rank_0", "Net", "0", "0")
            place.mkdir(parents=True)
            for number in range(SLOTS):
                file = f"MatMul.Default_layer{number}.0.0.{17 * 10**14 + number}.output.0.DefaultFormat.Float32.npy"
                np.save(place / file, values + np.float32(number))
        sides = [wire.Tree(str(Path(folder, name)), None, folder) for name in ("one", "two")]
        work = wire.Work(wire.Part(0, 0, 0), *sides, Tolerances.parse("default"), False, False, "counts")
        took = []
        for _ in range(6):
            before = time.process_time()
            done = parts.part(work)
            took.append(time.process_time() - before)
        return min(took), len(pickle.dumps(done))


class _Answers:
    """A cluster, and what is done here with the answers that it gives: CPU seconds, and MiB since the first of them."""

    def __init__(self, found: Any) -> None:
        self._found = found
        self.cpu, self.memory = 0.0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)

    def run(self, tasks: Any) -> Iterator[Any]:
        """As the cluster does."""
        before = 0.0
        for each in self._found.run(tasks):
            before = before or memory()
            begun = time.thread_time()
            yield each
            self.cpu += time.thread_time() - begun
            self.memory = max(self.memory, memory() - before)


class _Watch:
    """The largest number of tasks that the scheduler knew, and the most memory of this process, in MiB."""

    def __init__(self) -> None:
        self.most, self.memory = 0, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        from distributed import Scheduler

        while not self._over.wait(0.05):
            self.most = max(self.most, *(len(each.tasks) for each in list(Scheduler._instances)), 0)
            self.memory = max(self.memory, memory())

    def close(self) -> None:
        self._over.set()
        self._thread.join()


def memory() -> float:
    """MiB of this process at this moment."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _heads(ranks: int, elements: int) -> Iterator[Any]:
    """Heads of ranks whose iterations have 2,000 slots of float32."""
    from harness.scale.wire import Extent, Head

    size = SLOTS * elements * 4
    for rank in range(ranks):
        extents = tuple(Extent(0, at, size, f"{rank * ITERATIONS + at:032x}") for at in range(ITERATIONS))
        yield Head(rank, "Net", "mindspore", False, "tensor", {}, {}, {}, extents)


def compared(found: Any, ranks: int, elements: int) -> dict[str, float]:
    """Two simulated trees are compared; what that takes."""
    from benchmarks import bench_simulation as own  # so that workers import it, where this runs as a program
    from harness.compare.tolerances import Tolerances
    from harness.progress import Progress
    from harness.scale.driver import Session
    from harness.scale.journal import Journal
    from harness.scale.remote import RemoteTree
    from harness.scale.wire import Tree

    class Simulated(Session):
        tasks = 0

        def _task_of(self, group: Any) -> Any:
            self.tasks += 1
            return replace(super()._task_of(group), function=own.part_that_sleeps, needs=())

        def _beside(self, *_: Any) -> bool:
            return True

    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        journal, before = Journal(Path(folder), "job", False), memory()
        answers = _Answers(found)
        session = Simulated(answers, journal, Progress(lines=True))  # type: ignore[arg-type]
        begun, used, watch = time.perf_counter(), time.process_time(), _Watch()
        trees = [
            RemoteTree(Tree(name, None, "/"), name, list(_heads(ranks, elements)), session._read_alone, session._fetch)
            for name in ("one", "two")
        ]
        session._trees.update({id(tree.capture): tree for tree in trees})
        judge = session.judging(trees[0].capture, trees[1].capture, None, "counts")(Tolerances.parse("default"), False)
        left = judge.unlisted(False)
        watch.close()
        journal.close(done=True)
    assert left is not None
    assert sum(left.counts.values()) == ranks * ITERATIONS * SLOTS
    return {
        "ranks": ranks, "tasks": session.tasks, "s": time.perf_counter() - begun, "cpu": time.process_time() - used,
        "memory": watch.memory - before, "most": watch.most, "answers": answers.cpu, "kept": answers.memory,
    }  # fmt: skip


def listed(found: Any, count: int) -> dict[str, float]:
    """Parts of which every slot is listed and kept; what that takes here."""
    from benchmarks import bench_simulation as own
    from harness.scale.cluster import Task

    before, used = memory(), time.process_time()
    tasks = (Task(number, own.listed_slots, (SLOTS,), said="a part") for number in range(count))
    kept = [result for _, result in found.run(tasks)]
    assert len(kept) == count
    return {"tasks": count, "cpu": time.process_time() - used, "memory": memory() - before}


def text(cost: float, size: int, elements: int, rows: list[dict[str, float]], full: list[dict[str, float]]) -> str:
    """The page's part."""
    lines = [
        f"A real part, two equal sides of {SLOTS:,} slots of {elements / 256:g} KiB, takes {1e3 * cost:.0f} ms of "
        f"CPU time on a worker and answers with {size} bytes. {PROCESSES * THREADS} simulated workers; {ITERATIONS} "
        "iterations a rank:",
        "",
        "| ranks | slots | parts | tasks | most at the scheduler | elapsed, s | CPU here, s | a task, ms | MiB more "
        "| of them for answers: CPU s | MiB |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        slots = row["ranks"] * ITERATIONS * SLOTS
        lines.append(
            f"| {row['ranks']:,} | {slots:,} | {row['ranks'] * ITERATIONS:,} | {row['tasks']:,} | {row['most']:,} "
            f"| {row['s']:.0f} | {row['cpu']:.0f} | {1e3 * row['cpu'] / row['tasks']:.1f} | {row['memory']:.0f} "
            f"| {row['answers']:.1f} | {row['kept']:.0f} |"
        )
    if full:
        lines += ["", "Parts that differ, so that every slot travels and is kept:", ""]
        lines += ["| parts | CPU here, ms a part | MiB more |", "|---|---|---|"]
        lines += [f"| {r['tasks']:,} | {1e3 * r['cpu'] / r['tasks']:.0f} | {r['memory']:.0f} |" for r in full]
    if rows:
        last = rows[-1]
        workers = cost * last["ranks"] * ITERATIONS / last["cpu"]
        lines += [
            "",
            f"At the last size the parts take {workers:,.0f} times the CPU time of this process: with more workers "
            "than that, this process is the limit.",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main(words: list[str] | None = None) -> int:
    """Writes the tables, again after each row; 1 if the page has no place for them."""
    given = argparse.ArgumentParser()
    given.add_argument("--ranks", type=int, nargs="+", default=[100, 1000])
    given.add_argument("--elements", type=int, default=256, help="of a slot, float32")
    given.add_argument("--listed", type=int, nargs="*", default=[25, 100])
    said = given.parse_args(words)
    from distributed import LocalCluster

    from harness.scale import cluster as clusters
    from harness.scale import flights

    flights.FLYING = FLYING
    cost, size = real_part(said.elements)
    os.environ[_COST] = str(cost)
    rows: list[dict[str, float]] = []
    full: list[dict[str, float]] = []
    local = LocalCluster(PROCESSES, threads_per_worker=THREADS, memory_limit=0, dashboard_address="127.0.0.1:0")
    with local, clusters.cluster(0, local.scheduler_address) as found:
        for kind, sizes in ((full, said.listed), (rows, said.ranks)):
            for count in sizes:
                kind.append(listed(found, count) if kind is full else compared(found, count, said.elements))
                if not put("scale.md", "bench_simulation", text(cost, size, said.elements, rows, full)):
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
