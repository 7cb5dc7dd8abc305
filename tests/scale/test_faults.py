"""A worker or the scheduler that goes away, at each step of a task: every wait ends in an answer or in one error.

Nothing here hangs on the machine's speed: what is to die dies at a named step, limits are ten minutes long, and the one
that a test is about passes at once.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ScaleError
from tests.scale import nursery, preload
from tests.scale.command import long_silent, long_without_workers
from tests.scale.nursery import Nursery
from tests.scale.preload import STEPS, order

pytest.importorskip("distributed", reason="Dask is not installed (extra 'scale')")
pytestmark = pytest.mark.scale

from harness.scale import crew, flights  # noqa: E402
from harness.scale.cluster import Cluster, Task, cluster  # noqa: E402


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    found = Nursery(tmp_path_factory.mktemp("forks"))
    yield found
    found.close()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is told; limits are long."""
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "600")
    return []


class Hosts:
    """A scheduler and workers of hosts that see a rank each."""

    def __init__(self, forks: Nursery, folder: Path, *hosts: str) -> None:
        self.forks, self.folder, self.deaths = forks, folder, forks.deaths
        for file in preload.left(self.deaths):
            file.unlink()
        self.process, self.address = forks.fork(kind="scheduler")
        self.place = f"{folder}/{{host}}"
        self.addresses: dict[str, int] = {}
        for host in hosts:
            self.add(host)

    def add(self, host: str, **more: Any) -> str:
        """One more worker; its address."""
        (self.folder / host / f"rank_{ord(host[0]) - ord('a')}").mkdir(parents=True, exist_ok=True)
        process, address = self.forks.fork(
            kind="worker", scheduler=self.address, environment={"MSDUMP_HOST": host}, **more
        )  # fmt: skip
        self.addresses[address] = process
        return address

    def tasks(self, count: int = 6, rank: int = 0) -> list[Task]:
        needs = ((self.place, rank),)
        return [Task(n, nursery.square, (n,), needs, f"rank {rank}") for n in range(count)]


def results(found: Cluster, hosts: Hosts, **more: int) -> list[int]:
    found.discover(hosts.place)
    return [result for _, result in sorted(found.run(hosts.tasks(**more)), key=lambda each: each[0].key)]


@pytest.mark.parametrize("step", STEPS)
def test_another_worker_does_what_a_killed_one_had(forks: Nursery, tmp_path: Path, told: list[str], step: str) -> None:
    hosts = Hosts(forks, tmp_path, "a", "a")
    with cluster(0, hosts.address, told.append) as found:
        order(hosts.deaths, step)
        assert results(found, hosts) == [0, 1, 4, 9, 16, 25]
    assert not preload.left(hosts.deaths), "somebody died"
    assert not any("no worker is there" in line for line in told)


@pytest.mark.parametrize("step", STEPS)
def test_a_rank_whose_only_worker_is_killed_is_unreachable(
    forks: Nursery, tmp_path: Path, told: list[str], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_without_workers(monkeypatch.setattr)
    hosts = Hosts(forks, tmp_path, "a", "b")
    with cluster(0, hosts.address, told.append) as found:
        order(hosts.deaths, step)
        with pytest.raises(ScaleError, match=r"^rank 0 is unreachable: for 600 s no worker is there that sees it"):
            results(found, hosts)


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_that_comes_goes_on(forks: Nursery, tmp_path: Path, told: list[str], step: str) -> None:
    hosts = Hosts(forks, tmp_path, "a", "b")
    came: list[str] = []

    def tell(line: str) -> None:
        if " this waits " in line and not came:
            came.append(hosts.add("a"))

    with cluster(0, hosts.address, tell) as found:
        order(hosts.deaths, step)
        assert results(found, hosts) == [0, 1, 4, 9, 16, 25]
    assert came


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("number", ["SIGKILL", "SIGSTOP"])
def test_a_scheduler_that_goes_away_or_falls_silent(
    forks: Nursery, tmp_path: Path, told: list[str], step: str, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = Hosts(forks, tmp_path, "a")
    with cluster(0, hosts.address, told.append) as found:
        long_silent(monkeypatch.setattr)
        order(hosts.deaths, step, process=hosts.process, number=number)
        with pytest.raises(ScaleError, match=f"^the scheduler at {hosts.address} went away$"):
            results(found, hosts)


@pytest.mark.parametrize("step", ["works", "fetched"])
def test_others_do_the_work_of_a_worker_that_falls_silent(
    forks: Nursery, tmp_path: Path, step: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = Hosts(forks, tmp_path, "a", "a")
    heard = crew.Crew._heard

    def stopped(self: crew.Crew, workers: dict[str, Any], now: float) -> None:
        """Ten minutes go by for a worker that is stopped, and for no other."""
        for address, process in hosts.addresses.items():
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            if state == "T" and address in self._workers:
                self._workers[address].since = now - 700
        heard(self, workers, now)

    monkeypatch.setattr(crew.Crew, "_heard", stopped)
    with cluster(0, hosts.address, told.append) as found:
        order(hosts.deaths, step, number="SIGSTOP")
        assert results(found, hosts) == [0, 1, 4, 9, 16, 25]
    assert any("is silent for 600 s; others do its work" in line for line in told)


@pytest.mark.parametrize(("step", "why"), [("works", "one worker after the other died"), ("fetched", "lost 1 times")])
def test_a_task_that_kills_is_not_tried_for_ever(
    forks: Nursery, tmp_path: Path, told: list[str], step: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flights, "LOSSES", 1)
    hosts = Hosts(forks, tmp_path, *"aaaaa")
    with cluster(0, hosts.address, told.append) as found:
        order(hosts.deaths, step, count=5)
        with pytest.raises(ScaleError, match=why):
            results(found, hosts, count=1)


def test_a_scheduler_that_goes_away_while_workers_look(
    forks: Nursery, tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = Hosts(forks, tmp_path, "a")
    with cluster(0, hosts.address, told.append) as found:
        long_silent(monkeypatch.setattr)
        os.kill(hosts.process, signal.SIGKILL)
        with pytest.raises(ScaleError, match=f"^the scheduler at {hosts.address} went away$"):
            results(found, hosts)


def test_a_worker_of_another_version_is_refused_at_the_start(forks: Nursery, tmp_path: Path, told: list[str]) -> None:
    hosts = Hosts(forks, tmp_path)
    hosts.add("a", other=True)
    why = "it has pytest-msdump 0.0.1, this process has .*; they must be equal"
    with pytest.raises(ScaleError, match=why), cluster(0, hosts.address, told.append):
        pass


def test_a_worker_of_another_version_that_joins_is_left_alone(forks: Nursery, tmp_path: Path, told: list[str]) -> None:
    hosts = Hosts(forks, tmp_path, "a")
    with cluster(0, hosts.address, told.append) as found:
        hosts.add("a", other=True)
        while not any("is not used: it has pytest-msdump 0.0.1" in line for line in told):
            assert results(found, hosts) == [0, 1, 4, 9, 16, 25]
            found.run([])


def test_a_scheduler_without_workers(forks: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "1")
    hosts = Hosts(forks, tmp_path)
    # A scheduler that is slow to answer is given up as quickly as one that has nobody.
    why = r"no worker came in 1 s|no scheduler|does not answer|went away"
    with pytest.raises(ScaleError, match=why), cluster(0, hosts.address):
        pass


def test_something_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ScaleError, match=f"no scheduler can be reached at {address}"), cluster(0, address):
            pass
