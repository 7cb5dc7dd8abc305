"""Holds the rules against hundreds of trainings: ``python -m tests.inspect.held torch other --number 200 --seed 7``.

``public`` is the generator ``harness.testing.sick``, ``other`` that of ``tests.inspect.other``. Prints what was told
wrongly, then the counts.
"""

from __future__ import annotations

import argparse
import collections
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from harness.capture import Capture
from harness.inspect import Report, inspect
from harness.inspect.inspecting import examined
from harness.inspect.training import Training
from harness.testing.sick import KINDS, draw, make
from tests.inspect.other import networks
from tests.inspect.other import training_faults as faults

#: a training with its truth, and what runs it
Case = tuple[Any, Callable[[], Capture]]


def sick_ones(engine: str, hand: str, number: int, seed: int, only: str = "") -> Iterator[Case]:
    """Sick trainings, kind after kind."""
    known = list(KINDS) if hand == "public" else [kind for kind in faults.FAULTS if kind not in faults.NOT_IN[engine]]
    kinds = [kind for kind in known if only in kind]
    for at in range(number):
        kind = kinds[at % len(kinds)]
        if hand == "public":
            sick = make(kind, seed + at, engine)
            yield sick, sick.capture
        else:
            other = faults.make(kind, seed + at)
            yield other, lambda other=other: other.capture(engine)


def healthy_ones(engine: str, hand: str, number: int, seed: int) -> Iterator[Case]:
    """Healthy trainings."""
    rng = np.random.default_rng(seed)
    for at in range(number):
        if hand == "public":
            plan = draw(rng, engine=engine)
            yield plan, plan.capture
        else:
            name, job = networks.draw(rng, list(networks.NETWORKS)[at % len(networks.NETWORKS)])
            yield name, lambda job=job: job.capture(engine)


def wrong(sick: Any, report: Report) -> str:
    """What a report says wrongly of a sick training: kind, place, or nothing."""
    if sick.right(report):
        return ""
    return "place" if any(each.kind in sick.says for each in report.errors) else "kind"


def converges(losses: list[float]) -> bool:
    """Whether a loss falls."""
    part = max(1, len(losses) // 3)
    return bool(losses) and float(np.median(losses[-part:])) < 0.98 * float(np.median(losses[:part]))


def main() -> None:
    """See the module."""
    words = argparse.ArgumentParser()
    words.add_argument("engine", choices=["emulator", "torch"])
    words.add_argument("hand", choices=["public", "other"])
    words.add_argument("--number", type=int, default=64)
    words.add_argument("--healthy", type=int, default=0)
    words.add_argument("--seed", type=int, default=secrets.randbelow(1 << 30))
    words.add_argument("--only", default="")
    given = words.parse_args()
    if given.engine == "torch":
        import torch

        torch.set_num_threads(1)  # many small steps
    start, counts = time.process_time(), collections.Counter[str]()
    for sick, run in sick_ones(given.engine, given.hand, given.number, given.seed, given.only):
        report = inspect(run())
        said = wrong(sick, report) or "right"
        counts[said] += 1
        counts["errors beside"] += len([each for each in report.errors if each.kind not in sick.says])
        if said != "right":
            shown = [(each.kind, each.operator, each.iteration, each.is_error) for each in report.findings]
            name = getattr(sick, "network", "") or sick.plan
            print(f"{said}: {sick.kind}: wants {sick.says} {sick.places} {sick.iteration}; got {shown}\n  {name}")
    for name, run in healthy_ones(given.engine, given.hand, given.healthy, given.seed):
        report, known = examined(run())
        series = next(iter(Training(known).losses.values()), [])
        falls = converges([value for _, value, _ in series])
        counts["healthy" if falls else "not converging"] += 1
        counts["notes of healthy"] += len(report.notes)
        if report.errors or not report.slots or len(report.iterations) < 2:
            counts["false" if falls else "false, not converging"] += 1
            told = [(each.kind, each.operator, each.text) for each in report.errors]
            print(f"false ({falls=}): {told}, {report.slots} slots, {len(report.iterations)} steps\n  {name}")
    shown_time = f"{time.process_time() - start:.0f} CPU s"
    print(f"{given.engine}, {given.hand}, seed {given.seed}: {dict(counts)}; {shown_time}")


if __name__ == "__main__":
    main()
