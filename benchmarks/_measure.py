"""CPU seconds, ratios and tables: shared parts of the benchmarks.

Wall time means little on a shared machine; user + system time of this process is what counts here. Contenders of one
table are run in turns, round after round, and the figure of a contender is its best round.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Contender:
    """One thing to measure.

    Attributes:
        name: its name in the table.
        run: one round; its result is dropped.
        goal: the promised ratio to the first contender, if any.
        note: more to print, such as a figure per tensor: made from the CPU seconds.
    """

    name: str
    run: Callable[[], Any]
    goal: float | None = None
    note: Callable[[float], str] | None = None


def measured(run: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    before = time.process_time()
    run()
    return time.process_time() - before


def race(contenders: Sequence[Contender], rounds: int = 5) -> list[float]:
    """Best CPU seconds of each contender; they take turns."""
    best = [float("inf")] * len(contenders)
    for _ in range(rounds):
        for at, contender in enumerate(contenders):
            best[at] = min(best[at], measured(contender.run))
    return best


def show(title: str, contenders: Sequence[Contender], seconds: Sequence[float]) -> None:
    """Prints a table of ratios to the first contender."""
    print(f"\n{title}")
    width = max(len(contender.name) for contender in contenders)
    print(f"  {'':{width}}  {'CPU s':>9}  {'ratio':>8}  {'goal':>6}")
    for contender, spent in zip(contenders, seconds, strict=True):
        ratio = spent / seconds[0]
        goal = "" if contender.goal is None else f"{contender.goal:g}"
        mark = "" if contender.goal is None else ("  ok" if ratio <= contender.goal else "  MISSED")
        note = "" if contender.note is None else f"  {contender.note(spent)}"
        print(f"  {contender.name:{width}}  {spent:9.4f}  {ratio:8.4f}  {goal:>6}{mark}{note}")


def run_and_show(title: str, contenders: Sequence[Contender], rounds: int = 5) -> list[float]:
    """``race`` and ``show``."""
    seconds = race(contenders, rounds)
    show(title, contenders, seconds)
    return seconds


def fact(name: str, value: float, unit: str, limit: float | None = None) -> None:
    """Prints one figure, and whether it keeps within its limit."""
    mark = "" if limit is None else f"  (at most {limit:g}: {'ok' if value <= limit else 'MISSED'})"
    print(f"  {name}: {value:.4g} {unit}{mark}")


def child(
    command: Sequence[str], environ: Mapping[str, str] | None = None, cwd: Path | None = None
) -> tuple[int, float]:
    """Exit status and CPU seconds of a command and its children; its output is thrown away.

    Args:
        environ: beside this process's environment variables.
    """
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=os.environ | dict(environ or {}), cwd=cwd)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def peak_memory(code: str, arguments: Sequence[str] = ()) -> int:
    """Peak resident bytes of ``python -c code arguments`` in a process of its own (Linux).

    ``ru_maxrss`` would not do: a new process inherits it from the one that started it.
    """
    script = f"{code}\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-2]) * 1024
