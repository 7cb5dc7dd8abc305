"""Schedulers and workers as forks of one process that has imported everything: they start in no time.

Reads lines of JSON, forks for each, and answers with the fork's number and address; ends, with all forks, when its
standard input ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.scale import preload
from tests.subprocesses import ROOT


def square(number: int) -> int:
    """A task."""
    preload.reach("works")
    return number * number


def versions_of_another() -> dict[str, str]:
    """What a worker of another release says."""
    return {"python": "3.11", "pytest-msdump": "0.0.1", "distributed": "1.0"}


class Nursery:
    """The process, for tests."""

    def __init__(self, folder: Path) -> None:
        self.deaths = folder / "deaths"
        self.deaths.mkdir(parents=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.scale.nursery"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), "MSDUMP_TEST_DEATHS": str(self.deaths)}, text=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def fork(self, **what: Any) -> tuple[int, str]:
        """A scheduler's or worker's process and address."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["process"], answer["address"]

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(600)
        self._process.stdout.close()


async def _serve(what: dict[str, Any], answer: int) -> None:
    from distributed import Scheduler, Worker

    server: Any
    if what["kind"] == "scheduler":
        server = await Scheduler(host="127.0.0.1", port=what.get("port", 0), dashboard=False, dashboard_address=":0")
    else:
        server = await Worker(
            what["scheduler"], nthreads=1, host="127.0.0.1", dashboard=False, dashboard_address=":0", memory_limit=0
        )
        preload.dask_setup(server)
    os.write(answer, (json.dumps({"process": os.getpid(), "address": server.address}) + "\n").encode())
    await server.finished()


def _child(what: dict[str, Any], answer: int) -> None:
    os.environ.update(what.get("environment", {}))
    if what.get("other"):
        from harness.scale import work

        work.versions = versions_of_another
    asyncio.run(_serve(what, answer))


def main() -> None:
    import distributed  # noqa: F401 - what takes long, before forks

    children: list[int] = []
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                os.close(0)
                _child(json.loads(line), 1)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
