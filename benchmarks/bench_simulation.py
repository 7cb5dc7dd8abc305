"""Where shared work stops scaling: real scheduling of tasks that return what real tasks return.

Two series on a ``LocalCluster``. In the first a task costs and returns nothing: what is left is the price of its
scheduling. In the second it returns what a part of 2,000 equal slots does, and this process keeps that, as a command
would. From both follows what 10,000 ranks x 100 iterations would take.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

SLOTS, WORKERS = 2000, 2
RANKS, ITERATIONS = 10_000, 100


def nothing(number: int) -> int:
    """A task that is only scheduled."""
    return number


def equal_slots(rank: int, iteration: int, slots: int) -> Any:
    """What a part of so many equal slots gives."""
    from harness.records import Record, SlotKey
    from harness.scale.wire import Done, Read, ReadExecution, Slot

    read = Read()
    for number in range(slots):
        key = SlotKey(
            rank, 0, iteration, f"Default/network/layer{number // 3}-Dense/MatMul-op{number // 3}", 0, "output", 0
        )
        record = Record(key, "MatMul", "Float32", (32, 64), "DefaultFormat", None, None, number.to_bytes(16, "big"))
        read.steps.append(ReadExecution((number, 0, iteration), [Slot(record, True)]))
    return Done(None, read)


def real_part(slots: int) -> tuple[float, int]:
    """CPU seconds that a worker takes for a part of so many slots of 8 KiB on disk, and bytes of what it gives."""
    import pickle

    from harness.scale import parts, wire

    with tempfile.TemporaryDirectory(prefix="msdump-bench-") as folder:
        place = Path(folder, "rank_0", "Net", "0", "0")
        place.mkdir(parents=True)
        values = np.arange(2048, dtype=np.float32)
        for number in range(slots):
            name = (
                f"MatMul.Default_layer{number}.0.0.{1_700_000_000_000_000 + number}.output.0.DefaultFormat.Float32.npy"
            )
            np.save(place / name, values + np.float32(number))
        tree = wire.Tree(folder, None, folder)
        before = time.process_time()
        done = parts.part(wire.Work(wire.Part(0, 0, 0), None, tree))
        return time.process_time() - before, len(pickle.dumps(done))


class _Watch:
    """The largest number of tasks that the scheduler knew at a time."""

    def __init__(self) -> None:
        self.most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        from distributed import Scheduler

        while not self._over.wait(0.02):
            self.most = max(self.most, *(len(each.tasks) for each in list(Scheduler._instances)), 0)

    def close(self) -> None:
        self._over.set()
        self._thread.join()


def _memory() -> float:
    """MiB of this process, in which the scheduler is, at this moment."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _series(found: Any, counts: list[int], slots: int) -> list[tuple[int, float, float, float]]:
    """For each number of tasks: the number, seconds, CPU seconds of this process, and MiB it grew by."""
    from harness.scale.cluster import Task

    rows = []
    for count in counts:
        function, args = (equal_slots, (0, 0, slots)) if slots else (nothing, (0,))
        tasks = (Task(number, function, args, said="a part") for number in range(count))
        watch, memory, begun, before = _Watch(), _memory(), time.perf_counter(), time.process_time()
        kept = [result for _, result in found.run(tasks)]
        seconds, used, grew = time.perf_counter() - begun, time.process_time() - before, _memory() - memory
        watch.close()
        assert len(kept) == count
        rows.append((count, seconds, used, grew))
        what = f"{slots} slots each" if slots else "that give nothing"
        print(f"{count:7,} tasks {what}: {seconds:.1f} s, {used:.1f} s CPU here, {1e3 * used / count:.2f} ms a task, "
              f"{grew:.0f} MiB more, at most {watch.most:,} at the scheduler", flush=True)  # fmt: skip
        del kept
    return rows


def main(words: list[str] | None = None) -> int:
    """Prints the two series and what follows; ``--seconds`` bounds each series."""
    given = argparse.ArgumentParser()
    given.add_argument("--most", type=int, default=4000, help="tasks of the largest run that return nothing")
    most = given.parse_args(words).most
    from harness.scale.cluster import cluster

    cost, size = real_part(SLOTS)
    print(f"a real part of {SLOTS:,} slots: {cost:.2f} s CPU on a worker, {size / 1e3:.0f} kB of answer", flush=True)
    counts = [count for count in (1000 * 2**n for n in range(20)) if count <= most] or [most]
    with cluster(WORKERS, "") as found:
        alone = _series(found, counts, 0)
        full = _series(found, [max(1, count // 40) for count in counts], SLOTS)
    total = RANKS * ITERATIONS
    scheduling, keeping = alone[-1][2] / alone[-1][0], full[-1][2] / full[-1][0]
    memory = full[-1][3] / full[-1][0]
    print(f"extrapolated to {RANKS:,} ranks x {ITERATIONS} iterations x {SLOTS:,} slots: "
          f"{total * cost / 3600:.0f} hours of workers' cores; here {total * scheduling / 3600:.1f} h for scheduling "
          f"alone, {total * keeping / 3600:.1f} h and {total * memory / 2**20:.1f} TiB with all answers; "
          f"this process is the limit above {cost / keeping:.0f} workers")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
