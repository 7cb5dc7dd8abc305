"""False alarms across backends and threads, with and without ``noise``: ``python -m benchmarks noise``.

Runs networks drawn by ``harness.testing.faults`` on the emulated CPU and elsewhere, holds the runs against one another,
and writes a table into ``docs/comparison.md``. Needs the extra ``torch``. ``python -m benchmarks.bench_noise 300``
draws so many.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from benchmarks._pages import put

COUNT = 200
#: backend and threads of PyTorch's that the emulated CPU is held against
OTHERS = (("torch", 1), ("torch", 2), ("torch", 4), ("gpu", 1), ("ascend-o1", 1))


def captured(network: Any, backend: str) -> Any:
    """A run of a network, its random numbers being its own."""
    from harness.backends import BACKENDS
    from harness.framework.seed import seeded

    with seeded(network.seed % 2**32):
        return BACKENDS.get(backend).run(network.train, network=f"{network.family}-{network.seed}")


def alarms(count: int) -> dict[tuple[str, int], Counter[str]]:
    """How often a run of the same network does not hold, by backend and threads, and by tolerance."""
    import torch

    from harness.backends.align import lay_beside
    from harness.compare.policy import Party, judge
    from harness.explain import settle
    from harness.testing.faults.networks import draw

    found: dict[tuple[str, int], Counter[str]] = {other: Counter() for other in OTHERS}
    for seed in range(count):
        network = draw(seed)
        golden = captured(network, "cpu")
        for backend, threads in OTHERS:
            torch.set_num_threads(threads)
            run = captured(network, backend)
            sides = [Party(each, each.backend, each.mode, each.emulated) for each in (golden, run)]
            for tolerance in ("default", "noise"):
                judged = judge(sides[0], sides[1], tolerance, lay=lay_beside, settle=settle, measured=False)
                found[backend, threads][tolerance] += int(not judged.holds)
                if tolerance == "noise" and not judged.holds:
                    first = judged.comparison.failures()[0]
                    print(f"{network.family}, seed {seed}, {backend}, {threads}: {first.key}", flush=True)
    return found


def section(count: int) -> tuple[str, int]:
    """What stands between the marks in the page, and how many alarms there are under ``noise``."""
    found = alarms(count)
    lines = [f"{count} drawn networks, trained two steps, beside the emulated CPU (runs that do not hold):", ""]
    lines += ["| backend | threads | `default` | `noise` |", "|---|---|---|---|"]
    lines += [f"| {name} | {threads} | {n['default']} | {n['noise']} |" for (name, threads), n in found.items()]
    return "\n".join([*lines, ""]), sum(each["noise"] for each in found.values())


def main() -> int:
    """Runs all and writes the page; 1 where something does not hold under ``noise``."""
    text, wrong = section(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
    return int(wrong > 0) if put("comparison.md", "alarms", text) else 2


if __name__ == "__main__":
    raise SystemExit(main())
