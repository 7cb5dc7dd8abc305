"""Loaded by ``dask worker --preload``: kills at a named step of a task, once for each file that says so.

``MSDUMP_TEST_DEATHS`` is a directory with one for each step: ``arrives`` (the worker is given a task), ``works`` (in
it), ``done`` (it has a result that nobody knows of), ``fetched`` (the scheduler knows, and asks for it).
Whoever takes a file of a step away does what the file says: signals, and processes (or groups) that get them, itself
as 0; or ``ip`` and ``touch``.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable
from functools import partial, wraps
from pathlib import Path
from typing import Any

from harness.scale import parts

STEPS = ("arrives", "works", "done", "fetched")


def reach(step: str) -> None:
    """Does what a file of this step says."""
    folder = Path(os.environ["MSDUMP_TEST_DEATHS"], step)
    for name in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            said = name.read_text()
            name.unlink()
        except FileNotFoundError:
            continue  # another one took it
        for line in said.splitlines():
            if line.startswith(("ip ", "touch ")):
                subprocess.run(line.split(), check=True, timeout=600)
                continue
            number, process = line.split()
            os.kill(int(process) or os.getpid(), signal.Signals[number])


def order(
    deaths: Path, step: str, *, count: int = 1, process: int = 0, number: str = "SIGKILL", what: str = ""
) -> None:
    """Writes ``count`` files for a step; ``what`` in place of a signal."""
    folder = deaths / step
    folder.mkdir(parents=True, exist_ok=True)
    for each in range(count):
        file = folder / f".{each}"
        file.write_text(f"{what or f'{number} {process}'}\n")
        file.rename(folder / str(each))


def left(deaths: Path) -> list[Path]:
    """What nobody did."""
    return [file for file in deaths.rglob("*") if file.is_file()]


def dask_setup(worker: Any) -> None:
    """Puts the steps into a worker."""
    from distributed import WorkerPlugin

    class Steps(WorkerPlugin):
        def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
            if str(key).startswith("part-") and finish == "memory":
                reach("done")

    compute, get = worker.stream_handlers["compute-task"], worker.handlers["get_data"]

    @wraps(getattr(compute, "func", compute))
    def arrives(*args: Any, **more: Any) -> Any:
        if str(more.get("key")).startswith("part-"):
            reach("arrives")
        return compute(*args, **more)

    async def fetched(comm: Any, keys: Iterable[str], **more: Any) -> Any:
        if any(str(key).startswith("part-") for key in keys):
            reach("fetched")
        return await get(comm, keys=keys, **more)

    worker.stream_handlers["compute-task"] = partial(arrives) if isinstance(compute, partial) else arrives
    worker.handlers["get_data"] = fetched
    worker.loop.add_callback(worker.plugin_add, Steps(), "steps")
    _step_in_parts()


def _step_in_parts() -> None:
    original = parts.part

    @wraps(original)
    def part(*tasks: Any) -> Any:
        for task in tasks:
            reach(f"{task.part.rank}-{task.part.iteration}")
        reach("works")
        return original(*tasks)

    parts.part = part
