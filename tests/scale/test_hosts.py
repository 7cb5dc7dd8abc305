"""Three hosts with directories of their own, two workers each, and a scheduler: the answer is the serial one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scale.preload import left, order
from tests.scale.trees import write_tree
from tests.subprocesses import ROOT

pytest.importorskip("distributed", reason="Dask is not installed (extra 'scale')")
pytestmark = pytest.mark.scale

HOSTS = {"a": range(4), "b": range(4, 8), "c": range(8, 12)}
CHANGED = (6, 2)


class Hosts:
    """The cluster, as docs/scale.md starts it: a scheduler, and ``dask worker`` on each host."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.deaths = folder, folder / "deaths"
        self.deaths.mkdir()
        self.workers: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--scheduler-file", str(file), "--port", "0", "--no-dashboard")
        self.file = file
        for host in HOSTS:
            self.add(host)

    def _start(self, *words: str, **more: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "MSDUMP_TEST_DEATHS": str(self.deaths), "PYTHONPATH": str(ROOT), **more}
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
            env=environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def add(self, host: str) -> None:
        """Two more workers of a host, which end for good when they are killed."""
        for _ in range(2):
            started = self._start(
                "worker", "--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny", "--no-dashboard",
                "--preload", "tests.scale.preload", MSDUMP_HOST=host,
            )  # fmt: skip
            self.workers.append(started)

    def run(self, *words: str, module: str = "harness.cli") -> subprocess.CompletedProcess[str]:
        """``msdump`` with this cluster."""
        from distributed import Client

        with Client(scheduler_file=str(self.file), timeout=600, set_as_default=False) as client:
            client.wait_for_workers(sum(each.poll() is None for each in self.workers), timeout=600)
            address = client.scheduler.address
        return msdump(self.folder, *words, "--scheduler", address, module=module)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def msdump(folder: Path, *words: str, module: str = "harness.cli") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *words], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MSDUMP_SCALE_LIMIT": "600"}, stdin=subprocess.DEVNULL, timeout=600,
    )  # fmt: skip


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    folder = tmp_path_factory.mktemp("hosts")
    for host, ranks in HOSTS.items():
        write_tree(folder / host / "good", ranks)
        write_tree(folder / host / "bad", ranks, changed=CHANGED)
        for name in ("good", "bad"):
            shutil.copytree(folder / host / name, folder / "all" / name, dirs_exist_ok=True)
    assert msdump(folder, "import", "all/good", "golden.h5").returncode == 0
    found = Hosts(folder)
    try:
        yield found
    finally:
        found.close()


FILES = ("--json", "x.json", "--csv", "x.csv", "--report", "x.html")


def outputs(folder: Path, done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Everything a diff said, the trees under one name."""
    texts = {name: (folder / name).read_text() for name in FILES[1::2]} | {"text": done.stdout}
    return {name: plain(folder, text) for name, text in texts.items()}


def plain(folder: Path, text: str) -> str:
    """A text with the name of the one tree in place of the template's, which a shell wants quoted."""
    return re.sub(rf"'?{re.escape(str(folder))}/{{host}}/(good|bad)'?", r"all/\1", text)


def test_diff_and_check_are_the_serial_ones_though_workers_die(hosts: Hosts) -> None:
    folder = hosts.folder
    template = f"{folder}/{{host}}"
    serial = msdump(folder, "diff", "all/good", "all/bad", *FILES)
    expected = outputs(folder, serial)
    order(hosts.deaths, "6-2")
    shared = hosts.run("diff", f"{template}/good", f"{template}/bad", *FILES)
    assert serial.returncode == shared.returncode == 1, shared.stderr
    assert not left(hosts.deaths), "a worker died"
    assert outputs(folder, shared) == expected
    order(hosts.deaths, "fetched")
    serial = msdump(folder, "check", "all/bad", "golden.h5")
    shared = hosts.run("check", f"{template}/bad", "golden.h5")
    assert plain(folder, shared.stdout) == serial.stdout
    assert shared.returncode == serial.returncode == 1
    assert not left(hosts.deaths), "another worker died"
    assert msdump(folder, "import", "all/good", "one.h5", "--rank", "0").returncode == 0
    words = "one.h5", "--shard", "*MatMul*:input.0=0"
    serial = msdump(folder, "check", "all/bad", *words)
    shared = hosts.run("check", f"{template}/bad", *words)
    assert serial.returncode == 1
    assert (plain(folder, shared.stdout), shared.returncode) == (serial.stdout, serial.returncode)


def test_a_host_that_is_removed_is_named_and_the_run_goes_on_when_it_is_back(hosts: Hosts) -> None:
    template = f"{hosts.folder}/{{host}}"
    order(hosts.deaths, "9-1", count=2)
    words = ("check", f"{template}/good", "golden.h5")
    lost = hosts.run(*words, module="tests.scale.command")
    assert lost.returncode == 2, lost.stderr
    assert "is unreachable: for 600 s no worker is there that sees it" in lost.stderr.splitlines()[-1]
    assert "Traceback" not in lost.stderr
    assert list((hosts.folder / ".msdump" / "scale").iterdir()), "the journal is kept"
    hosts.add("c")
    back = hosts.run(*words, "--resume")
    serial = msdump(hosts.folder, "check", "all/good", "golden.h5")
    assert plain(hosts.folder, back.stdout) == serial.stdout, back.stderr
    assert back.returncode == 0
    assert not (hosts.folder / ".msdump" / "scale").exists(), "a journal of what came to its end is gone"


def test_bad_input_is_one_line(hosts: Hosts) -> None:
    template = f"{hosts.folder}/{{host}}"
    nothing = hosts.run("check", f"{template}/nothing", "golden.h5")
    assert nothing.returncode == 2
    assert "workers sees a rank there" in nothing.stderr.splitlines()[-1]
    # One rank, in two places that are not alike: half of it is on another host.
    shutil.copytree(hosts.folder / "a" / "good" / "rank_1", hosts.folder / "b" / "half" / "rank_1")
    shutil.copytree(hosts.folder / "a" / "good" / "rank_1", hosts.folder / "a" / "half" / "rank_1")
    shutil.rmtree(hosts.folder / "b" / "half" / "rank_1" / "Net" / "0" / "3")
    half = hosts.run("check", f"{template}/half", "golden.h5")
    assert half.returncode == 2
    assert "rank 1 lies in two places that are not alike, on a and b" in half.stderr.splitlines()[-1]
