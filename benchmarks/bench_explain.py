"""The cost of an explanation, and of a gate that passes: ``python -m benchmarks explain``.

Drawn networks of ``harness.testing.faults``, each held against its golden store: a clean rerun, and a run with a fault.
CPU seconds of this process; the lines go into ``docs/performance.md``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks._pages import put
from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare.policy import Judgement, Party, judge
from harness.explain import Evidence, Subject, explained
from harness.store import GoldenStore, RunData, RunId, update
from harness.testing.faults import faults
from harness.testing.faults.roads import captured

COUNT, SEED, RUN = 12, 0, RunId("cpu", "tensor")
SLOTS = "some hundred slots each"


def _timed(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    start = time.process_time()
    made = work(*given)
    return time.process_time() - start, made


def side(capture: Capture) -> Evidence:
    """A run in memory."""
    return Evidence(capture.records, lambda: capture.artefacts, "cpu", True)


def measure(count: int, seed: int) -> dict[str, list[float]]:
    """CPU seconds of each judgement of a clean rerun, of one with a fault, and of its explanation."""
    figures: dict[str, list[float]] = {"passes": [], "fails": [], "explained": []}
    for fault in faults(count, seed, each=2):
        with tempfile.TemporaryDirectory() as folder:
            golden, clean = captured(fault.network), captured(fault.network)
            path = Path(folder, "golden.h5")
            data = RunData(golden.records(), golden.artefacts, {"emulated": True})
            update(path, golden.network, {RUN: data})
            with GoldenStore.open(path) as store:
                expected = store.run(*RUN)

                def judged(run: Any, expected: Any = expected) -> Judgement:
                    found = Party(list(run.records()), *RUN, emulated=True)
                    return judge(Party.of_run(expected), found, lay=lay_beside)

                judged(clean)  # what is loaded at first use
                seconds, held = _timed(judged, clean)
                assert held.holds, fault.network
                figures["passes"].append(seconds)
                seconds, failed = _timed(judged, fault.run)
                figures["fails"].append(seconds)
                sides = (
                    Evidence(expected.records, expected.artefacts, "cpu", True),
                    side(fault.run),
                )
                figures["explained"].append(_timed(explained, failed, Subject("run", "golden"), *sides)[0])
    return figures


def section(figures: dict[str, list[float]]) -> str:
    """The lines for the page."""
    words = {"passes": "a judgement that passes", "fails": "a judgement that fails", "explained": "its explanation"}
    lines = ["| CPU seconds | mean | most |", "|---|---|---|"]
    lines += [f"| {words[name]} | {mean(each):.4f} | {max(each):.4f} |" for name, each in figures.items()]
    head = f"{len(figures['passes'])} faults of seed {SEED}, drawn networks of {SLOTS}:"
    return "\n".join([head, "", *lines, ""])


def main() -> int:
    """Measures and writes the page."""
    text = section(measure(COUNT, SEED))
    return 0 if put("performance.md", "explanations", text) else 2


if __name__ == "__main__":
    raise SystemExit(main())
