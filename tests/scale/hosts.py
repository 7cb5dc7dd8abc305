"""A cluster as docs/scale.md starts it: a scheduler, and ``dask worker`` on each of some hosts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from tests.scale.network import Loopback, Namespaces
from tests.subprocesses import ROOT

HOSTS = {"a": range(4), "b": range(4, 8), "c": range(8, 12)}


def documented(program: str) -> list[str]:
    """The words of the line of docs/scale.md that starts a program of Dask's."""
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    return next(line.split() for line in page.splitlines() if line.startswith(f"dask {program} "))


class Hosts:
    """The cluster, as docs/scale.md starts it: a scheduler, and ``dask worker`` on each host."""

    def __init__(self, folder: Path, network: Namespaces | Loopback) -> None:
        self.folder, self.deaths, self.network = folder, folder / "deaths", network
        self.deaths.mkdir()
        self.groups: dict[str, subprocess.Popen[bytes]] = {}
        self.address = f"tcp://{network.scheduler}:{network.port}"
        self._start("head", documented("scheduler"))
        for host in HOSTS:
            self._start(host, [*documented("worker"), "--preload", "tests.scale.preload"])
        self.wait()

    def _start(self, host: str, words: list[str]) -> None:
        """A process group on a host."""
        said = {"8786": str(self.network.port), "tcp://SCHEDULER:8786": self.address}
        environment = {
            **os.environ, "MSDUMP_TEST_DEATHS": str(self.deaths), "PYTHONPATH": str(ROOT), "MSDUMP_HOST": host,
            # A link that is slow to heal is no broken one, and a part is tried often enough for all deaths.
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "600s",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "600s",
        }  # fmt: skip
        self.groups[host] = subprocess.Popen(
            [*self.network.inside(host), sys.executable, "-m", *(said.get(word, word) for word in words)],
            env=environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def wait(self) -> None:
        """Until all workers are there."""
        wanted = f"C({self.address!r}, timeout=600).wait_for_workers({2 * len(HOSTS)}, 600)"
        text = f"from distributed import Client as C; {wanted}"
        words = [*self.network.inside("head"), sys.executable, "-c", text]
        subprocess.run(words, check=True, capture_output=True, timeout=1200)

    def command(self, *words: str, module: str = "harness.cli") -> list[str]:
        """``msdump`` with this cluster."""
        return [*self.network.inside("head"), sys.executable, "-m", module, *words, "--scheduler", self.address]

    def run(self, *words: str, module: str = "harness.cli") -> subprocess.CompletedProcess[str]:
        return run(self.folder, self.command(*words, module=module))

    def run_and(self, words: list[str], sign: str, then: Callable[[], object]) -> tuple[int, str, str]:
        """Runs a command, and does something as soon as a line of its standard error has ``sign`` in it."""
        with (
            (self.folder / "out.txt").open("w") as out,
            subprocess.Popen(words, cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.PIPE, text=True) as process,
        ):  # fmt: skip
            watch = threading.Timer(1200, process.kill)
            watch.start()
            lines = []
            assert process.stderr is not None
            for line in process.stderr:
                if sign in line and not any(sign in each for each in lines):
                    then()
                lines.append(line)
            code = process.wait()
            watch.cancel()
        return code, (self.folder / "out.txt").read_text(), "".join(lines)

    def add(self, host: str) -> None:
        """A host's workers, once more."""
        self.groups[host].wait()
        self._start(host, [*documented("worker"), "--preload", "tests.scale.preload"])

    def remove(self, host: str) -> str:
        """What a step is to do for a host to be gone with all its processes."""
        return f"SIGKILL {-self.groups[host].pid}"

    def close(self) -> None:
        for process in self.groups.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.network.close()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "MSDUMP_SCALE_LIMIT": "600"}


def run(folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, env=environment(), stdin=subprocess.DEVNULL,
        timeout=1200,
    )  # fmt: skip


def msdump(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, [sys.executable, "-m", "harness.cli", *words])
